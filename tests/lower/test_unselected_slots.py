"""A context slot that nothing selects for keeps a flow from running: nothing is wired by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.lower.flow import flow_from_store
from oas_compiler.pipeline import compile_ir
from oas_compiler.report.diagnostics import CompileError
from tests.flows import end, flow_node, flow_of, port, start
from tests.slot_flows import declared, slot, taking, unwired
from tests.wired_flows import wired

OUTREACH = (
    Path(__file__).resolve().parents[2].parent
    / "shared/corpus/cinatra/email-outreach-agent/cinatra/oas.json"
)  # fmt: skip


def optional(flow: Any) -> Any:
    """The flow with a consumer that takes no selection as well: its structure is whole."""
    flow["$referenced_components"]["write"]["inputs"][1]["default"] = []
    return flow


def nested() -> Any:
    return flow_of(
        start(port("topic", default=""), required=["topic"]),
        flow_node("inner", optional(declared(id_="inner-flow"))),
        end(port("text")),
        edges=[("start", "topic", "inner", "topic"), ("inner", "text", "end", "text")],
    )


def refusal(flow: Any) -> list[str]:
    with pytest.raises(CompileError) as raised:
        compile_flow(flow)
    return [found.code for found in raised.value.diagnostics]


@pytest.mark.parametrize(
    "flow", [optional(declared()), declared(consumers=(taking(),)), nested()],
    ids=["optional", "unused", "nested"],
)  # fmt: skip
def test_a_flow_that_only_declares_its_slot_is_refused(flow: Any) -> None:
    assert compile_ir(flow).ir.id == "test-flow", "the control: its structure is whole"
    assert refusal(flow) == ["OAS154"]


@pytest.mark.parametrize(
    ("slots", "codes"),
    [
        ([slot(), slot()], ["OAS151"]),
        ([slot(minItems=3, maxItems=2)], ["OAS150"]),
        ([slot(colour="red")], ["OAS150"]),
        ([slot()], []),
    ],
)
def test_slots_that_no_host_could_read_are_refused_where_the_flow_is_wired(
    slots: Any, codes: list[str]
) -> None:
    flow = wired(optional(declared()))
    flow["metadata"]["cinatra"]["contextSlots"] = slots
    if codes:
        assert set(refusal(flow)) == set(codes)
    else:
        assert compile_flow(flow).gates


def test_the_refusal_says_which_slot_and_what_writes_the_wiring() -> None:
    with pytest.raises(CompileError, match='nothing selects for the context slot "brand"') as said:
        compile_flow(optional(declared()))
    assert "oasflow wire-context" in str(said.value)


def test_the_same_flow_runs_once_it_is_wired() -> None:
    done = drive(
        compile_flow(wired(optional(declared()))), {"topic": "x"}, answers=lambda one: one.example()
    )
    assert done.status == "completed", done.error
    assert "ctx-brand-resolve_context" in [call.node for call in done.calls]


def test_a_flow_that_declares_no_slot_runs_without_one() -> None:
    flow = optional(declared())
    del flow["metadata"]["cinatra"]["contextSlots"]
    assert drive(compile_flow(flow), {"topic": "x"}).status == "completed"


@pytest.mark.skipif(not OUTREACH.exists(), reason="the folder of real input is absent")
def test_a_public_agent_that_lost_its_wiring_sends_nothing_without_its_context() -> None:
    public = json.loads(OUTREACH.read_text("utf-8"))
    assert compile_flow(public).gates
    assert refusal(unwired(public)) == ["OAS154"]


def test_a_run_that_began_before_goes_on() -> None:
    source = json.dumps(optional(declared())).encode()
    flow = flow_from_store(source, env={}, platform=SimulatedPlatform(), tools={})
    assert flow.platform_given
    assert drive(flow, {"topic": "x"}).status == "completed"
