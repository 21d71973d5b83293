"""Nothing of the old agent format is left in a flow file.

    "componentType": "Flow" at the top            ->   OAS107
    metadata.cinatra.approvalPolicy at the root   ->   OAS107; policies follow from the flow

Removing such a key is safe: neither the host nor this compiler reads it.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.diagnostics import Edit
from oas_compiler.rules import Report, rule

LEGACY = (
    "formatVersion",
    "executionMode",
    "approvalPolicy",
    "compiledPlan",
    "inputSchema",
    "outputSchema",
    "prompt",
    "taskSpec",
)
"""Keys of `metadata.cinatra` of the root flow, V2 to V9 in this order; a node may have them."""


@rule(
    code="OAS107",
    name="legacy-key",
    severity="error",
    summary="The root flow has a key of the old agent format; the host refuses the file.",
    fix="Remove the key: what it said now follows from the flow's nodes, inputs and outputs.",
    source="Cinatra V1 to V9",
    needs="cinatra",
    fixable=True,
    aliases=("V1", "V2", "V3", "V4", "V5", "V6", "V7", "V8", "V9"),
    bad='"metadata": {"cinatra": {"type": "flow", "executionMode": "auto"}}',
    good='"metadata": {"cinatra": {"type": "flow"}}',
)
def legacy_keys(subject: Subject, report: Report) -> None:
    root = subject.root
    if root is None:
        return
    pointers = [root.at("componentType")] if "componentType" in root.value else []
    pointers += [root.at("metadata", "cinatra", key) for key in LEGACY if key in root.cinatra]
    for pointer in pointers:
        report(
            f'the legacy field "{pointer.rsplit("/", 1)[-1]}" must not appear',
            subject.place(pointer),
            hint="remove it",
            fix=(Edit(pointer=pointer, value=None),),
        )
