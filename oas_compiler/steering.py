"""Answers that lead a simulated run past its gates.

In: a flow.  Out: stubs for the ApiNodes whose output a BranchingNode decides on.

    parse_action.action → branch: {"send": send → gate again}, default → end
        -> {"parse_action": [{"action": "send"}, {"action": "simulated action"}]}

A simulation that answers at random walks around the gates that it is there to show.  So the first
visit takes the branch behind which most gates lie, and later visits, in a loop, the one that
leads out.  A stub of the user's own for the node replaces all of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from oas_compiler.approval import Path, walk
from oas_compiler.ir import (
    ApiNode,
    BranchingNode,
    FlowIR,
    FlowNode,
    InputMessageNode,
    JsonValue,
    Port,
    ScalarType,
)


def steering(flow: FlowIR) -> dict[str, JsonValue]:
    """Stubs by node path; only what the sampled answers would not do by themselves."""
    stubs: dict[str, JsonValue] = {}
    for around, inner in _flows(flow, ()):
        for node in inner.nodes:
            if isinstance(node, BranchingNode):
                stubs |= _steer(inner, node, around)
    return stubs


def _flows(flow: FlowIR, around: Path) -> Iterator[tuple[Path, FlowIR]]:
    yield around, flow
    for path, node in walk(flow, around):
        if isinstance(node, FlowNode):
            yield path, node.subflow


def _steer(flow: FlowIR, node: BranchingNode, around: Path) -> dict[str, JsonValue]:
    routes = flow.routes_of(node.id)
    best = max(routes, key=lambda branch: _gates_behind(flow, routes[branch]), default="default")
    exit_branch = min(routes, key=lambda branch: _gates_behind(flow, routes[branch]), default=best)
    if _gates_behind(flow, routes.get(best, "")) == _gates_behind(
        flow, routes.get(exit_branch, "")
    ):
        return {}
    for edge in flow.data_edges:
        source = flow.node(edge.source)
        if edge.target != node.id or not isinstance(source, ApiNode):
            continue
        port = next(port for port in source.outputs if port.title == edge.output)
        turns: list[JsonValue] = [{port.title: _value(node, best, port)}]
        if _loops(flow, node.id, routes[best]):
            turns.append({port.title: _value(node, exit_branch, port)})
        return {"/".join((*around, source.id)): turns}
    return {}


def _gates_behind(flow: FlowIR, node_id: str) -> int:
    reached = _reachable(flow, node_id)
    return sum(
        isinstance(node, InputMessageNode) for node in flow.nodes if node.id in reached
    ) + sum(
        isinstance(inner, InputMessageNode)
        for node in flow.nodes
        if node.id in reached and isinstance(node, FlowNode)
        for _path, inner in walk(node.subflow)
    )


def _loops(flow: FlowIR, node_id: str, target: str) -> bool:
    return node_id in _reachable(flow, target)


def _reachable(flow: FlowIR, node_id: str) -> set[str]:
    seen = {node_id}
    stack = [node_id]
    while stack:
        for target in flow.routes_of(stack.pop()).values():
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return seen


def _value(node: BranchingNode, branch: str, port: Port) -> JsonValue:
    """A value of the port's type that the node maps to `branch`."""
    mapped = [key for key, to in node.mapping if to == branch]
    if mapped:
        text = mapped[0]
        return text if port.type == ScalarType("string") else _decoded(text)
    known = {key for key, _to in node.mapping}
    candidates: tuple[JsonValue, ...] = (f"simulated {port.title}", False, True, 0, 1, 2)
    if port.type in (ScalarType("string"), ScalarType("any")):
        return candidates[0]
    wanted = bool if port.type == ScalarType("boolean") else int
    for value in candidates[1:]:
        if type(value) is wanted and json.dumps(value) not in known:
            return value
    return candidates[0]


def _decoded(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text
    return value
