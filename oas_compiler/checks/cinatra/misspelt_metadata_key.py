"""No unknown key of `metadata.cinatra` is a misspelling of a known key.

{"riskclass": "email_send"}    ->   OAS133 did you mean "riskClass"?
{"team": "sales"}              ->   fine: metadata is free
"""

from __future__ import annotations

from oas_compiler.checks.cinatra.legacy_keys import LEGACY
from oas_compiler.checks.lookup.value_flaws import components_with_slips, misspelt, tell
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS133",
    name="misspelt-metadata-key",
    severity="warning",
    summary="A key of metadata.cinatra is almost equal to a known key that is missing.",
    fix="Correct the spelling: keys are compared as they stand, with their case.",
    source="Cinatra, keys of metadata.cinatra",
    needs="cinatra",
    fixable=True,
    bad='{"component_type": "InputMessageNode", "metadata": {"cinatra": {"riskclass": "email_send"}}}',
    good='{"component_type": "InputMessageNode", "metadata": {"cinatra": {"riskClass": "email_send"}}}',
)
def misspelt_metadata_key(subject: Subject, report: Report) -> None:
    for component, slips in components_with_slips(subject):
        for key, meant in slips.items():
            if component.type == "Flow" and key in LEGACY:
                continue  # OAS107
            says = f'"{key[:80]}" in metadata.cinatra of {component.label} is read by nobody'
            at = component.at("metadata", "cinatra", key)
            tell(report, misspelt(says, at, meant), subject.place)
