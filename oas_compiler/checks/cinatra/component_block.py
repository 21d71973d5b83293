"""The root flow brings its components along.

a root flow without "$referenced_components"   ->   OAS105
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.document.scope import DEFINITIONS
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS105",
    name="component-block",
    severity="error",
    summary="A Cinatra file has no $referenced_components.",
    fix="Define the nodes of the flow under $referenced_components, by their ids.",
    source="Cinatra S9",
    needs="cinatra",
    aliases=("S9",),
    bad='{"component_type": "Flow", "nodes": [{"$component_ref": "start"}]}',
    good='{"component_type": "Flow", "nodes": [{"$component_ref": "start"}],\n "$referenced_components": {"start": {…}}}',
)
def component_block(subject: Subject, report: Report) -> None:
    root = subject.root
    # a block of the wrong kind is OAS022
    if root is not None and root.value.get(DEFINITIONS) is None:
        report(f"{root.label} has no {DEFINITIONS}", subject.place(root.pointer))
