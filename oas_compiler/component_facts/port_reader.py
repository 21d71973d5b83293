"""A Property of the file in, a `Port` of the IR out.

    {"title": "ids", "type": "array", "default": [], "json_schema": {"items": {"type": "string"}}}
        ->  Port(title="ids", type=array<string>, default=[],
                 schema={"items": {"type": "string"}, "type": "array"})

Cinatra's wrapper `json_schema` is merged in; keys beside it win.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.findings.finding import Edit, Findings, describe, nearest
from oas_compiler.ir import (
    ANY,
    NOTHING,
    STRING,
    ArrayType,
    Json,
    JsonValue,
    ObjectType,
    Port,
    ScalarType,
    Type,
)
from oas_compiler.ir.printout import brief, shown
from oas_compiler.port_types import (
    MOST_MEETINGS,
    UNREADABLE,
    Pairs,
    castable,
    definition,
    definition_names,
    fits,
    is_local,
    meet_all,
    type_of,
    union,
)
from oas_compiler.text.marks import child
from oas_compiler.text.source import Source

# ----------------------------------------------------------------------------
# A JSON Schema in, the type of its values out.
#
#     {"type": ["string", "null"]}                              ->  string | null
#     {"allOf": [{"$ref": "#/$defs/Base"}, {"properties": …}]}  ->  one object with both's members
#     {"enum": [1, 2]}                                          ->  integer
#
# `type` together with `anyOf` or `oneOf` means both; where they exclude each other, either one, as
# Agent Spec's own library reads it.  Rules that a type cannot express (formats, lengths, `not`) are
# checked with the values.


_NULL: Final = ScalarType("null")
_SCALARS: Final[Mapping[str, ScalarType]] = {
    "string": STRING,
    "integer": ScalarType("integer"),
    "number": ScalarType("number"),
    "boolean": ScalarType("boolean"),
    "null": _NULL,
}
_COMBINING: Final = frozenset({"anyOf", "oneOf", "allOf", "$ref"})
_TYPE_NAMES = (*_SCALARS, "array", "object")
_OF_OBJECTS = ("properties", "additionalProperties", "patternProperties", "required")
_OF_ARRAYS = ("items", "prefixItems")
_MOST_REFERENCES: Final = 20
"""References inside each other that are followed; a type that deep says enough."""
_MOST_TURNS: Final = 3
"""How often a definition is followed inside itself: three levels of a tree have their types."""
_MOST_DEPTH: Final = 100
"""Schemas inside each other that are read behind references."""
_MOST_EXPANDED: Final = 20_000
"""Schemas behind references that are read in one document, each as often as it is referred to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """Where a schema stands."""

    pointer: str
    wrapped: frozenset[str] = frozenset()
    """Keys that stand below `json_schema`; only at the outermost schema."""
    roots: tuple[tuple[JsonValue, str], ...] = ()
    """What local references start from, with its pointer; the first that leads somewhere counts."""
    references: tuple[str, ...] = ()
    """Those that led here, outermost first."""
    depth: int = 0
    """Schemas around this one, at least."""

    def below(self, key: str, index: int | None = None) -> At:
        base = f"{self.pointer}/json_schema" if key in self.wrapped else self.pointer
        pointer = child(base, key)
        if index is not None:
            pointer = f"{pointer}/{index}"
        return At(
            pointer=pointer, roots=self.roots, references=self.references, depth=self.depth + 1
        )


_OTHER_WORDS: Final = {
    "str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number",
    "double": "number", "decimal": "number", "bool": "boolean", "list": "array",
    "tuple": "array", "dict": "object", "map": "object", "none": "null", "nil": "null",
}  # fmt: skip
"""Types as programming languages call them."""


def _meant_type(word: str) -> str:
    meant = _OTHER_WORDS.get(word.casefold(), "")
    return f'did you mean "{meant}"?' if meant else ""


