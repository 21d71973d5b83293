"""The default of a number is not written as a whole number.

    {"title": "score", "type": "number", "default": 0}     ->   OAS119
    {"title": "score", "type": "integer", "default": 0}    ->   fine

The host's runtime reads a whole number as an integer and refuses it as a number.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue


@rule(
    code="OAS119",
    name="number-default",
    severity="error",
    summary='An input or output of type "number" has a whole number as its default.',
    fix='Declare it as "integer", give it a default with a fraction, or leave the default out.',
    source="Cinatra V26",
    needs="cinatra",
    aliases=("V26", "OAS-RUNTIME-003"),
    bad='{"title": "limit", "type": "number", "default": 5}',
    good='{"title": "limit", "type": "integer", "default": 5}',
)
def number_default(subject: Subject, report: Report) -> None:
    for found in subject.components:
        for field in ("inputs", "outputs"):
            for index, item in enumerate(found.items(field)):
                if not isinstance(item, dict) or not isinstance(item.get("default"), int):
                    continue
                inner = item.get("json_schema")
                kind = item.get("type", inner.get("type") if isinstance(inner, dict) else None)
                if _is_number(kind) and not isinstance(item["default"], bool):
                    title = str(item.get("title"))[:80]
                    report(
                        f'the number "{title}" has the whole number {item["default"]} as its default',
                        subject.place(found.at(field, index, "default")),
                        hint='write "type": "integer" when only whole numbers are meant',
                    )


def _is_number(kind: JsonValue) -> bool:
    """Whether numbers are taken, and whole ones have no type of their own: `["number", "null"]`."""
    kinds = kind if isinstance(kind, list) else [kind]
    return "number" in kinds and "integer" not in kinds
