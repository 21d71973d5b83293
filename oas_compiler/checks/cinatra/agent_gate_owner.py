"""Who asks the person when an AgentNode pauses: the child agent or the flow itself.

metadata.cinatra.hitlOwnedBy: "child"   ->   OAS108 did you mean "childAgent"?
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule

OWNERS = ("childAgent", "self")


@rule(
    code="OAS108",
    name="agent-gate-owner",
    severity="error",
    summary="hitlOwnedBy of an AgentNode is neither childAgent nor self.",
    fix='Write "childAgent" when the child shows its own screens, "self" when this flow does.',
    source="Cinatra V10",
    needs="cinatra",
    aliases=("V10",),
    bad='"metadata": {"cinatra": {"hitlOwnedBy": "child"}}',
    good='"metadata": {"cinatra": {"hitlOwnedBy": "childAgent"}}',
)
def agent_gate_owner(subject: Subject, report: Report) -> None:
    for node in subject.of_type("AgentNode"):
        if "hitlOwnedBy" not in node.cinatra:
            continue
        owner = node.cinatra["hitlOwnedBy"]
        if isinstance(owner, str) and owner in OWNERS:
            continue
        word = owner[:80] if isinstance(owner, str) else ""
        report(
            f"hitlOwnedBy of {node.label} must be childAgent or self, not "
            + (f'"{word}"' if isinstance(owner, str) else describe(owner)),
            subject.place(node.at("metadata", "cinatra", "hitlOwnedBy")),
            hint=report.nearest(word, OWNERS),
        )
