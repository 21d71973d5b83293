"""`requiresApproval` at a call does not make the run ask a person.

    ApiNode save {"riskClass": "write", "requiresApproval": true}, no gate before it   ->  OAS232
    the same behind an InputMessageNode

`requiresApproval` and `approvalPolicy` of a call are notes for a host: nothing pauses because of
them.  They mislead where the call acts and no person was asked before.  A send is OAS200.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.openings import Openings, OpenNode, asks_a_person, open_nodes
from oas_compiler.control.risk_classes import WRITE, counted_class, may_send, weight
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.kinds.registry import find_kind, type_of
from oas_compiler.text.marks import child

_NO_POLICY = frozenset({"", "never", "none"})


@rule(
    code="OAS232",
    name="approval-without-gate",
    severity="warning",
    summary="A call says that it requires approval, and no gate stands before it.",
    fix="Put an InputMessageNode before the call, or take requiresApproval away.",
    source="agent guide, rule 4; Cinatra, ApiNode metadata",
    needs="flow",
    bad="start → save     (ApiNode, riskClass write, requiresApproval true)",
    good="start → approve → save     (approve: InputMessageNode)",
)
def approval_without_gate(subject: Subject, report: Report) -> None:
    control = subject.control
    if control is None:
        return
    opened = open_nodes(control.flow, control.waived, Openings(stops=asks_a_person))
    for found in {found.node.place.pointer: found for found in opened}.values():
        node, key = found.node, _asks_for_approval(found)
        if not key:
            continue
        place = node.place.pointer
        for name in ("metadata", "cinatra", key):
            place = child(place, name)
        report(
            f'{key} of "{node.id[:80]}" makes nobody ask: no gate stands before this {type_of(node)}',
            subject.place(place),
            hint="put an InputMessageNode before it; only gates pause a run",
        )


def _asks_for_approval(found: OpenNode) -> str:
    """The member that promises an approval for an acting call; empty without such a member."""
    node, risk = found.node, counted_class(found.node)
    kind = find_kind(type_of(node))
    if kind is None or not kind.is_call or found.is_unread or node.behind.asks_person:
        return ""
    if weight(risk) < WRITE or risk.startswith("draft_") or may_send(node):
        return ""
    cinatra = node.cinatra.mapping()
    if _is_policy(cinatra.get("approvalPolicy")):
        return "approvalPolicy"
    return "requiresApproval" if cinatra.get("requiresApproval") is True else ""


def _is_policy(value: JsonValue) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in _NO_POLICY
    return bool(value)
