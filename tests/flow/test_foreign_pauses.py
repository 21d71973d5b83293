"""A pause that a tool makes by itself is a gate: shown, answered, rejected and kept like any other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.activations import stop_of
from cinatra_sdk.gates.forms.approval_forms import REJECTED_KEY
from cinatra_sdk.testing import adrive, drive
from oas_compiler import Flow, compile_flow
from tests.flows import end, flow_of, gate, port, start, tool


def asking(function: Any) -> Flow:
    made = flow_of(
        start(), tool("pick", "pick", [], [port("n", None)]), end(port("n", None)), edges=[("pick", "n", "end", "n")]
    )  # fmt: skip
    return compile_flow(made, tools={"pick": function})


def ask_once() -> Any:
    return {"n": interrupt({"question": "which one?"})}


def ask_twice() -> Any:
    return {"n": [interrupt("first?"), interrupt("second?")]}


def review() -> Any:
    """As LangChain's HumanInTheLoopMiddleware asks."""
    calls = [{"name": "mail", "args": {"to": "bob"}}, {"name": "call", "args": {}}]
    return {"n": interrupt({"action_requests": calls, "review_configs": []})}


ways = pytest.mark.parametrize("run", [drive, lambda *a, **k: asyncio.run(adrive(*a, **k))])


@ways
def test_the_code_gets_the_value_of_the_answer(run: Any) -> None:
    result = run(asking(ask_once), answers=[Decision.approve(by="ann", value={"id": 7})])
    assert (result.status, result.outputs) == ("completed", {"n": {"id": 7}})
    (asked,) = result.gates
    assert (asked.id, asked.node) == ("pick", "pick")
    assert asked.values == {"request": {"question": "which one?"}}


@ways
def test_a_plain_yes_is_true(run: Any) -> None:
    assert run(asking(ask_once), answers=[True]).outputs == {"n": True}


@ways
def test_two_pauses_of_one_visit_are_two_gates(run: Any) -> None:
    result = run(asking(ask_twice), answers=["a", "b"])
    assert result.outputs == {"n": ["a", "b"]}
    assert [one.id for one in result.gates] == ["pick", "pick[1]"]


@ways
def test_a_rejection_ends_the_run_and_the_code_never_goes_on(run: Any) -> None:
    went_on = []

    def ask() -> Any:
        answer = interrupt("really?")
        went_on.append(answer)
        return {"n": answer}

    result = run(asking(ask), answers=[Decision.reject(by="ann", reason="no")])
    assert (result.status, went_on) == ("rejected", [])
    assert result.decisions[0]["reason"] == "no"


@ways
@pytest.mark.parametrize(
    ("decision", "wanted"),
    [
        (Decision.approve(by="ann"), {"type": "approve"}),
        (Decision.deny(by="ann", reason="not bob"), {"type": "reject", "message": "not bob"}),
    ],
)
def test_a_review_of_langchain_gets_its_own_decisions(
    run: Any, decision: Decision, wanted: Any
) -> None:
    assert run(asking(review), answers=[decision]).outputs == {"n": {"decisions": [wanted, wanted]}}


def test_a_secret_is_not_shown() -> None:
    def ask() -> Any:
        return {"n": interrupt({"api_key": "sk-live-" + "a1b2c3d4" * 4})}

    result = drive(asking(ask))
    assert result.status == "failed"
    assert "would show" in str(result.error)
    assert "a1b2c3d4" not in str(result.error)


def test_a_stored_run_waits_at_it_and_goes_on(fresh_database: str) -> None:
    with RunStore.open(fresh_database) as store:
        flow = asking(ask_twice)
        run = store.start(flow, {}, run_id="r1")
        assert [one.id for one in run.waiting] == ["pick"]
        run = store.answer("r1", "pick", Decision.approve(by="ann", value=1), flow=flow)
        assert [one.id for one in run.waiting] == ["pick[1]"]
        run = store.answer("r1", "pick[1]", Decision.approve(by="ann", value=2), flow=flow)
        assert run.result() == {"n": [1, 2]}
        store.start(flow, {}, run_id="r2")
        run = store.answer("r2", "pick", Decision.reject(by="bob"), flow=flow)
        assert run.status == "rejected"
        assert [one.kind for one in store.decisions("r2")] == ["rejected"]


def resume(flow: Flow, answer: Any) -> tuple[Any, str]:
    """Resume the run's gate as a client of a graph server would; how it stands, and the error."""
    graph, config = flow.graph(InMemorySaver()), flow.config(run_id="r1")
    context = flow.context(run_id="r1")
    graph.invoke(flow.input({}), config, context=context)
    (waiting,) = graph.get_state(config).interrupts
    said = ""
    try:
        graph.invoke(Command(resume={waiting.id: answer}), config, context=context)
    except Exception as error:
        said = str(error)
    return stop_of(graph.get_state(config)), said


@pytest.mark.parametrize(
    "said",
    [
        {"approved": False, "reason": "sk-live-" + "a1b2c3d4" * 4},
        {"approved": False, "reason": "x" * 100_000},
        {"approved": False, "by": "ann\u200b"},
        {"approved": True},
        {},
        "no",
    ],
)
def test_a_clients_rejection_is_checked_like_any_answer(said: Any) -> None:
    stop, error = resume(asking(ask_once), {REJECTED_KEY: said})
    assert (stop.status, [one.id for one in stop.gates]) == ("waiting", ["pick"])
    assert error
    assert "a1b2c3d4" not in error


def test_a_gate_does_not_take_the_rejection_of_a_foreign_pause() -> None:
    flow = compile_flow(flow_of(start(), gate("ask"), end()))
    stop, error = resume(flow, {REJECTED_KEY: {"approved": False}})
    assert (stop.status, [one.id for one in stop.gates]) == ("waiting", ["ask"])
    assert "unknown keys" in error


def test_a_clients_rejection_ends_the_run() -> None:
    # The control of the two above.
    stop, error = resume(asking(ask_once), {REJECTED_KEY: {"approved": False, "by": "ann"}})
    assert (stop.status, error) == ("rejected", "")
    assert stop.decisions[0]["by"] == "ann"
