"""The IR in, JSON out: what `oasflow ir --json` prints.

    {"id": "email-flow", "name": "Email", "start": "start",
     "inputs": [{"title": "topic", "type": "string", "place": {"pointer": "/inputs/0", …}}],
     "nodes": [{"kind": "StartNode", "id": "start", "branches": ["next"], …}],
     "routes": [{"source": "start", "branch": "next", "target": "write", …}],
     "data_edges": [{"source": "start", "output": "topic", "target": "write", "input": "topic", …}]}

Members have the names of the IR's fields; a member that the flow does not have is absent.  JSON that
the author wrote stands there as it is.  A subflow stands below the node that runs it, each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Final

from oas_compiler.ir import (
    ANY,
    NO_BEHIND,
    NOTHING,
    NOTHING_SEALED,
    AgentTool,
    AgentToolbox,
    ArrayType,
    Behind,
    CallRetryPolicy,
    FlowIR,
    GateStep,
    Json,
    JsonValue,
    McpTransport,
    Node,
    ObjectType,
    Port,
    ScalarType,
    SealedJson,
    Type,
    UnionType,
)


def ir_to_json(flow: FlowIR) -> JsonValue:
    """The flow with everything that the IR says of it, places in the file too."""
    return _encode_record(flow)


def list_sealed(record: object) -> Iterator[SealedJson]:
    """The sealed values anywhere below; whoever reads them shows none of them."""
    if isinstance(record, SealedJson):
        yield record
    elif isinstance(record, tuple):
        for item in record:
            yield from list_sealed(item)
    elif is_dataclass(record):
        for field in fields(record):
            yield from list_sealed(getattr(record, field.name))


def _encode_record(record: object) -> dict[str, JsonValue]:
    told: dict[str, JsonValue] = {"kind": type(record).__name__} if isinstance(record, Node) else {}
    for field in fields(record):  # type: ignore[arg-type]  # every caller has a dataclass
        value = getattr(record, field.name)
        if value is not None:
            told[field.name] = _encode_value(value)
    return told


def _encode_value(value: object) -> JsonValue:
    if isinstance(value, SealedJson):
        return value.shown()
    if isinstance(value, Json):
        return value.value()
    if isinstance(value, (ScalarType, ArrayType, ObjectType, UnionType)):
        return _encode_type(value)
    if isinstance(value, tuple):
        return [_encode_value(item) for item in value]
    if is_dataclass(value):
        return _encode_record(value)
    assert value is None or isinstance(value, (str, int, float)), value
    return value


def _encode_type(declared: Type) -> JsonValue:
    """`"string"`, `{"items": …}`, `{"properties": …}` or `{"options": […]}`."""
    if isinstance(declared, ScalarType):
        return declared.kind
    if isinstance(declared, ArrayType):
        return {"items": _encode_type(declared.items)}
    if isinstance(declared, UnionType):
        return {"options": [_encode_type(option) for option in declared.options]}
    return {
        "properties": {name: _encode_type(member) for name, member in declared.properties},
        "additional": None if declared.additional is None else _encode_type(declared.additional),
        "required": list(declared.required),
    }


# ----------------------------------------------------------------------------
# Types as people write them, for messages and for the printed IR.
#
# shown(array of strings)     ->  "array<string>"
# brief(a very long type)     ->  its first 200 characters


_BRIEF: Final = 200
"""Characters of a type in a message."""


def shown(kind: Type, *, exact: bool = False) -> str:
    """A type as people write it: `array<string>`, `object{id: string}`, `integer | null`.

    `exact` adds the rule of an object for undeclared members: `object{id: string, …: integer}`, and
    `object{id: string, nothing else}` where it has no others.
    """
    if isinstance(kind, ScalarType):
        return kind.kind
    if isinstance(kind, ArrayType):
        return f"array<{shown(kind.items, exact=exact)}>"
    if isinstance(kind, UnionType):
        return " | ".join(shown(option, exact=exact) for option in kind.options) or "any"
    members = [f"{name}: {shown(member, exact=exact)}" for name, member in kind.properties]
    if exact and kind.additional is None:
        members.append("nothing else")
    elif exact and kind.additional != ANY and kind.additional is not None:
        members.append(f"…: {shown(kind.additional, exact=exact)}")
    return f"object{{{', '.join(members)}}}" if members else "object"


def brief(kind: Type) -> str:
    """A type for messages: the beginning of the text of `shown`."""
    text = shown(kind)
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}…"


def contrast(one: Type, other: Type) -> tuple[str, str]:
    """Two types for one message; with the details of `exact` where the types look the same."""
    if brief(one) != brief(other):
        return brief(one), brief(other)
    exact = shown(one, exact=True), shown(other, exact=True)
    return exact[0][:_BRIEF], exact[1][:_BRIEF]


# ----------------------------------------------------------------------------
# The IR in, readable text out; the golden form of the tests.
#
#     flow email-flow "Email"
#       in  topic: string
#       out draft: string
#       start StartNode "Inputs" (start)
#         in  topic: string
#         out topic: string
#         `required: "topic"`
#         next -> write
#         .topic -> write.topic
#
# Stable: the same IR always prints the same text.  After a port's type stands what its schema says
# beyond the type, at every depth.  Left out are places, descriptions, and fields left empty
# (`oasflow ir --json` has them).  A subflow is printed below the node that runs it, each time.


_SHOWN_ELSEWHERE = frozenset(
    {
        "id", "name", "description", "inputs", "outputs", "branches", "cinatra", "place", "subflow",
        "subflows", "request_place",
    }
)  # fmt: skip
_EMPTY = (None, "", (), NOTHING, NOTHING_SEALED, NO_BEHIND)
_INDENT = "  "
_SAID_BY_TYPE = frozenset({"type", "description"})
_HOLDS_SCHEMAS = frozenset({"items", "anyOf", "oneOf"})
_MAY_BE_LEFT_OUT = frozenset({"properties", "additionalProperties", *_HOLDS_SCHEMAS})


def print_ir(flow: FlowIR) -> str:
    """The flow as text, ending with a line break."""
    return "".join(f"{line}\n" for line in _print_flow(flow))


def _print_flow(flow: FlowIR) -> Iterator[str]:
    package = f" package={flow.package_name}" if flow.package_name else ""
    yield f"flow {flow.id} {_quote_text(flow.name)}{package}"
    for line in _print_ports(flow.inputs, flow.outputs):
        yield _INDENT + line
    for node in flow.nodes:
        for line in _print_node(node, flow):
            yield _INDENT + line


def _print_node(node: Node, flow: FlowIR) -> Iterator[str]:
    start = " (start)" if node.id == flow.start else ""
    yield f"{node.id} {type(node).__name__} {_quote_text(node.name)}{start}"
    for line in (*_print_ports(node.inputs, node.outputs), *_print_settings(node)):
        yield _INDENT + line
    routes = flow.routes_of(node.id)
    for branch in node.branches:
        yield f"{_INDENT}{branch} -> {routes.get(branch, 'nowhere')}"
    for edge in flow.data_edges:
        if edge.source == node.id:
            yield f"{_INDENT}.{edge.output} -> {edge.target}.{edge.input}"
    for subflow in node.subflows:
        for line in _print_flow(subflow):
            yield _INDENT + line


def _print_ports(inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> Iterator[str]:
    for word, ports in (("in ", inputs), ("out", outputs)):
        for port in ports:
            default = f" = {port.default.text}" if port.default is not None else ""
            yield f"{word} {port.title}: {shown(port.type)}{default}{_format_schema_rules(port)}"


def _format_schema_rules(port: Port) -> str:
    """What the schema says beyond the type."""
    rules = _strip_schema(port.schema.value())
    return f" {Json.of(rules).text}" if rules else ""


def _strip_schema(schema: JsonValue) -> JsonValue:
    """A schema without what the printed type says already; empty where nothing is left.

    Members and options keep their place, so that a rule shows which member it is about.
    """
    if isinstance(schema, list):
        options = [_strip_schema(option) for option in schema]
        return options if any(options) else []
    if not isinstance(schema, dict):
        return schema
    left = {key: _strip_member(key, value) for key, value in schema.items()}
    return {
        key: rule
        for key, rule in left.items()
        if key not in _SAID_BY_TYPE and (rule not in ({}, []) or key not in _MAY_BE_LEFT_OUT)
    }


def _strip_member(key: str, value: JsonValue) -> JsonValue:
    """One member of a schema without what the printed type says already."""
    if key == "properties" and isinstance(value, dict):
        members = {name: _strip_schema(member) for name, member in value.items()}
        return {name: rule for name, rule in members.items() if rule not in ({}, [])}
    if key == "additionalProperties" and value == {}:
        return {}
    return _strip_schema(value) if key in _HOLDS_SCHEMAS else value


def _print_settings(node: Node) -> Iterator[str]:
    """The fields of this kind of node in declared order, but for those that are left empty."""
    for field in fields(node):
        value = getattr(node, field.name)
        is_left_empty = value == field.default and value in _EMPTY
        if field.name in _SHOWN_ELSEWHERE or is_left_empty:
            continue
        if isinstance(value, Behind):
            yield from _print_behind(value)
        else:
            yield f"{field.name}: {_format_value(value)}"


def _print_behind(behind: Behind) -> Iterator[str]:
    """What is said of the tool or agent that a node runs; of agents, too, in the word of tools."""
    if behind.risk_class:
        yield f"behind: (risk_class={_quote_text(behind.risk_class)})"
    if behind.asks_person:
        yield "requires_confirmation: true"


def _format_value(value: object) -> str:
    if isinstance(value, SealedJson):
        return Json.of(value.shown()).text
    if isinstance(value, Json):
        return value.text
    if isinstance(value, (str, bool)):
        return Json.of(value).text
    if isinstance(value, AgentTool):
        return value.name  # its node follows
    if isinstance(value, AgentToolbox):
        return value.calls  # so do its nodes
    if isinstance(value, Port):
        return value.title
    if isinstance(value, (GateStep, CallRetryPolicy, McpTransport)):
        parts = (
            f"{field.name}={_format_value(getattr(value, field.name))}"
            for field in fields(value)
            if getattr(value, field.name) != field.default
        )
        return f"({' '.join(parts)})"
    if isinstance(value, tuple):
        return _format_list(value)
    return str(value)


def _format_list(values: Iterable[object]) -> str:
    """Pairs as `a -> b`, anything else one after the other."""
    return ", ".join(
        f"{_format_value(value[0])} -> {_format_value(value[1])}"
        if isinstance(value, tuple) and len(value) == 2
        else _format_value(value)
        for value in values
    )


def _quote_text(text: str) -> str:
    return Json.of(text).text