class TypeReader:
    """Reads the types of one document."""

    def __init__(self, source: Source, findings: Findings) -> None:
        self._source = source
        self._findings = findings
        self._left = _MOST_EXPANDED
        self._pairs = Pairs(MOST_MEETINGS)

    def read(self, schema: JsonValue, at: At) -> Type:
        """The type of a schema; an unreadable schema is reported, and its type fits every type."""
        if not isinstance(schema, dict):
            return (
                ANY if schema is None or isinstance(schema, bool) else self._no_schema(schema, at)
            )
        if at.references:
            self._left -= 1
            if self._left <= 0 or at.depth > _MOST_DEPTH:
                return _outline_type(schema)
        kind = self._combine_types(schema, at)
        if kind == ANY:
            kind = self._infer_type(schema, at)
        if schema.get("nullable") is True and kind != ANY:
            kind = union([kind, _NULL])
        return kind

    def _no_schema(self, value: JsonValue, at: At) -> Type:
        self._findings.error(
            "OAS022",
            f"a schema must be an object or a boolean, not {describe(value)}",
            self._source.place(at.pointer),
            hint=f'write {{"type": "{value}"}}' if value in _TYPE_NAMES else "",
        )
        return UNREADABLE

    def _combine_types(self, schema: dict[str, JsonValue], at: At) -> Type:
        """What the keywords that name or combine types say together."""
        named = self._read_named_types(schema, at) if "type" in schema else ANY
        if _COMBINING.isdisjoint(schema):
            return named
        options = [
            self._any_of(given, keyword, at)
            for keyword in ("anyOf", "oneOf")
            if isinstance(given := schema.get(keyword), list) and given
        ]
        kind = meet_all([named, *options], self._pairs)
        if kind is None:
            kind = union([named, *options])
        parts: list[Type] = [kind]
        if isinstance(reference := schema.get("$ref"), str):
            parts.append(self._referred(reference, at))
        every = schema.get("allOf")
        if isinstance(every, list):
            parts += [self.read(part, at.below("allOf", i)) for i, part in enumerate(every)]
        together = meet_all(parts, self._pairs)
        if together is None:
            return self._report_contradiction(parts, at, "allOf" if every else "$ref")
        return together

    def _any_of(self, parts: list[JsonValue], keyword: str, at: At) -> Type:
        return union(self.read(part, at.below(keyword, i)) for i, part in enumerate(parts))

    def _report_contradiction(self, parts: list[Type], at: At, keyword: str) -> Type:
        different = dict.fromkeys(shown(part)[:80] for part in parts if part != ANY)
        self._findings.error(
            "OAS074",
            f"no value is of all these types at once: {', '.join(list(different)[:4])}",
            self._source.place(at.below(keyword).pointer),
            hint="allOf needs a value that fits every part; anyOf needs one that fits any of them",
        )
        return UNREADABLE

    def _infer_type(self, schema: dict[str, JsonValue], at: At) -> Type:
        """The type of a schema that names none: by its values, or by what it says of members."""
        if "const" in schema:
            return type_of(schema["const"])
        values = schema.get("enum")
        if isinstance(values, list) and values:
            return union(type_of(value) for value in values)
        if any(isinstance(schema.get(key), (dict, list)) for key in _OF_OBJECTS):
            return self._read_object(schema, at)
        if any(isinstance(schema.get(key), (dict, list)) for key in _OF_ARRAYS):
            return self._read_array(schema, at)
        return ANY

    # ------------------------------------------------------------------ named types

    def _read_named_types(self, schema: dict[str, JsonValue], at: At) -> Type:
        names = schema["type"]
        if isinstance(names, str) and names in _SCALARS:
            return _SCALARS[names]
        types: list[Type] = []
        for name in names if isinstance(names, list) else [names]:
            if name == "array":
                types.append(self._read_array(schema, at))
            elif name == "object":
                types.append(self._read_object(schema, at))
            elif isinstance(name, str) and name in _SCALARS:
                types.append(_SCALARS[name])
            else:
                types.append(self._report_unknown_type(name, at))
        return union(types)

    def _report_unknown_type(self, name: JsonValue, at: At) -> Type:
        word = name[:80] if isinstance(name, str) else ""
        what = f'"{word}"' if isinstance(name, str) else "this"
        self._findings.error(
            "OAS037",
            f"{what} is not a JSON Schema type",
            self._source.place(at.below("type").pointer),
            hint=_meant_type(word) or nearest(word, _TYPE_NAMES, self._findings)
            if word
            else f"write one of {', '.join(_TYPE_NAMES)}, in quotes",
        )
        return UNREADABLE

    def _read_array(self, schema: dict[str, JsonValue], at: At) -> ArrayType:
        first = schema.get("prefixItems")
        rest = schema.get("items")
        if isinstance(rest, list):  # as drafts before 2020-12 wrote prefixItems
            first, rest = rest, schema.get("additionalItems")
        kinds: list[Type] = []
        if isinstance(first, list):
            key = "prefixItems" if "prefixItems" in schema else "items"
            kinds = [self.read(part, at.below(key, i)) for i, part in enumerate(first)]
        if rest is not False or not kinds:
            kinds.append(self.read(rest, at.below("items")))
        return ArrayType(union(kinds))

    def _read_object(self, schema: dict[str, JsonValue], at: At) -> ObjectType:
        properties = schema.get("properties")
        if properties is not None and not isinstance(properties, dict):
            self._findings.error(
                "OAS022",
                f"properties must be an object of schemas, not {describe(properties)}",
                self._source.place(at.below("properties").pointer),
                hint='write {"name": {"type": "string"}} for a member "name"',
            )
        required = schema.get("required")
        more = schema.get("additionalProperties")
        if schema.get("patternProperties"):
            more = True  # members whose names are not known one by one
        members = at.below("properties") if isinstance(properties, dict) else at
        return ObjectType(
            properties=tuple(
                (name, self.read(part, members.below(name)))
                for name, part in (properties if isinstance(properties, dict) else {}).items()
            ),
            additional=self._read_additional(more, at),
            required=tuple(name for name in required if isinstance(name, str))
            if isinstance(required, list)
            else (),
        )

    def _read_additional(self, schema: JsonValue, at: At) -> Type | None:
        """The type of members that are not named; `None` where there can be none."""
        if schema is not None and not isinstance(schema, bool):
            return self.read(schema, at.below("additionalProperties"))
        return None if schema is False else ANY

    # ------------------------------------------------------------------ references

    def _referred(self, reference: str, at: At) -> Type:
        place = at.below("$ref")
        if not is_local(reference):
            return self._report_bad_reference(
                f'the reference "{reference[:80]}" leads out of the property',
                place,
                hint='put the definition into "$defs" of the property and refer to "#/$defs/…"',
            )
        found, pointer = _resolve_definition(reference, at)
        if found is None:
            known = [name for root, _ in at.roots for name in definition_names(root)]
            return self._report_bad_reference(
                f'the reference "{reference[:80]}" leads nowhere',
                place,
                hint=nearest(reference[:80], known, self._findings),
            )
        often = at.references.count(reference) >= _MOST_TURNS
        if often or len(at.references) >= _MOST_REFERENCES:
            return _outline_type(found)
        inside = (*at.references, reference)
        return self.read(
            found, At(pointer=pointer, roots=at.roots, references=inside, depth=at.depth + 1)
        )

    def _report_bad_reference(self, message: str, at: At, *, hint: str) -> Type:
        self._findings.error("OAS071", message, self._source.place(at.pointer), hint=hint)
        return UNREADABLE


