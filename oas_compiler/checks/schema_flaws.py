"""What keeps a JSON Schema from being checked against, found without a JSON Schema library.

    {"type": "strng"}                        ->  Flaw(("type",), 'there is no type "strng"')
    {"$ref": "#/$defs/nothing"}              ->  Flaw(("$ref",), "the reference leads nowhere")
    {"anyOf": [{"$ref": "#"}]}               ->  Flaw(…, "it refers to itself without end")
    {"$dynamicRef": "#node", …}              ->  asked of the library (schema_library.py)

Not a rule.  The library takes longer to import than the largest flow takes to check, and is not
linear; so the vocabulary of draft 2020-12 is a table here, and each subschema is looked at once,
however many references lead to it.  Stricter than the library in what that one notices only when
a value happens to reach it: a reference that leads nowhere, a circle, references that multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import unquote

from oas_compiler.ir import JsonValue
from oas_compiler.patterns import pattern_flaw

MAX_IN_PLACE: Final = 10_000
"""How often one value may be looked at: references to references multiply."""
MAX_STEPS: Final = 100
"""How many subschemas in a row may look at the same value; each costs the library stack."""

Path: TypeAlias = tuple[str | int, ...]
Schema: TypeAlias = "dict[str, JsonValue] | bool"


@dataclass(frozen=True, slots=True)
class Flaw:
    path: Path
    """Where in the schema, outermost first."""
    text: str
    """What is wrong there, a part of a sentence."""
    hint: str = ""
    """What to write instead; empty where the text says it."""


class Unusual(Exception):
    """The schema has a keyword that is not decided here."""


TYPES: Final = frozenset({"string", "integer", "number", "boolean", "null", "array", "object"})
UNUSUAL: Final = frozenset(
    {
        "$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$vocabulary", "$recursiveRef",
        "$recursiveAnchor", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
"""Keywords that are left to the library: they change what references mean, or follow them."""


def first_flaw(schema: JsonValue) -> Flaw | None:
    """The first thing that is wrong; `None` when any value can be checked against `schema`.

    Raises:
        Unusual: it has one of the UNUSUAL keywords, and what was looked at before is fine.

    """
    if not isinstance(schema, (dict, bool)):
        return Flaw((), "it is neither an object nor a boolean")
    return _Walk(schema).first_flaw()


class _Walk:
    """One pass over a schema and over everything that its references lead to."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._waiting: list[tuple[Schema, Path]] = [(root, ())]
        self._seen: dict[int, tuple[Schema, Path]] = {}
        self._in_place: dict[int, list[int]] = {}
        """By `id` of a subschema: those that look at the same value."""

    def first_flaw(self) -> Flaw | None:
        while self._waiting:
            schema, path = self._waiting.pop()
            if id(schema) in self._seen or isinstance(schema, bool):
                continue
            self._seen[id(schema)] = schema, path
            flaw = self._of(schema, path)
            if flaw is not None:
                return flaw
        return self._endless()

    def _of(self, schema: dict[str, JsonValue], path: Path) -> Flaw | None:
        """The flaw of one subschema's own keywords; what is below it is put in line."""
        same = self._in_place.setdefault(id(schema), [])
        for keyword, value in schema.items():
            if keyword in UNUSUAL:
                raise Unusual(keyword)
            if keyword == "$ref":
                target = self._target(value)
                if isinstance(target, str):
                    return Flaw((*path, keyword), target)
                self._waiting.append(target)
                same.append(id(target[0]))
            elif keyword in _SHAPES:
                problem = _SHAPES[keyword](value)
                if problem:
                    return Flaw((*path, keyword), problem)
            elif keyword in _SUBSCHEMAS:
                how, in_place = _SUBSCHEMAS[keyword]
                try:
                    below = list(how(value, (*path, keyword)))
                except _WrongShapeError as wrong:
                    return wrong.flaw
                self._waiting += reversed(below)
                same += [id(found) for found, _ in below if in_place]
        return None

    def _target(self, reference: JsonValue) -> tuple[Schema, Path] | str:
        """What a reference leads to and where that stands, or what is wrong with it."""
        if not isinstance(reference, str):
            return "the reference is no string"
        if not reference.startswith("#"):
            return "the reference leads out of the document"
        pointer = unquote(reference[1:])
        if pointer and not pointer.startswith("/"):
            return "the reference leads nowhere"
        found: JsonValue = self._root
        path: list[str | int] = []
        for part in pointer.split("/")[1:]:
            key: str | int = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and key in found:
                found = found[str(key)]
            elif isinstance(found, list) and _is_index(part, len(found)):
                key = int(part)
                found = found[key]
            else:
                return "the reference leads nowhere"
            path.append(key)
        if isinstance(found, (dict, bool)):
            return found, tuple(path)
        return "the reference leads to no schema"

    def _endless(self) -> Flaw | None:
        found = endless(self._in_place)
        if found is None:
            return None
        number, text = found
        return Flaw(self._seen[number][1] if number in self._seen else (), text)


