"""A run carried out again from its evidence, in memory and without any call.

    replay = replay_run(flow, row, load_evidence(connection, row), context)
    replay.stop        where the run stands by its evidence: `Stop(status="waiting", gates=(…))`
    replay.missing     the first effect without a result, where the run got no further than that

The evidence of a run is what it ever learnt from outside: its inputs, the bytes of its flow, the results of its
effects by key, and the decisions of people with the hash of what they were shown.  Whatever else a node gives, it
computes, and gives again.  So the checkpoints of a run can be made again from its evidence, in the layout of any
version, and comparing the two proves that the evidence is complete.

No effect is made: one without a result ends the replay (`EvidenceMissing`), one that failed fails as it did.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace
from typing import Any

from pydantic import JsonValue

from cinatra_sdk.errors import EffectRefused
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.door import Differs, Entry, Stored, Unknown
from cinatra_sdk.outside.effects.effect import Effect, EffectFailure, EffectResult
from cinatra_sdk.outside.effects.permits import EvidenceMissing, redeem_effect
from cinatra_sdk.outside.effects.recorded_errors import make_error
from cinatra_sdk.postgres.connection import Row, Rows, every
from cinatra_sdk.runs import Stop
from cinatra_sdk.store.decisions.decision_rows import Answers
from cinatra_sdk.store.evidence.isolated_rules import ReplayClock, isolate_rules
from cinatra_sdk.store.evidence.record_writer import read_transcript
from cinatra_sdk.store.flows.flow_protocol import DurableFlow
from cinatra_sdk.store.runs.run_rows import host_of
from cinatra_sdk.store.work.run_ledger import RAISED, read_result


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvidence:
    """What a run learnt from outside, as its rows keep it."""

    effects: Mapping[str, Row]
    """By key."""
    decisions: tuple[Row, ...]
    """Of people, in the order in which they were made."""
    open_gates: frozenset[tuple[str, str]]
    """Ids of the gates that wait, each with the hash of what it shows."""
    first_record: Mapping[str, Any] | None = field(default=None, repr=False)
    """What the first record of a governed run was made from."""
    approver_roles: frozenset[str] = frozenset()
    """Roles that the decided gates of a governed run asked for."""


def load_evidence(connection: Rows, row: Row) -> RunEvidence:
    """row: of the table `runs`.  Raises: `GovernanceRefused` where the first record cannot be read."""
    run_id = row["run_id"]
    about = {"run_id": run_id}
    first, roles = None, frozenset[str]()
    if row["governed"]:
        chain = every(connection, "list_chain", about)
        first = read_transcript(run_id, chain[0]) if chain else None
        roles = _read_roles(every(connection, "list_shown", about))
    return RunEvidence(
        first_record=first,
        approver_roles=roles,
        effects={row["key"]: row for row in every(connection, "load_effects", about)},
        decisions=tuple(every(connection, "load_answers", about)),
        open_gates=frozenset(
            (row["gate_id"], row["payload_sha256"])
            for row in every(connection, "list_open_hashes", about)
        ),
    )


def _read_roles(shown: list[Row]) -> frozenset[str]:
    payloads = [one["payload"] for one in shown if isinstance(one["payload"], Mapping)]
    values = [one.get("values") for one in payloads]
    found = [one.get("approver_role") for one in values if isinstance(one, Mapping)]
    return frozenset(one for one in found if isinstance(one, str))


class EvidenceLedger:
    """Answers each effect from the evidence; nothing is written, and nothing is made."""

    asks_run = True

    def __init__(self, effects: Mapping[str, Row]) -> None:
        self._effects = effects
        self.used: set[str] = set()
        """Keys of the effects that the replay asked for."""
        self.missing: Effect | None = None
        self.differing: list[Effect] = []
        """Effects whose arguments are not those that were sent."""

    def begin(self, effect: Effect) -> Entry:
        """Raises: `EvidenceMissing`; `GateNeeded`; the recorded error of an effect that failed."""
        self.used.add(effect.key)
        row = self._effects.get(effect.key)
        if row is None:
            self._miss(effect)
        assert row is not None
        _ask_rules(effect)
        if row["status"] == "begun":
            self._miss(effect)
        if row["status"] == "failed":
            told = row["error"] if isinstance(row["error"], Mapping) else {}
            if RAISED not in told:
                self._miss(effect)
            raise make_error(told[RAISED])
        if row["request_sha256"] != effect.request_sha256:
            self.differing.append(effect)
            return Differs()
        if row["status"] == "unknown":
            return Unknown()
        if row["result"] is None:  # it was archived
            self._miss(effect)
        return Stored(result=read_result(row["result"], row["usage"]))

    def _miss(self, effect: Effect) -> None:
        self.missing = self.missing or effect
        raise EvidenceMissing(effect)

    async def abegin(self, effect: Effect) -> Entry:
        return self.begin(effect)

    def finish(self, effect: Effect, _result: EffectResult) -> None:
        raise EvidenceMissing(effect)  # `begin` never begins one

    def fail(self, effect: Effect, _failure: EffectFailure) -> None:
        raise EvidenceMissing(effect)

    async def afinish(self, effect: Effect, result: EffectResult) -> None:
        self.finish(effect, result)

    async def afail(self, effect: Effect, failure: EffectFailure) -> None:
        self.fail(effect, failure)

    def ask(self, effect: Effect) -> None:
        """An effect that has no row of its own: nobody knows what came of it."""
        self._miss(effect)

    def list_unused(self) -> frozenset[str]:
        """Keys of the effects that were made, and that the replay did not ask for."""
        made = {key for key, one in self._effects.items() if one["status"] == "done"}
        return frozenset(made - self.used)


def _ask_rules(effect: Effect) -> None:
    """Ask the rules of a governed run as before the call: they count it, and may want a person first.

    A refusal is none any more: the effect was begun, so it was let through.
    """
    with suppress(EffectRefused):
        redeem_effect(effect)


class _Recorded(Answers):
    """The decisions of a run, and which of them the replay used."""

    def __init__(self, rows: tuple[Row, ...], clock: ReplayClock) -> None:
        super().__init__(rows)
        self._rows = rows
        self._clock = clock
        self._times = {(row["gate_id"], row["payload_sha256"]): row["decided_at"] for row in rows}
        self.used: set[tuple[str, str]] = set()

    def answer(self, gate: Gate) -> Mapping[str, JsonValue] | None:
        given = super().answer(gate)
        if given is not None:
            named = gate.id, gate.payload_sha256
            self.used.add(named)
            self._clock.move_to(self._times[named])
        return given

    def list_unused(self) -> tuple[Row, ...]:
        return tuple(
            row for row in self._rows if (row["gate_id"], row["payload_sha256"]) not in self.used
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a run comes to by its evidence."""

    stop: Stop
    failed: Exception | None = None
    """The error that it stopped with; None where it ended, waits, or lacks a result."""
    missing: Effect | None = None
    """The first effect without a result: the run was in the middle of it, or never began it."""
    differing: tuple[Effect, ...] = ()
    unused_effects: frozenset[str] = field(default=frozenset())
    """Keys of effects that were made, and that the replay did not come to."""
    unused_decisions: tuple[Row, ...] = ()
    """Decisions about gates that the replay did not come to, or that show something else."""


