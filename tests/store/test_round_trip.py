"""A legal JSON value comes out of a durable run exactly as it went in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cinatra_sdk import Decision, RunStore, ValueRefused
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.effort import tries
from tests.flows import api, end, flow_of, gate, port, start

TEXT = st.text(
    alphabet=st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), max_size=20
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
FLOW = compile_flow(
    flow_of(
        start(port("v", None)),
        gate("look", inputs=[port("v", None)]),
        api("call", inputs=[port("v", None)], data={"v": "{{ v }}"}, outputs=[port("back", None)]),
        end(port("v", None), port("back", None)),
        edges=[
            ("start", "v", "look", "v"),
            ("start", "v", "call", "v"),
            ("start", "v", "end", "v"),
            ("call", "back", "end", "back"),
        ],
    )
)


class Mirror(SimulatedPlatform):
    """Answers with what it was sent."""

    def call(self, call: Any) -> Any:
        return {"back": call.body["v"]}

    def describe(self) -> Any:
        return {"kind": "mirror"}


@pytest.fixture
def store(fresh_database: str) -> Any:
    with RunStore.open(fresh_database) as opened:
        yield opened


def same(a: Any, b: Any) -> bool:
    """Equal, and of equal types all the way down: 1 is not 1.0, True is not 1."""
    return json.dumps(a) == json.dumps(b)


# The store's connections are opened by threads that draw the pause before the next try at random.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
@settings(
    max_examples=tries(15, 300),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(value=JSON)
def test_a_value_goes_through_input_gate_call_database_and_output_unchanged(
    store: RunStore, value: Any
) -> None:
    flow = FLOW.with_platform(Mirror())
    try:
        run = store.start(flow, {"v": value})
    except ValueRefused:
        assert "__" in json.dumps(value) or "branch:to:" in json.dumps(value)
        return
    assert same(run.waiting[0].values["v"], value)
    run = store.answer(run.id, "look", Decision.approve(by="x"), flow=flow)
    assert run.status == "completed", run.error
    assert run.outputs is not None
    assert same(run.outputs["v"], value)
    assert same(run.outputs["back"], value)


@pytest.mark.parametrize("value", [-0.0, 1e308, 5e-324, 1.0, "\u2028", "\ufffe", "\U0001d4b3", "{{ v }}", "{% x %}", ""])  # fmt: skip
def test_values_that_often_break_on_the_way_do_not(store: RunStore, value: Any) -> None:
    flow = FLOW.with_platform(Mirror())
    run = store.start(flow, {"v": value})
    run = store.answer(run.id, "look", Decision.approve(by="x"), flow=flow)
    assert run.outputs is not None
    assert same(run.outputs["back"], value)