def endless(in_place: Mapping[int, Sequence[int]]) -> tuple[int, str] | None:
    """A circle among subschemas that look at the same value, or too many of them: which, and why.

    `in_place`: by a number of each subschema, those that it hands the same value to.
    """
    cost: dict[int, int] = {}
    depth: dict[int, int] = {}
    begun: set[int] = set()
    for start in in_place:
        waiting = [(start, False)]
        while waiting:
            at, done = waiting.pop()
            below = in_place.get(at, ())
            if done:
                begun.discard(at)
                cost[at] = 1 + sum(cost[other] for other in below)
                depth[at] = 1 + max((depth[other] for other in below), default=0)
                if cost[at] > MAX_IN_PLACE or depth[at] > MAX_STEPS:
                    return at, "its references multiply or go on too far"
            elif at in begun:
                return at, "it refers to itself without end"
            elif at not in cost:
                begun.add(at)
                waiting.append((at, True))
                waiting += [(other, False) for other in below]
    return None


def _is_index(key: str, length: int) -> bool:
    return key.isdecimal() and key.isascii() and len(key) < 10 and int(key) < length


# --- the vocabulary: what each keyword takes ------------------------------------------------


def _type(value: JsonValue) -> str:
    names = value if isinstance(value, list) else [value]
    for name in names:
        if not isinstance(name, str):
            return "a type is a string"
        if name not in TYPES:
            return f'there is no type "{name[:80]}"'
    if not names:
        return "a list of types is not empty"
    return "" if len(set(map(str, names))) == len(names) else "a list of types names each once"


def _text(value: JsonValue) -> str:
    return "" if isinstance(value, str) else "it is no string"


def _flag(value: JsonValue) -> str:
    return "" if isinstance(value, bool) else "it is neither true nor false"


def _list(value: JsonValue) -> str:
    return "" if isinstance(value, list) else "it is no list"


def _number(value: JsonValue) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return "" if is_number else "it is no number"


def _count(value: JsonValue) -> str:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not whole or value < 0:
        return "it is no whole number from 0 on"
    return ""


def _above_zero(value: JsonValue) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        return "it is no number above 0"
    return ""


def _names(value: JsonValue) -> str:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return "it is no list of strings"
    return "" if len(set(map(str, value))) == len(value) else "it names something twice"


def _tables_of_names(value: JsonValue) -> str:
    if not isinstance(value, dict):
        return "it is no object"
    return next((problem for problem in map(_names, value.values()) if problem), "")


def _pattern(value: JsonValue) -> str:
    if not isinstance(value, str):
        return "it is no string"
    flawed = pattern_flaw(value)
    return "" if flawed is None else str(flawed)


_SHAPES: Final[Mapping[str, Callable[[JsonValue], str]]] = {
    "type": _type,
    "enum": _list,
    "required": _names,
    "dependentRequired": _tables_of_names,
    "pattern": _pattern,
    "multipleOf": _above_zero,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    **dict.fromkeys(
        (
            "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
            "minContains", "maxContains",
        ),
        _count,
    ),
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), _flag),
    **dict.fromkeys(
        (
            "$comment", "$schema", "title", "description", "format", "contentEncoding",
            "contentMediaType",
        ),
        _text,
    ),
    "examples": _list,
}  # fmt: skip


class _WrongShapeError(Exception):
    def __init__(self, path: Path, text: str, hint: str = "") -> None:
        self.flaw = Flaw(path, text, hint)


_Below: TypeAlias = Iterator[tuple[Schema, Path]]


def _one(value: JsonValue, path: Path) -> _Below:
    if not isinstance(value, (dict, bool)):
        raise _WrongShapeError(path, "it is no schema: neither an object nor a boolean")
    yield value, path


def _items(value: JsonValue, path: Path) -> _Below:
    if isinstance(value, list):
        raise _WrongShapeError(
            path,
            "Draft 2020-12 is read, in which a list of schemas stands under prefixItems",
            "rename items to prefixItems, and additionalItems to items",
        )
    yield from _one(value, path)


def _several(value: JsonValue, path: Path) -> _Below:
    if not isinstance(value, list) or not value:
        raise _WrongShapeError(path, "it is no list of schemas" if value != [] else "it is empty")
    for index, item in enumerate(value):
        yield from _one(item, (*path, index))


def _table(value: JsonValue, path: Path) -> _Below:
    if not isinstance(value, dict):
        raise _WrongShapeError(path, "it is no object of schemas")
    for name, member in value.items():
        yield from _one(member, (*path, name))


def _table_by_pattern(value: JsonValue, path: Path) -> _Below:
    for name in value if isinstance(value, dict) else ():
        problem = _pattern(name)
        if problem:
            raise _WrongShapeError((*path, name), problem)
    yield from _table(value, path)


def _table_or_names(value: JsonValue, path: Path) -> _Below:
    """The old `dependencies`: a schema, or the names of other members."""
    if not isinstance(value, dict):
        raise _WrongShapeError(path, "it is no object")
    for name, member in value.items():
        if isinstance(member, list):
            problem = _names(member)
            if problem:
                raise _WrongShapeError((*path, name), problem)
        else:
            yield from _one(member, (*path, name))


_SUBSCHEMAS: Final[Mapping[str, tuple[Callable[[JsonValue, Path], _Below], bool]]] = {
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), (_several, True)),
    **dict.fromkeys(("not", "if", "then", "else"), (_one, True)),
    "dependentSchemas": (_table, True),
    "dependencies": (_table_or_names, True),
    "prefixItems": (_several, False),
    "items": (_items, False),
    **dict.fromkeys(
        ("contains", "additionalProperties", "propertyNames", "contentSchema"),
        (_one, False),
    ),
    **dict.fromkeys(("properties", "$defs", "definitions"), (_table, False)),
    "patternProperties": (_table_by_pattern, False),
}
"""How subschemas stand below a keyword, and whether they look at the same value as it."""
