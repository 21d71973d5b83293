"""A package whose flow declares context slots depends on the agent that fills them.

    "contextSlots": [{"slotId": "brand", …}], package.json without the selection agent    ->  OAS153
    "agentDependencies": {"@cinatra-ai/context-selection-agent": "^0.1.1"}

The newer list `cinatra.dependencies` with `{packageName, versionConstraint: {range}}` counts too.
"""

from __future__ import annotations

from oas_compiler.checks.lookup.value_flaws import KEYS, misspelt_keys
from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import (
    SELECTION_AGENT,
    dependency_pointers,
    is_selection_agent,
)
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS153",
    name="context-slot-dependency",
    severity="error",
    summary="A flow declares context slots and its package.json does not list the context selection agent with a version range.",
    fix='Add "@cinatra-ai/context-selection-agent" with a range to cinatra.agentDependencies of package.json.',
    source="context slots, adoption checklist 7",
    needs="package",
    bad='"cinatra": {"agentDependencies": {}}',
    good='"cinatra": {"agentDependencies": {"@cinatra-ai/context-selection-agent": "^0.1.1"}}',
)
def context_slot_dependency(subject: Subject, report: Report) -> None:
    package = subject.package
    own = next((found for found in subject.slot_flows if found.flow is subject.flow), None)
    # a package.json that could not be read was reported
    if package is None or package.source is None or own is None:
        return
    if is_selection_agent(package, own.flow.package_name):
        return
    if isinstance(package.cinatra.get("agentDependencies"), list):
        return  # OAS188 says so
    listed = list(dependency_pointers(package))
    hint = f'"agentDependencies": {{"{SELECTION_AGENT}": "^0.1.1"}}'
    slips = frozenset(misspelt_keys(package.cinatra, KEYS).values())
    if not listed and slips.isdisjoint({"agentDependencies", "dependencies"}):
        unwired = any(slot.node is None and not slot.from_parent for slot in own.slots)
        report(
            f'the flow declares the context slot "{own.slots[0].id[:80]}" and package.json does '
            f"not depend on {SELECTION_AGENT}",
            package.place("/cinatra/agentDependencies"),
            hint=f"oasflow wire-context adds {hint}" if unwired else f"add {hint}",
            file=package.manifest_file,
        )
    for pointer, wanted in listed:
        if not (isinstance(wanted, str) and wanted.strip()):
            report(
                f"the dependency on {SELECTION_AGENT} has no version range",
                package.place(pointer),
                hint=f"write {hint}",
                file=package.manifest_file,
            )
