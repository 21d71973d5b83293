"""A run that was rejected or has ended is no longer gone on with by its model."""

from __future__ import annotations

from contextlib import closing

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.host.model_routes import require_going
from cinatra_sdk.outside.routes import RouteError, RunOwner
from cinatra_sdk.store.database import Database
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, start


@pytest.mark.parametrize("approved", [True, False])
def test_a_run_goes_on_until_its_end_or_its_rejection(fresh_database: str, approved: bool) -> None:
    flow = compile_flow(flow_of(start(), gate("ask"), end()))
    with RunStore.open(fresh_database) as store, closing(Database.open(fresh_database)) as database:
        require = require_going(database)
        (waiting,) = store.start(flow, {}, "r1").waiting
        require(RunOwner(run_id="r1", tenant="", person=""))
        require(RunOwner())
        require(RunOwner(run_id="of another store"))
        decision = (
            Decision.approve(by="ann") if approved else Decision.reject(by="ann", reason="no")
        )
        store.answer("r1", waiting.id, decision)
        with pytest.raises(RouteError, match="completed" if approved else "rejected") as raised:
            require(RunOwner(run_id="r1"))
    assert (raised.value.status, raised.value.code) == (409, "run_ended")
