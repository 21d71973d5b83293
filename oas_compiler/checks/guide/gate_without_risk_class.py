"""A gate has a risk class, which its step in the approval policy carries.

InputMessageNode without metadata.cinatra.riskClass   ->   OAS176

Before a node of the class `email_send` the hint offers that class.  A misspelt `riskClass` is OAS133.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from oas_compiler.checks.lookup.value_flaws import has_block, meant_keys
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.control.gates import is_read, takes_text
from oas_compiler.control.risk_classes import READ, weight
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import FlowIR, InputMessageNode, Node

_KEY: Final = "riskClass"
_KEEP_QUESTION: Final = "with it a yes becomes an answer to this question, so write an inputMessageSchema with what is asked, too"
MAX_WALKS: Final = 20
"""Gates of a file for which the flow is searched; hints for further gates name no class."""


@rule(
    code="OAS176",
    name="gate-without-risk-class",
    severity="warning",
    summary="A gate has no riskClass.",
    fix="Write the riskClass of what the gate guards: read_only, draft_create, send_external_message.",
    source="agent guide, rule 4",
    needs="cinatra",
    also=("guide-rule-4",),
    bad='{"component_type": "InputMessageNode", "id": "approve", "metadata": {"cinatra": {}}}',
    good='{"component_type": "InputMessageNode", "id": "approve", "metadata": {"cinatra": {"riskClass": "read_only"}}}',
)
def gate_without_risk_class(subject: Subject, report: Report) -> None:
    without = [
        gate
        for gate in subject.of_type("InputMessageNode")
        if not _is_filled_text(gate.cinatra.get(_KEY)) and has_block(gate)
    ]
    slips = meant_keys(subject) if without else frozenset()
    for number, gate in enumerate(one for one in without if (one.pointer, _KEY) not in slips):
        at = gate.at("metadata", "cinatra", _KEY) if _KEY in gate.cinatra else gate.pointer
        guarded = _find_guarded_node(subject, gate) if number < MAX_WALKS else None
        hint = _format_hint(guarded)
        if _is_question(subject, gate):
            hint += f"; {_KEEP_QUESTION}"
        report(
            f"{gate.label} has no riskClass for its step of the approval policy",
            subject.place(at),
            hint=hint,
        )


def _is_filled_text(risk: object) -> bool:
    return isinstance(risk, str) and bool(risk.strip())


def _format_hint(guarded: Node | None) -> str:
    if guarded is None:
        return "write the class of what the gate guards"
    if weight(guarded.risk_class) == READ:
        return 'write "riskClass": "read_only": nothing that it guards does more'
    risk, name = guarded.risk_class[:80], guarded.id[:80]
    return f'write "riskClass": "{risk}", the class of "{name}" that it guards'


def _find_node(subject: Subject, gate: Written) -> tuple[FlowIR, Node] | None:
    """The gate in the flow that it stands in; None where the flow could not be read."""
    flow = next((one for one in subject.flows if one.place.pointer == gate.flow), None)
    own = next((n for n in flow.nodes if n.place.pointer == gate.pointer), None) if flow else None
    return None if flow is None or own is None else (flow, own)


def _is_question(subject: Subject, gate: Written) -> bool:
    """Whether the gate asks for words now, and would ask for a yes with a class (control/questions)."""
    found = _find_node(subject, gate)
    if found is None:
        return False
    flow, node = found
    if not isinstance(node, InputMessageNode):
        return False
    return takes_text(node) and not node.cinatra.mapping() and is_read(flow, node)


def _find_guarded_node(subject: Subject, gate: Written) -> Node | None:
    """The node of the strongest class that can come after the gate and before the next one."""
    found = _find_node(subject, gate)
    if found is None:
        return None
    flow, own = found
    after = list(_iterate_nodes_after(flow, own))
    return max(after, key=lambda node: weight(node.risk_class), default=None)


def _iterate_nodes_after(flow: FlowIR, gate: Node) -> Iterator[Node]:
    """The nodes after the gate, also inside subflows without gates."""
    seen = {gate.id}
    waiting = [gate.id]
    for current in waiting:
        node = flow.by_id.get(current)
        if current != gate.id and node is not None:
            if isinstance(node, InputMessageNode):
                continue
            yield node
            for subflow in node.subflows:
                yield from _list_nodes_inside(subflow)
        for target in flow.routes_of(current).values():
            if target not in seen:
                seen.add(target)
                waiting.append(target)


def _list_nodes_inside(flow: FlowIR) -> list[Node]:
    """The nodes of a flow and its subflows, each once; empty where a gate is among them."""
    flows, nodes, seen = [flow], list[Node](), {id(flow)}
    for current in flows:
        for node in current.nodes:
            nodes.append(node)
            for subflow in node.subflows:
                if id(subflow) not in seen:
                    seen.add(id(subflow))
                    flows.append(subflow)
    return [] if any(isinstance(node, InputMessageNode) for node in nodes) else nodes
