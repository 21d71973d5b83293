"""The flow has the gates that its prose promises: an approval is a gate, not a sentence.

description "… waits for the user's approval", and no gate in the flow   ->   OAS175
the same with an InputMessageNode                                       ->   fine
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from oas_compiler.checks.lookup.child_agents import gates
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Place

_WHO: Final = r"(?:users?|humans?|persons?|people|operators?|reviewers?|somebody|someone)"
_YES: Final = r"(?:approv\w+|confirm\w*|sign(?:s|ed)?[- ]?off|human review)"
_PROMISE: Final = re.compile(
    rf"\b(?:wait|paus|stop|halt)(?:s|es|e|ing)?\b.{{0,60}}\b(?:{_YES}|{_WHO})\b"
    rf"|\b(?:require|need|await|request|seek|obtain|get|ask(?:s|ed|ing)? for)(?:s|ed|ing)?\b.{{0,30}}\b"
    r"(?:approval|confirmation|sign[- ]?off|human review|consent)\b"
    rf"|\bask(?:s|ing)?\b.{{0,20}}\b{_WHO}\b.{{0,30}}\b(?:approve|confirm)\b"
    rf"|\b(?:after|until|unless|once|only when|only if)\b.{{0,40}}\b(?:approv(?:ed|es|al)|confirm(?:ed|s|ation))\b"
    rf"|\b{_WHO}\b.{{0,20}}\b(?:must |has to |have to |can |may |should |will )?(?:approves?|confirms?|signs off)\b"
    r"|\b(?:approval|hitl|human|review|confirmation) gates?\b"
    r"|\bhuman[- ]in[- ]the[- ]loop\b|\bhitl\b",
    re.IGNORECASE,
)
_DENIAL: Final = re.compile(
    r"\b(?:no|not|never|without|neither|nor|cannot|\w+n['\u2019]t|instead of"
    r"|lacks?|lacking|skip(?:s|ped|ping)?|none|nothing|nobody|unattended|automatically|removed"
    r"|bypass(?:es|ed)?|omit(?:s|ted)?|absent|absence|free of|instead|rather than|unneeded"
    r"|callers?|parents?|orchestrators?|hosts?|upstream|already)\b",
    re.IGNORECASE,
)
"""Words in the same sentence that deny an approval, or say that another flow asks for it."""
_SENTENCE: Final = re.compile(r"(?:[^.!?;\n]+|\n(?![ \t]*(?:\n|[-*+#>|]|\d+[.)])))+")
"""The end of a sentence; a line end alone ends none, except before an empty line, a list, a heading
and a table.
"""


@rule(
    code="OAS175",
    name="gate-only-in-prose",
    severity="warning",
    summary="A text promises that a person approves, and the flow has no gate.",
    fix="Add an InputMessageNode where the run must wait, or take the promise back.",
    source="agent guide, rule 4",
    needs="cinatra",
    aliases=("guide-rule-4",),
    bad='"description": "Sends the mail after the user approves it."   (and no gate in the flow)',
    good='{"component_type": "InputMessageNode", "id": "approve", "outputs": [{"title": "answer", "type": "string"}]}',
)
def gate_only_in_prose(subject: Subject, report: Report) -> None:
    slots = subject.root.cinatra.get("contextSlots") if subject.root is not None else None
    # a host adds a gate of its own for a context slot
    if slots or next(gates(subject), None) is not None:
        return
    for what, text, place, file in _iterate_prose(subject):
        promise = _find_promise(text)
        if promise is not None:
            offset, words = promise
            at = place if place.pointer else _move_place(text, offset, place)
            report(
                f'{what} promises "{words}", and the flow has no gate',
                at,
                hint="add an InputMessageNode: a promise in prose stops no run",
                file=file,
            )


def _iterate_prose(subject: Subject) -> Iterator[tuple[str, str, Place, str]]:
    """(kind, text, place, file) of every text that describes the agent."""
    for text in subject.texts:
        if text.keys == ("description",) or text.keys[-1:] == ("taskSpec",):
            yield f"the {text.keys[-1]}", text.value, subject.place(text.pointer), ""
    package = subject.agent
    if package is None:
        return
    about = package.manifest.get("description")
    if isinstance(about, str):
        place = package.place("/description")
        yield "the description of the package", about, place, package.manifest_file
    skill = package.own_skill
    if skill is not None:
        body = "\n".join(skill.lines[skill.body :])
        yield "SKILL.md", body, Place("", skill.body + 1, 1), package.name_of(skill.file)


def _find_promise(text: str) -> tuple[int, str] | None:
    """The first sentence that promises an approval: its place and words."""
    for sentence in _SENTENCE.finditer(text):
        found = _PROMISE.search(sentence[0])
        if found and not _DENIAL.search(sentence[0]):
            return sentence.start() + found.start(), found[0][:80]
    return None


def _move_place(text: str, offset: int, start: Place) -> Place:
    before = text[:offset]
    column = offset - (before.rfind("\n") + 1) + 1
    return Place("", start.line + before.count("\n"), column)
