"""The checkpoints of a run, made again from its evidence.

In: a claimed run whose checkpoints are in another version's layout, damaged or gone.
Out: new checkpoints in its place, at the same stop; or `CheckpointsUnusable`, which says why there are none.

A gate that shows what it showed waits on, and its decision counts.  A gate that shows something else asks
again: what was approved is what was shown.  No effect is repeated: one with a result gives it again, and of
one without a result the ledger decides as after any crash.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from cinatra_sdk.errors import CheckpointsUnusable, ChildWaits, EffectUnknown
from cinatra_sdk.events import RunEvent
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, Rows
from cinatra_sdk.runs import Stop
from cinatra_sdk.store.flows.flow_protocol import DurableFlow
from cinatra_sdk.store.runs.run_rows import explain_unrepeatable
from cinatra_sdk.store.work.claims import Claim

if TYPE_CHECKING:
    from cinatra_sdk.store.runs.replay import Replay, RunEvidence

log = logging.getLogger("oasflow.store")
RebuildReason: TypeAlias = Literal["layout", "missing", "damaged"]
_WHY: Final = {
    "layout": "are in the layout of another version",
    "missing": "are gone",
    "damaged": "cannot be read",
}


def find_reason(row: Row, flow: DurableFlow) -> RebuildReason | None:
    """Why the run cannot go on from its checkpoints as they are; None: it can.

    row: as a claim gives it.  Raises: `CheckpointsUnusable` for a checkpoint from the far future.
    """
    # Imported late: listing runs must not load the engine.
    from cinatra_sdk.langgraph_internals.checkpoint_ids import move_ids_beyond

    name = row["run_id"]
    if row["newest"] is None:
        # To begin again without the evidence would repeat what the run did.
        return "missing" if row["has_acted"] else None
    if not move_ids_beyond(row["newest"]):
        raise CheckpointsUnusable(
            f"run '{name}' has a checkpoint that is ahead of this process's clock by more than a century",
            hint="set the clock right and resume the run; or the checkpoint was forged: stop the run",
        )
    return None if row["lowering"] == flow.lowering else "layout"


def rebuild_checkpoints(
    connection: Rows,
    claim: Claim,
    flow: DurableFlow,
    context: HostContext,
    *,
    reason: RebuildReason,
) -> str:
    """Out: the id of the newest checkpoint.  Raises: `CheckpointsUnusable`; `FenceLost`."""
    # Imported late: listing runs must not load the engine.
    from cinatra_sdk.store.runs.replay import load_evidence, replay_run
    from cinatra_sdk.store.work.rebuilt_checkpoints import RebuiltCheckpoints

    row = claim.row
    why = explain_unrepeatable(row, flow)
    if why:
        raise _build_error(row, reason, why)
    rebuilt = RebuiltCheckpoints()
    evidence = load_evidence(connection, row)
    found = foretell(row, replay_run(flow, row, evidence, context, saver=rebuilt), evidence)
    if found.outcome == "cannot":
        raise _build_error(row, reason, found.reason)
    event = _build_event(row, flow, found, reason)
    rebuilt.replace(connection, claim, lowering=flow.lowering, events=[event])
    _warn(found, reason)
    return rebuilt.newest


def _warn(found: Forecast, reason: RebuildReason) -> None:
    again = f", and {', '.join(found.asks_again)} asks again" if found.asks_again else ""
    log.warning(
        "run '%s': its checkpoints %s; they were made again from its evidence%s", found.run_id,
        _WHY[reason], again,
    )  # fmt: skip


def _build_event(row: Row, flow: DurableFlow, found: Forecast, reason: RebuildReason) -> RunEvent:
    """The news that the checkpoints were made again."""
    again = list(found.asks_again)
    about = {"reason": reason, "from": row["lowering"], "to": flow.lowering, "asks_again": again}
    return RunEvent(kind="run", name="rebuilt", data=about)


Outcome: TypeAlias = Literal["unchanged", "asks again", "cannot"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What becomes of a run whose checkpoints are made again."""

    run_id: str
    outcome: Outcome
    asks_again: tuple[str, ...] = ()
    """Gates that show something else than they did, and so ask again."""
    reason: str = ""
    """Why the run cannot go on; empty: it can."""


