"""The state of a run: the writers of each channel, and which write wins.

In: updates of nodes.  Out: LangGraph channels that keep the rules below for every write.

    class State(GovernedState):            # your own fields beside the governed ones
        drafts: list[str]

| key | channel | rule |
|---|---|---|
| `bearer_token`, `approval_policy`, `run` | `HostOnly` | write-once, sealed by the host (R-01) |
| `rejected_at` | `FirstText` | the first rejection stays |
| `status` | `TerminalWins` | a terminal status stays; a rejection wins over a completion |
| `seen` | `Latest` | how far the thread was checked for forks; sealed |
| `visits` | `Visits` | how often each block has finished; sealed, the highest number wins |
| `cursor` | `Turn` | whose turn it is; sealed, the latest wins |
| `node.<id>` | `Record` | outputs of a node; sealed, the latest wins |
| `messages`, `decisions` | `Conversation`, `Decisions` (`list_channels.py`) | grow only; sealed |
| `outputs`, `branch`, `ended` | `HostOnly` | result of the run; sealed by its own end, write-once |

Why no reducers: measured on LangGraph 1.2.22, ordinary JSON such as
`{"__overwrite__": …}` replaces the value of any `Annotated[T, reducer]` channel, and the first
value of an optional channel never reaches its reducer.  A channel class sees every write.

Why a seal: an authoritative value arrives as `bytes` made by `seal()`.  No JSON document can
hold bytes, so no input, no `Command(update=…)` from a client and no `update_state` of a form
can make one, and bytes survive the database with every serializer.

A checkpoint keeps the seal too: if another graph wrote the thread with plain keys of the same
names, no channel here accepts their values.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Self

from typing_extensions import TypedDict

from cinatra_sdk.contract import TERMINAL
from cinatra_sdk.langgraph_internals.channels import MISSING, BaseChannel, EmptyChannelError

log = logging.getLogger("oasflow.state")

AUTHORITATIVE: Final = ("bearer_token", "approval_policy", "run")
"""Keys that only the host sets; values of callers under these names are ignored."""

_MAGIC: Final = b"oasflow-seal:"
SEAL_KEY: Final = "seal"
SEALED: Final = {SEAL_KEY: _MAGIC}
"""The seal as a member of a node's record."""
# Made once: json.dumps with options makes an encoder at each call, and each step seals a cursor.
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_DECODER: Final = json.JSONDecoder()


def seal(value: object) -> bytes:
    """`value` with the host's seal: the only form that a governed channel accepts."""
    return _MAGIC + _ENCODER.encode(value).encode()


def unseal(value: object) -> Any:
    """The sealed value, or `MISSING` when `value` was not made by `seal()`."""
    if isinstance(value, bytes) and value.startswith(_MAGIC):
        try:
            return _DECODER.raw_decode(value[len(_MAGIC) :].decode())[0]
        except (ValueError, RecursionError):
            return MISSING  # not made by `seal()`: a tampered row
    return MISSING


class _Kept(BaseChannel[Any, Any, Any]):
    """The common part of the governed channels: one value, kept over checkpoints, empty at
    first.
    """

    __slots__ = ("value",)

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self.value: Any = MISSING

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = None  # type: ignore[assignment]  # the way to say unhashable

    @property
    def ValueType(self) -> Any:  # noqa: N802 - LangGraph's name
        return self.typ

    @property
    def UpdateType(self) -> Any:  # noqa: N802 - LangGraph's name
        return self.typ

    def copy(self) -> Self:
        return self.from_checkpoint(self.value)

    def checkpoint(self) -> Any:
        return self.value

    def from_checkpoint(self, checkpoint: Any) -> Self:
        channel = type(self)(self.typ, self.key)
        channel.value = checkpoint
        return channel

    def get(self) -> Any:
        if self.value is MISSING:
            raise EmptyChannelError
        return self.value

    def is_available(self) -> bool:
        return self.value is not MISSING

    def _set_value(self, value: Any) -> bool:
        if value is MISSING or (self.value is not MISSING and value == self.value):
            return False
        self.value = value
        return True


