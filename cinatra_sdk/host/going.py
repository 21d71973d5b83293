"""Whether the run of a call still goes on, by its row: asked while a model talks for it.

require_going(database)(RunOwner(run_id="r1"))      None; RouteError 409 "run_ended" after a reject
"""

from __future__ import annotations

from collections.abc import Callable

from cinatra_sdk.contract import ENDED
from cinatra_sdk.postgres.connection import one
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.routed.call import RouteError, RunOwner


def require_going(database: Database) -> Callable[[RunOwner], None]:
    """Raises: `RouteError`; `StoreError` where the database does not answer."""

    def require(owner: RunOwner) -> None:
        if not owner.run_id:
            return
        with database.connection() as connection:
            row = one(connection, "load_standing", {"run_id": owner.run_id})
        if row is None:  # a run without a store
            return
        if row["rejected_at_gate"] or row["status"] in ENDED:
            status = "rejected" if row["rejected_at_gate"] else row["status"]
            raise RouteError(
                409, "run_ended", f"the run is {status}: its model is not asked, and calls no tool"
            )

    return require
