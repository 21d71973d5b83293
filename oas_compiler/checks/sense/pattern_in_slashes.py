"""A regular expression is written as a text, without the slashes and flags of JavaScript.

"regex_pattern": "/accept|revise/i"      ->   OAS256: write "accept|revise"
"regex_pattern": "/^a$/"                 ->   OAS256: nothing stands before a beginning
"regex_pattern": "/orders/[0-9]+/"       fine: slashes of a path
"regex_pattern": "/[0-9]+/d"             fine: a path, too

The slashes would have to stand in the text that is searched.
"""

from __future__ import annotations

import re
from typing import Final

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule

_FORM: Final = re.compile(r"/(?P<body>(?:[^/\\\n]|\\.)+)/(?P<flags>[gim]*)")
"""A pattern of JavaScript with its usual flags: a slash within it has a backslash."""
_SIGNS: Final = frozenset("[](){}|*+?^$\\")
_LONGEST: Final = 2_000


@rule(
    code="OAS256",
    name="pattern-in-slashes",
    severity="warning",
    summary="A regular expression is written between slashes, as in JavaScript: it looks for the slashes.",
    fix="Write what stands between the slashes; (?i) at the beginning takes letters of either case.",
    source="Agent Spec, PluginRegexNode",
    needs="document",
    bad='"regex_pattern": "/accept|revise/i"',
    good='"regex_pattern": "(?i)accept|revise"',
)
def pattern_in_slashes(subject: Subject, report: Report) -> None:
    for node in subject.of_type("PluginRegexNode"):
        found = between_slashes(node.text("regex_pattern"))
        if found:
            body, flags = found
            report(
                f"the pattern of {node.label} stands between slashes, and looks for them",
                subject.place(node.at("regex_pattern")),
                hint=f'write "{"(?i)" if "i" in flags else ""}{body}"',
            )


def between_slashes(pattern: str) -> tuple[str, str] | None:
    """Pattern and flags of one in JavaScript's form; `None` where the slashes may be meant.

    They are not where the pattern begins or ends a text between them, which matches nothing, nor
    where flags follow something that has signs of a pattern.
    """
    form = _FORM.fullmatch(pattern[: _LONGEST + 1])
    if form is None:
        return None
    body, flags = form["body"], form["flags"]
    is_whole = body.startswith("^") or (body.endswith("$") and not body.endswith("\\$"))
    if is_whole or (flags and not _SIGNS.isdisjoint(body)):
        return body, flags
    return None
