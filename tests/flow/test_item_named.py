"""An error inside a node that goes through a list says which element it happened at."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.outside.http_calls.protocol import PlatformCall, PlatformError
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.testing import adrive, drive
from oas_compiler import compile_flow
from tests.flow.containers import around, checked_item, mapped, parallel
from tests.flow.test_containers import mapping_numbers
from tests.flows import end, flow_node, flow_of, gate, port, start

Json = dict[str, Any]
KINDS = ["MapNode", "ParallelMapNode"]


class Choosy(SimulatedPlatform):
    """Answers everybody but "1", with an error that is raised as the same object every time."""

    def __init__(self) -> None:
        super().__init__()
        self.error: Exception = PlatformError("no such person", node="draft", code="unknown_person")

    def call(self, call: PlatformCall) -> Any:
        super().call(call)
        assert isinstance(call.body, dict)
        if call.node == "draft" and call.body["x"] == "1":
            raise self.error
        return {"d": "draft", "sent": "sent"}

    async def acall(self, call: PlatformCall) -> Any:
        return self.call(call)


def allow(_gate: Gate) -> Decision:
    return Decision.approve(by="ann")


def fails(flow: Json) -> list[str]:
    """The error that a run of the flow ends with, without and with an event loop."""
    made, platform = compile_flow(flow), Choosy()
    ended = [
        drive(made, answers=allow, platform=platform),
        asyncio.run(adrive(made, answers=allow, platform=platform)),
    ]
    assert [one.status for one in ended] == ["failed", "failed"]
    return [str(one.error) for one in ended]


@pytest.mark.parametrize("gates", [0, 1], ids=["computed", "subgraph"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_error_begins_with_the_item(kind: str, gates: int) -> None:
    for said in fails(around(mapped(checked_item(gates=gates), kind=kind))):
        assert said == "item 1 (from 0) of 'each': no such person"


def test_an_error_object_that_is_raised_again_is_named_once() -> None:
    made, platform = compile_flow(around(mapped(checked_item(gates=0)))), Choosy()
    said = [str(drive(made, platform=platform).error) for _ in range(2)]
    assert said == ["item 1 (from 0) of 'each': no such person"] * 2


def test_every_list_around_is_named() -> None:
    inner = around(mapped(checked_item(gates=0), id_="inner"), items=2)
    outer_item = flow_of(
        start(port("x")), flow_node("all", inner), end(port("y")), id_="outer-item",
        edges=[("start", "x", "end", "y")],
    )  # fmt: skip
    for said in fails(around(mapped(outer_item, id_="outer", kind="MapNode"), items=2)):
        assert said.startswith("item 0 (from 0) of 'outer': item 1 (from 0) of 'outer/all/inner': ")


def test_flows_beside_each_other_are_no_items() -> None:
    flow = flow_of(
        start(port("x", default="1")), parallel(checked_item(gates=0)), end(port("y")),
        edges=[("start", "x", "both", "x"), ("both", "y", "end", "y")],
    )  # fmt: skip
    for said in fails(flow):
        assert said == "no such person"


def test_an_item_that_cannot_be_added_up_is_named() -> None:
    flow = mapping_numbers([1, None, 2], 10, "sum")
    assert "output 'z' of item 1 (from 0)" in str(drive(compile_flow(flow)).error)


def test_the_stored_error_and_the_events_name_it(fresh_database: str) -> None:
    flow = compile_flow(around(mapped(checked_item(gates=0))), platform=Choosy())
    with RunStore.open(fresh_database) as store:
        run = store.start(flow, {})
        assert run.status == "failed"
        assert run.error is not None
        assert run.error["message"] == "item 1 (from 0) of 'each': no such person"
        assert run.error["code"] == "unknown_person"
        told = {one.path: one for one in store.events(run.id) if one.name == "failed"}
        assert "each[1]/draft" in told
        assert told["each"].data["error"] == run.error["message"]


def test_a_pause_inside_is_no_error() -> None:
    item = flow_of(
        start(port("x")), gate("ask", inputs=[port("x")]), end(port("y")), id_="item",
        edges=[("start", "x", "ask", "x"), ("ask", "userResponse", "end", "y")],
    )  # fmt: skip
    flow = compile_flow(around(mapped(item)))
    state = flow.graph(InMemorySaver()).invoke(
        flow.input({}), flow.config(run_id="r"), context=flow.context(run_id="r")
    )
    assert len(state["__interrupt__"]) == 3
