"""Answers that lead a simulated run past its gates.

In: a flow.  Out: stubs for the ApiNodes whose output a BranchingNode decides on.

    parse_action.action → branch: {"send": send → gate again}, default → end
        -> {"parse_action": [{"action": "send"}, {"action": "simulated action"}]}

A simulation with random answers may miss the gates that it should show.  So the first visit takes
the branch with the most gates behind it, and later visits, in a loop, take the branch that leads
out.  A user's stub for the node replaces these answers.

An autonomous context slot asks no person, also in a simulation: its declaration decides the branch,
not the number of gates.

Which gates lie behind a node is worked out once per flow, for all its nodes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from oas_compiler.control.context_slots import SlotFlow, modes_of, resolving
from oas_compiler.control.graph import link_level
from oas_compiler.ir import (
    ApiNode,
    BranchingNode,
    ClientToolNode,
    FlowIR,
    InputMessageNode,
    JsonValue,
    Node,
    Path,
    Port,
    ScalarType,
    ToolNode,
    open_flows,
    walk,
)
from oas_compiler.kinds.registry import kind_of


def steering(flow: FlowIR, autonomous: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Stubs by node path; only what the sampled answers would not do by themselves.

    autonomous: the stubs of `autonomous_slots`, which stay as they are.
    """
    stubs: dict[str, JsonValue] = {}
    for around, inner in _iterate_flows(flow, ()):
        behind: _Behind | None = None
        for node in inner.nodes:
            if isinstance(node, BranchingNode):
                behind = behind or _Behind(inner)
                stubs |= _steer_branch(inner, node, around, behind)
    return {**stubs, **autonomous}


def autonomous_slots(flow: FlowIR, slot_flows: Iterable[SlotFlow]) -> dict[str, JsonValue]:
    """Stubs by node path: the answer of context-resolve for each slot whose gate asks no person.

    slot_flows: those of the flow and its subflows.
    """
    by_flow = {id(found.flow): found for found in slot_flows}
    paths: dict[int, list[Path]] = {}
    for around, inner in _iterate_flows(flow, ()) if by_flow else ():
        paths.setdefault(id(inner), []).append(around)
    stubs: dict[str, JsonValue] = {}
    for found in (by_flow[own] for own in paths if own in by_flow):
        declared = modes_of(found.flow)
        for slot in found.slots:
            if slot.node is None or not (slot.from_parent or declared.get(slot.id) == "autonomous"):
                continue
            for around in paths[id(found.flow)]:
                for node in resolving(slot.node.subflow):
                    path = "/".join((*around, slot.node.id, node.id))
                    stubs[path] = {"selectionMode": "autonomous"}
    return stubs


def _iterate_flows(flow: FlowIR, around: Path) -> Iterator[tuple[Path, FlowIR]]:
    yield around, flow
    for path, node in walk(flow, around):
        yield from open_flows(node, path)


def _steer_branch(
    flow: FlowIR, node: BranchingNode, around: Path, behind: _Behind
) -> dict[str, JsonValue]:
    routes = flow.routes_of(node.id)
    if not routes:
        return {}
    gates = {branch: behind.gates(target) for branch, target in routes.items()}
    best = max(routes, key=lambda branch: gates[branch])
    exit_branch = min(routes, key=lambda branch: gates[branch])
    if gates[best] == gates[exit_branch]:
        return {}
    for edge in flow.data_edges_into(node.id):
        source = flow.node(edge.source)
        if not isinstance(source, ApiNode):
            continue
        port = next(port for port in source.outputs if port.title == edge.output)
        turns: list[JsonValue] = [{port.title: _choose_value(node, best, port)}]
        if behind.in_one_loop(node.id, routes[best]):
            turns.append({port.title: _choose_value(node, exit_branch, port)})
        return {"/".join((*around, source.id)): turns}
    return {}


class _Behind:
    """The gates that can still come from each node of a flow on, those inside subflows too."""

    def __init__(self, flow: FlowIR) -> None:
        graph = link_level(flow)
        count = 0
        self._own: dict[str, int] = {}
        for node in flow.nodes:
            gates = _count_gates(node)
            self._own[node.id] = ((1 << gates) - 1) << count
            count += gates
        self._ahead = graph.gather_ahead(self._own)
        groups = enumerate(graph.find_groups(self._own))
        self._group = {node_id: number for number, group in groups for node_id in group}

    def gates(self, node_id: str) -> int:
        """How many gates lie at the node or behind it."""
        return (self._own[node_id] | self._ahead[node_id]).bit_count()

    def in_one_loop(self, node_id: str, following: str) -> bool:
        """Whether control comes back to the node from one that follows it."""
        return self._group[node_id] == self._group[following]


def _count_gates(node: Node) -> int:
    """The node itself if it is a gate, and the gates in the flows that it runs."""
    inside = (inner for subflow in node.subflows for _path, inner in walk(subflow))
    return sum(isinstance(one, InputMessageNode) for one in (node, *inside))


def _choose_value(node: BranchingNode, branch: str, port: Port) -> JsonValue:
    """A value of the port's type that the node maps to `branch`."""
    mapped = [key for key, to in node.mapping if to == branch]
    if mapped:
        text = mapped[0]
        return text if port.type == ScalarType("string") else _decode_json(text)
    known = {key for key, _to in node.mapping}
    candidates: tuple[JsonValue, ...] = (f"simulated {port.title}", False, True, 0, 1, 2)
    if port.type in (ScalarType("string"), ScalarType("any")):
        return candidates[0]
    wanted = bool if port.type == ScalarType("boolean") else int
    for value in candidates[1:]:
        if type(value) is wanted and json.dumps(value) not in known:
            return value
    return candidates[0]


def _decode_json(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text
    return value


# ----------------------------------------------------------------------------
# Whether a flow goes to models, MCP servers or agents, which no platform stands for.
#
# a flow with an LlmNode, an MCPTool or an A2AAgent    ->  True
# a flow whose calls all go through its platform       ->  False


def goes_elsewhere(flow: FlowIR) -> bool:
    """A simulated platform would answer in their place."""
    return not all(
        isinstance(node, (ApiNode, ToolNode, ClientToolNode)) for node in _list_acting(flow)
    )


def asks_platform(flow: FlowIR) -> bool:
    """Whether a simulated platform would answer any call of the flow: no tool that is run here, and no
    tool of a client.
    """
    return not all(isinstance(node, (ToolNode, ClientToolNode)) for node in _list_acting(flow))


def _list_acting(flow: FlowIR) -> Iterator[Node]:
    return (node for _, node in walk(flow) if kind_of(node).acts and not node.subflows)
