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

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from oas_compiler.ir import (
    ArrayType,
    FlowIR,
    Json,
    JsonValue,
    Node,
    ObjectType,
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