def _resolve_definition(reference: str, at: At) -> tuple[JsonValue, str]:
    """What a local reference leads to, and its pointer in the document."""
    for root, pointer in at.roots:
        found = definition(root, reference)
        if found is not None:
            return found, f"{pointer}{reference.removeprefix('#')}"
    return None, ""


def _outline_type(schema: JsonValue) -> Type:
    """A type without its parts: where a schema contains itself, and where it goes on too long."""
    if not isinstance(schema, dict):
        return ANY
    name = schema.get("type")
    if name == "object" or isinstance(schema.get("properties"), dict):
        return ObjectType()
    if name == "array":
        return ArrayType(ANY)
    return _SCALARS[name] if isinstance(name, str) and name in _SCALARS else ANY


_NOT_SCHEMA = frozenset({"title", "default", "cinatra", "json_schema"})
_UNTITLED: Final = "property"
"""The title of a property without one, as Agent Spec has it."""
_LONGEST_KEY: Final = 40
"""Characters of a key that can have been meant as a title."""


class PortReader:
    """Reads the ports of one document."""

    def __init__(
        self,
        source: Source,
        findings: Findings,
        *,
        is_plain: bool = False,
        is_silent: bool = False,
    ) -> None:
        self._source = source
        self._findings = findings
        self.is_plain = is_plain
        """Whether the text of Agent Spec decides, and not what Cinatra's files need."""
        self._types = TypeReader(source, findings)
        self.flawed: set[str] = set()
        """Pointers of the lists with an entry that could not be read."""
        self._silent: PortReader | None = None
        if not is_silent:
            self._silent = PortReader(source, Findings(), is_plain=is_plain, is_silent=True)

    def ports(
        self, properties: Iterable[JsonValue], pointer: str, *, told: Sequence[JsonValue] = ()
    ) -> tuple[Port, ...]:
        """The list of properties at `pointer`; a flawed one is reported and left out.

        `told`: properties that are read elsewhere too; flaws of an equal property are reported
        there, and not again here.
        """
        ports: dict[str, Port] = {}
        others = {_read_title(value): value for value in told if _read_title(value)}
        for index, value in enumerate(properties):
            other = others.get(_read_title(value), told[index] if index < len(told) else None)
            is_told = other is not None and other == value
            reader = self._silent if is_told and self._silent is not None else self
            port = reader._read_port(value, f"{pointer}/{index}")  # noqa: SLF001 - of the same kind
            if port is None:
                self.flawed.add(pointer)
                continue
            if port.title in ports:
                self._findings.error(
                    "OAS030",
                    f'the property "{port.title}" is declared twice',
                    port.place,
                    hint="remove one of the two, or give it a title of its own",
                )
                continue
            ports[port.title] = port
        return tuple(ports.values())

    def _read_port(self, value: JsonValue, pointer: str) -> Port | None:
        place = self._source.place(pointer)
        if not isinstance(value, dict):
            self._findings.error(
                "OAS029",
                "an input or output must be an object with a title",
                place,
                hint=f'write {{"title": "{value[:80]}", "type": "string"}}'
                if isinstance(value, str)
                else 'write {"title": "…", "type": "string"}',
            )
            return None
        wrapper = value.get("json_schema")
        inner = wrapper if isinstance(wrapper, dict) else {}
        merged = {**inner, **value}
        slip = _misspelt_title(value)
        untitled = _UNTITLED if self.is_plain and not slip else None
        title = merged.get("title", untitled)
        if not isinstance(title, str) or not title:
            self._findings.error(
                "OAS029",
                'an input or output has no "title"' + (f', it has "{slip[:80]}"' if slip else ""),
                self._source.place(child(pointer, slip)) if slip else place,
                hint='did you mean "title"?' if slip else 'add "title" with its name',
                fix=(Edit(pointer=child(pointer, slip), key="title"),) if slip else (),
            )
            return None
        schema = {name: part for name, part in merged.items() if name not in _NOT_SCHEMA}
        wrapped = frozenset(inner.keys() - value.keys())
        roots: tuple[tuple[JsonValue, str], ...] = ((value, pointer),)
        if inner:
            roots = ((inner, f"{pointer}/json_schema"), *roots)
        kind = self._types.read(schema, At(pointer=pointer, wrapped=wrapped, roots=roots))
        default = Json.of(merged["default"]) if "default" in merged else None
        port = Port(
            title=title,
            type=kind,
            schema=Json.of(schema),
            default=default,
            cinatra=Json.of(merged["cinatra"]) if "cinatra" in merged else NOTHING,
            place=place,
        )
        self._check_default(port, pointer if "default" in value else f"{pointer}/json_schema")
        return port

    def _check_default(self, port: Port, pointer: str) -> None:
        if port.default is None:
            return
        value = port.default.value()
        takes_null = not self.is_plain or castable(_NULL, port.type)
        if fits(value, port.type) and (value is not None or takes_null):
            return
        if self.is_plain:
            self._findings.error(
                "OAS078",
                f'the default of "{port.title}" is {brief(type_of(value))}, which cannot become '
                f"{brief(port.type)}",
                self._source.place(f"{pointer}/default"),
                hint=f"write a default of the type {brief(port.type)}, or leave it out",
            )
        else:
            self._findings.warning(
                "OAS031",
                f'the default of "{port.title}" is {brief(type_of(value))}, '
                f"its type is {brief(port.type)}",
                self._source.place(f"{pointer}/default"),
                hint=f"write a default of the type {brief(port.type)}, or leave it out",
            )


def _read_title(value: JsonValue) -> str:
    title = value.get("title") if isinstance(value, dict) else None
    return title if isinstance(title, str) else ""


def _misspelt_title(value: Mapping[str, JsonValue]) -> str:
    """The key that was meant to be the title: near to it, or what it is called elsewhere."""
    if "title" in value:
        return ""
    texts = [
        key for key, text in value.items() if isinstance(text, str) and len(key) < _LONGEST_KEY
    ]
    near = get_close_matches("title", texts, n=1, cutoff=0.6)
    return near[0] if near else "name" if "name" in texts else ""
