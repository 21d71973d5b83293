"""One input or output of a node: the type of its values, and its JSON Schema.

    describe_inputs(ports, required=["topic"], …)
        ->  {"type": "object", "properties": {"topic": {"type": "string", …}}, "required": ["topic"]}

Besides, the fields of a schema that a person fills in (`properties_of`, `choices`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from cinatra_sdk.data.author_json import NOTHING, Json, JsonValue
from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# Types of the values that flow along data edges.
#
#     ArrayType(ScalarType("string"))        a list of texts
#
# Source: Agent Spec, types of properties; read from JSON Schema by the compiler.


Scalar = Literal["any", "string", "integer", "number", "boolean", "null"]


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A type without parts; `any` accepts every JSON value."""

    kind: Scalar


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A list whose elements all have the type `items`."""

    items: Type


@dataclass(frozen=True, slots=True)
class ObjectType:
    """An object; `additional` is the type of undeclared members, `None` forbids them."""

    properties: tuple[tuple[str, Type], ...] = ()
    additional: Type | None = ScalarType("any")
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnionType:
    """`anyOf`, `oneOf` or a list of types: a value of one of the `options`."""

    options: tuple[Type, ...]


Type: TypeAlias = "ScalarType | ArrayType | ObjectType | UnionType"

ANY = ScalarType("any")
STRING = ScalarType("string")
INTEGER = ScalarType("integer")
NUMBER = ScalarType("number")
BOOLEAN = ScalarType("boolean")
NULL = ScalarType("null")


_NO_DEFAULT: Final[Any] = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedPort:
    """An input or output of a node or flow, as a run needs it; the compiler's ports know more."""

    title: str
    """The identifier that edges and templates use."""
    type: Type = ANY
    schema: Json = NOTHING
    """JSON Schema of the value."""
    default: Json | None = None
    """`None` means that there is no default; a default of null is `Json("null")`."""

    def plain(self) -> TypedPort:
        """The same port without what only a compiler knows of it."""
        return TypedPort(title=self.title, type=self.type, schema=self.schema, default=self.default)


def port(
    title: str,
    of: Type = ANY,
    *,
    schema: Mapping[str, JsonValue] | None = None,
    default: JsonValue = _NO_DEFAULT,
) -> TypedPort:
    """A port, in short: `port("topic", STRING, default="bees")`.

    schema: JSON Schema of its values; None: that of its type, which knows scalars and lists of them.
    """
    return TypedPort(
        title=title,
        type=of,
        schema=Json.of(dict(schema) if schema is not None else describe_type(of)),
        default=None if default is _NO_DEFAULT else Json.of(default),
    )


def describe_type(of: Type) -> dict[str, JsonValue]:
    """JSON Schema of a scalar, or of a list of such; of any other type the schema of any value."""
    if isinstance(of, ScalarType) and of != ANY:
        return {"type": of.kind}
    if isinstance(of, ArrayType):
        items = describe_type(of.items)
        return {"type": "array", "items": items} if items else {"type": "array"}
    return {}


# ----------------------------------------------------------------------------
# How a file refers to what stands elsewhere, and how a variable of a flow goes from node to node.


REFERENCE: Final = "$component_ref"
"""The key of an object that stands for a component or a value of another place."""
REFERENCE_MARK: Final = "$component_ref "
"""Begins a text that stands for the value of a sensitive field: fields of texts hold no objects."""

VARIABLE_PORT: Final = "variable "
"""Begins the name of the port by which a variable of a flow goes from node to node."""
VARIABLE_OVERWRITE: Final = "overwrite"
VARIABLE_MERGE: Final = "merge"
VARIABLE_INSERT: Final = "insert"


def describe_inputs(
    ports: Sequence[TypedPort],
    *,
    required: Sequence[str],
    hidden: Collection[str],
    renderers: Mapping[str, str],
    sources: Mapping[str, JsonValue],
) -> dict[str, JsonValue]:
    """A hidden input is marked `x-hidden: true`; sources: input → where a host finds its values."""
    properties: dict[str, JsonValue] = {}
    for port in ports:
        schema = describe_port(port)
        if port.title in renderers:
            schema["x-renderer"] = renderers[port.title]
        if port.title in sources:
            schema["x-data-source"] = sources[port.title]
        if port.title in hidden:
            schema["x-hidden"] = True
        properties[port.title] = schema
    return {"type": "object", "properties": properties, "required": list(required)}


def describe_outputs(ports: Sequence[TypedPort]) -> dict[str, JsonValue]:
    """Every output is there when a run completes."""
    return {
        "type": "object",
        "properties": {port.title: describe_port(port) for port in ports},
        "required": [port.title for port in ports],
    }


def describe_port(port: TypedPort) -> dict[str, JsonValue]:
    schema = port.schema.mapping()
    schema.setdefault("title", port.title)
    if port.default is not None:
        schema["default"] = port.default.value()
    return schema


# ----------------------------------------------------------------------------
# What a JSON Schema says of the fields that a person fills in.
#
# In: a JSON Schema.  Out: its parts, its choices, and whether it takes any text.
#
#     properties_of({"properties": {"site": {"type": "string"}}})   ->  {"site": {"type": "string"}}
#     choices({"enum": ["send", "continue"]})                       ->  ["send", "continue"]
#     takes_text({"type": "string"})                                ->  True


Schema: TypeAlias = "Mapping[str, Any]"


def properties_of(schema: Schema) -> Mapping[str, Any]:
    """The parts of an object that a schema describes; empty for anything else."""
    found = schema.get("properties")
    if not isinstance(found, Mapping):
        return {}
    return {name: part if isinstance(part, Mapping) else {} for name, part in found.items()}


def choices(schema: Schema) -> list[Any]:
    """The values to choose from; empty where anything goes."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return list(listed) if isinstance(listed, list) else []


def list_choices(schema: Schema) -> list[Any]:
    """As `choices`, also where each is a schema of its own, with a title for people."""
    for word in ("oneOf", "anyOf"):
        parts = schema.get(word)
        if isinstance(parts, list) and parts and not choices(schema):
            own = [choices(part) if isinstance(part, Mapping) else [] for part in parts]
            return [one for listed in own for one in listed] if all(own) else []
    return choices(schema)


def read_type(schema: Schema) -> str:
    """The single type of the field; empty where the schema names no type or several."""
    named = schema.get("type")
    return named if isinstance(named, str) else ""


def takes_text(schema: Schema) -> bool:
    """Whether any text is a value of `schema`, as far as its type says."""
    return read_type(schema) == "string" and not choices(schema)