class _Sealed(_Kept):
    """A channel whose value stands in a checkpoint as it was written, with its seal."""

    __slots__ = ("stored",)

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self.stored: Any = MISSING

    def copy(self) -> Self:
        channel = type(self)(self.typ, self.key)
        channel.value, channel.stored = self.value, self.stored
        return channel

    def checkpoint(self) -> Any:
        return self.stored


class HostOnly(_Sealed):
    """Accepts the first sealed value and keeps it for ever; every other write is dropped and logged."""

    __slots__ = ()

    def from_checkpoint(self, checkpoint: Any) -> Self:
        channel = type(self)(self.typ, self.key)
        channel.value = unseal(checkpoint)
        channel.stored = checkpoint if channel.value is not MISSING else MISSING
        return channel

    def update(self, values: Sequence[Any]) -> bool:
        changed = False
        for value in values:
            opened = unseal(value)
            if opened is MISSING:
                log.warning("R01_IGNORED: a write to %r that the host did not make", self.key)
            elif self.value is MISSING:
                self.value, self.stored = opened, value
                changed = True
        return changed


class Latest(HostOnly):
    """Accepts sealed values and keeps the latest; any other write is dropped and logged.

    A sealed null empties the channel: a node must write again what it took back.
    """

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        changed = False
        for value in values:
            opened = unseal(value)
            if opened is MISSING:
                log.warning("R01_IGNORED: a write to %r that no node made", self.key)
            else:
                kept = (MISSING, MISSING) if opened is None else (opened, value)
                (self.value, self.stored), changed = kept, True
        return changed


class Visits(HostOnly):
    """How often each node has finished, `{node: visits}`; the highest number of each node stays."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        counted: dict[str, int] = {} if self.value is MISSING else dict(self.value)
        for value in values:
            finished = unseal(value)
            if finished is MISSING:
                log.warning("R01_IGNORED: a write to %r that no node made", self.key)
                continue
            counted |= {n: max(visits, counted.get(n, 0)) for n, visits in finished.items()}
        if not counted or counted == self.value:
            return False
        self.value, self.stored = counted, seal(counted)
        return True


class FirstText(_Kept):
    """Keeps the first non-empty string; everything else is dropped."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        if self.value is not MISSING:
            return False
        texts = [value for value in values if isinstance(value, str) and value]
        return self._set_value(min(texts)) if texts else False


