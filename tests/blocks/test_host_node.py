"""First node, last node, and gates whose decisions cannot be forged."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from cinatra_sdk.blocks.host_node import gate_once, keep_decision, seal_host_fields, terminal_node
from cinatra_sdk.errors import InputInvalid, NodeFailed, PolicyInvalid
from cinatra_sdk.gates.hitl import build_hitl_gate
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.langgraph_threads.state_channels import seal
from cinatra_sdk.langgraph_threads.tasks import shape_of
from tests.blocks.block_samples import CONFIG, POLICY, Input, State

DECISION = "review_decision"


def graph_with(host: Any, *, requires: Any = ()) -> Any:
    """host node → gate that keeps its decision → terminal node."""
    asking = build_hitl_gate(
        step_number=1, node="review", write=keep_decision(DECISION, node="review", step_number=1)
    )
    builder = StateGraph(State, input_schema=Input)
    builder.add_node("host", host)
    builder.add_node("review", gate_once(DECISION, asking, requires=("run",)))
    builder.add_node("terminal", terminal_node(requires=requires))
    builder.add_edge(START, "host")
    builder.add_edge("host", "review")
    builder.add_edge("review", "terminal")
    builder.add_edge("terminal", END)
    return builder.compile(checkpointer=InMemorySaver())


def values(graph: Any) -> Any:
    return graph.get_state(CONFIG).values


def answered(graph: Any, answer: Any) -> Any:
    (waiting,) = graph.get_state(CONFIG).interrupts
    graph.invoke(Command(resume={waiting.id: answer}), CONFIG)
    return values(graph)


def test_the_first_node_writes_what_the_host_says_and_keeps_the_token_out() -> None:
    graph = graph_with(seal_host_fields(digest="d1"))
    context = host_context(
        run_id="r1", tenant="t1", approval_policy=POLICY, bearer_token="canary-bearer"
    )
    graph.invoke({}, CONFIG, context=context)
    state = values(graph)
    assert state["bearer_token"] == ""
    assert state["approval_policy"] == POLICY
    run = dict(state["run"])
    assert run.pop("ledger"), "of a run whose host gave no ledger"
    assert run == {
        "run_id": "r1", "tenant": "t1", "thread": "thread-1", "digest": "d1", "scope": "",
        "graph": shape_of(graph.channels),
    }  # fmt: skip
    assert state["status"] == "running"
    assert "input_params" not in state


def test_without_a_host_the_run_is_the_thread_and_the_graphs_own_policy_is_in_force() -> None:
    graph = graph_with(seal_host_fields(POLICY))
    graph.invoke({}, CONFIG)
    assert values(graph)["run"]["run_id"] == "thread-1"
    assert values(graph)["approval_policy"] == POLICY


def test_a_null_policy_of_the_host_wins_over_the_graphs_own() -> None:
    graph = graph_with(seal_host_fields(POLICY))
    graph.invoke({}, CONFIG, context=host_context(approval_policy=None))
    assert values(graph)["approval_policy"] is None
    assert values(graph)[DECISION]["skipped"] is True


def test_changing_the_policy_after_the_node_was_made_changes_nothing() -> None:
    policy: Any = {"steps": [{"stepNumber": 1, "requiresApproval": True}]}
    graph = graph_with(seal_host_fields(policy))
    policy["steps"][0]["requiresApproval"] = False
    graph.invoke({}, CONFIG)
    assert values(graph)["approval_policy"] == POLICY


def test_a_malformed_own_policy_is_refused_when_the_node_is_made() -> None:
    with pytest.raises(PolicyInvalid, match="malformed"):
        seal_host_fields({"steps": [{"stepNumber": 1}]})


@pytest.mark.parametrize("policy", [None, {"steps": []}], ids=["null", "no entry"])
def test_a_guarded_step_without_an_entry_refuses_to_start(policy: Any) -> None:
    graph = graph_with(seal_host_fields(POLICY, guards=((4, "review", "send"),)))
    with pytest.raises(PolicyInvalid, match="no entry for step 4"):
        graph.invoke({}, CONFIG, context=host_context(approval_policy=policy))


def test_inputs_are_checked_and_kept_with_their_defaults() -> None:
    inputs: Any = {
        "goal": {"type": "string"},
        "numbers": {"type": "array", "items": {"type": "integer"}, "default": [1]},
    }
    graph = graph_with(seal_host_fields(POLICY, inputs=inputs))
    graph.invoke({"goal": ""}, CONFIG)
    assert values(graph)["input_params"] == {"goal": "", "numbers": [1]}
    for given, named in (
        ({}, "required input 'goal' is missing"),
        ({"goal": 1}, "input 'goal' does not fit"),
        ({"goal": "x", "numbers": ["a"]}, "input 'numbers' does not fit: 0: not of type 'integer'"),
    ):
        fresh: Any = {"configurable": {"thread_id": named}}
        with pytest.raises(InputInvalid, match=named):
            graph.invoke(given, fresh)


def test_a_decision_is_kept_with_who_and_why() -> None:
    graph = graph_with(seal_host_fields(POLICY))
    graph.invoke({}, CONFIG)
    answer = {"approved": True, "by": "ann", "reason": "fine", "approvedAt": "2030-01-01T00:00:00Z"}
    state = answered(graph, answer)
    assert state["status"] == "completed"
    assert state[DECISION] == {
        "gate": "review",
        "node": "review",
        "visit": 1,
        "step": 1,
        "approved": True,
        "skipped": False,
        "reason": "fine",
        "by": "ann",
        "at": "2030-01-01T00:00:00Z",
    }


def test_a_rejection_is_kept_and_ends_the_run() -> None:
    graph = graph_with(seal_host_fields(POLICY), requires=("sealed_output",))
    graph.invoke({}, CONFIG)
    state = answered(graph, {"approved": False, "reason": "no"})
    assert state["status"] == "rejected"
    assert state["rejected_at"] == state[DECISION]["at"] != ""
    assert state[DECISION]["approved"] is False


def test_a_gate_asks_once_per_run() -> None:
    graph = graph_with(seal_host_fields(POLICY))
    graph.invoke({}, CONFIG)
    answered(graph, {"approved": True})
    graph.invoke({}, CONFIG)
    assert graph.get_state(CONFIG).interrupts == ()


def test_a_gate_that_was_jumped_to_does_not_ask() -> None:
    graph = graph_with(seal_host_fields(POLICY))
    graph.update_state(CONFIG, {"approval_policy": seal(POLICY)}, as_node="host")
    with pytest.raises(NodeFailed, match="'review_decision' was reached before 'run' was there"):
        graph.invoke(None, CONFIG)


def test_the_last_node_completes_no_run_that_lacks_what_it_requires() -> None:
    graph = graph_with(seal_host_fields(POLICY), requires=("sealed_output",))
    graph.invoke({}, CONFIG)
    with pytest.raises(NodeFailed, match="reached before 'sealed_output' was there"):
        answered(graph, {"approved": True})
    assert values(graph)["status"] == "running"
