"""A graph written in Python: what it comes to, and what could not run is refused with its node."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from cinatra_sdk.data.ports import STRING, port
from cinatra_sdk.flow.graph.flow_graph import FlowGraph
from cinatra_sdk.flow.nodes.gate_node import HumanGate
from cinatra_sdk.flow.nodes.start_and_end import End, Start
from cinatra_sdk.flow.nodes.tool_node import ToolCall
from cinatra_sdk.flow.nodes.value_nodes import Branching, TextTemplate
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.store.flows.graph_flow import load_graph_flow
from cinatra_sdk.store.flows.python_flow import written_flow
from cinatra_sdk.testing import drive


def greeting(word: str = "Hello") -> FlowGraph:
    graph = FlowGraph("greeting", name="Greeting", outputs=[port("text", STRING)])
    graph.add_node("start", Start(), inputs=[port("name", STRING)])
    graph.add_node(
        "greet",
        TextTemplate(template=f"{word} {{{{ name }}}}"),
        inputs=[port("name", STRING)],
        feeds={"name": "start.name"},
        outputs=[port("text", STRING)],
    )
    graph.add_node("end", End(), inputs=[port("text", STRING)], feeds={"text": "greet.text"})
    graph.set_entry_point("start")
    graph.add_edge("start", "greet")
    graph.add_edge("greet", "end")
    return graph


def test_a_written_flow_runs() -> None:
    flow = written_flow(greeting(), module=__name__)
    assert drive(flow, {"name": "Ann"}).outputs == {"text": "Hello Ann"}
    assert flow.input_schema["properties"] == {"name": {"type": "string", "title": "name"}}


def lacking_a_way(graph: FlowGraph) -> None:
    graph.add_node("lost", TextTemplate(template="x"), outputs=[port("text", STRING)])


def leading_nowhere(graph: FlowGraph) -> None:
    graph.add_edge("greet", "nowhere", branch="other")


def leading_from_nowhere(graph: FlowGraph) -> None:
    graph.add_edge("nowhere", "end")


def going_on_after_the_end(graph: FlowGraph) -> None:
    graph.add_edge("end", "greet")


def branching_nowhere(graph: FlowGraph) -> None:
    graph.add_node("choose", Branching(mapping={"a": "yes"}), inputs=[port("key", STRING)])
    graph.add_branches("choose", {"default_": "end"})


def asking_without_an_output(graph: FlowGraph) -> None:
    graph.add_node("ask", HumanGate(step=1, name="Ask", renderer="", risk_class="read_only"))
    graph.add_edge("ask", "end")


def showing_nobody(graph: FlowGraph) -> None:
    work = HumanGate(step=1, name="Ask", renderer="", risk_class="read_only", shows=("nobody",))
    graph.add_node("ask", work, outputs=[port("answer", STRING)])
    graph.add_edge("ask", "end")


def fed_by_nothing(graph: FlowGraph) -> None:
    graph.add_node("more", End(), inputs=[port("text", STRING)], feeds={"text": "greet.nothing"})


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lacking_a_way, "'lost' has no edge to a next node, and is no End"),
        (leading_nowhere, "an edge leads to 'nowhere', which is no node"),
        (leading_from_nowhere, "an edge leads from 'nowhere', which is no node"),
        (going_on_after_the_end, "'end' is an End, and an edge leads on"),
        (branching_nowhere, "'choose' has no edge by its branch 'yes'"),
        (asking_without_an_output, "'ask' is a gate, and has not exactly one output"),
        (showing_nobody, "'ask' names 'nobody'"),
        (fed_by_nothing, "'greet' has no output 'nothing'"),
    ],
)
def test_a_graph_that_could_not_run_is_refused(
    spoil: Callable[[FlowGraph], None], says: str
) -> None:
    graph = greeting()
    spoil(graph)
    with pytest.raises(ValueError, match=says):
        graph.plan()


def test_a_graph_begins_at_one_start() -> None:
    graph = FlowGraph("empty")
    with pytest.raises(ValueError, match="no entry point"):
        graph.plan()
    graph = greeting()
    with pytest.raises(ValueError, match="two nodes that begin"):
        graph.set_entry_point("greet")


def test_a_second_node_edge_or_input_of_one_name_is_refused() -> None:
    graph = greeting()
    with pytest.raises(ValueError, match="two nodes with the id 'greet'"):
        graph.add_node("greet", End())
    with pytest.raises(ValueError, match="two edges by the branch 'next'"):
        graph.add_edge("start", "end")
    with pytest.raises(ValueError, match="no input 'other'"):
        graph.add_node("more", End(), feeds={"other": "greet.text"})


# ------------------------------------------------------------------ what a run is pinned to


def test_two_flows_of_one_module_are_two_flows() -> None:
    hello = written_flow(greeting("Hello"), module=__name__)
    bye = written_flow(greeting("Bye"), module=__name__)
    assert hello.digest != bye.digest
    with pytest.raises(Exception, match="changed since the run began"):
        load_graph_flow(bye.source, host=HostParts(graphs=[hello]))
    with pytest.raises(ValueError, match="two graphs have the label"):
        HostParts(graphs=[hello, bye])


def test_a_module_that_is_the_program_needs_a_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", sys.modules[__name__])
    with pytest.raises(ValueError, match="give label="):
        written_flow(greeting(), module="__main__")
    assert written_flow(greeting(), module="__main__", label="greet:flow").label == "greet:flow"


def test_a_module_of_more_bytes_than_are_pinned_is_refused(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "large.py"
    file.write_bytes(b"#" * 10_000_001)
    monkeypatch.setattr(
        "cinatra_sdk.store.flows.python_flow.find_module_file", lambda _module: file
    )
    with pytest.raises(ValueError, match="more than 10,000,000 bytes"):
        written_flow(greeting(), module=__name__)


def calling() -> FlowGraph:
    graph = FlowGraph("calling", outputs=[port("done", STRING)])
    graph.add_node("start", Start())
    graph.add_node("call", ToolCall(tool="look_up"), outputs=[port("done", STRING)])
    graph.add_node("end", End(), inputs=[port("done", STRING)], feeds={"done": "call.done"})
    graph.set_entry_point("start")
    graph.add_edge("start", "call")
    graph.add_edge("call", "end")
    return graph


def test_a_stored_flow_without_its_tools_is_refused_before_a_decision_is_kept() -> None:
    flow = written_flow(calling(), module=__name__)
    with pytest.raises(Exception, match=r"'look_up'.*not given"):
        load_graph_flow(flow.source, host=HostParts(graphs=[flow]))
    lent = HostParts(graphs=[flow], tools={"look_up": lambda: "found"})
    assert drive(load_graph_flow(flow.source, host=lent)).outputs == {"done": "found"}


def test_a_run_is_lent_the_variables_that_its_flow_names() -> None:
    flow = written_flow(greeting("{{PLACE}}"), module=__name__)
    lent = flow.lent(HostParts(env={"PLACE": "Kiel", "REGION": "north"}))
    assert dict(lent.env) == {"PLACE": "Kiel"}


def test_one_model_in_place_of_a_mapping_is_refused() -> None:
    from cinatra_sdk.outside.models.model_scripts import ScriptedModel

    model: Any = ScriptedModel(["x"])
    with pytest.raises(TypeError, match="give a mapping"):
        HostParts(models=model)


# ------------------------------------------------------------------ what a policy must not forget


def asking() -> FlowGraph:
    graph = calling()
    graph.add_node(
        "ask",
        HumanGate(step=1, name="ask", renderer="", risk_class=""),
        outputs=[port("said", STRING)],
    )
    graph.add_edge("ask", "call")
    return graph


@pytest.mark.parametrize(
    ("guard", "says"),
    [
        ((1, "review", "call"), "guard of step 1: 'review' is no node of the flow 'calling'"),
        ((1, "ask", "send"), "guard of step 1: 'send' is no node of the flow 'calling'"),
        ((1, "start", "call"), "guard of step 1: node 'start' asks nobody"),
    ],
)
def test_a_guard_names_a_gate_and_a_node_of_the_graph(
    guard: tuple[int, str, str], says: str
) -> None:
    policy: Any = {"steps": [{"stepNumber": 1, "requiresApproval": True}]}
    with pytest.raises(ValueError, match=says):
        written_flow(asking(), module=__name__, policy=policy, guards=[guard])
    made = written_flow(asking(), module=__name__, policy=policy, guards=[(1, "ask", "call")])
    assert made.guards == ((1, "ask", "call"),)
