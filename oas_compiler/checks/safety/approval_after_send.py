"""An approval comes before the send that it approves.

    start → look (read_only gate) → send → sign (approval gate) → end     ->  OAS231 at "sign"
    start → look → sign → send → end
    check ─yes→ sign → end, check ─no→ send → end                         ->  OAS231 at "sign"

Reported is a gate of the class `approval` or of a send class that no acting node follows, and that
comes after a send, or lies on another way than a send without such a gate.  A send without any gate
is OAS200.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.subject import Subject
from oas_compiler.control.approval import (
    find_gates_before,
    find_targets_ahead,
)
from oas_compiler.control.flow_control import FlowControl
from oas_compiler.control.gates import GateSpec
from oas_compiler.control.openings import asks_a_person, find_open_sends
from oas_compiler.control.risk_classes import APPROVAL, WRITE, is_send, means_send, weight
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import InputMessageNode, Node, Path, StartNode, walk


@rule(
    code="OAS231",
    name="approval-after-send",
    severity="warning",
    summary="A gate that approves guards nothing, and a send runs before it or on another way.",
    fix="Lead the control edges so that the gate comes before the send.",
    source="agent guide, rule 4",
    needs="flow",
    bad="start → look → send → sign → end     (sign: riskClass approval)",
    good="start → look → sign → send → end",
)
def approval_after_send(subject: Subject, report: Report) -> None:
    control, flow = subject.control, subject.flow
    if control is None or flow is None or not isinstance(flow.by_id.get(flow.start), StartNode):
        return
    late = list(_find_late_gates(control, *_find_gated_sends(control)))
    nodes = dict(walk(flow)) if late else {}
    for gate, send, comes_first in late:
        node = nodes[gate.path]
        name = nodes[send].id[:80]
        where = "runs before it" if comes_first else "is on another way"
        report(
            f'the gate "{node.id[:80]}" ({gate.risk_class[:80]}) guards nothing: "{name}", '
            f"which sends, {where}",
            subject.place(node.place.pointer),
            hint=f'lead every path to "{name}" through "{node.id[:80]}" before it',
        )


def _find_gated_sends(control: FlowControl) -> tuple[frozenset[Path], frozenset[Path]]:
    """The sends after any gate, and those of them without an approving gate before."""
    flow, waived = control.flow, control.waived
    ungated = {found.node.place.pointer for found in find_open_sends(flow, waived, asks_a_person)}
    unapproved = {
        found.node.place.pointer for found in find_open_sends(flow, waived, _is_approval_gate)
    } - ungated
    gated = {
        path: node.place.pointer
        for path, node in walk(flow)
        if node.place.pointer in unapproved or (is_send(node) and node.place.pointer not in ungated)
    }
    return frozenset(gated), frozenset(p for p, at in gated.items() if at in unapproved)


def _is_approval_gate(node: Node) -> bool:
    return isinstance(node, InputMessageNode) and _is_approval(node.risk_class)


def _is_approval(risk_class: str) -> bool:
    return weight(risk_class) >= APPROVAL or means_send(risk_class)


def _find_late_gates(
    control: FlowControl, sends: frozenset[Path], unapproved: frozenset[Path]
) -> Iterator[tuple[GateSpec, Path, bool]]:
    """Gates that guard no send, each with a send that it should guard, and whether that runs first."""
    if not sends:
        return
    flow = control.flow
    guarding = find_gates_before(flow, sends)
    gates = {
        path: gate
        for path, gate in control.gates.items()
        if _is_approval(gate.risk_class) and path not in guarding
    }
    if not gates:
        return
    acting = frozenset(
        path
        for path, node in walk(flow)
        if weight(node.risk_class) >= WRITE and not isinstance(node, InputMessageNode)
    )
    useful = find_gates_before(flow, acting)
    idle = frozenset(path for path in gates if path not in useful)
    after = find_targets_ahead(flow, idle, lambda path, _: path in sends)
    # a gate that still guards a write was meant for the send only if no other gate approves the
    # send
    after |= find_targets_ahead(flow, frozenset(gates) - idle, lambda path, _: path in unapproved)
    told = {gate: send for send, gate in sorted(after.items(), reverse=True)}
    for gate, send in sorted(told.items()):
        yield gates[gate], send, True
    for gate in sorted(idle - told.keys() if unapproved and not told else ()):
        yield gates[gate], min(unapproved), False
