"""What a store asks of a governed flow: how a run begins, goes on, and what its record tells.

A store calls `begin` where a run is stored, `restore` before each activation, and `tell` at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from cinatra_sdk.governance.admission import (
    Admitted,
    HostWord,
    admit,
    describe_admitted,
    load_packs,
)
from cinatra_sdk.governance.canonical import spell_integers
from cinatra_sdk.governance.compiling import compile_context
from cinatra_sdk.governance.evidence import Evidence
from cinatra_sdk.governance.first_turn_block import read_first_turn
from cinatra_sdk.governance.loop.closing import tell_transcript
from cinatra_sdk.governance.loop.state import REQUEST
from cinatra_sdk.governance.recording import format_time
from cinatra_sdk.governance.rulebook import make_rulebook
from cinatra_sdk.governance.story import OPEN, begin_transcript
from cinatra_sdk.governance.usage import Used, Wanted

if TYPE_CHECKING:
    from cinatra_sdk.governance.flows import PackRules
    from cinatra_sdk.governance.parts import GovernanceParts

Run = Mapping[str, Any]
"""`{"run_id", "tenant", "started_by"}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a store knows at the end of an activation."""

    run: Run
    last: Mapping[str, Any] = field(repr=False)
    """The transcript of the record before."""
    values: Mapping[str, Any] = field(repr=False)
    """The state of the run's graph."""
    status: str
    """Of the run: `completed`, `waiting`, …"""
    outputs: Mapping[str, Any] | None = field(default=None, repr=False)
    branch: str | None = None


class RunRecorder(Protocol):
    """Of one governed flow; safe to share between threads and runs."""

    @property
    def governance(self) -> GovernanceParts: ...

    def begin(self, params: Mapping[str, Any], run: Run) -> dict[str, Any]:
        """The transcript of a new run.  Raises: `GovernanceRefused`; then nothing is stored."""
        ...

    def restore(
        self, run: Run, last: Mapping[str, Any], recorded: Iterable[Evidence], made: Iterable[str]
    ) -> None:
        """Told before an activation: what the run has come to so far.

        Raises: `FlowChanged` where the packs are not those that it began with.

        recorded: results of its calls.  made: the capability of each call that the ledger has.
        """
        ...

    def working(self, run: Run) -> AbstractContextManager[None]:
        """Around the work of an activation, whose time counts."""
        ...

    def tell(self, told: Told) -> dict[str, Any]:
        """The transcript at the end of an activation, without the calls that only the ledger knows."""
        ...


def _begin(
    kind: str, admitted: Admitted, word: HostWord, governance: GovernanceParts
) -> dict[str, Any]:
    # The nodes of a flow begin with a first turn by their own metadata.
    told = read_first_turn(admitted, governance.ports) if kind == "loop" else ()
    compiled = compile_context(admitted, governance.ports, told=told)
    at = format_time(governance.ports.clock())
    return begin_transcript(kind, describe_admitted(admitted, word, at), compiled, admitted.book)


class LoopRecorder:
    """Of the canonical loop, which keeps its story in its own state."""

    def __init__(self, governance: GovernanceParts) -> None:
        self.governance = governance

    def begin(self, params: Mapping[str, Any], run: Run) -> dict[str, Any]:
        word = self.governance.read_word(run)
        admitted = admit(params[REQUEST], word, self.governance.registry, self.governance.ports)
        return _begin("loop", admitted, word, self.governance)

    def restore(
        self, run: Run, last: Mapping[str, Any], recorded: Iterable[Evidence], made: Iterable[str]
    ) -> None:
        """Nothing: the state of the graph has it."""

    def working(self, _run: Run) -> AbstractContextManager[None]:
        return nullcontext()

    def tell(self, told: Told) -> dict[str, Any]:
        values = told.values
        if "loop" not in values or "compiled" not in values:
            return {**told.last, "status": OPEN}
        # Not admitted anew: a claim may be over by now, and what was done has its record all the same.
        refs = values["admitted"]["envelope"]["context_pack_refs"]
        tenant = self.governance.read_word(told.run).tenant
        book = make_rulebook(load_packs(refs, self.governance.registry, tenant))
        return tell_transcript(values, values["loop"]["used"], book)


class FlowRecorder:
    """Of a compiled flow: its inputs, its calls, its outputs."""

    def __init__(self, rules: PackRules) -> None:
        self.rules = rules
        self.governance = rules.governance

    def begin(self, params: Mapping[str, Any], run: Run) -> dict[str, Any]:
        admitted = self.rules.admit_run(run, params)
        made = _begin("flow", admitted, self.governance.read_word(run), self.governance)
        self.rules.restore_session(run, admitted, Used(**made["used"]), ())
        return made

    def restore(
        self, run: Run, last: Mapping[str, Any], recorded: Iterable[Evidence], made: Iterable[str]
    ) -> None:
        params = last["admitted"]["envelope"]["input"].get("context") or {}
        admitted = self.rules.admit_run(run, params, begun=True)
        admitted.book.require_unchanged(last["admitted"]["book"])
        used, known = Used(**last["used"]), admitted.book.capabilities
        spent = sum(known[one].about.cost_cents for one in made if one in known)
        used = replace(used, cost_cents=max(used.cost_cents, round(spent, 6)))
        held = {name: Wanted(**one) for name, one in (last.get("held") or {}).items()}
        self.rules.restore_session(run, admitted, used, recorded, held)

    def working(self, run: Run) -> AbstractContextManager[None]:
        return self.rules.open_session(run).usage.working()

    def tell(self, told: Told) -> dict[str, Any]:
        session = self.rules.open_session(told.run)
        made = {**told.last, "status": OPEN, "used": asdict(session.usage.read())}
        # Records of runs without an open question are made as before.
        made.pop("held", None)
        held = {name: asdict(one) for name, one in session.usage.list_held().items()}
        if held:
            made["held"] = held
        if told.status == "completed":
            outputs = spell_integers(told.outputs or {})
            outcome = outputs.get("outcome")
            made["outputs"] = session.admitted.book.redact(outputs)
            branch = told.branch if told.branch not in (None, "next") else "completed"
            made["outcome"] = outcome if isinstance(outcome, str) else branch
        return made
