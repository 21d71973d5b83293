"""No key of package.json, or of its `cinatra`, is a misspelling of a key that a host reads.

{"agentDependancies": {…}}   ->   OAS197 did you mean "agentDependencies"?
{"team": "sales"}            ->   fine
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from cinatra_sdk.text.spelling import LONGEST_COMPARED
from oas_compiler.checks.cinatra.metadata_keys import misspelt_keys
from oas_compiler.checks.flaws import misspelt, tell
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rules import Report, rule
from oas_compiler.package.package import Package
from oas_compiler.text.marks import child

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
"""Keys in the package.json of real agents."""
_MEMBERS: Final = ("name", "version", "license", "files", "description", "cinatra")
_OF_NPM: Final = frozenset(
    {
        "author", "bin", "browser", "bugs", "bundleDependencies", "config", "contributors", "cpu",
        "dependencies", "devDependencies", "directories", "engines", "exports", "funding",
        "homepage", "imports", "keywords", "main", "maintainers", "module", "optionalDependencies",
        "os", "overrides", "packageManager", "peerDependencies", "private", "publishConfig",
        "repository", "scripts", "sideEffects", "type", "types", "workspaces",
    }
)  # fmt: skip
_MOST_COMPARED: Final = 100
_CUTOFF: Final = 0.75


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


def misspelt_members(package: Package) -> dict[str, str]:
    """Written key of package.json → the missing key that was meant."""
    absent = [key for key in _MEMBERS if key not in package.manifest]
    found: dict[str, str] = {}
    for key in list(package.manifest)[:_MOST_COMPARED]:
        if key in _MEMBERS or key in _OF_NPM or len(key) > LONGEST_COMPARED:
            continue
        near = get_close_matches(key.lower(), absent, n=1, cutoff=_CUTOFF)
        if near and near[0] not in found.values():
            found[key] = near[0]
    return found
