"""A JSON Schema in, the type of its values out.

    {"type": ["string", "null"]}                              ->  string | null
    {"allOf": [{"$ref": "#/$defs/Base"}, {"properties": …}]}  ->  one object with both's members
    {"enum": [1, 2]}                                          ->  integer

`type` together with `anyOf` or `oneOf` means both; where they exclude each other, either one, as
Agent Spec's own library reads it.  Rules that a type cannot express (formats, lengths, `not`) are
checked with the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from oas_compiler.findings.finding import Findings
from oas_compiler.findings.spelling import nearest
from oas_compiler.ir import ANY, STRING, ArrayType, JsonValue, ObjectType, ScalarType, Type
from oas_compiler.ir.type_names import shown
from oas_compiler.text.descriptions import describe
from oas_compiler.text.marks import child
from oas_compiler.text.source import Source
from oas_compiler.types.casting import UNREADABLE, Pairs, type_of
from oas_compiler.types.local_refs import definition, definition_names, is_local
from oas_compiler.types.type_algebra import MOST_MEETINGS, meet_all, union

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
