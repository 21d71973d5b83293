"""One schema, and the first rule of it that a value breaks.

    checker_of('{"type": "integer"}').first_break("x")
        ->  Break(rule="type", wanted="integer", value="x", …)

Rules are looked at in the order in which the author wrote them, each counted as work: a schema
that multiplies itself, and a pattern without an end, are refused after the same number of steps
on every machine.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from cinatra_sdk.patterns.searching import Matcher
from cinatra_sdk.validation.references import (
    frames_left,
    inside,
    is_pointer,
    lookup,
    metaschema,
    pointed,
    resolver_of,
)
from cinatra_sdk.validation.sameness import key
from cinatra_sdk.work import TooMuchWork, Work

MAX_STEPS: Final = 1_000_000
"""Steps to check one value: about a second."""
MAX_SCHEMA_STEPS: Final = 4_000_000
"""Steps to check one schema against the metaschema."""
MAX_DEPTH: Final = 200
"""Schemas that look at a value, or at parts of it, inside each other."""
_A_LOOKUP: Final = 10
"""Steps to follow one reference."""
_FRAMES: Final = 5
"""Python's frames for one schema inside another, at most."""
_SPARE: Final = 60
"""Frames that following one reference takes."""

Formats: TypeAlias = "Callable[[str, Any], bool] | None"
"""Whether a value is of a format; None where formats are annotations."""
Keyword: TypeAlias = "Callable[[Check, Any, Any, Mapping[str, Any]], Break | None]"


class SchemaBroken(ValueError):
    """The schema is no JSON Schema; nothing can be checked against it."""


@dataclass(slots=True, kw_only=True)
class Break:
    """The rule of a schema that a value breaks."""

    rule: str
    """The keyword; empty where the schema is `false`."""
    wanted: Any
    """What the keyword says."""
    value: Any
    schema: Any
    path: list[str | int]
    """Where in the whole value, innermost first while it is on its way out."""

    @property
    def place(self) -> list[str | int]:
        """Where in the whole value, outermost first."""
        return self.path[::-1]


