"""No key of package.json, or of its `cinatra`, is a misspelling of a key that a host reads.

{"agentDependancies": {…}}   ->   OAS197 did you mean "agentDependencies"?
{"team": "sales"}            ->   fine
"""

from __future__ import annotations

from oas_compiler.checks.lookup.value_flaws import (
    KEYS,
    misspelt,
    misspelt_keys,
    misspelt_members,
    tell,
)
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.text.marks import child


@rule(
    code="OAS197",
    name="misspelt-manifest-key",
    severity="warning",
    summary="A key of package.json, or of its cinatra object, is almost equal to a known key that is missing.",
    fix="Correct the spelling: keys are compared as they stand, with their case.",
    source="agent guide, rules 1 and 11",
    needs="package",
    also=("guide-rule-11",),
    fixable=True,
    bad='"cinatra": {"agentDependancies": {"@acme/mail-agent": "^1.2.0"}}',
    good='"cinatra": {"agentDependencies": {"@acme/mail-agent": "^1.2.0"}}',
)
def misspelt_manifest_key(subject: Subject, report: Report) -> None:
    package = subject.agent
    if package is None:
        return
    for key, meant in misspelt_members(package).items():
        if meant == "license":
            continue  # OAS127, an error
        flaw = misspelt(f'"{key[:80]}" in package.json is read by nobody', child("", key), meant)
        tell(report, flaw, package.place, file=package.manifest_file)
    for key, meant in misspelt_keys(package.cinatra, KEYS).items():
        says = f'"{key[:80]}" in cinatra of package.json is read by nobody'
        flaw = misspelt(says, child("/cinatra", key), meant)
        tell(report, flaw, package.place, file=package.manifest_file)
