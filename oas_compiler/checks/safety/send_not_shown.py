"""The gate that guards a send shows the values that are sent.

    write ─draft→ send, write → check → sign (gate) → send           ->  OAS221 at the edge into "send"
    the same, and an edge leads the draft into an input of "sign"
    write → read (gate) → check → sign (gate) → send                  ->  OAS221: only "read" shows it
    sign (gate) → shorten ─text→ send                                 ->  OAS221: made after the gate
    sign (gate) → send, whose input "body" has a default and no edge  ->  OAS221 at that input

On each way the last gate before the send counts: its person lets the send go, and after an earlier gate a
value may be made anew.  A gate shows the visible inputs of its flow, the outputs or the message of the node
before it, its message and its inputs; where two of these have one name, the last (`values_at`).  A value is
known by the node and output that made it, never by its name.  A node that runs a flow with a gate stands for
that gate, and shows its own inputs.  The answer at the gate, and inputs that only the host fills in, need not
be shown.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from cinatra_sdk.data.author_json import Json
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.checks.subject import Subject
from oas_compiler.control.gates import trace_origin, values_at, values_into
from oas_compiler.control.graph import Digraph, link_level
from oas_compiler.control.risk_classes import is_send
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import DataEdge, FlowIR, InputMessageNode, Node, Port, StartNode, walk

_HINT: Final = 'lead it into an input of "{}", whose person approves it'


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guards:
    """What asks a person last before a send."""

    flow: FlowIR
    links: Digraph[str]
    last: tuple[str, ...]
    """The gates, and the nodes that run a flow with a gate, the nearest first."""
    between: Collection[str]
    """The nodes from which control comes to the send without a gate."""

    def list_blind(self, edge: DataEdge, origin: tuple[str, str]) -> list[str]:
        """Those that do not show the value of a data edge, though it is there."""
        # Where another source has run since, its value counts.
        others = {one.source for one in self.flow.feeds[edge.target, edge.input]} - {edge.source}
        blind = [one for one in self.last if not self._shows(one, origin, others)]
        if not blind:
            return []
        there = self.links.reach_from([origin[0]], without=others)
        return [one for one in blind if one in there]

    def _shows(self, gate: str, origin: tuple[str, str], others: Collection[str]) -> bool:
        node = self.flow.by_id[gate]
        if origin[0] == gate:
            return True
        if isinstance(node, InputMessageNode):
            return origin in values_at(self.flow, node, aside=others)
        # The screens inside have the inputs of their own flow alone.
        return origin in values_into(self.flow, gate)

    def find_blind_to(self, default: Json | None) -> str:
        """The first gate of which no input has this value for want of an edge; empty: none."""
        for gate in self.last:
            unfed = _list_unfed(self.flow, self.flow.by_id[gate])
            if all(port.default != default for port in unfed):
                return gate
        return ""

    def is_made_after(self, node: str) -> bool:
        """Whether a node may run after the last gate and before the send."""
        return node in self.between and node in self.links.reach_from(self.last)


@rule(
    code="OAS221",
    name="send-not-shown",
    severity="warning",
    summary="A send gets a value that the last gate before it does not show, or that is made after it.",
    fix="Lead the value into an input of the last gate before the send, and make it before that gate.",
    source="this project",
    needs="flow",
    bad="write → check → sign → send, and the draft goes from write to send alone",
    good='the same, and a data edge leads the draft into the input "draft" of the gate "sign"',
)
def send_not_shown(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        if not _is_wired(flow):
            continue  # what feeds a gate is not known; the edge is an error of its own
        links = link_level(flow)
        asking = {node.id for node in flow.by_id.values() if _asks(node)}
        for node in flow.by_id.values():
            if not _sends(node) or node.id in flow.unread_ports:
                continue
            guards = _find_guards(flow, links, asking, node.id)
            for edge in flow.data_edges_into(node.id) if guards.last else ():
                why, gate = _find_problem(guards, edge)
                if why:
                    report(
                        f'"{node.id[:80]}" sends "{edge.input[:80]}" {why}',
                        edge.place,
                        hint=_HINT.format(gate[:80]),
                    )
            for port in _list_unfed(flow, node) if guards.last else ():
                gate = guards.find_blind_to(port.default) if _says_something(port) else ""
                if gate:
                    report(
                        f'"{node.id[:80]}" sends the default of "{port.title[:80]}", '
                        f'which the gate "{gate[:80]}" before it does not show',
                        port.place if port.place.pointer else node.place,
                        hint=_HINT.format(gate[:80]),
                    )


def _list_unfed(flow: FlowIR, node: Node) -> list[Port]:
    """The inputs of a node that get their default, for no edge feeds them."""
    return [
        port
        for port in node.inputs
        if port.default is not None and (node.id, port.title) not in flow.feeds
    ]


def _says_something(port: Port) -> bool:
    """Whether a default is more than a blank for want of a value."""
    return port.default is not None and port.default.value() not in (None, "", [], {})


def _is_wired(flow: FlowIR) -> bool:
    """Whether every data edge begins at an output that is there."""
    outputs = {(node.id, port.title) for node in flow.by_id.values() for port in node.outputs}
    return all(
        (edge.source, edge.output) in outputs or edge.source in flow.unread_ports
        for edge in flow.data_edges
    )


def _asks(node: Node) -> bool:
    """Whether the node is a gate, or runs a flow with one."""
    if isinstance(node, InputMessageNode):
        return True
    inside = (inner for flow in node.subflows for _path, inner in walk(flow))
    return any(isinstance(inner, InputMessageNode) for inner in inside)


def _sends(node: Node) -> bool:
    """Whether the node sends, or runs a flow that sends, without a gate of its own."""
    if _asks(node):
        return False
    inside = (inner for flow in node.subflows for _path, inner in walk(flow))
    return is_send(node) or any(is_send(inner) for inner in inside)


def _find_guards(flow: FlowIR, links: Digraph[str], asking: Collection[str], send: str) -> _Guards:
    before = links.reverse.reach_from([send], without=asking)
    known = [one for one in before if one in flow.by_id]
    return _Guards(
        flow=flow,
        links=links,
        last=tuple(one for one in known if one in asking),
        between=frozenset(known) - {*asking, send},
    )


def _find_problem(guards: _Guards, edge: DataEdge) -> tuple[str, str]:
    """Why a person who lets the send go does not see the value, and at which gate; empty where they
    do, or need not.
    """
    flow = guards.flow
    origin = trace_origin(flow, edge.source, edge.output)
    source = flow.by_id.get(origin[0])
    if source is None or (isinstance(source, StartNode) and origin[1] in source.hidden):
        return "", ""  # hidden inputs are the host's
    named = f'from "{edge.source[:80]}"'
    if guards.is_made_after(source.id):
        return f"{named}, which makes it after the gate", guards.last[0]
    blind = guards.list_blind(edge, origin)
    if not blind:
        return "", ""
    return f'{named}, which the gate "{blind[0][:80]}" before it does not show', blind[0]
