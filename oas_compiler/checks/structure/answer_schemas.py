"""Every schema for a person's answer is a usable JSON Schema.

an inputMessageSchema with "type": "strng", a broken pattern or a remote $ref   ->   OAS093
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import (
    ArrayType,
    InputMessageNode,
    JsonValue,
    ObjectType,
    Type,
    UnionType,
)
from oas_compiler.port_types import UNREADABLE
from oas_compiler.text.marks import child

if TYPE_CHECKING:
    from oas_compiler.checks.lookup.value_flaws import Path, SchemaFlaw


@rule(
    code="OAS093",
    name="answer-schemas",
    severity="error",
    summary="The schema of a gate's answer cannot be checked: it is no JSON Schema, or refers to "
    "something outside.",
    fix="Correct the schema, or leave it out: the gate then asks for approval or text.",
    source="JSON Schema, draft 2020-12",
    needs="flow",
    bad='"inputMessageSchema": {"type": "object", "properties": "name"}',
    good='"inputMessageSchema": {"type": "object", "properties": {"name": {"type": "string"}}}',
)
def answer_schemas(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        for node in flow.nodes:
            if not isinstance(node, InputMessageNode):
                continue
            for given in _list_answer_schemas(node):
                flaw = find_schema_flaw(given.schema)
                if flaw is None:
                    continue
                where = "".join(child("", str(key)) for key in flaw.path)
                report(
                    f'the {given.name} of "{node.id}" is no JSON Schema that can be checked: '
                    f"{f'at {where[:200]}, ' if where else ''}{flaw.text}",
                    subject.place(
                        f"{given.pointer}{where}" if given.pointer else node.place.pointer
                    ),
                    hint=_suggest_type(given.schema, flaw.path, report)
                    or flaw.hint
                    or "correct it, or leave it out: the gate then asks for approval or text",
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    name: str
    schema: JsonValue
    pointer: str
    """Place of the schema; empty where it is composed from several places."""


def _list_answer_schemas(node: InputMessageNode) -> Iterator[_Given]:
    about = node.cinatra.mapping()
    written = f"{node.place.pointer}/metadata/cinatra"
    if isinstance(about.get("inputMessageSchema"), dict):
        name = "inputMessageSchema"
        yield _Given(name=name, schema=about[name], pointer=f"{written}/{name}")
    elif node.answer_schema is not None and is_readable(node.outputs[0].type):
        yield _Given(name="output", schema=node.answer_schema.value(), pointer="")
    if about.get("formSchema") is not None:
        name = "formSchema"
        yield _Given(name=name, schema=about[name], pointer=f"{written}/{name}")


def is_readable(kind: Type) -> bool:
    """Whether the type of an output was read; what was refused in it has its finding."""
    waiting = [kind]
    while waiting:
        part = waiting.pop()
        if part == UNREADABLE:
            return False
        if isinstance(part, ArrayType):
            waiting.append(part.items)
        elif isinstance(part, UnionType):
            waiting += part.options
        elif isinstance(part, ObjectType):
            waiting += [member for _, member in part.properties]
            waiting += [part.additional] if part.additional is not None else []
    return True


def find_schema_flaw(schema: JsonValue) -> SchemaFlaw | None:
    # Imported by a flow that has such a schema: the table of keywords is the SDK's.
    from oas_compiler.checks.lookup.value_flaws import Unusual, first_flaw

    try:
        return first_flaw(schema)
    except Unusual:
        from oas_compiler.checks.lookup.value_flaws import flaw_by_library

        return flaw_by_library(schema) if isinstance(schema, (dict, bool)) else None


def _suggest_type(schema: JsonValue, path: Path, report: Report) -> str:
    """The type that was probably meant by a misspelt one."""
    for key in path:
        if isinstance(schema, dict):
            schema = schema.get(str(key))
        elif isinstance(schema, list):
            schema = schema[int(key)]
    from oas_compiler.checks.lookup.value_flaws import TYPES

    is_type = path[-1:] == ("type",) and isinstance(schema, str)
    return report.nearest(str(schema), TYPES) if is_type else ""
