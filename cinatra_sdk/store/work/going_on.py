"""Whether a run can be gone on with from the checkpoints that it has.

In: the row that a claim gives.  Out: the problem, or None; then this process's ids sort after them.

A run that has begun and has no checkpoint must not begin again in silence: what it did would be
done twice.
"""

from __future__ import annotations

from cinatra_sdk.errors import CheckpointsUnusable
from cinatra_sdk.postgres.connection import Row


def find_unusable_checkpoints(row: Row) -> CheckpointsUnusable | None:
    # Imported late: listing runs must not load the engine.
    from cinatra_sdk.engine.id_clock import move_ids_beyond

    name = row["run_id"]
    if row["newest"] is None:
        if not row["has_acted"]:
            return None
        return CheckpointsUnusable(
            f"run '{name}' has begun, and its checkpoints were deleted",
            hint="to begin again would repeat what it did: restore them and resume the run, or stop it",
        )
    if move_ids_beyond(row["newest"]):
        return None
    return CheckpointsUnusable(
        f"run '{name}' has a checkpoint that is ahead of this process's clock by more than a century",
        hint="set the clock right and resume the run; or the checkpoint was forged: stop the run",
    )
