"""The checkpoints of a run, made again from its evidence.

In: a claimed run whose checkpoints are in another version's layout, damaged or gone.
Out: new checkpoints in its place, at the same stop; or `CheckpointsUnusable`, which says why there are none.

A gate that shows what it showed waits on, and its decision counts.  A gate that shows something else asks
again: what was approved is what was shown.  No effect is repeated: one with a result gives it again, and of
one without a result the ledger decides as after any crash.
"""

from __future__ import annotations

import logging
from typing import Final, Literal, TypeAlias

from cinatra_sdk.engine.host_context import HostContext
from cinatra_sdk.errors import CheckpointsUnusable
from cinatra_sdk.events import RunEvent
from cinatra_sdk.postgres.connection import Row, Rows
from cinatra_sdk.store.flows.flow_protocol import DurableFlow
from cinatra_sdk.store.runs.replay import Evidence, Replay, load_evidence, replay_run
from cinatra_sdk.store.work.claims import Claim

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
    from cinatra_sdk.store.work.rebuilt_checkpoints import RebuiltCheckpoints

    row = claim.row
    if not flow.is_repeatable:
        raise _build_error(
            row, reason, "nobody knows what the functions of a hand-written graph did"
        )
    evidence = load_evidence(connection, claim.run_id)
    rebuilt = RebuiltCheckpoints()
    replay = replay_run(flow, row, evidence, context, saver=rebuilt)
    problem = find_problem(replay, evidence)
    if problem:
        raise _build_error(row, reason, problem)
    again = [one["gate_id"] for one in replay.unused_decisions]
    about = {"reason": reason, "from": row["lowering"], "to": flow.lowering, "asks_again": again}
    rebuilt.replace(
        connection, run_id=claim.run_id, tenant=row["tenant"], fence=claim.fence,
        lowering=flow.lowering, events=[RunEvent(kind="run", name="rebuilt", data=about)],
    )  # fmt: skip
    log.warning(
        "run '%s': its checkpoints %s; they were made again from its evidence%s", claim.run_id,
        _WHY[reason], f", and {', '.join(again)} asks again" if again else "",
    )  # fmt: skip
    return rebuilt.newest


def find_problem(replay: Replay, evidence: Evidence) -> str:
    """Why the run cannot go on from where its evidence leads; empty: it can."""
    if replay.differing:
        return f"'{replay.differing[0].path}' would send something else than it sent"
    missing = replay.missing
    if missing is None:
        if replay.unused_effects and replay.failed is None and not replay.unused_decisions:
            lost = min(replay.unused_effects)
            return f"it does not come to '{evidence.effects[lost]['path']}' any more, which it made"
        return ""
    if missing.key in evidence.effects:
        return ""
    place = missing.place or missing.path, missing.visit
    if any((one["path"], one["visit"]) == place for one in evidence.effects.values()):
        return f"the call of '{place[0]}' has another key than before"
    return ""


def _build_error(row: Row, reason: RebuildReason, problem: str) -> CheckpointsUnusable:
    return CheckpointsUnusable(
        f"the checkpoints of run '{row['run_id']}' {_WHY[reason]}, and its evidence does not lead "
        f"to where it stood: {problem}",
        hint="restore them, or go on with the version that wrote them, and resume the run; or stop it",
    )
