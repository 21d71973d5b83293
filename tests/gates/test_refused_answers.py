"""An answer that does not fit leaves the gate of a graph written by hand open."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.gate import gates_of
from cinatra_sdk.gates.hitl import build_hitl_gate
from cinatra_sdk.langgraph_internals.task_facts import is_invalid_resume
from cinatra_sdk.langgraph_threads.state_channels import GovernedState, seal

CONFIG: Any = {"configurable": {"thread_id": "t"}}
ASKS: Any = {"steps": [{"stepNumber": 1, "requiresApproval": True}]}


def test_a_refusal_bears_the_mark_by_which_the_engine_leaves_a_pause_open() -> None:
    builder = StateGraph(GovernedState)
    builder.add_node("host", lambda _state: {"approval_policy": seal(ASKS)})
    builder.add_node("review", build_hitl_gate(step_number=1))
    for before, after in ((START, "host"), ("host", "review"), ("review", END)):
        builder.add_edge(before, after)
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({}, CONFIG)
    with pytest.raises(AnswerInvalid) as refused:
        graph.invoke(Command(resume={"approved": "perhaps"}), CONFIG)
    assert is_invalid_resume(refused.value)
    assert len(gates_of(graph.get_state(CONFIG).interrupts)) == 1
    assert not graph.invoke(Command(resume={"approved": True}), CONFIG).get("rejected_at")
