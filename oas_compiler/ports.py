"""A Property of the file in, a `Port` of the IR out.

    {"title": "ids", "type": "array", "default": [], "json_schema": {"items": {"type": "string"}}}
        ->  Port(title="ids", type=array<string>, default=[],
                 schema={"items": {"type": "string"}, "type": "array"})

Cinatra's wrapper `json_schema` is merged in; what stands beside it wins.
"""

from __future__ import annotations

from collections.abc import Iterable

from oas_compiler.casting import castable, shown, type_of
from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import (
    ANY,
    ArrayType,
    Json,
    JsonValue,
    ObjectType,
    Port,
    Scalar,
    ScalarType,
    Type,
    UnionType,
)
from oas_compiler.marks import child
from oas_compiler.source import Source
from oas_compiler.spelling import nearest

_SCALARS: dict[str, Scalar] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
_TYPE_NAMES = (*_SCALARS, "array", "object")
_NOT_SCHEMA = frozenset({"title", "default", "cinatra", "json_schema"})


class PortReader:
    """Reads the ports of one document."""

    def __init__(self, source: Source, findings: Diagnostics) -> None:
        self._source = source
        self._findings = findings

    def ports(self, properties: Iterable[JsonValue], pointer: str) -> tuple[Port, ...]:
        """The list of properties at `pointer`; a flawed one is reported and left out."""
        ports: dict[str, Port] = {}
        for index, value in enumerate(properties):
            port = self._port(value, f"{pointer}/{index}")
            if port is None:
                continue
            if port.title in ports:
                self._findings.error(
                    "OAS030", f'the property "{port.title}" is declared twice', port.place
                )
                continue
            ports[port.title] = port
        return tuple(ports.values())

    def _port(self, value: JsonValue, pointer: str) -> Port | None:
        place = self._source.place(pointer)
        if not isinstance(value, dict):
            self._findings.error(
                "OAS029", "an input or output must be an object with a title", place
            )
            return None
        inner = value.get("json_schema")
        merged = {**(inner if isinstance(inner, dict) else {}), **value}
        title = merged.get("title")
        if not isinstance(title, str) or not title:
            self._findings.error("OAS029", 'an input or output has no "title"', place)
            return None
        schema = {name: part for name, part in merged.items() if name not in _NOT_SCHEMA}
        kind = self._type(schema, pointer)
        default = Json.of(merged["default"]) if "default" in merged else None
        port = Port(title=title, type=kind, schema=Json.of(schema), default=default, place=place)
        self._check_default(port, pointer)
        return port

    def _check_default(self, port: Port, pointer: str) -> None:
        value = port.default.value() if port.default is not None else None
        # null stands for "nothing yet" in real flows, whatever the type
        if value is not None and not castable(type_of(value), port.type):
            self._findings.warning(
                "OAS031",
                f'the default of "{port.title}" is {shown(type_of(value))}, '
                f"its type is {shown(port.type)}",
                self._source.place(f"{pointer}/default"),
            )

    # ------------------------------------------------------------------ types

    def _type(self, schema: JsonValue, pointer: str) -> Type:
        """The type that a JSON Schema describes; what it cannot express is `any`."""
        if not isinstance(schema, dict):
            return ANY
        options: list[Type] = []
        for keyword in ("anyOf", "oneOf"):
            parts = schema.get(keyword)
            if isinstance(parts, list):
                options += [
                    self._type(part, f"{pointer}/{keyword}/{index}")
                    for index, part in enumerate(parts)
                ]
        if "type" in schema:
            options += self._named(schema, pointer)
        elif not options and isinstance(schema.get("allOf"), list):
            return self._all_of(schema, pointer)
        elif not options and isinstance(schema.get("properties"), dict):
            return self._object(schema, pointer)
        return _union(options)

    def _named(self, schema: dict[str, JsonValue], pointer: str) -> list[Type]:
        names = schema["type"]
        types: list[Type] = []
        for name in names if isinstance(names, list) else [names]:
            if name == "array":
                types.append(ArrayType(self._type(schema.get("items"), f"{pointer}/items")))
            elif name == "object":
                types.append(self._object(schema, pointer))
            elif isinstance(name, str) and name in _SCALARS:
                types.append(ScalarType(_SCALARS[name]))
            else:
                shown_name = f'"{name[:80]}"' if isinstance(name, str) else "this"
                self._findings.error(
                    "OAS037",
                    f"{shown_name} is not a JSON Schema type",
                    self._source.place(f"{pointer}/type"),
                    hint=nearest(name[:80], _TYPE_NAMES, self._findings)
                    if isinstance(name, str)
                    else "",
                )
        return types

    def _object(self, schema: dict[str, JsonValue], pointer: str) -> ObjectType:
        properties = schema.get("properties")
        required = schema.get("required")
        additional = schema.get("additionalProperties", True)
        return ObjectType(
            properties=tuple(
                (name, self._type(part, child(f"{pointer}/properties", name)))
                for name, part in (properties if isinstance(properties, dict) else {}).items()
            ),
            additional=None
            if additional is False
            else self._type(additional, f"{pointer}/additionalProperties"),
            required=tuple(name for name in required if isinstance(name, str))
            if isinstance(required, list)
            else (),
        )

    def _all_of(self, schema: dict[str, JsonValue], pointer: str) -> Type:
        """Objects are merged; any other conjunction is left to run-time validation."""
        parts = schema["allOf"]
        assert isinstance(parts, list)
        types = [self._type(part, f"{pointer}/allOf/{i}") for i, part in enumerate(parts)]
        objects = [kind for kind in types if isinstance(kind, ObjectType)]
        if len(types) == 1:
            return types[0]
        if not types or len(objects) != len(types):
            return ANY
        members: dict[str, Type] = {}
        for kind in objects:
            members.update(kind.properties)
        return ObjectType(
            properties=tuple(members.items()),
            required=tuple(dict.fromkeys(name for kind in objects for name in kind.required)),
        )


def _union(options: list[Type]) -> Type:
    flat: list[Type] = []
    for option in options:
        flat += option.options if isinstance(option, UnionType) else (option,)
    flat = list(dict.fromkeys(flat))
    if not flat or ANY in flat:
        return ANY
    return flat[0] if len(flat) == 1 else UnionType(tuple(flat))