def replay_run(
    flow: DurableFlow, row: Row, evidence: RunEvidence, context: HostContext, *, saver: Any
) -> Replay:
    """Carry the run out from its start to where its evidence ends.

    row: of the table `runs`.  saver: an empty checkpointer in memory; it has the checkpoints afterwards.
    """
    ledger, clock = EvidenceLedger(evidence.effects), ReplayClock(row["created_at"])
    host = _make_silent_host(row, context, ledger)
    answers = _Recorded(evidence.decisions, clock)
    if row["governed"]:
        first, roles = evidence.first_record, evidence.approver_roles
        flow = isolate_rules(flow, row, first_record=first, roles=roles, clock=clock)
    stop, failed = _drive(flow, row, host, answers, saver)
    return Replay(
        stop=stop,
        failed=None if isinstance(failed, EvidenceMissing) else failed,
        missing=ledger.missing,
        differing=tuple(ledger.differing),
        unused_effects=ledger.list_unused(),
        unused_decisions=answers.list_unused(),
    )


def _drive(
    flow: DurableFlow, row: Row, host: HostContext, answers: Answers, saver: Any
) -> tuple[Stop, Exception | None]:
    """Where the run stops, and the error that stopped it there."""
    # Imported late: listing runs must not load the engine.
    from cinatra_sdk.activations import advance, find_stop_of_failure

    graph = flow.graph(saver)
    config = flow.config(run_id=row["run_id"])
    try:
        return advance(graph, row["input"], config, context=host, answer=answers.answer), None
    except Exception as error:  # noqa: BLE001 - whatever the run fails with is what it comes to
        return find_stop_of_failure(graph, config), error


def _make_silent_host(row: Row, context: HostContext, ledger: EvidenceLedger) -> HostContext:
    """The run's host, to whom nothing is told: whatever happens, happened before."""
    bare = replace(context, door=replace(context.door, ledger=None))
    host = host_of(row, bare, ledger)
    return replace(host, tell=None, door=replace(host.door, told=None, spent=None, tell=None))
