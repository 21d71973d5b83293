"""A gate before a send shows what is sent.

    write ─draft→ send, write → check → sign (gate) → send           ->  OAS221 at the edge into "send"
    the same, and an edge leads the draft into an input of "sign"
    sign (gate) → shorten ─text→ send                                 ->  OAS221: made after the gate

A gate shows the visible inputs of its flow, what the node before it puts out or says, its message and
its own inputs.  Asked is of every gate before the send whether one shows the value; what a person answers at a
gate, and inputs that only the host fills in, are no matter of the person who approves.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.subject import Subject
from oas_compiler.control.digraph import Digraph
from oas_compiler.control.graph import link_level
from oas_compiler.control.risk import is_send
from oas_compiler.control.shown import shown_at
from oas_compiler.findings.rules import Report, rule
from oas_compiler.ir import (
    DataEdge,
    FlowIR,
    InputMessageNode,
    Node,
    OutputMessageNode,
    StartNode,
    walk,
)


@rule(
    code="OAS221",
    name="send-not-shown",
    severity="warning",
    summary="A send gets a value that no gate before it shows, or that is made after the gate.",
    fix="Lead the value into an input of the gate, and make it before the gate.",
    source="this project",
    needs="flow",
    bad="write → check → sign → send, and the draft goes from write to send alone",
    good='the same, and a data edge leads the draft into the input "draft" of the gate "sign"',
)
def send_not_shown(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        links = link_level(flow)
        for node in flow.by_id.values():
            if not _sends(node) or node.id in flow.unread_ports:
                continue
            gates = _list_gates_before(flow, links, node.id)
            if not gates:
                continue
            for edge in flow.data_edges_into(node.id):
                why = _find_problem(flow, links, gates, edge)
                if why:
                    report(
                        f'"{node.id[:80]}" sends "{edge.input[:80]}" {why}',
                        edge.place,
                        hint=f'lead it into an input of "{gates[0].id[:80]}", whose person approves it',
                    )


def _sends(node: Node) -> bool:
    """Whether the node sends, or runs a flow that sends without a gate of its own."""
    if is_send(node):
        return True
    inside = [inner for flow in node.subflows for _path, inner in walk(flow)]
    asks = any(isinstance(inner, InputMessageNode) for inner in inside)
    return not asks and any(is_send(inner) for inner in inside)


def _list_gates_before(flow: FlowIR, links: Digraph[str], node: str) -> list[InputMessageNode]:
    """The gates from which control can come to the node, the nearest first."""
    before = links.reverse.reach_from([node])
    found = (flow.by_id.get(one) for one in before if one != node)
    return [one for one in found if isinstance(one, InputMessageNode)]


def _find_problem(
    flow: FlowIR, links: Digraph[str], gates: list[InputMessageNode], edge: DataEdge
) -> str:
    """Why the person who approves does not see the value; empty where they do, or need not."""
    source = flow.by_id.get(edge.source)
    if source is None or isinstance(source, InputMessageNode):
        return ""
    if isinstance(source, StartNode):
        return ""  # visible inputs are shown at every gate, hidden ones are the host's
    if any(edge.source in shown_at(flow, gate.id) for gate in gates):
        return ""
    if any((edge.source, edge.output) in _list_sources(flow, gate) for gate in gates):
        return ""
    after = links.reach_from([edge.source])
    if any(gate.id in after for gate in gates):
        return f'from "{edge.source[:80]}", which no gate before it shows'
    return f'from "{edge.source[:80]}", which makes it after the gate'


def _list_sources(flow: FlowIR, gate: InputMessageNode) -> Iterator[tuple[str, str]]:
    """What feeds the gate, and the messages right before it, which it shows."""
    said = [
        one for one in shown_at(flow, gate.id) if isinstance(flow.by_id[one], OutputMessageNode)
    ]
    for node_id in (gate.id, *said):
        for edge in flow.data_edges_into(node_id):
            yield edge.source, edge.output
