"""A map that goes on after an element that failed: `onItemError: "collect"`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk import Decision, host_context
from cinatra_sdk.activations import stop_of
from cinatra_sdk.errors import EffectRefused
from cinatra_sdk.outside.effects.door import Verdict
from cinatra_sdk.testing import adrive, drive
from oas_compiler import Flow, compile_flow
from tests.checks.rule_case import findings
from tests.flows import end, flow_of, gate, node, port, start, tool

kinds = pytest.mark.parametrize("kind", ["MapNode", "ParallelMapNode"])
RUNS = [drive, lambda *a, **k: asyncio.run(adrive(*a, **k))]
TEXTS: Any = {"items": {"type": "string"}}


def document(kind: str = "MapNode", *, asks: bool = False, policy: Any = "collect", told: bool = True,
             reducers: Any = None, type_: str = "string") -> Any:  # fmt: skip
    """xs → each (call, and a gate behind it) → ys, errors."""
    inner = [start(port("x")), tool("call", "work", [port("x")], [port("y", type_)])]
    if asks:
        inner.append(gate("ask"))
    item = flow_of(
        *inner, end(port("y", type_)), id_="item",
        edges=[("start", "x", "call", "x"), ("call", "y", "end", "y")],
    )  # fmt: skip
    errors = port("collected_errors", "array", items={})
    fields: Any = {"reducers": reducers} if reducers else {}
    each = node(kind, "each", subflow=item, cinatra={"onItemError": policy}, **fields)
    ys = port("ys", None)
    if told:
        out = (
            port("collected_y", "array", items={"type": type_})
            if not reducers
            else port("collected_y", type_)
        )
        each["outputs"] = [out, errors]
    edges = [("start", "xs", "each", "iterated_x"), ("each", "collected_y", "end", "ys")]
    outputs = [ys]
    if told:
        edges.append(("each", "collected_errors", "end", "errors"))
        outputs.append(port("errors", None))
    return flow_of(
        start(port("xs", "array", **TEXTS, default=["a", "b", "c"])),
        each,
        end(*outputs),
        edges=edges,
    )


class Work:
    """Fails for one element; counts its calls."""

    def __init__(self, *bad: str) -> None:
        self.bad, self.calls = bad, list[str]()

    def __call__(self, x: str) -> str:
        self.calls.append(x)
        if x in self.bad:
            raise RuntimeError(f"no way with {x}")
        return x.upper()


def compiled(work: Any, *args: Any, **more: Any) -> Flow:
    return compile_flow(document(*args, **more), tools={"work": work})


@kinds
@pytest.mark.parametrize("run", RUNS)
def test_an_element_that_fails_gives_null_and_says_where(kind: str, run: Any) -> None:
    work = Work("b")
    assert run(compiled(work, kind)).outputs == {
        "ys": ["A", None, "C"],
        "errors": [None, "node 'each/call' failed (node_failed)", None],
    }
    assert sorted(work.calls) == ["a", "b", "c"]


def test_the_list_of_errors_is_there_only_where_it_is_declared() -> None:
    assert drive(compiled(Work("b"), told=False)).outputs == {"ys": ["A", None, "C"]}


@kinds
def test_without_the_policy_one_element_fails_the_run(kind: str) -> None:
    result = drive(compiled(Work("b"), kind, policy="fail", told=False))
    assert result.status == "failed"


def test_what_failed_is_no_number_of_a_sum() -> None:
    def work(x: str) -> int:
        if x == "b":
            raise RuntimeError("no")
        return 2

    flow = compiled(work, reducers={"y": "sum"}, type_="integer")
    result = drive(flow)
    assert result.outputs is not None
    assert result.outputs["ys"] == 4


@kinds
def test_gates_inside_wait_and_what_failed_is_not_done_again(kind: str) -> None:
    work = Work("b")
    result = drive(compiled(work, kind, asks=True), answers=lambda _gate: True)
    assert result.outputs is not None
    assert result.outputs["ys"] == ["A", None, "C"]
    assert sorted(work.calls) == ["a", "b", "c"]
    assert sorted(gate.id for gate in result.gates) == ["each[0]/ask", "each[2]/ask"]


@kinds
def test_a_rejection_still_ends_the_run(kind: str) -> None:
    result = drive(compiled(Work("b"), kind, asks=True), answers=lambda _gate: False)
    assert result.status == "rejected"


def test_what_people_decided_in_an_element_that_failed_stays() -> None:
    inner = flow_of(
        start(port("x")), gate("ask"), tool("call", "work", [port("x")], [port("y")]), end(port("y")),
        id_="item", edges=[("start", "x", "call", "x"), ("call", "y", "end", "y")],
    )  # fmt: skip
    made = document(told=False)
    made["$referenced_components"]["item"] = inner
    flow = compile_flow(made, tools={"work": Work("b")})
    result = drive(flow, answers=lambda gate: Decision.approve(by=gate.id))
    assert result.outputs == {"ys": ["A", None, "C"]}
    assert [one["by"] for one in result.decisions] == [f"each[{n}]/ask" for n in range(3)]


@kinds
def test_a_process_that_dies_between_gates_loses_nothing(kind: str) -> None:
    work, saver = Work("b"), InMemorySaver()
    config: Any = {"configurable": {"thread_id": "r"}}

    def fresh() -> tuple[Any, Any]:
        flow = compiled(work, kind, asks=True)
        return flow, flow.graph(saver)

    flow, graph = fresh()
    graph.invoke(flow.input({}), config, context=flow.context(run_id="r"))
    for _ in range(5):
        flow, graph = fresh()  # another process
        stop = stop_of(graph.get_state(config))
        if not stop.gates:
            break
        answer = Command(resume={stop.gates[0].interrupt: {"approved": True}})
        graph.invoke(answer, config, context=flow.context(run_id="r"))
    assert graph.get_state(config).values["outputs"]["ys"] == ["A", None, "C"]
    assert sorted(work.calls) == ["a", "b", "c"]


def test_a_refusal_of_the_host_is_no_failure_of_an_element() -> None:
    flow = compiled(Work())
    context = host_context(run_id="r", allow=lambda _effect: Verdict.refuse("not today"))
    result = drive(flow, context=context)
    assert result.status == "failed"
    assert isinstance(result.error, EffectRefused)


def test_another_word_is_a_finding() -> None:
    (found,) = findings(document(policy="ignore", told=False), "OAS038")
    assert found.place.pointer == "/$referenced_components/each/metadata/cinatra/onItemError"


def test_the_list_of_errors_needs_the_policy() -> None:
    assert findings(document(policy="fail"), "OAS067")
