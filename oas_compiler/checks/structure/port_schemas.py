"""Every input and output has a schema that values can be checked against.

an input with "minLength": "x"   ->   OAS079

In Cinatra's files this holds of the inputs of the run, which are checked before it begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote

from oas_compiler.checks.structure.answer_schemas import find_schema_flaw, is_readable
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import FlowIR, InputMessageNode, JsonValue, Port
from oas_compiler.port_types import definition
from oas_compiler.text.marks import child

_SIMPLE: Final = frozenset({"type", "title", "description"})
"""Keys of a schema of which no more can be wrong than the readers of types say."""


@rule(
    code="OAS079",
    name="port-schemas",
    severity="error",
    summary="The schema of an input or output is no JSON Schema that values can be checked against.",
    fix="Correct the keyword that the message names, or leave it out.",
    source="Agent Spec, properties; JSON Schema, draft 2020-12",
    needs="flow",
    bad='{"title": "name", "type": "string", "minLength": "one"}',
    good='{"title": "name", "type": "string", "minLength": 1}',
)
def port_schemas(subject: Subject, report: Report) -> None:
    told: set[str] = set()
    for port in _list_ports(subject):
        if port.place.pointer in told or not is_readable(port.type):
            continue
        told.add(port.place.pointer)
        schema = port.schema.value()
        if _is_simple(schema, plain=subject.document.is_plain):
            continue
        flaw = find_schema_flaw(schema)
        if flaw is None or (not subject.document.is_plain and _is_told_elsewhere(flaw.path)):
            continue
        where = "".join(child("", str(key)) for key in flaw.path)
        report(
            f'the schema of "{port.title[:80]}" is no JSON Schema: '
            f"{f'at {where[:200]}, ' if where else ''}{flaw.text}",
            subject.place(f"{_find_schema(subject, port.place.pointer, flaw.path)}{where}"),
            hint=flaw.hint or "correct it, or leave it out",
        )


def _list_ports(subject: Subject) -> Iterator[Port]:
    if not subject.document.is_plain:
        yield from subject.flow.inputs if subject.flow is not None else ()
        return
    for flow in subject.flows:
        yield from _list_flow_ports(flow)


def _list_flow_ports(flow: FlowIR) -> Iterator[Port]:
    yield from flow.inputs
    yield from flow.outputs
    for node in flow.nodes:
        yield from node.inputs
        # what a person answers has a rule of its own
        if not isinstance(node, InputMessageNode):
            yield from node.outputs


def _find_schema(subject: Subject, pointer: str, path: Sequence[object]) -> str:
    """Where the keyword of a flaw stands: in the port itself, or below its `json_schema`."""
    port = definition(subject.document.source.value, quote(f"#{pointer}", safe="#/~"))
    inner = port.get("json_schema") if isinstance(port, dict) else None
    if not path or not isinstance(port, dict) or not isinstance(inner, dict):
        return pointer
    return pointer if path[0] in port or path[0] not in inner else child(pointer, "json_schema")


def _is_simple(schema: JsonValue, *, plain: bool) -> bool:
    if not isinstance(schema, dict) or not _SIMPLE.issuperset(schema):
        return False
    return not plain or all(isinstance(value, (str, type(None))) for value in schema.values())


def _is_told_elsewhere(path: Sequence[object]) -> bool:
    """Whether OAS251 explains the mistake, in the words of Cinatra's authors."""
    return bool(path) and path[-1] in {"required", "enum"}
