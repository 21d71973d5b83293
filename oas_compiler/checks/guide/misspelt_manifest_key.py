"""A key of `cinatra` in package.json is not a misspelling of one that a host reads.

{"agentDependancies": {…}}   ->   OAS197 did you mean "agentDependencies"?
{"team": "sales"}            ->   fine
"""

from __future__ import annotations

from typing import Final

from oas_compiler.checks.cinatra.metadata_keys import misspelt_keys
from oas_compiler.checks.subject import Subject
from oas_compiler.marks import child
from oas_compiler.rules import Report, rule

KEYS: Final = frozenset(
    {
        "agentDependencies",
        "apiVersion",
        "consumes",
        "dependencies",
        "displayName",
        "fieldRenderers",
        "hasApprovalGates",
        "kind",
        "manifestVersion",
        "packageType",
        "produces",
        "riskLevel",
        "roles",
        "sourceTemplateId",
        "sourceVersionId",
        "sourceVersionNumber",
        "toolAccess",
        "type",
    }
)
"""What stands in the package.json of real agents."""


@rule(
    code="OAS197",
    name="misspelt-manifest-key",
    severity="warning",
    summary="A key of cinatra in package.json is almost one that a host reads, and that one is missing.",
    fix="Correct the spelling: keys are compared as they stand, with their case.",
    source="agent guide, rules 1 and 11",
    needs="package",
    also=("guide-rule-11",),
    bad='"cinatra": {"agentDependancies": {"@acme/mail-agent": "^1.2.0"}}',
    good='"cinatra": {"agentDependencies": {"@acme/mail-agent": "^1.2.0"}}',
)
def misspelt_manifest_key(subject: Subject, report: Report) -> None:
    package = subject.agent
    if package is None:
        return
    for key, meant in misspelt_keys(package.cinatra, KEYS).items():
        report(
            f'"{key[:80]}" in cinatra of package.json is read by nobody',
            package.place(child("/cinatra", key)),
            hint=f'did you mean "{meant}"?',
            file=package.manifest_file,
        )
