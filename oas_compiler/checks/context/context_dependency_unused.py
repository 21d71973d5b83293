"""Only an agent with context slots of its own depends on the context selection agent.

"agentDependencies": {"@cinatra-ai/context-selection-agent": "^0.1.1"}, no contextSlots   ->  OAS162 (warning)
the entry in the package of the child agent that declares the slots
"""

from __future__ import annotations

from oas_compiler.checks.lookup.value_flaws import meant_keys
from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import (
    KEY,
    SELECTION_AGENT,
    dependency_pointers,
    is_selection_agent,
)
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS162",
    name="context-dependency-unused",
    severity="warning",
    summary="A package depends on the context selection agent and its flow declares no context slots.",
    fix="Remove the entry; a child agent that declares slots has one of its own.",
    source="context slots: no transitive declaration",
    needs="package",
    bad='"contextSlots": [], "agentDependencies": {"@cinatra-ai/context-selection-agent": "^0.1.1"}',
    good='"contextSlots": [], "agentDependencies": {}',
)
def context_dependency_unused(subject: Subject, report: Report) -> None:
    package, root = subject.package, subject.root
    if package is None or root is None or root.cinatra.get(KEY):
        return
    if is_selection_agent(package, root.cinatra.get("packageName")):
        return
    if (root.pointer, KEY) in meant_keys(subject):
        return  # OAS133 says so
    for pointer, _ in dependency_pointers(package):
        report(
            f"package.json depends on {SELECTION_AGENT}, but the flow declares no context slots",
            package.place(pointer),
            hint="remove it; a child agent that declares slots has an entry of its own",
            file=package.manifest_file,
        )
