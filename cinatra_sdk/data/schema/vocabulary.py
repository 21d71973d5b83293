"""The values that each keyword of JSON Schema (Draft 2020-12) may have: the metaschema, as a table.

    taken("type", "strng", ("type",))        ->  raises Wrong: 'there is no type "strng"'
    taken("items", {…}, ("items",))          ->  Below(schemas=[({…}, ("items",))], in_place=False)
    flaw_of({"properties": {"a": {"minLength": -1}}})
        ->  SchemaFlaw(("properties", "a", "minLength"), "it is no whole number from 0 on")

The checker of files and the runtime read schemas by this one table.  A check against the metaschema itself
gives the same verdict without a reason, and takes hundreds of steps for each subschema.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from cinatra_sdk.data.work_budget import TooMuchWork, Work
from cinatra_sdk.light_imports.records import dataclass

Path: TypeAlias = "tuple[str | int, ...]"
Schema: TypeAlias = "dict[str, Any] | bool"

MAX_SCHEMA_STEPS: Final = 2_000_000
"""Keywords of one schema, and characters of its patterns, that are read: about a second."""
TYPES: Final = frozenset({"string", "integer", "number", "boolean", "null", "array", "object"})
_SHOWN: Final = 80
"""Characters of an author's word in one sentence."""


@dataclass(frozen=True, slots=True)
class SchemaFlaw:
    """What keeps a schema from being checked against."""

    path: Path
    """Where in the schema, outermost first."""
    text: str
    """What is wrong there, a part of a sentence."""
    hint: str = ""
    """What to write instead; empty where the text says it."""


class Wrong(Exception):
    """A keyword is given something that it does not take."""

    def __init__(self, path: Path, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.flaw = SchemaFlaw(path, text, hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """The schemas that stand below one keyword, each with its place."""

    schemas: tuple[tuple[Schema, Path], ...] = ()
    in_place: bool = False
    """Whether they look at the same value as the schema around them."""


def taken(keyword: str, value: Any, path: Path) -> Below:
    """What a keyword holds that stands at `path`; of an unknown one nothing is known.

    Raises: `Wrong`.
    """
    shape = _SHAPES.get(keyword)
    if shape is not None:
        problem = shape(value)
        if problem:
            raise Wrong(path, problem)
    how = _SUBSCHEMAS.get(keyword)
    if how is None:
        return _NOTHING
    return Below(schemas=tuple(how(value, path)), in_place=keyword in _IN_PLACE)


def flaw_of(schema: Any) -> SchemaFlaw | None:
    """The first thing that is wrong in `schema`; that it is too large, too."""
    try:
        return first_flaw(schema, Work(MAX_SCHEMA_STEPS))
    except TooMuchWork as stopped:
        return SchemaFlaw((), str(stopped))


def first_flaw(
    schema: Any, work: Work, *, known: dict[int, Any] | None = None
) -> SchemaFlaw | None:
    """The first thing that is wrong in `schema` and in the schemas inside it.

    known: subschemas by their `id`, which are in order; where no flaw is found, these are added.

    Raises: `TooMuchWork`.
    """
    if not isinstance(schema, (dict, bool)):
        return SchemaFlaw((), "it is neither an object nor a boolean")
    known = {} if known is None else known
    seen: dict[int, Any] = {}
    waiting: list[tuple[Schema, Path]] = [(schema, ())]
    while waiting:
        found, path = waiting.pop()
        if isinstance(found, bool) or id(found) in seen or id(found) in known:
            continue
        seen[id(found)] = found
        for keyword, value in found.items():
            work.spend(_count_steps(keyword, value))
            try:
                below = taken(keyword, value, (*path, keyword))
            except Wrong as wrong:
                return wrong.flaw
            waiting += reversed(below.schemas)
    known.update(seen)
    return None


def _count_steps(keyword: str, value: Any) -> int:
    """What looking at a keyword costs; a pattern is read."""
    if keyword == "pattern" and isinstance(value, str):
        return 1 + len(value)
    if keyword == "patternProperties" and isinstance(value, dict):
        return 1 + sum(1 + len(name) for name in value)
    return 1 + (len(value) if isinstance(value, (list, dict)) else 0)


# --- what a keyword takes -------------------------------------------------------------------


def _find_type_flaw(value: Any) -> str:
    names = value if isinstance(value, list) else [value]
    for name in names:
        if not isinstance(name, str):
            return "a type is a string"
        if name not in TYPES:
            return f'there is no type "{name[:_SHOWN]}"'
    if not names:
        return "a list of types is not empty"
    return "" if len(set(names)) == len(names) else "a list of types names each once"


def _find_string_flaw(value: Any) -> str:
    return "" if isinstance(value, str) else "it is no string"


def _find_id_flaw(value: Any) -> str:
    problem = _find_string_flaw(value)
    return problem or ("" if "#" not in value.removesuffix("#") else "it has a fragment")


_ANCHOR: Final = re.compile(r"[A-Za-z_][-A-Za-z0-9._]*")


def _find_anchor_flaw(value: Any) -> str:
    problem = _find_string_flaw(value)
    return problem or ("" if _ANCHOR.fullmatch(value) else "it is no name of an anchor")


def _find_boolean_flaw(value: Any) -> str:
    return "" if isinstance(value, bool) else "it is neither true nor false"


def _find_vocabulary_flaw(value: Any) -> str:
    if not isinstance(value, dict):
        return "it is no object"
    return next((problem for problem in map(_find_boolean_flaw, value.values()) if problem), "")


def _find_list_flaw(value: Any) -> str:
    return "" if isinstance(value, list) else "it is no list"


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return isinstance(value, int) or math.isfinite(value)


def _find_number_flaw(value: Any) -> str:
    return "" if _is_number(value) else "it is no number"


def _find_count_flaw(value: Any) -> str:
    is_whole = _is_number(value) and value == math.floor(value)
    return "" if is_whole and value >= 0 else "it is no whole number from 0 on"


def _above_zero(value: Any) -> str:
    return "" if _is_number(value) and value > 0 else "it is no number above 0"


def _find_name_list_flaw(value: Any) -> str:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return "it is no list of strings"
    return "" if len(set(value)) == len(value) else "it names something twice"


def _tables_of_names(value: Any) -> str:
    if not isinstance(value, dict):
        return "it is no object"
    return next((problem for problem in map(_find_name_list_flaw, value.values()) if problem), "")


def _find_pattern_flaw(value: Any) -> str:
    if not isinstance(value, str):
        return "it is no string"
    from cinatra_sdk.data.patterns.syntax import flaw

    flawed = flaw(value)
    if flawed is None:
        return ""
    why = f" ({flawed.detail[:_SHOWN]})" if flawed.detail not in {"", str(flawed)} else ""
    return f'the pattern "{value[:_SHOWN]}" cannot be used: {flawed}{why}'


_SHAPES: Final[Mapping[str, Callable[[Any], str]]] = {
    "type": _find_type_flaw,
    "enum": _find_list_flaw,
    "required": _find_name_list_flaw,
    "dependentRequired": _tables_of_names,
    "pattern": _find_pattern_flaw,
    "multipleOf": _above_zero,
    "$id": _find_id_flaw,
    "$vocabulary": _find_vocabulary_flaw,
    **dict.fromkeys(("$anchor", "$dynamicAnchor", "$recursiveAnchor"), _find_anchor_flaw),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _find_number_flaw),
    **dict.fromkeys(
        (
            "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
            "minContains", "maxContains",
        ),
        _find_count_flaw,
    ),
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), _find_boolean_flaw),
    **dict.fromkeys(
        (
            "$comment", "$schema", "$ref", "$dynamicRef", "$recursiveRef", "title", "description",
            "format", "contentEncoding", "contentMediaType",
        ),
        _find_string_flaw,
    ),
    "examples": _find_list_flaw,
}  # fmt: skip


