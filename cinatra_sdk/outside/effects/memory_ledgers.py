"""`MemoryLedger`: a ledger in this process, for tests, demos and plain graphs.

    ledger = MemoryLedger()
    graph.invoke(…, context=host_context(run_id="r1", ledger=ledger))
    ledger.rows                        {"9f…": EffectRow(status="done", …)}

A plain graph that goes on after a crash of its activation takes the next one:

    graph.invoke(None, …, context=host_context(run_id="r1", ledger=ledger.next_activation()))
"""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import field, replace
from typing import Any, Final, Literal, TypeAlias
from uuid import uuid4

from cinatra_sdk.errors import RunBusy
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.door import Begun, Differs, Entry, Stored, Unknown
from cinatra_sdk.outside.effects.effect import (
    Effect,
    EffectFailure,
    EffectResult,
    Usage,
    read_usage,
)

EffectStatus: TypeAlias = Literal["begun", "done", "failed", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRow:
    """What is kept of one effect; the arguments are kept as their hash alone."""

    key: str
    run_id: str
    kind: str
    capability: str
    path: str
    visit: int
    item: int | None
    risk: str
    request_sha256: str
    shown_sha256: str
    status: EffectStatus = "begun"
    attempts: int = 1
    fence: int
    """The activation that began it last."""
    result: str = ""
    """`{"value": …, "artifacts": […]}` as JSON text, of an effect that was done."""
    usage: str = ""
    error: str = ""
    """Code and message as JSON text, of an effect that has no result."""


@dataclass(slots=True)
class _Shared:
    """What all activations of one ledger share."""

    rows: dict[str, EffectRow] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    fence: int = 1
    """Of the newest activation."""


class MemoryLedger:
    """A `Ledger` whose rows live as long as this object; safe to share between threads."""

    asks_run = False

    def __init__(self) -> None:
        self._shared = _Shared()
        self._fence = 1

    def __repr__(self) -> str:
        return f"MemoryLedger(activation {self._fence}, {len(self._shared.rows)} rows)"

    @property
    def rows(self) -> Mapping[str, EffectRow]:
        """A copy of every row, by key."""
        with self._shared.lock:
            return dict(self._shared.rows)

    def next_activation(self) -> MemoryLedger:
        """The same rows for a next activation, which takes over from this one."""
        following = MemoryLedger()
        following._shared = self._shared
        with self._shared.lock:
            self._shared.fence += 1
            following._fence = self._shared.fence
        return following

    def settle(self, key: str, result: EffectResult | None) -> None:
        """A person's word on an `unknown` effect: its result, or None where it did not happen.

        Raises: `ValueError` where no effect with this key is unknown.
        """
        with self._shared.lock:
            row = self._shared.rows.get(key)
            if row is None or row.status != "unknown":
                raise ValueError(f"no effect with the key {key[:12]}… is unknown")
            settled = replace(row, status="failed") if result is None else _finish_row(row, result)
            self._shared.rows[key] = settled

    def begin(self, effect: Effect) -> Entry:
        with self._shared.lock:
            self._require_newest(effect)
            row = self._shared.rows.get(effect.key)
            if row is not None and row.status != "failed":
                entry = self._read_row(effect, row)
                if entry is not None:
                    return entry
            attempt = 1 if row is None else row.attempts + 1
            used = "" if row is None else row.usage
            self._shared.rows[effect.key] = replace(self._begin_row(effect, attempt), usage=used)
            return Begun(attempt=attempt)

    def _read_row(self, effect: Effect, row: EffectRow) -> Entry | None:
        """What a row says that is not `failed`; None where the effect is to be begun again."""
        if row.request_sha256 != effect.request_sha256:
            return Differs()
        if row.status == "done":
            return Stored(result=_read_result(row))
        if row.status == "unknown":
            return Unknown(_read_message(row.error))
        if row.fence == self._fence:
            raise RunBusy(
                f"the effect of node '{effect.path}' is being made at this moment",
                hint="try again when it has ended",
            )
        if not effect.once:
            return None
        self._shared.rows[row.key] = replace(row, status="unknown", fence=self._fence)
        return Unknown()

    def _begin_row(self, effect: Effect, attempt: int) -> EffectRow:
        return EffectRow(
            key=effect.key,
            run_id=effect.run_id,
            kind=effect.kind,
            capability=effect.capability,
            path=effect.path,
            visit=effect.visit,
            item=effect.item,
            risk=effect.risk,
            request_sha256=effect.request_sha256,
            shown_sha256=effect.shown_sha256,
            attempts=attempt,
            fence=self._fence,
        )

    def finish(self, effect: Effect, result: EffectResult) -> None:
        with self._shared.lock:
            self._shared.rows[effect.key] = _finish_row(self._own_row(effect), result)

    def fail(self, effect: Effect, failure: EffectFailure) -> None:
        told = json.dumps({"code": failure.code, "message": failure.message})
        status: EffectStatus = "unknown" if effect.once and failure.reached else "failed"
        with self._shared.lock:
            row = self._own_row(effect)
            used = _add_usage(row.usage, failure.usage)
            self._shared.rows[effect.key] = replace(row, status=status, error=told, usage=used)

    async def abegin(self, effect: Effect) -> Entry:
        return self.begin(effect)

    async def afinish(self, effect: Effect, result: EffectResult) -> None:
        self.finish(effect, result)

    async def afail(self, effect: Effect, failure: EffectFailure) -> None:
        self.fail(effect, failure)

    def _require_newest(self, effect: Effect) -> None:
        if self._fence != self._shared.fence:
            raise RunBusy(
                f"node '{effect.path}' does nothing: another activation goes on with the run",
                hint="use the ledger of the newest activation",
            )

    def _own_row(self, effect: Effect) -> EffectRow:
        """The row that this activation began and has not ended."""
        self._require_newest(effect)
        row = self._shared.rows.get(effect.key)
        if row is None or row.status != "begun" or row.fence != self._fence:
            raise RunBusy(f"the effect of node '{effect.path}' was not begun by this activation")
        return row


def _read_message(error: str) -> str:
    """The message of a recorded error; empty where there is none."""
    return str(json.loads(error)["message"]) if error else ""


def _finish_row(row: EffectRow, result: EffectResult) -> EffectRow:
    kept = json.dumps({"value": result.value, "artifacts": list(result.artifacts)})
    usage = _add_usage(row.usage, result.usage)
    return replace(row, status="done", result=kept, usage=usage, error="")


def _add_usage(before: str, usage: Usage | None) -> str:
    """What an effect used up in all its attempts."""
    if usage is None:
        return before
    known = json.loads(before) if before else {}
    added = usage.to_json()
    both = {**known, **added}
    return json.dumps(
        {
            name: one if name == "model" else known.get(name, 0) + (added.get(name) or 0)
            for name, one in both.items()
        }
    )


def _read_result(row: EffectRow) -> EffectResult:
    kept, usage = json.loads(row.result), json.loads(row.usage)
    return EffectResult(
        value=kept["value"],
        artifacts=tuple(kept["artifacts"]),
        usage=read_usage(usage),
        status="replayed",
    )


# ----------------------------------------------------------------------------
# Ledgers in memory for runs whose host gave none, so that what acts at most once can act.
#
#     name_run()        "5f0c….7", sealed into the identity of a run when it begins in this process
#     find_ledger()     the ledger of the run that the running node belongs to, or why there is none
#
# Such a ledger lives as long as the process, and only effects that are at most once are written in it.
# A run that another process began gets none, because nobody here knows what was begun there: its
# effects that are at most once are refused, as if no run had a ledger in memory.
# A host that keeps runs longer gives a ledger itself; `RunStore` keeps it in the database.


LEDGER_NAME: Final = "ledger"
"""The member of a run's sealed identity that names its ledger in memory."""
_MOST: Final = 10_000
"""Runs whose ledgers are kept; of older ones it is unknown what they did."""
GONE: Final = "the ledger in memory of the process that began the run is gone"
MISSING: Final = "no ledger would know of it"


@dataclass(slots=True)
class _Process:
    """The runs that this process began."""

    name: str = field(default_factory=lambda: uuid4().hex)
    numbers: Any = field(default_factory=lambda: itertools.count(1))
    ledgers: OrderedDict[int, MemoryLedger] = field(default_factory=OrderedDict)
    newest_forgotten: int = 0
    """The highest number of a run whose ledger was let go."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def find(self, number: int) -> MemoryLedger | None:
        """The ledger of the run, made on first use; None where it was let go."""
        with self.lock:
            known = self.ledgers.get(number)
            if known is not None:
                self.ledgers.move_to_end(number)
                return known
            if number <= self.newest_forgotten:
                return None
            made = self.ledgers[number] = MemoryLedger()
            if len(self.ledgers) > _MOST:
                oldest, _ = self.ledgers.popitem(last=False)
                self.newest_forgotten = max(self.newest_forgotten, oldest)
            return made


_process = _Process()


def _begin_process() -> None:
    """A child of this process knows nothing of what its parent does from here on."""
    global _process  # noqa: PLW0603 - there is one process
    _process = _Process()


os.register_at_fork(after_in_child=_begin_process)


_begun: Final[ContextVar[str]] = ContextVar("cinatra_begun_run", default="")
"""The name of the run whose first node runs in this task, and maybe the nodes after it."""


def name_run() -> str:
    """A name for the ledger of a run that begins now, in this process."""
    name = f"{_process.name}.{next(_process.numbers)}"
    _begun.set(name)
    return name


def find_ledger() -> MemoryLedger | str:
    """The ledger of the running node's run; else why there is none, as part of a sentence."""
    process, _, number = _read_name().partition(".")
    if not number:
        return MISSING
    if process != _process.name or not number.isdecimal():
        return GONE
    return _process.find(int(number)) or GONE


def _read_name() -> str:
    """The name that stands in the run of the graph that runs; empty where there is none."""
    # On first use: hosts import this without the engine.
    from langgraph.config import get_config

    from cinatra_sdk.langgraph_internals.task_facts import is_in_a_graph, read_channels

    try:
        config = get_config()
        if not is_in_a_graph(config):
            return ""
        known = read_channels(config, ["run"])
    except (RuntimeError, KeyError):  # outside of any graph; a graph without runs
        return ""
    # In the superstep of the first node nothing is written yet.
    name = known["run"].get(LEDGER_NAME) if "run" in known else _begun.get()
    return name if isinstance(name, str) else ""
