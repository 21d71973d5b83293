"""Finds flaws that make a JSON Schema unusable, without a JSON Schema library.

    {"type": "strng"}                        ->  SchemaFlaw(("type",), 'there is no type "strng"')
    {"$ref": "#/$defs/nothing"}              ->  SchemaFlaw(("$ref",), "the reference leads nowhere")
    {"anyOf": [{"$ref": "#"}]}               ->  SchemaFlaw(…, "it refers to itself without end")
    {"$dynamicRef": "#node", …}              ->  asked of the library (schema_library.py)

Not a rule.  The library takes longer to import than the largest flow takes to check, and is not
linear.  So each keyword is looked up in the SDK's table, by which values are checked later, and
each subschema is checked once, however many references lead to it.  This check is stricter than the
library in three cases that the library notices only when a value reaches them: a reference that
leads nowhere, a circle, references that multiply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from cinatra_sdk.values.validation.vocabulary import TYPES, Path, Schema, SchemaFlaw, Wrong, taken
from oas_compiler.ir import JsonValue

__all__ = ["TYPES", "SchemaFlaw", "Path", "Unusual", "endless", "first_flaw"]

MAX_IN_PLACE: Final = 10_000
"""How often one value may be looked at: references to references multiply."""
MAX_STEPS: Final = 100
"""How many subschemas in a row may look at the same value; each costs the library stack."""


class Unusual(Exception):
    """The schema has a keyword that is not decided here."""


UNUSUAL: Final = frozenset(
    {
        "$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$vocabulary", "$recursiveRef",
        "$recursiveAnchor", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
"""Keywords that are left to the library: they change what references mean, or follow them."""


def first_flaw(schema: JsonValue) -> SchemaFlaw | None:
    """The first flaw; `None` when values can be checked against `schema`.

    Raises:
        Unusual: it has one of the UNUSUAL keywords, and what was looked at before is fine.

    """
    if not isinstance(schema, (dict, bool)):
        return SchemaFlaw((), "it is neither an object nor a boolean")
    return _Walk(schema).first_flaw()


class _Walk:
    """One pass over a schema and over everything that its references lead to."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._waiting: list[tuple[Schema, Path]] = [(root, ())]
        self._seen: dict[int, tuple[Schema, Path]] = {}
        self._in_place: dict[int, list[int]] = {}
        """By `id` of a subschema: those that look at the same value."""

    def first_flaw(self) -> SchemaFlaw | None:
        while self._waiting:
            schema, path = self._waiting.pop()
            if id(schema) in self._seen or isinstance(schema, bool):
                continue
            self._seen[id(schema)] = schema, path
            flaw = self._find_own_flaw(schema, path)
            if flaw is not None:
                return flaw
        return self._find_endless_flaw()

    def _find_own_flaw(self, schema: dict[str, JsonValue], path: Path) -> SchemaFlaw | None:
        """The flaw of one subschema's own keywords; what is below it is put in line."""
        same = self._in_place.setdefault(id(schema), [])
        for keyword, value in schema.items():
            if keyword in UNUSUAL:
                raise Unusual(keyword)
            if keyword == "$ref":
                target = self._resolve_reference(value)
                if isinstance(target, str):
                    return SchemaFlaw((*path, keyword), target)
                self._waiting.append(target)
                same.append(id(target[0]))
                continue
            try:
                below = taken(keyword, value, (*path, keyword))
            except Wrong as wrong:
                return wrong.flaw
            self._waiting += reversed(below.schemas)
            same += [id(found) for found, _ in below.schemas if below.in_place]
        return None

    def _resolve_reference(self, reference: JsonValue) -> tuple[Schema, Path] | str:
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

    def _find_endless_flaw(self) -> SchemaFlaw | None:
        found = endless(self._in_place)
        if found is None:
            return None
        number, text = found
        return SchemaFlaw(self._seen[number][1] if number in self._seen else (), text)


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
