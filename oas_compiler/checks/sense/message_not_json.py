"""A message that is written as JSON stays JSON with every value.

    {"subject": {{ subject | tojson }}}      ->   fine
    {"subject": {{ subject }}}               ->   OAS239: a text without quotes
    {"subject": "{{ subject | tojson }}"}    ->   OAS239: quoted twice
    {"subject": {{ subject | tojson }} "x"}  ->   OAS239: a comma is missing

The next gate shows the members of a message that is one JSON object, and nothing of any other.
A message with blocks ({% if %}) is not judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import (
    ArrayType,
    InputMessageNode,
    Node,
    ObjectType,
    OutputMessageNode,
    ScalarType,
    Type,
)
from oas_compiler.templates import TemplateInvalid, placeholders
from oas_compiler.text.json_text import flaw_at
from oas_compiler.text.marks import child

_PLACEHOLDER: Final = re.compile(r"\{\{-?\s*(\w+)([^{}]*?)-?\}\}")
_LOOKS_LIKE_JSON: Final = re.compile(r"\s*(?:\{\s*(?:\"|\}|'|\{\{)|\[\s*(?:\"|\{|\[|\]))")
_LONGEST: Final = 20_000
_NEARBY: Final = 30


@rule(
    code="OAS239",
    name="message-not-json",
    severity="warning",
    summary="A message is written as JSON, but is not valid JSON once values are filled in.",
    fix="Write each value as {{ name | tojson }}, without quotes around it.",
    source="Cinatra, OutputMessageNode: the payload of the next gate",
    needs="flow",
    bad='"message": "{\\"subject\\": {{ subject }}}"',
    good='"message": "{\\"subject\\": {{ subject | tojson }}}"',
)
def message_not_json(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        for node in flow.nodes:
            if isinstance(node, (OutputMessageNode, InputMessageNode)) and node.message:
                problem = _find_json_problem(node.message, node)
                if problem is not None:
                    says, hint = problem
                    report(
                        f'the message of "{node.id[:80]}" is written as JSON, and {says}',
                        subject.place(child(node.place.pointer, "message")),
                        hint=hint,
                    )


def _without_comments(message: str) -> str:
    """The text without Jinja's comments; a pattern would look for the end of each again and again."""
    kept: list[str] = []
    at = 0
    while (begin := message.find("{#", at)) >= 0 and (end := message.find("#}", begin + 2)) >= 0:
        kept.append(message[at:begin])
        at = end + 2
    return "".join((*kept, message[at:]))


def _find_json_problem(message: str, node: Node) -> tuple[str, str] | None:
    """The problem and the fix; `None` for a message that is JSON, or was not meant as JSON."""
    text = _without_comments(message)
    if len(text) > _LONGEST or "{%" in text or _LOOKS_LIKE_JSON.match(text) is None:
        return None
    if text.lstrip().startswith("{{"):
        return None
    try:
        placeholders(message)
    except TemplateInvalid:
        return None  # OAS080 says so
    types = {port.title: port.type for port in node.inputs}
    made: list[str] = []
    end, inside = 0, False
    for found in _PLACEHOLDER.finditer(text):
        between = text[end : found.start()]
        inside = _is_inside(between, inside)
        problem = _find_misquoted_placeholder(found[1], found[2], types, inside=inside)
        if problem is not None:
            return problem
        made += [between, "x" if inside else "null"]
        end = found.end()
    return _find_syntax_error("".join((*made, text[end:])))


def _is_inside(text: str, inside: bool) -> bool:
    """Whether a JSON text is open after `text`."""
    for quote in re.finditer(r'\\.|"', text, re.DOTALL):
        if quote[0] == '"':
            inside = not inside
    return inside


def _find_misquoted_placeholder(
    name: str, rest: str, types: Mapping[str, Type], *, inside: bool
) -> tuple[str, str] | None:
    kind, as_json = types.get(name), "tojson" in rest
    shown = name[:80]
    is_text = isinstance(kind, ScalarType) and kind.kind == "string"
    is_complex = isinstance(kind, (ArrayType, ObjectType))
    if inside and ((as_json and is_text) or is_complex):
        return (
            f"{{{{ {shown} }}}} brings quotes of its own into a text",
            f"write {{{{ {shown} | tojson }}}} without quotes around it",
        )
    if not inside and is_text and not as_json:
        return (
            f"{{{{ {shown} }}}} puts a text in without quotes",
            f"write {{{{ {shown} | tojson }}}}",
        )
    return None


def _find_syntax_error(text: str) -> tuple[str, str] | None:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        flaw = flaw_at(text, error.pos)
        near = " ".join(text[max(0, flaw.at - _NEARBY) : flaw.at + _NEARBY].split())
        return f"{flaw.says}: …{near}…", flaw.hint
    except ValueError:
        return None  # a number too long to be read
    return None
