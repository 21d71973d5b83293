"""A Cinatra document is a Flow.

    {"component_type": "Agent", "metadata": {"cinatra": …}}   ->   OAS132

A document without any component_type is OAS020.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS132",
    name="root-is-flow",
    severity="error",
    summary="The root of a Cinatra document is something else than a Flow.",
    fix="Put the component into a Flow.",
    source="Cinatra S2",
    needs="cinatra",
    aliases=("S2",),
    bad='{"component_type": "Agent", "metadata": {"cinatra": {"type": "node"}}}',
    good='{"component_type": "Flow", "metadata": {"cinatra": {"type": "node"}}}',
)
def root_is_flow(subject: Subject, report: Report) -> None:
    root = subject.document.root
    if root is not None and root.component_type not in {"", "Flow"}:
        report(
            f'the document is a "{root.component_type[:80]}", a Cinatra agent is a Flow',
            subject.place(f"{root.pointer}/component_type"),
        )