# --- what stands below a keyword ------------------------------------------------------------

_Schemas: TypeAlias = "Iterator[tuple[Schema, Path]]"


def _iterate_one_schema(value: Any, path: Path) -> _Schemas:
    if not isinstance(value, (dict, bool)):
        raise Wrong(path, "it is no schema: neither an object nor a boolean")
    yield value, path


def _iterate_items_schema(value: Any, path: Path) -> _Schemas:
    if isinstance(value, list):
        raise Wrong(
            path,
            "Draft 2020-12 is read, in which a list of schemas stands under prefixItems",
            "rename items to prefixItems, and additionalItems to items",
        )
    yield from _iterate_one_schema(value, path)


def _iterate_schema_list(value: Any, path: Path) -> _Schemas:
    if not isinstance(value, list) or not value:
        raise Wrong(path, "it is no list of schemas" if value != [] else "it is empty")
    for index, item in enumerate(value):
        yield from _iterate_one_schema(item, (*path, index))


def _iterate_schema_table(value: Any, path: Path) -> _Schemas:
    if not isinstance(value, dict):
        raise Wrong(path, "it is no object of schemas")
    for name, member in value.items():
        yield from _iterate_one_schema(member, (*path, name))


def _table_by_pattern(value: Any, path: Path) -> _Schemas:
    for name in value if isinstance(value, dict) else ():
        problem = _find_pattern_flaw(name)
        if problem:
            raise Wrong((*path, name), problem)
    yield from _iterate_schema_table(value, path)


def _table_or_names(value: Any, path: Path) -> _Schemas:
    """The old `dependencies`: a schema, or the names of other members."""
    if not isinstance(value, dict):
        raise Wrong(path, "it is no object")
    for name, member in value.items():
        if isinstance(member, list):
            problem = _find_name_list_flaw(member)
            if problem:
                raise Wrong((*path, name), problem)
        else:
            yield from _iterate_one_schema(member, (*path, name))


_SUBSCHEMAS: Final[Mapping[str, Callable[[Any, Path], _Schemas]]] = {
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _iterate_schema_list),
    **dict.fromkeys(
        (
            "not", "if", "then", "else", "contains", "additionalProperties", "propertyNames",
            "contentSchema", "unevaluatedItems", "unevaluatedProperties",
        ),
        _iterate_one_schema,
    ),
    **dict.fromkeys(("properties", "dependentSchemas", "$defs", "definitions"), _iterate_schema_table),
    "dependencies": _table_or_names,
    "items": _iterate_items_schema,
    "patternProperties": _table_by_pattern,
}  # fmt: skip
"""How subschemas stand below a keyword."""
_IN_PLACE: Final = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}
)
"""Keywords whose subschemas look at the same value as the schema around them."""
_NOTHING: Final = Below()