class TerminalWins(_Kept):
    """Keeps a terminal status; a rejection wins over every other status, in any order."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        known = [value for value in values if isinstance(value, str) and value in _RANK]
        if not known:
            return False
        best = max(known, key=_RANK.__getitem__)
        if self.value in TERMINAL and _RANK[best] <= _RANK[self.value]:
            return False
        return self._set_value(best)


_RANK: Final = {
    "waiting": 0,
    "running": 0,
    "completed": 1,
    "stopped": 1,
    "failed": 1,
    "rejected": 2,
}


class Turn(_Kept):
    """Whose turn it is: `{"seq": number of the step, "next": node id or None}`, sealed.

    A node does nothing unless the cursor names it, so a jump into the middle of a flow
    (`Command(goto=…)`, `update_state(as_node=…)`) has no effect and sends nothing.

    In a checkpoint the turn is JSON text: the Postgres saver stores a string in the checkpoint's
    own row, but any other value in a further row per step.
    """

    __slots__ = ()

    def copy(self) -> Self:
        channel = type(self)(self.typ, self.key)
        channel.value = self.value
        return channel

    def checkpoint(self) -> Any:
        return self.value if self.value is MISSING else _ENCODER.encode(self.value)

    def from_checkpoint(self, checkpoint: Any) -> Self:
        channel = type(self)(self.typ, self.key)
        channel.value = _parse_turn(checkpoint)
        return channel

    def update(self, values: Sequence[Any]) -> bool:
        if not values:  # the engine calls every channel at every step
            return False
        changed = False
        for turn in map(unseal, values):
            if isinstance(turn, dict) and (
                self.value is MISSING or turn["seq"] > self.value["seq"]
            ):
                self.value = turn
                changed = True
        return changed


def _parse_turn(text: Any) -> Any:
    """The turn in a checkpoint; `MISSING` for a value that no run of this project wrote."""
    if not isinstance(text, str):
        return MISSING
    try:
        turn = json.loads(text)
    except (ValueError, RecursionError):
        return MISSING
    if not isinstance(turn, dict) or not {"seq", "next"} <= turn.keys():
        return MISSING
    return {"seq": turn["seq"], "next": turn["next"]}


class Record(_Sealed):
    """Outputs of a node: `{"seq", "visits", "next", "out", …}`; the latest wins.

    A write carries the seal as one of its members, so that its values stay readable on the way:
    `{**record, **SEALED}`.  Without the seal a client could, in the request that approves, change
    what is sent afterwards.  A checkpoint keeps the member.
    """

    __slots__ = ()

    def from_checkpoint(self, checkpoint: Any) -> Self:
        channel = type(self)(self.typ, self.key)
        if _is_sealed(checkpoint):
            channel._set_sealed(checkpoint)  # noqa: SLF001 - its own kind
        return channel

    def update(self, values: Sequence[Any]) -> bool:
        changed = False
        for value in values:
            if not _is_sealed(value):
                log.warning("R01_IGNORED: a write to %r that no node made", self.key)
            elif self.value is MISSING or value["seq"] > self.value["seq"]:
                self._set_sealed(value)
                changed = True
        return changed

    def _set_sealed(self, sealed: dict[str, Any]) -> None:
        self.stored = sealed
        self.value = {key: item for key, item in sealed.items() if key != SEAL_KEY}


def _is_sealed(value: Any) -> bool:
    return isinstance(value, dict) and value.get(SEAL_KEY) == _MAGIC


class Appended(_Kept):
    """A short list that only grows; a write is a sealed list of further items.

    Each checkpoint after a write keeps the whole list; `list_channels.py` has lists for long runs.
    """

    __slots__ = ()

    def copy(self) -> Self:
        channel = type(self)(self.typ, self.key)
        channel.value = self.value
        return channel

    def checkpoint(self) -> Any:
        return self.value if self.value is MISSING else {"items": self.value, **SEALED}

    def from_checkpoint(self, checkpoint: Any) -> Self:
        channel = type(self)(self.typ, self.key)
        if _is_sealed(checkpoint):
            channel.value = checkpoint["items"]
        return channel

    def update(self, values: Sequence[Any]) -> bool:
        lists = [items for items in map(unseal, values) if isinstance(items, list)]
        more = [item for items in lists for item in items]
        return (
            self._set_value([*(self.value if self.value is not MISSING else []), *more])
            if more
            else False
        )


class GovernedState(TypedDict, total=False):
    """The governed keys, to inherit from in a hand-written graph's state.

    Give the graph an `input_schema` of its own without these keys: a key that is not in the
    input schema cannot be set by a caller at all.
    """

    bearer_token: Annotated[str, HostOnly]
    """Always `""`: a real token lives in the runtime context only."""
    approval_policy: Annotated[Any, HostOnly]
    """The policy at the start of the run, or null where the host has no policy."""
    run: Annotated[dict[str, Any], HostOnly]
    """Run identity: `run_id`, `tenant`, `thread`, `scope`, and the thread's graph: `digest`,
    `graph`.
    """
    seen: Annotated[str, Latest]
    """The checkpoint up to which a block has checked for forks (`cinatra_sdk.langgraph_threads.lineage`)."""
    visits: Annotated[dict[str, int], Visits]
    """How often each block has finished; distinguishes a repeated call from the next call."""
    ended: Annotated[dict[str, Any], HostOnly]
    """`{"scope"}`: the graph reached its own end.  An outer graph trusts only this key."""
    rejected_at: Annotated[str, FirstText]
    """ISO 8601 time of the first rejection; no later node does anything once it is set."""
    status: Annotated[str, TerminalWins]
    """One of `Status`."""


def has_ended(state: Mapping[str, Any]) -> bool:
    """Whether the run was rejected or is in a terminal status: then no node may act."""
    return bool(state.get("rejected_at")) or state.get("status") in TERMINAL
