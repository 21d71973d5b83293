"""Every bridge call repeats the root flow's settings of the model.

metadata.cinatra.llm {"preferredProvider": "openai"}, a bridge node without data.cinatra_llm
    ->   OAS122; the fix copies it there

The runtime reads the file as it is, so settings that are only in the metadata never reach a call.
"""

from __future__ import annotations

from oas_compiler.checks.lookup.api_calls import Addition, bridge_nodes, lacks, misspelt_key
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS122",
    name="bridge-llm",
    severity="error",
    summary="The root flow has metadata.cinatra.llm, but a bridge call lacks data.cinatra_llm.",
    fix="Copy llm into data.cinatra_llm of the node; a call that already has one keeps it.",
    source="Cinatra V29",
    needs="cinatra",
    fixable=True,
    aliases=("V29", "OAS-RUNTIME-006"),
    bad='"llm": {"preferredProvider": "openai"}, …\n"data": {"agent_id": "mail-agent", "user": "…"}',
    good='"llm": {"preferredProvider": "openai"}, …\n"data": {"agent_id": "mail-agent", "user": "…", "cinatra_llm": {"preferredProvider": "openai"}}',
)
def bridge_llm(subject: Subject, report: Report) -> None:
    llm = subject.root.cinatra.get("llm") if subject.root is not None else None
    if not isinstance(llm, dict) or not llm:
        return
    addition = Addition("cinatra_llm", llm)
    for node in bridge_nodes(subject):
        if lacks(node, "cinatra_llm"):
            near = misspelt_key(node, "cinatra_llm")
            report(
                f"{node.label} lacks data.cinatra_llm, which the root flow asks for",
                subject.place(node.pointer),
                hint=f'"{near[:80]}" in data is read by nobody: did you mean "cinatra_llm"?'
                if near
                else "copy metadata.cinatra.llm of the root flow into data.cinatra_llm",
                fix=addition.to(node),
            )
