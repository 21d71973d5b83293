"""The values in package.json have the form that a host reads.

"kind": "agnet"                                              ->   OAS248 did you mean "agent"?
"fieldRenderers": [{"id": "@x/a:b", "kind": "reviewer-ouput"}]     ->   OAS248
"files": ["SKILL.md"]                                        ->   OAS248: the flow is not published
"cinatra": "x"                                               ->   OAS248: no object
"hasApprovalGates": "true", "fieldRenderers": {…}            ->   OAS248: another kind of value
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from cinatra_sdk.data.text.message_words import did_you_mean
from oas_compiler.checks.lookup.value_flaws import misspelt_members
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.package.package import Package

_KINDS: Final = ("agent", "skill", "artifact", "connector")
_API: Final = "cinatra.ai/v1"
_SCREENS: Final = (
    "auditor-review", "campaign-recipients-review", "context-selector", "cta",
    "email-drafts-review", "final-list-review", "follow-up-cadence", "gmail-sender",
    "linkedin-draft-review", "list-picker", "reviewer-output", "scrape-schema-review",
    "send-confirmation", "skill-recommend", "test-delivery-input", "trigger-configure",
    "trigger-confirm", "wayflow-setup-form", "wordpress-draft-confirm",
)  # fmt: skip
"""Kinds of screens that every host has; a host may have more."""
_RISKS: Final = ("low", "medium", "high", "critical")
_Found = tuple[str, str, str]


@rule(
    code="OAS248",
    name="manifest-values",
    severity="warning",
    summary="A value in package.json is misspelt, or has a form that no host reads.",
    fix="Write kind, apiVersion, files and fieldRenderers as a host reads them.",
    source="Cinatra, package.json of an agent",
    needs="package",
    bad='"cinatra": {"kind": "agnet", …}',
    good='"cinatra": {"kind": "agent", …}',
)
def manifest_values(subject: Subject, report: Report) -> None:
    package = subject.agent
    if package is None or package.source is None:
        return
    flaws = [
        *_find_manifest_flaws(package, subject.document.source.file),
        *_find_gate_contradiction(package, subject),
    ]
    for message, pointer, hint in flaws:
        report(message, package.place(pointer), hint=hint, file=package.manifest_file)


def has_renderers(package: Package) -> bool:
    """Whether the list of screens in package.json can be read; else OAS248 or OAS197 reports it."""
    own = package.manifest.get("cinatra")
    if package.source is None or not isinstance(package.source.value, dict):
        return False
    if own is None and misspelt_members(package):
        return False
    return isinstance(own or {}, dict) and isinstance(
        package.cinatra.get("fieldRenderers") or [], list
    )


def _find_manifest_flaws(package: Package, flow: str) -> Iterator[_Found]:
    """(message, pointer, hint) of every flaw."""
    whole = package.source.value if package.source is not None else None
    if not isinstance(whole, dict):
        yield f"package.json must be an object, not {describe(whole)}", "", 'write {"name": …}'
        return
    block = package.manifest.get("cinatra")
    if block is not None and not isinstance(block, dict):
        hint = 'write "cinatra": {"kind": "agent", …}'
        yield (
            "cinatra of package.json is no object, so that a host reads nothing of it",
            "/cinatra",
            hint,
        )
    kind = package.cinatra.get("kind")
    if isinstance(kind, str) and kind not in _KINDS and (meant := did_you_mean(kind, _KINDS)):
        yield f'"{kind[:80]}" is no kind of package', "/cinatra/kind", meant
    version = package.cinatra.get("apiVersion")
    if isinstance(version, str) and version != _API:
        yield (
            f'"{version[:80]}" is no apiVersion of this host',
            "/cinatra/apiVersion",
            f'write "{_API}"',
        )
    yield from _find_wrong_values(package)
    yield from _find_unpublished_flow(package, flow)
    yield from _find_renderer_flaws(package.cinatra.get("fieldRenderers"))


def _find_gate_contradiction(package: Package, subject: Subject) -> Iterator[_Found]:
    if package.cinatra.get("hasApprovalGates") is False and any(
        gate.cinatra.get("requiresApproval") is True for gate in subject.of_type("InputMessageNode")
    ):
        yield (
            "hasApprovalGates is false, and the flow has a gate that asks for approval",
            "/cinatra/hasApprovalGates",
            "write true",
        )


def _find_wrong_values(package: Package) -> Iterator[_Found]:
    """Values of a wrong type, and misspelt words of a host."""
    own = package.cinatra
    for key, known in (("packageType", _KINDS), ("riskLevel", _RISKS)):
        word = own.get(key)
        if isinstance(word, str) and word not in known and (meant := did_you_mean(word, known)):
            yield f'"{word[:80]}" is no {key} that a host knows', f"/cinatra/{key}", meant
    gates = own.get("hasApprovalGates")
    if gates is not None and not isinstance(gates, bool):
        word = str(gates).casefold()
        hint = (
            f"write {word} without quotes" if word in {"true", "false"} else "write true or false"
        )
        yield (
            f"hasApprovalGates must be true or false, not {describe(gates)}",
            "/cinatra/hasApprovalGates",
            hint,
        )
    renderers = own.get("fieldRenderers")
    if renderers is not None and not isinstance(renderers, list):
        yield (
            f"fieldRenderers must be a list, not {describe(renderers)}",
            "/cinatra/fieldRenderers",
            'write [{"id": "@scope/package:name", "kind": "…"}]',
        )
    files = package.manifest.get("files")
    if files is not None and not isinstance(files, list):
        yield f"files must be a list, not {describe(files)}", "/files", 'write ["cinatra"]'


def _find_unpublished_flow(package: Package, flow: str) -> Iterator[_Found]:
    """A list of published files without the flow."""
    files = package.manifest.get("files")
    if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
        return
    try:
        own = PurePath(flow).relative_to(package.root)
    except ValueError:
        return
    first = own.parts[0]
    names = [str(name).removeprefix("./").rstrip("/") for name in files]
    if not any(
        name in {first, str(own), "*", "."} or name.startswith(f"{first}/") or "*" in name
        for name in names
    ):
        yield (
            f'files of package.json leaves out "{own.as_posix()[:80]}"',
            "/files",
            f'add "{first}"',
        )


def _find_renderer_flaws(value: JsonValue) -> Iterator[_Found]:
    seen: set[str] = set()
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        at = f"/cinatra/fieldRenderers/{index}"
        if not isinstance(entry, dict):
            yield (
                "an entry of fieldRenderers is no object",
                at,
                'write {"id": "@scope/package:name", "kind": "…"}',
            )
            continue
        name, kind = entry.get("id"), entry.get("kind")
        if not isinstance(name, str):
            yield "an entry of fieldRenderers has no id", at, 'add "id": "@scope/package:name"'
        elif name in seen:
            yield f'"{name[:120]}" is registered twice', f"{at}/id", "remove one of the two"
        else:
            seen.add(name)
        if not isinstance(kind, str):
            yield (
                "an entry of fieldRenderers has no kind",
                at,
                'add "kind": the screen that shows it',
            )
        elif kind not in _SCREENS and (meant := did_you_mean(kind, _SCREENS)):
            yield f'"{kind[:80]}" is no kind of screen', f"{at}/kind", meant
