"""The part of LangGraph from which a node knows how it was answered, which is not public."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from cinatra_sdk.langgraph_threads.graph_input import list_given_answers


class Asked(TypedDict, total=False):
    answers: list[Any]


def test_a_node_sees_the_answers_that_it_was_given_so_far() -> None:
    seen: list[tuple[Any, ...]] = []

    def ask(_state: Asked) -> Asked:
        seen.append(tuple(list_given_answers()))
        return {"answers": [interrupt("first"), interrupt("second")]}

    graph = StateGraph(Asked).add_node("ask", ask).add_edge(START, "ask").compile(InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t1"}}
    graph.invoke({}, config)
    for number in (1, 2):
        (waiting,) = graph.get_state(config).interrupts
        graph.invoke(Command(resume={waiting.id: {"number": number}}), config)
    assert seen == [(), ({"number": 1},), ({"number": 1}, {"number": 2})]
    assert graph.get_state(config).values == {"answers": [{"number": 1}, {"number": 2}]}


def test_outside_of_a_graph_there_is_none() -> None:
    assert list_given_answers() == ()
