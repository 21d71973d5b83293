"""A claim that is not given, or whose work fails, is told as such and holds nothing back."""

from __future__ import annotations

import pytest

from cinatra_sdk import RunStore, SimulatedPlatform
from cinatra_sdk.errors import RunBusy, RunNotFound
from cinatra_sdk.store.work.run_ledger import CUT_OFF, _read_message
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, start

FLOW = flow_of(start(), gate("ask"), end())


def test_a_run_that_nobody_knows_or_that_is_busy_is_refused_in_words(fresh_database: str) -> None:
    flow = compile_flow(FLOW)
    with RunStore.open(fresh_database, platform=SimulatedPlatform()) as store:
        store.start(flow, {}, "r1")
        claims = store._claims
        with pytest.raises(RunNotFound, match="no run 'r9'"), claims.claim("r9", wait=0):
            pass
        with (
            claims.claim("r1", wait=0),
            pytest.raises(RunBusy, match="another process"),
            claims.claim("r1", wait=0),
        ):
            pass
        with pytest.raises(LookupError), claims.claim("r1", wait=0):
            raise LookupError
        with claims.claim("r1", wait=0) as (_connection, claim):
            assert claim.run_id == "r1"


@pytest.mark.parametrize(
    ("error", "told"),
    [(None, ""), ("text", ""), (CUT_OFF, ""), ({"code": "x", "message": "no answer"}, "no answer")],
)
def test_of_a_call_that_nobody_knows_of_no_message_is_told(error: object, told: str) -> None:
    assert _read_message(error) == told
