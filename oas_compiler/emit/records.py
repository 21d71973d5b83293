"""What a node does, its ports and types, as expressions.

ApiCall(url="https://h", method="GET")                  ->  ApiCall(method="GET", url="https://h")
TypedPort(title="topic", type=STRING, schema=…)         ->  port("topic", STRING)

Fields that have their usual value are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Final

from cinatra_sdk.flow.plan import FlowPlan
from cinatra_sdk.values.json_text import Json, SealedJson
from cinatra_sdk.values.ports import TypedPort, describe_type
from cinatra_sdk.values.types import (
    ANY,
    BOOLEAN,
    INTEGER,
    NULL,
    NUMBER,
    STRING,
    ArrayType,
    ObjectType,
    ScalarType,
    Type,
    UnionType,
)
from oas_compiler.emit.python_text import CallText, DictText, Expression, ListText, NameText
from oas_compiler.emit.sensitive import LentNames
from oas_compiler.ir import JsonValue

_SCALARS: Final[Mapping[ScalarType, str]] = {
    ANY: "ANY", STRING: "STRING", INTEGER: "INTEGER", NUMBER: "NUMBER", BOOLEAN: "BOOLEAN",
    NULL: "NULL",
}  # fmt: skip
_TYPES: Final = "cinatra_sdk.values.types"
_OF_COMPONENTS: Final = ("llm", "settings")
"""Fields with components of Agent Spec, whose members have the names of sensitive fields; a body or a
schema may have a member `user`, too.
"""


class Records:
    """Expressions of one module; knows what the module has to import."""

    def __init__(self, names: LentNames) -> None:
        self.imports: dict[str, set[str]] = {}
        """Module → names."""
        self._names = names

    def take(self, module: str, name: str) -> str:
        """`name`, which the module then imports."""
        self.imports.setdefault(module, set()).add(name)
        return name

    def write_record(self, record: Any, owner: str, flows: Mapping[int, str]) -> CallText:
        """A frozen record; owner: the node that has it.  flows: `id()` of a plan → its variable."""
        kind = type(record)
        arguments: list[tuple[str, Expression]] = []
        for field in fields(record):
            value = getattr(record, field.name)
            if _is_usual(field, value):
                continue
            arguments.append((field.name, self._write(value, field.name, owner, flows)))
        return CallText(self.take(kind.__module__, kind.__name__), arguments)

    def write_ports(self, ports: Sequence[TypedPort]) -> ListText:
        return ListText([self.write_port(one) for one in ports])

    def write_port(self, one: TypedPort) -> CallText:
        arguments: list[tuple[str, Expression]] = [("", one.title)]
        if one.type != ANY:
            arguments.append(("", self._write_type(one.type)))
        if one.schema != Json.of(describe_type(one.type)):
            arguments.append(("schema", write_json(one.schema.value())))
        if one.default is not None:
            arguments.append(("default", write_json(one.default.value())))
        return CallText(self.take("cinatra_sdk.values.ports", "port"), arguments)

    def _write(self, value: Any, field: str, owner: str, flows: Mapping[int, str]) -> Expression:
        if isinstance(value, SealedJson):
            return self._write_sealed(value, field, owner)
        if isinstance(value, Json):
            return self._write_frozen(value, field, owner)
        if isinstance(value, FlowPlan):
            return NameText(f"{flows[id(value)]}.plan()")
        if isinstance(value, TypedPort):
            return self.write_port(value)
        if isinstance(value, (ScalarType, ArrayType, ObjectType, UnionType)):
            return self._write_type(value)
        if is_dataclass(value):
            return self.write_record(value, owner, flows)
        if isinstance(value, frozenset):
            items = [self._write(item, field, owner, flows) for item in sorted(value)]
            return CallText("frozenset", [("", ListText(items))] if items else [])
        if isinstance(value, (tuple, list)):
            items = [self._write(item, field, owner, flows) for item in value]
            return ListText(items, "()")
        if isinstance(value, Mapping):
            return DictText(
                [(key, self._write(one, field, owner, flows)) for key, one in value.items()]
            )
        assert value is None or isinstance(value, (str, int, float)), value
        return value

    def _write_frozen(self, value: Json, field: str, owner: str) -> Expression:
        shown = value.value()
        if field in _OF_COMPONENTS:
            shown = self._names.replace_fields(owner, shown)
        name = self.take("cinatra_sdk.values.json_text", "Json")
        return CallText(f"{name}.of", [("", write_json(shown))])

    def _write_sealed(self, value: SealedJson, field: str, owner: str) -> Expression:
        """A sensitive object: of a request its headers, else one with several such objects."""
        held = value.mapping()
        shown: JsonValue
        if field == "login":
            shown = self._names.replace_fields(owner, held)
        elif field == "sensitive":
            shown = {
                key: self._names.replace_all(owner, key, one)
                if isinstance(one, dict)
                else self._names.replace_fields(owner, {key: one})
                for key, one in held.items()
            }
        else:
            shown = self._names.replace_all(owner, field, held)
        name = self.take("cinatra_sdk.values.json_text", "SealedJson")
        return CallText(f"{name}.of", [("", write_json(shown))])

    def _write_type(self, of: Type) -> Expression:
        if isinstance(of, ScalarType):
            return NameText(self.take(_TYPES, _SCALARS[of]))
        if isinstance(of, ArrayType):
            return CallText(self.take(_TYPES, "ArrayType"), [("", self._write_type(of.items))])
        if isinstance(of, UnionType):
            options = ListText([self._write_type(one) for one in of.options], "()")
            return CallText(self.take(_TYPES, "UnionType"), [("", options)])
        arguments: list[tuple[str, Expression]] = []
        if of.properties:
            members = [ListText([name, self._write_type(one)], "()") for name, one in of.properties]
            arguments.append(("properties", ListText(members, "()")))
        if of.additional != ANY:
            allowed = None if of.additional is None else self._write_type(of.additional)
            arguments.append(("additional", allowed))
        if of.required:
            arguments.append(("required", ListText(of.required, "()")))
        return CallText(self.take(_TYPES, "ObjectType"), arguments)


def write_json(value: JsonValue) -> Expression:
    if isinstance(value, dict):
        return DictText([(key, write_json(member)) for key, member in value.items()])
    if isinstance(value, list):
        return ListText([write_json(item) for item in value])
    return value


def _is_usual(field: Field[Any], value: Any) -> bool:
    if field.default is not MISSING:
        return bool(value == field.default)
    if field.default_factory is not MISSING:
        return bool(value == field.default_factory())
    return False