class Check:
    """One value that is being checked: what is left of the work, and where references lead."""

    __slots__ = ("checker", "left", "resolver", "work")

    def __init__(self, checker: Checker, work: Work) -> None:
        self.checker = checker
        self.work = work
        self.resolver: Any = None
        self.left = MAX_DEPTH
        """How many more schemas may stand inside each other here."""

    def first(self, schema: Any, value: Any) -> Break | None:
        """The first rule of `schema` that `value` breaks."""
        self.work.spend(1)
        if isinstance(schema, bool):
            return (
                None if schema else Break(rule="", wanted=None, value=value, schema=schema, path=[])
            )
        if self.left <= 0:
            raise RecursionError("schemas inside each other")
        keywords = self.checker.keywords
        before = self.resolver
        if "$id" in schema:
            self.resolver = inside(self._known(), schema)
        self.left -= 1
        try:
            for name, wanted in schema.items():
                look = keywords.get(name)
                if look is None:
                    continue
                self.work.spend(1)
                found = look(self, wanted, value, schema)
                if found is not None:
                    return found
        finally:
            self.left += 1
            self.resolver = before
        return None

    def at(self, place: str | int, schema: Any, value: Any) -> Break | None:
        """As `first`, for a part of the value."""
        try:
            found = self.first(schema, value)
        except TooMuchWork as stopped:
            stopped.path.append(place)
            raise
        if found is not None:
            found.path.append(place)
        return found

    def fits(self, schema: Any, value: Any) -> bool:
        return self.first(schema, value) is None

    def matches(self, pattern: str, text: str) -> bool:
        """Whether `pattern` is found in `text`."""
        matcher = self.checker.matchers.get(pattern)
        if matcher is None:
            matcher = self.checker.matchers[pattern] = Matcher(pattern)
            self.work.spend(matcher.steps_to_make)
        return matcher.found(text, self.work)

    def referred(self, reference: str, value: Any) -> Break | None:
        """The first rule that `value` breaks of what `reference` leads to."""
        before = self.resolver
        schema = self.follow(reference)
        try:
            return self.first(schema, value)
        finally:
            self.resolver = before

    def follow(self, reference: str) -> Any:
        """The schema that a reference leads to; `resolver` is then the one there."""
        self.work.spend(_A_LOOKUP)
        try:
            # Elsewhere (in a metaschema, below an `$id`) a pointer starts from another root.
            if self.resolver is None and self.checker.is_one_document and is_pointer(reference):
                schema = pointed(self.checker.schema, reference)
            else:
                schema, self.resolver = lookup(self._known(), reference)
        except LookupError:
            raise SchemaBroken(f"a reference leads nowhere: {reference[:80]}") from None
        if not isinstance(schema, (Mapping, bool)):
            raise SchemaBroken("a reference leads to no schema")
        return schema

    def _known(self) -> Any:
        if self.resolver is None:
            self.resolver = self.checker.resolver()
            # The library that follows references does not survive an exhausted stack.
            self.left = min(self.left, (frames_left() - _SPARE) // _FRAMES)
        return self.resolver


class Checker:
    """A schema that keeps what it works out about itself."""

    def __init__(self, schema: Any, *, formats: Formats = None) -> None:
        from cinatra_sdk.validation.keywords import KEYWORDS

        self.keywords: Mapping[str, Keyword] = KEYWORDS
        self.schema = schema
        self.formats = formats
        self.is_one_document = not _has_ids(schema)
        """Whether a pointer means the same everywhere in the schema."""
        self.matchers: dict[str, Matcher] = {}
        """Of the patterns that were searched with."""
        self._resolver: Any = None
        self._sets: dict[int, tuple[list[Any], frozenset[Any]]] = {}

    def first_break(self, value: Any, work: Work | None = None) -> Break | None:
        """The first rule that `value` breaks; None when it fits.

        Raises: `TooMuchWork`; `SchemaBroken`, `RecursionError` for a schema whose
        references lead nowhere, or into themselves.
        """
        return Check(self, work or Work(MAX_STEPS)).first(self.schema, value)

    def fits_part(self, schema: Any, value: Any, work: Work) -> bool:
        """Whether `value` fits `schema`, a part of this one or made of parts of it."""
        return Check(self, work).fits(schema, value)

    def resolver(self) -> Any:
        if self._resolver is None:
            self._resolver = resolver_of(self.schema)
        return self._resolver

    def one_of(self, values: list[Any], work: Work) -> frozenset[Any]:
        """The values of an `enum`, as keys; worked out once."""
        found = self._sets.get(id(values))
        if found is None:
            # With the list itself, so that its id stays its own.
            found = values, frozenset(key(value, work) for value in values)
            self._sets[id(values)] = found
        return found[1]


def _has_ids(schema: Any) -> bool:
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if "$id" in part:
                return True
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return False


@functools.lru_cache(maxsize=1024)
def checker_of(schema_text: str, *, formats: bool = False) -> Checker:
    """The checker of a schema, made once per schema.

    formats: also refuse a string that breaks its `format`.  Off where real values are checked:
    `format` is an annotation in Draft 2020-12, and real flows branch on a malformed one.

    Raises: `SchemaBroken` when the schema breaks the JSON Schema metaschema; `TooMuchWork`.
    """
    schema = json.loads(schema_text)
    found = _metaschema().first_break(schema, Work(MAX_SCHEMA_STEPS))
    if found is not None:
        where = "/".join(str(part)[:60] for part in found.place)
        raise SchemaBroken(f"{where or 'the schema'} breaks the rule {found.rule or 'false'}")
    return Checker(schema, formats=_is_of_format if formats else None)


def load_schemas() -> None:
    """Read from the disk, once, what checking needs.

    For whatever builds a graph: its nodes may run in an event loop, where reading would stop
    everything else, and where a server such as LangGraph's refuses it.
    """
    _metaschema()


@functools.cache
def _metaschema() -> Checker:
    return Checker(metaschema(), formats=_is_pattern)


def _is_pattern(name: str, value: Any) -> bool:
    """The one format of the metaschema that is looked at."""
    if name != "regex" or not isinstance(value, str):
        return True
    from cinatra_sdk.patterns.reading import flaw

    return flaw(value) is None


def _is_of_format(name: str, value: Any) -> bool:
    from jsonschema import Draft202012Validator

    if name == "regex":
        return _is_pattern(name, value)
    return bool(Draft202012Validator.FORMAT_CHECKER.conforms(value, name))
