"""After a rejection in one round, no other round of the node begins."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk.activations import stop_of
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.testing import adrive, drive
from oas_compiler import compile_flow
from tests.flow.containers import around, checked_item, mapped

Json = dict[str, Any]


def reject_second(gate: Gate) -> bool:
    return not gate.id.startswith("each[1]")


@pytest.mark.parametrize("loops", [False, True], ids=["threads", "event loop"])
@pytest.mark.parametrize(
    ("kind", "bound"), [("MapNode", None), ("ParallelMapNode", 1)], ids=["map", "bound of 1"]
)
def test_no_round_begins_after_one_that_was_rejected(
    kind: str, bound: int | None, *, loops: bool
) -> None:
    flow = compile_flow(around(mapped(checked_item(), kind=kind), items=4), max_parallel=bound)
    given: Json = {"answers": reject_second, "platform": SimulatedPlatform()}
    result = asyncio.run(adrive(flow, **given)) if loops else drive(flow, **given)
    assert result.status == "rejected"
    assert [(call.node, call.body) for call in result.calls] == [
        ("draft", {"x": "0"}),
        ("send", {"d": result.gates[0].values["d"]}),
        ("draft", {"x": "1"}),
    ]


@pytest.mark.parametrize("loops", [False, True], ids=["threads", "event loop"])
def test_a_round_that_waits_for_its_turn_does_nothing_after_a_rejection(*, loops: bool) -> None:
    platform = SimulatedPlatform()
    flow = compile_flow(around(mapped(checked_item()), items=6), max_parallel=2, platform=platform)
    config, context = flow.config(run_id="r"), flow.context(run_id="r")
    graph = flow.graph(InMemorySaver())

    def invoke(given: Any) -> None:
        if loops:
            asyncio.run(graph.ainvoke(given, config, context=context))
        else:
            graph.invoke(given, config, context=context)

    invoke(flow.input({}))
    # The first two have the two turns, so that every other one would begin after a rejection.
    answers = {
        one.interrupt: one.make_resume({"approved": number > 1})
        for number, one in enumerate(stop_of(graph.get_state(config)).gates)
    }
    assert len(answers) == 6
    invoke(Command(resume=answers))
    assert stop_of(graph.get_state(config)).status == "rejected"
    assert [call.node for call in platform.calls] == ["draft"] * 6
