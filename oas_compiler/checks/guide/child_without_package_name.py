"""A node that calls a child agent names it by its packageName.

an AgentNode over an A2AAgent, neither with a packageName             ->   OAS191
a FlowNode with hitlOwnedBy "childAgent" and no packageName           ->   OAS191
a FlowNode whose subflow is the copy of another package, without it   ->   OAS191
"""

from __future__ import annotations

from oas_compiler.checks.lookup.child_agents import Called, called_agents, own_names
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS191",
    name="child-without-package-name",
    severity="error",
    summary="A node calls a child agent and does not say which package it is.",
    fix="Write the name of the child's package into metadata.cinatra.packageName of the node.",
    source="agent guide, rule 12",
    needs="cinatra",
    aliases=("guide-rule-12",),
    bad='{"component_type": "FlowNode", "id": "mail", "metadata": {"cinatra": {"hitlOwnedBy": "childAgent"}}}',
    good='{"component_type": "FlowNode", "id": "mail", "metadata": {"cinatra": {"hitlOwnedBy": "childAgent", "packageName": "@acme/mail-agent"}}}',
)
def child_without_package_name(subject: Subject, report: Report) -> None:
    own = own_names(subject)
    for called in called_agents(subject):
        if not called.package and (why := _why_a_child(called, own)):
            name = called.copied_from
            report(
                f"{called.node.label} {why} and has no packageName",
                subject.place(called.pointer),
                hint=f'write "packageName": "{name[:120]}" into its metadata.cinatra'
                if name
                else "a host finds a child agent by the packageName in metadata.cinatra",
            )


def _why_a_child(called: Called, own: frozenset[str]) -> str:
    """The evidence that another agent is meant; empty for the agent's own subflow."""
    if called.is_remote:
        return "calls an A2AAgent"
    if called.node.cinatra.get("hitlOwnedBy") == "childAgent":
        return "leaves its gates to a child agent"
    if called.node.type != "AgentNode" and called.copied_from and called.copied_from not in own:
        return f'runs a copy of "{called.copied_from[:120]}"'
    return ""
