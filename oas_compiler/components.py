"""One located component in, a `spec.Component` out, with its fields checked.

    {"component_type": "ApiNode", "id": "a", "url": 7, "http_metod": "GET"}
        ->  OAS022 for "url", OAS024 for "http_metod", OAS023 for the missing "http_method",
            and a Component(type="ApiNode", id="a") without them

A component is opened once, however many references lead to it.
"""

from __future__ import annotations

from collections.abc import Mapping

from oas_compiler.ir import JsonValue
from oas_compiler.marks import child
from oas_compiler.scope import DEFINITIONS, Document, Located, is_reference
from oas_compiler.spec import FIELDS, Component, Field, Kind
from oas_compiler.spelling import nearest

_SHAPES: dict[Kind, tuple[type, str]] = {
    "text": (str, "a string"),
    "flag": (bool, "true or false"),
    "list": (list, "a list"),
    "object": (dict, "an object"),
    "component": (dict, "a component or a $component_ref"),
}
_NOT_RESOLVED = frozenset({"metadata", DEFINITIONS})


class ComponentReader:
    """Opens the components of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._findings = document.findings
        self._components: dict[str, Component] = {}

    def read(self, located: Located) -> Component:
        """Open a component and report what is wrong with its fields, once."""
        if located.pointer not in self._components:
            self._components[located.pointer] = self._open(located)
        return self._components[located.pointer]

    def _open(self, located: Located) -> Component:
        value = located.value
        assert isinstance(value, dict)
        table = FIELDS.get(located.component_type)
        fields: dict[str, JsonValue] = {}
        places: dict[str, str] = {}
        for name, member in value.items():
            pointer = child(located.pointer, name)
            if table is not None and name not in table:
                self._unknown_field(located, name)
                continue
            if name not in _NOT_RESOLVED and is_reference(member):
                target = self._document.locate(Located(member, pointer, located.scope))
                if target is None:
                    continue
                member, places[name] = target.value, target.pointer  # noqa: PLW2901 - resolved
            if member is not None and self._has_shape(located, name, member, table):
                fields[name] = member
        for name, field in (table or {}).items():
            # an empty text is a text, but no node can be addressed by an empty id
            if field.required and (value.get(name) is None or (name, value[name]) == ("id", "")):
                self._missing(located, name)
        return Component(
            type=located.component_type,
            id=_text(fields.get("id")),
            name=_text(fields.get("name")) or _text(fields.get("id")),
            pointer=located.pointer,
            fields=fields,
            places=places,
        )

    def _has_shape(
        self, located: Located, name: str, member: JsonValue, table: Mapping[str, Field] | None
    ) -> bool:
        kind: Kind = table[name].kind if table is not None else "any"
        if kind == "any":
            return True
        shape, wanted = _SHAPES[kind]
        if isinstance(member, shape):
            return True
        self._findings.error(
            "OAS022",
            f'"{name}" of a {located.component_type} must be {wanted}, not {describe(member)}',
            self._document.source.place(child(located.pointer, name)),
        )
        return False

    def _missing(self, located: Located, name: str) -> None:
        assert isinstance(located.value, dict)
        label = located.value.get("id") or located.value.get("name")
        of = (
            f'the {located.component_type} "{label}"'
            if isinstance(label, str)
            else (f"a {located.component_type}")
        )
        self._findings.error(
            "OAS023",
            f'{of} has no "{name}"',
            self._document.source.place(located.pointer),
        )

    def _unknown_field(self, located: Located, name: str) -> None:
        root = self._document.root
        if (
            name == "componentType"
            and self._document.is_cinatra
            and located.value is (root.value if root is not None else None)
        ):
            return  # an error of Cinatra's own (V1)
        self._findings.warning(
            "OAS024",
            f'a {located.component_type} has no field "{name[:80]}"; it is ignored',
            self._document.source.place(child(located.pointer, name)),
            hint=nearest(name[:80], FIELDS[located.component_type], self._findings),
        )


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def describe(value: JsonValue) -> str:
    """What a value is, in a person's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names[type(value)]
