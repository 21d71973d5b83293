"""Flaws of values, separate from their reports.  Not a rule itself.

    Flaw("max_steps is 200", "/data/max_steps", "write a whole number from 1 to 20")
    misspelt('"usr" of data is read by nobody', "/data/usr", "user")
        ->  hint: did you mean "user"?, and an edit that gives the key its name

Rules that check values find flaws at any depth (`Iterator[Flaw]`) and report each with `tell`.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Final, NamedTuple

from cinatra_sdk.text.spelling import LONGEST_COMPARED
from oas_compiler.checks.subject import Written
from oas_compiler.findings.finding import Edit
from oas_compiler.findings.rules import Report
from oas_compiler.ir import Place
from oas_compiler.package.package import Package


class Flaw(NamedTuple):
    """One problem and its place."""

    says: str
    pointer: str
    hint: str
    key: str = ""
    """The right name of a misspelt key; empty for other flaws."""


def misspelt(says: str, pointer: str, meant: str) -> Flaw:
    """The flaw of an unknown key that is almost a known key."""
    return Flaw(says, pointer, f'did you mean "{meant}"?', meant)


def tell(
    report: Report, flaw: Flaw, place: Callable[[str], Place], *, within: str = "", file: str = ""
) -> None:
    """Report a flaw with the edit that mends it, if there is one.

    `place`: makes a place of a pointer, in the document or in package.json; `within`: end of the
    message; `file`: as for `Report`.
    """
    report(
        f"{flaw.says}{within}",
        place(flaw.pointer),
        hint=flaw.hint,
        file=file,
        fix=(Edit(pointer=flaw.pointer, key=flaw.key),) if flaw.key else (),
    )


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


def has_block(component: Written) -> bool:
    """Whether `metadata.cinatra` can be read; if it is no object, OAS135 or OAS022 reports it."""
    metadata = component.value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        return False
    block = (metadata or {}).get("cinatra")
    return block is None or isinstance(block, dict)
