"""Nothing of the old agent format is left in a flow file.

    "componentType": "Flow" at the top            ->   OAS107; removed by --fix
    metadata.cinatra.approvalPolicy at the root   ->   OAS107; what replaces it is the author's work

`--fix` removes values that a tool wrote (a format version, a plan) and empty values.  A policy with
steps, a prompt or a schema is an author's text: no host reads it, but it may exist nowhere else.
"""

from __future__ import annotations

from typing import Final

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.finding import Edit
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue

REMOVE: Final = "remove it"
LEGACY: Final = {
    "formatVersion": REMOVE,
    "executionMode": REMOVE,
    "approvalPolicy": "the policy follows from the gates and their riskClass: move each step to its gate",
    "compiledPlan": REMOVE,
    "inputSchema": "the inputs of the StartNode and its metadata.cinatra.required say this: move it there",
    "outputSchema": "the outputs of the EndNode say this: move it there",
    "prompt": 'a bridge call carries it: move it into "system" or "user" of its data',
    "taskSpec": "the nodes of the flow say this: move what is left into description, or into a bridge call",
}
"""Keys of `metadata.cinatra` of the root flow, V2 to V9 in this order, and what replaces each; a
node may have them."""
OLD_TYPE: Final = "componentType"
_ALIASES: Final = {key: f"V{number}" for number, key in enumerate((OLD_TYPE, *LEGACY), start=1)}


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
    if OLD_TYPE in root.value:
        _report_legacy_key(OLD_TYPE, root.at(OLD_TYPE), None, (subject, report))
    for key in LEGACY:
        if key in root.cinatra:
            pointer = root.at("metadata", "cinatra", key)
            _report_legacy_key(key, pointer, root.cinatra[key], (subject, report))


def _report_legacy_key(
    key: str, pointer: str, value: JsonValue, run: tuple[Subject, Report]
) -> None:
    subject, report = run
    advice = LEGACY.get(key, REMOVE)
    is_safe = advice == REMOVE or not value
    report(
        f'the legacy field "{key}" must not appear ({_ALIASES[key]})',
        subject.place(pointer),
        hint=REMOVE if is_safe else advice,
        fix=(Edit(pointer=pointer, value=None),) if is_safe else (),
    )
