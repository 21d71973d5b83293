"""Rules of Acme: a flow reads with GET, and whatever changes something asks a person by name."""

from __future__ import annotations

from oas_compiler.ir import ApiNode, InputMessageNode
from oas_compiler.rules import Report, RulePack, Subject, rule


@rule(
    code="ACME001",
    name="acme-no-delete",
    severity="error",
    summary="A call deletes something, and flows of Acme never do.",
    fix="Archive it: POST to its /archive.",
    source="Acme, handbook of agents, section 4",
    needs="flow",
    bad='ApiNode "http_method": "DELETE"',
    good='ApiNode "http_method": "POST", "url": "…/archive"',
)
def no_delete(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        for node in flow.nodes:
            if isinstance(node, ApiNode) and node.method == "DELETE":
                report(f'the call "{node.id}" deletes something', node.place)


@rule(
    code="ACME002",
    name="acme-gate-message",
    severity="warning",
    summary="A gate shows no message, so a person does not know what is asked.",
    fix="Give the InputMessageNode a message.",
    source="Acme, handbook of agents, section 7",
    needs="flow",
    bad='InputMessageNode without "message"',
    good='InputMessageNode "message": "Send this mail?"',
)
def gate_message(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        for node in flow.nodes:
            if isinstance(node, InputMessageNode) and not node.message:
                report(f'the gate "{node.id}" shows no message', node.place)


PACK = RulePack(title="Acme: what our agents may do", rules=(no_delete, gate_message))
