"""`build_hitl_gate` in graphs written by hand: names, visits, what it shows and where it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from cinatra_sdk.errors import NodeFailed
from cinatra_sdk.gates.gate import Gate, gates_of
from cinatra_sdk.gates.hitl import build_hitl_gate
from cinatra_sdk.governed.host_keys import GOVERNED_KEYS
from cinatra_sdk.langgraph_threads.state_channels import GovernedState, seal

CONFIG: Any = {"configurable": {"thread_id": "t"}}
ASKS: Any = {"steps": [{"stepNumber": 1, "requiresApproval": True}]}
YES: Any = {"approved": True}


class State(GovernedState):
    drafts: Any
    note: str


class Rejectable(TypedDict, total=False):
    approval_policy: Any
    rejected_at: str


class Plain(TypedDict, total=False):
    approval_policy: Any
    status: str
    sent: bool


def host(_state: Any) -> dict[str, Any]:
    return {"approval_policy": seal(ASKS)}


def plain_host(_state: Any) -> dict[str, Any]:
    return {"approval_policy": ASKS}


def chain(schema: Any, *nodes: tuple[str, Any]) -> Any:
    builder = StateGraph(schema)
    for name, node in nodes:
        builder.add_node(name, node)
    names = [name for name, _node in nodes]
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    return builder.compile(checkpointer=InMemorySaver())


def looping(schema: Any, begin: Any) -> Any:
    """host → review → review → …, as often as it is approved."""
    builder = StateGraph(schema)
    builder.add_node("host", begin)
    builder.add_node("review", build_hitl_gate(step_number=1))
    builder.add_edge(START, "host")
    builder.add_edge("host", "review")
    builder.add_conditional_edges(
        "review", lambda state: END if state.get("rejected_at") else "review", ["review", END]
    )
    return builder.compile(checkpointer=InMemorySaver())


def the_gate(graph: Any) -> Gate:
    (gate,) = gates_of(graph.get_state(CONFIG).interrupts)
    return gate


def test_a_gate_has_the_name_of_its_node_and_two_gates_of_a_step_have_two_ids() -> None:
    graph = chain(
        State,
        ("host", host),
        ("first_look", build_hitl_gate(step_number=1)),
        ("second_look", build_hitl_gate(step_number=1)),
    )
    graph.invoke({"drafts": 1}, CONFIG)
    first = the_gate(graph)
    assert (first.id, first.node, first.name) == ("first_look", "first_look", "first_look")
    graph.invoke(Command(resume={first.interrupt: YES}), CONFIG)
    assert the_gate(graph).id == "second_look"


def test_gates_at_the_same_time_have_two_ids_and_both_visits_are_counted() -> None:
    builder = StateGraph(State)
    builder.add_node("host", host)
    for name in ("left", "right"):
        builder.add_node(name, build_hitl_gate(step_number=1))
        builder.add_edge("host", name)
    builder.add_edge(START, "host")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({"drafts": 1}, CONFIG)
    waiting = gates_of(graph.get_state(CONFIG).interrupts)
    assert sorted(gate.id for gate in waiting) == ["left", "right"]
    graph.invoke(Command(resume={gate.interrupt: YES for gate in waiting}), CONFIG)
    assert graph.get_state(CONFIG).values["visits"] == {"left": 1, "right": 1}


def test_each_visit_of_a_gate_in_a_loop_has_an_id_of_its_own() -> None:
    graph = looping(State, host)
    graph.invoke({"drafts": 1}, CONFIG)
    seen = []
    for _ in range(3):
        gate = the_gate(graph)
        assert the_gate(graph).id == gate.id
        seen.append((gate.id, gate.visit))
        graph.invoke(Command(resume={gate.interrupt: YES}), CONFIG)
    assert seen == [("review", 1), ("review#2", 2), ("review#3", 3)]


def test_a_state_that_counts_nothing_still_gives_each_visit_an_id_of_its_own() -> None:
    graph = looping(Rejectable, plain_host)
    graph.invoke({"approval_policy": None}, CONFIG)
    seen = []
    for _ in range(3):
        gate = the_gate(graph)
        seen.append(gate.id)
        graph.invoke(Command(resume={gate.interrupt: YES}), CONFIG)
    assert len(set(seen)) == 3


def test_a_client_cannot_set_a_visit_back() -> None:
    graph = looping(State, host)
    graph.invoke({"drafts": 1}, CONFIG)
    graph.invoke(Command(resume={the_gate(graph).interrupt: YES}), CONFIG)
    assert the_gate(graph).id == "review#2"
    graph.update_state(CONFIG, {"visits": {"review": 0}}, as_node="host")
    graph.invoke(None, CONFIG)
    assert the_gate(graph).id == "review#2"


def test_no_gate_pauses_where_a_rejection_would_be_lost() -> None:
    def send(_state: Any) -> dict[str, Any]:
        return {"sent": True}

    graph = chain(
        Plain, ("host", plain_host), ("review", build_hitl_gate(step_number=1)), ("send", send)
    )
    with pytest.raises(NodeFailed, match="gate 'review' stands in a graph whose state has no key"):
        graph.invoke({"status": "running"}, CONFIG)
    assert "sent" not in graph.get_state(CONFIG).values


def rejected_before(_state: Any) -> dict[str, Any]:
    return {"rejected_at": "2026-11-27T00:00:00Z", "status": "rejected"}


@pytest.mark.parametrize("always", [False, True])
def test_after_a_rejection_no_gate_asks_whatever_its_policy_says(always: bool) -> None:
    gate = build_hitl_gate(step_number=1, output="note", always=always)
    graph = chain(State, ("host", host), ("no", rejected_before), ("review", gate))
    ended = graph.invoke({"drafts": 1}, CONFIG)
    assert "__interrupt__" not in ended
    assert "note" not in ended
    assert ended["rejected_at"] == "2026-11-27T00:00:00Z"


def test_after_a_rejection_a_gate_of_a_send_class_without_an_entry_is_no_error() -> None:
    gate = build_hitl_gate(step_number=9, risk_class="email_send")
    graph = chain(State, ("host", host), ("no", rejected_before), ("review", gate))
    assert graph.invoke({"drafts": 1}, CONFIG)["status"] == "rejected"


@pytest.mark.parametrize("output", ["", "note"])
def test_a_rejection_stands_in_the_state_and_no_later_gate_asks(output: str) -> None:
    first = build_hitl_gate(step_number=1, output=output)
    graph = chain(
        State, ("host", host), ("first", first), ("second", build_hitl_gate(step_number=1))
    )
    graph.invoke({"drafts": 1}, CONFIG)
    no = {"approved": False, "reason": "too long", "by": "ann"}
    ended = graph.invoke(Command(resume={the_gate(graph).interrupt: no}), CONFIG)
    assert "__interrupt__" not in ended
    assert ended["status"] == "rejected"
    assert ended["rejected_at"]
    assert "note" not in ended


@pytest.mark.parametrize("key", sorted(GOVERNED_KEYS))
def test_a_governed_key_is_refused_among_the_names_when_the_gate_is_built(key: str) -> None:
    with pytest.raises(ValueError, match=f"the key '{key}'"):
        build_hitl_gate(step_number=1, values=["drafts", key])


@pytest.mark.parametrize("value", ["", None, {}, "2026"])
@pytest.mark.parametrize("key", sorted(GOVERNED_KEYS))
def test_a_governed_key_is_refused_when_the_gate_is_shown_empty_or_not(
    key: str, value: Any
) -> None:
    for shown in ({key: value}, {"drafts": [{"deep": {key: value}}]}):
        gate = build_hitl_gate(step_number=1, values=lambda _state, shown=shown: shown)
        graph = chain(State, ("host", host), ("review", gate))
        with pytest.raises(NodeFailed, match=f"gate 'review' would show .*the key '{key}'"):
            graph.invoke({"drafts": 1}, {"configurable": {"thread_id": f"{key}{value}"}})


def test_a_secret_in_the_words_of_the_gate_is_refused_when_the_gate_is_shown() -> None:
    words = "Check this with Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345"
    gate = build_hitl_gate(step_number=1, description=words)
    graph = chain(State, ("host", host), ("review", gate))
    with pytest.raises(NodeFailed, match="gate 'review' would show a secret"):
        graph.invoke({"drafts": 1}, CONFIG)


def test_errors_name_the_node_of_the_graph() -> None:
    graph = chain(State, ("ask_ada", build_hitl_gate(step_number=7)))
    with pytest.raises(NodeFailed, match="gate 'ask_ada' finds no approval_policy"):
        graph.invoke({"drafts": 1}, CONFIG)