def foretell(row: Row, replay: Replay, evidence: RunEvidence) -> Forecast:
    """What becomes of the run, by its evidence.

    row: with its `open_gates`, or those of `evidence`.
    """
    name = row["run_id"]
    shown = {(gate.id, gate.payload_sha256) for gate in replay.stop.gates}
    asked = {gate_id for gate_id, _ in shown}
    again = {one["gate_id"] for one in replay.unused_decisions}
    has_stopped_early = replay.missing is not None or replay.failed is not None
    before = set() if has_stopped_early else evidence.open_gates
    again |= {gate_id for gate_id, sha256 in before if (gate_id, sha256) not in shown}
    problem = _find_problem(replay, evidence)
    gone = sorted(again - asked)
    if not problem and gone and not has_stopped_early:
        problem = f"it does not come to the gate '{gone[0]}' any more"
    if problem:
        return Forecast(run_id=name, outcome="cannot", reason=problem)
    again &= asked
    if not again:
        return Forecast(run_id=name, outcome="unchanged")
    return Forecast(run_id=name, outcome="asks again", asks_again=tuple(sorted(again)))


def _find_problem(replay: Replay, evidence: RunEvidence) -> str:
    """Why the run cannot go on from where its evidence leads; empty: it can, as far as its calls tell."""
    if replay.differing:
        return f"'{replay.differing[0].path}' would send something else than it sent"
    missing = replay.missing
    if missing is None:
        if replay.unused_effects and replay.failed is None and not replay.unused_decisions:
            lost = evidence.effects[min(replay.unused_effects)]
            return f"it does not come to '{lost['path']}' any more, which it called"
        return ""
    if missing.key in evidence.effects:
        return ""  # it was under way when its process died
    place = missing.place or missing.path, missing.visit
    if any((one["path"], one["visit"]) == place for one in evidence.effects.values()):
        return f"the call of '{place[0]}' has another key than before"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """Whether a run is what its evidence makes of it."""

    run_id: str
    status: str
    differences: tuple[str, ...] = ()
    """What the evidence does not give as it is stored, one sentence each; empty: everything is equal."""

    @property
    def is_equal(self) -> bool:
        return not self.differences


def compare_run(row: Row, replay: Replay, evidence: RunEvidence) -> RunComparison:
    """Compare what is stored of a run with what its evidence comes to.

    row: as `load_row` gives it.
    """
    found = list(_list_differences(row, replay, evidence))
    return RunComparison(run_id=row["run_id"], status=row["status"], differences=tuple(found))


def _list_differences(row: Row, replay: Replay, evidence: RunEvidence) -> Iterator[str]:
    problem = _find_problem(replay, evidence)
    if problem:
        yield problem
    status = row["status"]
    if row["can_go_on"]:
        return  # a decision leads beyond where it stands, and nobody has carried it out
    if replay.missing is not None:
        if status in {"completed", "waiting"}:
            yield f"the evidence has no result of '{replay.missing.place or replay.missing.path}'"
        return
    if status in {"stopped", "running", "failed"}:
        return  # somebody, or a fault, ended it before the evidence did
    reached = _read_status(replay)
    if reached != status:
        told = f": {replay.failed}" if replay.failed is not None else ""
        yield f"the evidence comes to '{reached}', and the run is {status}{told}"
        return
    yield from _compare_content(row, replay.stop)
    shown = {(gate.id, gate.payload_sha256) for gate in replay.stop.gates}
    for gate_id, sha256 in sorted(evidence.open_gates - shown):
        yield f"the gate '{gate_id}' showed {sha256[:16]}…, and the evidence shows something else"
    for decision in replay.unused_decisions:
        yield f"the decision at '{decision['gate_id']}' is about something that the evidence does not show"


def _read_status(replay: Replay) -> str:
    if replay.failed is None:
        return replay.stop.status
    waits = isinstance(replay.failed, (EffectUnknown, ChildWaits))
    return "waiting" if waits else "failed"


def _compare_content(row: Row, stop: Stop) -> Iterator[str]:
    if row["status"] == "completed":
        if _list_outputs(stop.outputs, row) != _list_outputs(row["outputs"], row):
            yield "the outputs differ"
        if (stop.branch or None) != (row["branch"] or None):
            yield "the branch of the end differs"
    if [dict(message) for message in stop.messages] != row["messages"]:
        yield "the conversation differs"


def _list_outputs(outputs: Mapping[str, Any] | None, row: Row) -> dict[str, Any]:
    """Without the decision record of a governed run: its own table has it, and it is made once."""
    left = dict(outputs or {})
    if row["governed"]:
        # Imported late: runs that nobody governs need none of it.
        from cinatra_sdk.governance.loop.conclusion import DECISION_RECORD

        left.pop(DECISION_RECORD, None)
    return left


def _build_error(row: Row, reason: RebuildReason, problem: str) -> CheckpointsUnusable:
    return CheckpointsUnusable(
        f"the checkpoints of run '{row['run_id']}' {_WHY[reason]}, and its evidence does not lead "
        f"to where it stood: {problem}",
        hint="restore them, or go on with the version that wrote them, and resume the run; or stop it",
    )
