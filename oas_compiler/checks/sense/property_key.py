"""No key of an input or output is a misspelling of a known key.

    {"title": "tone", "type": "string", "defualt": "plain"}    ->   OAS245 did you mean "default"?
    {"title": "tone", "type": "string", "x-order": 2}          ->   fine: schemas take further keys

If the right key is there as well, the similar key belongs to the author.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from oas_compiler.checks.lookup.value_flaws import misspelt, tell
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import child

_KEYS: Final = (
    "title", "type", "description", "default", "json_schema", "items", "enum", "format",
    "properties", "required", "additionalProperties", "x-renderer", "x-hidden", "x-data-source",
    "cinatra", "anyOf", "oneOf", "allOf",
)  # fmt: skip
_OTHERS: Final = frozenset({"definitions", "$defs", "$ref", "examples", "const", "not", "if"})
_LONGEST: Final = 40
_MOST: Final = 50
"""Unknown keys of one property that are compared."""


@rule(
    code="OAS245",
    name="property-key",
    severity="warning",
    summary="A key of an input or output is almost equal to a known key that is missing.",
    fix="Correct the spelling: keys are compared as they stand, with their case.",
    source="Agent Spec, properties; JSON Schema, draft 2020-12",
    needs="document",
    fixable=True,
    bad='{"title": "tone", "type": "string", "defualt": "plain"}',
    good='{"title": "tone", "type": "string", "default": "plain"}',
)
def property_key(subject: Subject, report: Report) -> None:
    for component in subject.components:
        for field in ("inputs", "outputs"):
            for index, item in enumerate(component.items(field)):
                for key, meant in _find_misspelt_keys(item):
                    says = f'"{key[:80]}" of an entry of {field} of {component.label} is read by nobody'
                    at = child(component.at(field, index), key)
                    tell(report, misspelt(says, at, meant), subject.place)


def _find_misspelt_keys(item: JsonValue) -> list[tuple[str, str]]:
    """(key, the one that was meant) of a property."""
    if not isinstance(item, dict) or "title" not in item:
        return []  # OAS029 says so
    absent = [key for key in _KEYS if key not in item]
    unknown = [
        key
        for key in item
        if key not in _KEYS
        and key not in _OTHERS
        and not key.startswith("x-")
        and len(key) <= _LONGEST
    ]
    found = []
    for key in unknown[:_MOST]:
        near = get_close_matches(key.lower(), absent, n=1, cutoff=0.8)
        near = near or [name for name in absent if name.lower() == key.lower()]
        if near:
            found.append((key, near[0]))
    return found
