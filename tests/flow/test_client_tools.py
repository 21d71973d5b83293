"""A tool that the caller runs: the run waits for its result, and takes no other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.activations import stop_of
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.testing import drive
from oas_compiler import Flow, compile_flow
from tests.flow.containers import around, mapped
from tests.flows import end, flow_of, node, port, start

ANYTHING: Any = None


def client(outputs: list[Any], *, confirmed: bool = False) -> dict[str, Any]:
    tool = {
        "component_type": "ClientTool", "id": "t", "name": "look_up", "description": "",
        "inputs": [port("id", "integer")], "outputs": outputs, "requires_confirmation": confirmed,
    }  # fmt: skip
    return node("ToolNode", "ask", tool=tool)


def asking(*outputs: Any, confirmed: bool = False) -> Flow:
    made = flow_of(
        start(port("id", "integer", default=7)), client([*outputs], confirmed=confirmed), end(*outputs),
        edges=[("start", "id", "ask", "id"), *(("ask", one["title"], "end", one["title"]) for one in outputs)],
    )  # fmt: skip
    return compile_flow(made)


OBJECT: Any = {"additionalProperties": {}}
ROWS: list[tuple[list[Any], Any, Any]] = [
    ([port("out", "object", **OBJECT)], {"a": 1, "b": 2}, {"out": {"a": 1, "b": 2}}),
    ([port("out", "object", **OBJECT)], {"a": 1}, {"out": {"a": 1}}),
    ([port("out", None)], {"out": 1}, {"out": 1}),
    ([port("out")], "value", {"out": "value"}),
    ([port("a", "integer"), port("b", "integer", default=0)], {"a": 5}, {"a": 5, "b": 0}),
    ([port("out", "array", items={"type": "integer"})], [1, 2, 3], {"out": [1, 2, 3]}),
    ([port("out", "number")], 42, {"out": 42}),
    ([port("out")], (1, 2), {"out": "[1, 2]"}),
    ([port("a", "integer"), port("b")], (7, "ok"), {"a": 7, "b": "ok"}),
    (
        [port("a", "integer"), port("b", "object", **OBJECT), port("c", "array", items={})],
        (7, {"key": "val"}, [1]),
        {"a": 7, "b": {"key": "val"}, "c": [1]},
    ),
    ([port("out", "integer")], 3.7, {"out": 3}),
    ([port("out", "boolean")], True, {"out": True}),
    ([port("out", "object", **OBJECT)], {"value": {"approved": True}}, {"out": {"value": {"approved": True}}}),
]  # fmt: skip
rows = pytest.mark.parametrize(("outputs", "result", "wanted"), ROWS)


@rows
def test_a_plain_resume_gives_the_result(outputs: list[Any], result: Any, wanted: Any) -> None:
    flow = asking(*outputs)
    graph, config = flow.graph(InMemorySaver()), flow.config(run_id="r")
    context = flow.context(run_id="r")
    graph.invoke(flow.input({}), config, context=context)
    (gate,) = stop_of(graph.get_state(config)).gates
    assert gate.values == {"call": "look_up", "arguments": {"id": 7}}
    state = graph.invoke(Command(resume=result), config, context=context)
    assert state["outputs"] == wanted


@rows
def test_a_decision_gives_the_same(outputs: list[Any], result: Any, wanted: Any) -> None:
    given = json.loads(json.dumps(result))
    driven = drive(asking(*outputs), answers=[Decision.approve(value=given, by="ann")])
    assert driven.outputs == wanted


def test_a_stored_run_goes_on_with_the_result(fresh_database: str) -> None:
    flow = asking(port("a", "integer"), port("b"))
    with RunStore.open(fresh_database) as store:
        run = store.start(flow, {})
        gate = run.waiting[0]
        with pytest.raises(AnswerInvalid):
            store.answer(run.id, gate.id, Decision.approve(value={"a": "x", "b": "y"}, by="ann"))
        run = store.answer(run.id, gate.id, Decision.approve(value={"a": 1, "b": "y"}, by="ann"))
        assert run.result() == {"a": 1, "b": "y"}


@pytest.mark.parametrize(
    ("outputs", "result", "says"),
    [
        ([port("a", "integer")], "five", "'a'"),
        ([port("a", "integer")], {"b": 5}, "'a'"),
        ([port("a"), port("b")], {"a": "x"}, "lacks the output 'b'"),
        ([port("a"), port("b")], {"a": "x", "b": "y", "c": 1}, "no output c"),
        ([port("a"), port("b")], ["x"], "2 outputs"),
        ([port("a", "array", items={"type": "integer"})], [1, "x"], "'a'"),
        ([port("a")], {"bearer_token": "abcdefgh"}, "credential"),
    ],
)
def test_a_result_that_does_not_fit_is_refused_and_the_gate_stays_open(
    outputs: list[Any], result: Any, says: str
) -> None:
    flow = asking(*outputs)
    gate = drive(flow).gates[0]
    again = Gate.from_json(json.loads(json.dumps(gate.to_json())))
    for one in (gate, again):
        with pytest.raises(AnswerInvalid, match=says):
            one.read(result)


def test_a_rejection_ends_the_run() -> None:
    driven = drive(asking(port("a")), answers=[Decision.reject(by="ann", reason="no")])
    assert driven.status == "rejected"


def test_first_the_call_is_confirmed_then_its_result_is_asked_for() -> None:
    driven = drive(
        asking(port("a"), confirmed=True),
        answers=[Decision.approve(by="ann"), Decision.approve(value="x", by="bob")],
    )
    assert driven.outputs == {"a": "x"}
    assert [gate.id for gate in driven.gates] == ["ask", "ask:result"]
    assert [one["by"] for one in driven.decisions] == ["ann", "bob"]


def test_a_call_that_is_denied_asks_for_no_result() -> None:
    driven = drive(asking(port("a"), confirmed=True), answers=[Decision.deny(by="ann")])
    assert driven.outputs == {"a": "[Denied by operator]"}
    assert len(driven.gates) == 1


@pytest.mark.parametrize("kind", ["MapNode", "ParallelMapNode"])
def test_each_item_of_a_map_has_a_result_of_its_own(kind: str) -> None:
    made = client([port("y")])
    made["tool"]["inputs"] = [port("x")]
    item = flow_of(
        start(port("x")), made, end(port("y")), id_="item",
        edges=[("start", "x", "ask", "x"), ("ask", "y", "end", "y")],
    )  # fmt: skip
    driven = drive(
        compile_flow(around(mapped(item, kind=kind))),
        answers=lambda gate: Decision.approve(
            value=f"told {gate.values['arguments']['x']}", by="ann"
        ),
    )
    assert driven.outputs == {"ys": ["told 0", "told 1", "told 2"]}
