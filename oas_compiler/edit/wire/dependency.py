"""The entries of package.json for an agent with context slots: the selection agent, and gates.

"cinatra": {"agentDependencies": {}, "hasApprovalGates": false}
    ->  "cinatra": {"agentDependencies": {"@cinatra-ai/context-selection-agent": "^0.1.1"},
                    "hasApprovalGates": true}
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Final

from oas_compiler.control.slots import SELECTION_AGENT, dependency_pointers, is_selection_agent
from oas_compiler.edit.wire.differences import edits_between
from oas_compiler.findings.finding import Edit
from oas_compiler.ir import JsonValue
from oas_compiler.package.package import Package
from oas_compiler.text.source import Source

RANGE: Final = "^0.1.1"
"""The first published version with the subflow that is written here, and its patches."""


def manifest_edits(
    manifest: Source, wanted: str = RANGE, *, selects: bool, asks: bool
) -> tuple[Edit, ...]:
    """The edits of package.json; empty where it has the entries already, with any range.

    selects: the package's own flow declares slots, so that it depends on the selection agent.
    asks:    a person chooses for one of its slots, which is a gate.
    """
    value = manifest.value
    if not isinstance(value, dict):
        return ()
    after = copy.deepcopy(value)
    package = Package(root=Path(), source=manifest)
    if selects and not is_selection_agent(package, None):
        _add_dependency(after, package, wanted)
    cinatra = after.setdefault("cinatra", {}) if asks else None
    if isinstance(cinatra, dict):
        cinatra["hasApprovalGates"] = True
    return edits_between(value, after)


def _add_dependency(after: dict[str, JsonValue], package: Package, wanted: str) -> None:
    listed = list(dependency_pointers(package))
    cinatra = after.setdefault("cinatra", {})
    if not isinstance(cinatra, dict):
        return  # OAS198 reports it
    if not listed:
        entries = cinatra.setdefault("agentDependencies", {})
        if isinstance(entries, dict):
            entries[SELECTION_AGENT] = wanted
    for pointer, found in listed:
        if not (isinstance(found, str) and found.strip()):
            _give_range(cinatra, pointer, wanted)


def _give_range(cinatra: dict[str, JsonValue], pointer: str, wanted: str) -> None:
    """Add a range to an entry without a range."""
    _, _, key, name = pointer.split("/", 3)
    entries = cinatra[key]
    if isinstance(entries, dict):
        entries[SELECTION_AGENT] = wanted
    elif isinstance(entries, list):
        entry = entries[int(name)]
        assert isinstance(entry, dict)  # as `dependency_pointers` found it
        entry["versionConstraint"] = {"kind": "semver-range", "range": wanted}
