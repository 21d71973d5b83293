"""The root flow says what it is to the host: `metadata.cinatra` with its type and its screens.

{"type": "agent"}                            ->   OAS102 the four types that there are
{"type": "flow", "hitlScreens": "@a/b:c"}    ->   OAS102 a list of strings
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from cinatra_sdk.data.text.message_words import did_you_mean
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule

TYPES = ("orchestrator", "leaf", "node", "flow")
_MOST_COMPARED: Final = 300
"""Keys of metadata that may be a misspelt `cinatra`."""


@rule(
    code="OAS102",
    name="cinatra-block",
    severity="error",
    summary="metadata.cinatra of the root flow is missing, or its type or hitlScreens is wrong.",
    fix="Write metadata.cinatra with a type (orchestrator, leaf, node or flow) and hitlScreens as a list of renderer ids.",
    source="Cinatra S4",
    needs="cinatra",
    aliases=("S4",),
    bad='"metadata": {"cinatra": {"type": "agent", "hitlScreens": "@acme/mail:review"}}',
    good='"metadata": {"cinatra": {"type": "flow", "hitlScreens": ["@acme/mail:review"]}}',
)
def cinatra_block(subject: Subject, report: Report) -> None:
    root = subject.root
    if root is None:
        return
    metadata = root.value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        return  # OAS022
    block = (metadata or {}).get("cinatra")
    if block is None:
        near = [
            key
            for key in islice(metadata or {}, _MOST_COMPARED)
            if did_you_mean(key.lower(), ["cinatra"])
        ][:1]
        report(
            f"{root.label} has no metadata.cinatra",
            subject.place(root.at("metadata", near[0]) if near else root.pointer),
            hint=f'"{near[0][:80]}" is read by nobody: did you mean "cinatra"?'
            if near
            else 'add "metadata": {"cinatra": {"type": "flow"}}; the file counts as one of '
            f"Cinatra because {subject.cinatra_by}",
        )
    elif not isinstance(block, dict):
        place = subject.place(root.at("metadata", "cinatra"))
        report(f"metadata.cinatra must be an object, not {describe(block)}", place)
    else:
        _check_type(root, subject, report)
        _check_screens(root, subject, report)


def _check_type(root: Written, subject: Subject, report: Report) -> None:
    kind = root.cinatra.get("type")
    if isinstance(kind, str) and kind in TYPES:
        return
    known = f"it is one of {', '.join(TYPES)}"
    pointer = root.at("metadata", "cinatra", "type")
    if isinstance(kind, str):
        message = f'"{kind[:80]}" is not a type of agent'
        hint = report.nearest(kind[:80], TYPES) or known
    elif kind is None:
        message, hint = "metadata.cinatra of the root flow has no type", known
        pointer = pointer if "type" in root.cinatra else root.at("metadata", "cinatra")
    else:
        message, hint = f"the type of an agent must be a string, not {describe(kind)}", known
    report(message, subject.place(pointer), hint=hint)


def _check_screens(root: Written, subject: Subject, report: Report) -> None:
    if "hitlScreens" not in root.cinatra:
        return
    screens = root.cinatra["hitlScreens"]
    pointer = ("metadata", "cinatra", "hitlScreens")
    if not isinstance(screens, list):
        report(
            f"hitlScreens must be a list of renderer ids, not {describe(screens)}",
            subject.place(root.at(*pointer)),
        )
        return
    for index, screen in enumerate(screens):
        if not isinstance(screen, str):
            report(
                f"an entry of hitlScreens must be a renderer id, not {describe(screen)}",
                subject.place(root.at(*pointer, index)),
            )
