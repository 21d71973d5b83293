"""A flow as somebody would write it in plain LangGraph: the same nodes, templates, calls and gates.

In: a compiled flow.  Out: a `StateGraph` with one key per node, plain functions and routers; nothing
is governed: no turn, no seal, no policy, no record of who decided.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

from cinatra_sdk.data.patterns.search import Matcher
from cinatra_sdk.data.templates.flow_templates import Renderer
from cinatra_sdk.flow.nodes.value_nodes import key_text
from cinatra_sdk.outside.http_calls.protocol import DeclaredOutput, Platform, PlatformCall
from cinatra_sdk.outside.http_calls.response_outputs import declared_outputs
from oas_compiler.ir import (
    ApiNode,
    BranchingNode,
    EndNode,
    FlowIR,
    FlowNode,
    InputMessageNode,
    Node,
    OutputMessageNode,
    PluginRegexNode,
    PluginTemplateNode,
    StartNode,
)

State = dict[str, Any]


def write_graph(flow: FlowIR, platform: Platform) -> StateGraph[Any, Any, Any, Any]:
    """Raises: `TypeError` for a kind of node that no flow measured here has."""
    keys: Any = {f"out.{node.id}": dict[str, Any] for node in flow.nodes}
    shape = TypedDict("State", {"inputs": dict[str, Any], **keys}, total=False)  # type: ignore[misc]
    graph: Any = StateGraph(shape)
    for node in flow.nodes:
        graph.add_node(node.id, _write_node(flow, node, platform))
    graph.add_edge(START, flow.start)
    for node in flow.nodes:
        _add_ways_out(graph, flow, node)
    return graph


def _add_ways_out(graph: Any, flow: FlowIR, node: Node) -> None:
    routes = dict(flow.routes_of(node.id))
    if isinstance(node, EndNode):
        graph.add_edge(node.id, END)
    elif isinstance(node, BranchingNode):
        mapping, title = dict(node.mapping), node.inputs[0].title

        def choose(state: State) -> str:
            return mapping.get(key_text(_gather(flow, node, state).get(title)), "default")

        graph.add_conditional_edges(node.id, choose, routes)
    else:
        graph.add_edge(node.id, next(iter(routes.values())))


def _write_node(flow: FlowIR, node: Node, platform: Platform) -> Callable[[State], State]:
    work = _choose_work(flow, node, platform)

    def run(state: State) -> State:
        return {f"out.{node.id}": work(state)}

    return run


def _choose_work(flow: FlowIR, node: Node, platform: Platform) -> Callable[[State], State]:
    defaults = {port.title: port.default for port in node.inputs if port.default is not None}

    def gather(state: State) -> State:
        found = _gather(flow, node, state)
        return {title: one.value() for title, one in defaults.items()} | found

    if isinstance(node, StartNode):
        return lambda state: {**gather({}), **state.get("inputs", {})}
    if isinstance(node, ApiNode):
        return _write_call(node, platform, gather)
    if isinstance(node, InputMessageNode):
        return _write_gate(node, gather)
    if isinstance(node, FlowNode):
        inner = write_graph(node.subflow, platform).compile()
        end = next(one for one in node.subflow.nodes if isinstance(one, EndNode))
        return lambda state: inner.invoke({"inputs": gather(state)})[f"out.{end.id}"]
    if isinstance(node, PluginRegexNode):
        return _write_search(node, gather)
    if isinstance(node, (OutputMessageNode, PluginTemplateNode)):
        text = node.message if isinstance(node, OutputMessageNode) else node.template
        renderer, title = Renderer(text), node.outputs[0].title if node.outputs else "message"
        return lambda state: {title: renderer.text(gather(state))}
    if isinstance(node, (BranchingNode, EndNode)):
        return gather
    raise TypeError(f"{type(node).__name__} is not written by hand here")


def _write_call(node: ApiNode, platform: Platform, gather: Callable[[State], State]) -> Any:
    body = Renderer(node.data.value()) if node.data is not None else None
    outputs = tuple(
        DeclaredOutput(title=p.title, schema=p.schema.mapping(), has_default=p.default is not None)
        for p in node.outputs
    )

    def call(state: State) -> State:
        made = PlatformCall(
            node=node.id,
            path=node.id,
            method=node.method,
            url=node.url,
            body=None if body is None else body.render(gather(state)),
            outputs=outputs,
        )
        return declared_outputs(made, platform.call(made))

    return call


def _write_gate(node: InputMessageNode, gather: Callable[[State], State]) -> Any:
    output = node.outputs[0].title

    def ask(state: State) -> State:
        answer = interrupt({"values": gather(state)})
        return {output: answer.get("value", "[Approved by operator]")}

    return ask


def _write_search(node: PluginRegexNode, gather: Callable[[State], State]) -> Any:
    matcher, text, output = Matcher(node.pattern), node.inputs[0].title, node.outputs[0].title
    find = matcher.first if node.first_only else matcher.all
    return lambda state: {output: find(gather(state)[text])}


def _gather(flow: FlowIR, node: Node, state: State) -> State:
    values = {}
    for edge in flow.data_edges_into(node.id):
        held = state.get(f"out.{edge.source}")
        if held is not None and edge.output in held:
            values[edge.input] = held[edge.output]
    return values
