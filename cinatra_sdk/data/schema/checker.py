"""One JSON Schema, and the first of its rules that a value breaks.

    checker_of('{"type": "integer"}').first_break("x")
        ->  Break(rule="type", wanted="integer", value="x", …)

Rules are checked in the order in which the author wrote them, each counted as work: a schema
that multiplies itself, and a pattern without an end, are refused after the same number of steps
on every machine.

A reference leads to a place in the schema itself, or in a metaschema of JSON Schema; nothing is ever fetched.
The library that reads references takes long to import.  So it is imported only for a schema with a
reference, or when a graph is built (`load_schemas`).
"""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import unquote

from cinatra_sdk.data.patterns.search import Matcher
from cinatra_sdk.data.patterns.syntax import end_as_in_json_schema
from cinatra_sdk.data.patterns.syntax import flaw as pattern_flaw
from cinatra_sdk.data.schema.keywords import KEYWORDS, Break, Keyword, key
from cinatra_sdk.data.schema.vocabulary import MAX_SCHEMA_STEPS, first_flaw
from cinatra_sdk.data.work_budget import TooMuchWork, Work


def is_pointer(reference: str) -> bool:
    """Whether `reference` is a JSON Pointer into the same document."""
    return reference == "#" or reference.startswith("#/")


def pointed(schema: Any, reference: str) -> Any:
    """What a JSON Pointer leads to.

    Raises: `LookupError`.
    """
    found = schema
    for part in unquote(reference[1:]).split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and step.isdecimal() and len(step) < 10:
            found = found[int(step)]
        elif isinstance(found, dict):
            found = found[step]
        else:
            raise LookupError(reference)
    return found


def frames_left() -> int:
    """How many more calls may be made inside each other."""
    frame, used = sys._getframe(), 0  # noqa: SLF001 - there is no other way to know
    while frame.f_back is not None:
        frame, used = frame.f_back, used + 1
    return sys.getrecursionlimit() - used


def load_schemas() -> None:
    """Read from the disk, once, what references may lead to.

    For whatever builds a graph: its nodes may run in an event loop, where reading would stop
    everything else, and where a server such as LangGraph's refuses it.
    """
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # noqa: F401 - loads its files
    from referencing.jsonschema import DRAFT202012  # noqa: F401 - the same


def resolver_of(schema: Any) -> Any:
    """A resolver whose root is `schema`.

    Raises: `LookupError` for an `$id` that is no address.
    """
    from jsonschema_specifications import REGISTRY
    from referencing.jsonschema import DRAFT202012

    return _ask_library(lambda: REGISTRY.resolver_with_root(DRAFT202012.create_resource(schema)))


def inside(resolver: Any, schema: Any) -> Any:
    """The resolver for what is below `schema`, which has an `$id`.

    Raises: `LookupError` where that is no address.
    """
    from referencing.jsonschema import DRAFT202012

    return _ask_library(lambda: resolver.in_subresource(DRAFT202012.create_resource(schema)))


def lookup(resolver: Any, reference: str) -> tuple[Any, Any]:
    """The schema that `reference` names, and the resolver there.

    Raises: `LookupError` where it leads nowhere.
    """
    found = _ask_library(lambda: resolver.lookup(reference))
    return found.contents, found.resolver


def _ask_library(question: Callable[[], Any]) -> Any:
    """The library's answer.  It raises what it meets, in addresses and in parts that are no schemas.

    Raises: `LookupError`.
    """
    from referencing.exceptions import CannotDetermineSpecification, NoInternalID, Unresolvable

    try:
        return question()
    except (Unresolvable, CannotDetermineSpecification, NoInternalID):
        pass
    except (LookupError, ValueError, TypeError, AttributeError):
        pass
    raise LookupError("the reference leads nowhere")


MAX_STEPS: Final = 1_000_000
"""Steps to check one value: about a second."""
MAX_DIGITS: Final = 4_300
"""Digits of a whole number in a schema; Python reads and writes no more."""
MAX_DEPTH: Final = 200
"""Schemas that look at a value, or at parts of it, inside each other."""
_A_LOOKUP: Final = 10
"""Steps to follow one reference."""
_FRAMES: Final = 5
"""Python's frames for one schema inside another, at most."""
_UNKNOWN: Final = 10
"""Members of a schema that are passed over in one step, because they are no keywords."""
_SPARE: Final = 60
"""Frames that following one reference takes."""
_SHOWN: Final = 80
"""Characters of a schema's own words in one sentence."""
_SHOWN_PARTS: Final = 64

Formats: TypeAlias = "Callable[[str, Any], bool] | None"
"""Whether a value is of a format; None where formats are annotations."""
_T = TypeVar("_T")


class SchemaBroken(ValueError):
    """Nothing can be checked against the schema; the text says where it is flawed and why."""


class TooDeep(TooMuchWork):
    """Schemas stand inside each other, or refer to each other, without an end in sight."""


class Check:
    """One value that is being checked: what is left of the work, and where references lead."""

    __slots__ = ("_referred", "checker", "left", "resolver", "work")

    def __init__(self, checker: Checker, work: Work) -> None:
        self.checker = checker
        self.work = work
        self.resolver: Any = None
        self.left = MAX_DEPTH
        """How many more schemas may stand inside each other here."""
        self._referred = ""
        """The reference that was followed last."""

    def first(self, schema: Any, value: Any) -> Break | None:
        """The first rule of `schema` that `value` breaks."""
        if isinstance(schema, bool):
            self.work.spend(1)
            return (
                None if schema else Break(rule="", wanted=None, value=value, schema=schema, path=[])
            )
        self.work.spend(1 + len(schema) // _UNKNOWN)
        keywords = self.checker.keywords
        before = self.resolver
        self.deeper()
        try:
            if "$id" in schema:
                self._enter_schema(schema)
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

    def deeper(self) -> None:
        """Go into one more schema; whoever comes back from it adds to `left`.

        Raises: `TooDeep`.
        """
        if self.left <= 0:
            last = f'; the last reference was "{self._referred[:_SHOWN]}"' if self._referred else ""
            raise TooDeep(
                f"its schemas stand inside each other, or refer to each other, too deeply{last}"
            )
        self.left -= 1

    def _enter_schema(self, schema: Mapping[str, Any]) -> None:
        """What stands below an `$id` refers to things from there."""
        try:
            self.resolver = inside(self._known(), schema)
        except LookupError:
            raise SchemaBroken(f'the $id "{str(schema["$id"])[:_SHOWN]}" is no address') from None

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
            matcher = self.checker.matchers[pattern] = Matcher(end_as_in_json_schema(pattern))
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
        self._referred = reference
        try:
            # Elsewhere (in a metaschema, below an `$id`) a pointer starts from another root.
            if self.resolver is None and self.checker.is_one_document and is_pointer(reference):
                schema = pointed(self.checker.schema, reference)
            else:
                schema, self.resolver = lookup(self._known(), reference)
        except LookupError:
            raise SchemaBroken(f'the reference "{reference[:_SHOWN]}" leads nowhere') from None
        if not isinstance(schema, (Mapping, bool)):
            raise SchemaBroken(f'the reference "{reference[:_SHOWN]}" leads to no schema')
        self.checker.vet(schema, self.work)
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
        self.keywords: Mapping[str, Keyword] = KEYWORDS
        self.schema = schema
        self.formats = formats
        self.is_one_document = not _has_ids(schema)
        """Whether a pointer means the same everywhere in the schema."""
        self.matchers: dict[str, Matcher] = {}
        """Of the patterns that were searched with."""
        self._resolver: Any = None
        self._sets: dict[int, tuple[list[Any], frozenset[Any]]] = {}
        self._vetted: dict[int, Any] = {}
        """By id: the schemas whose keywords were looked at."""

    def vet(self, schema: Any, work: Work) -> None:
        """Look at the keywords of `schema`, unless that was done.

        A reference may lead to a place where no schema is expected.

        Raises: `SchemaBroken`, `TooMuchWork`.
        """
        flaw = first_flaw(schema, work, known=self._vetted)
        if flaw is not None:
            where = "/".join(str(part)[:_SHOWN] for part in flaw.path[:_SHOWN_PARTS])
            raise SchemaBroken(f"at {where}, {flaw.text}" if where else flaw.text)

    def first_break(self, value: Any, work: Work | None = None) -> Break | None:
        """The first rule that `value` breaks; None when it fits.

        Raises: `TooMuchWork`, of which `TooDeep` is one; `SchemaBroken` for a reference that leads
        nowhere, or to no schema.
        """
        return self._within_the_stack(
            lambda: Check(self, work or Work(MAX_STEPS)).first(self.schema, value)
        )

    def fits_part(self, schema: Any, value: Any, work: Work) -> bool:
        """Whether `value` fits `schema`, a part of this one or made of parts of it.

        Raises: as `first_break`.
        """
        return self._within_the_stack(lambda: Check(self, work).fits(schema, value))

    def _within_the_stack(self, look: Callable[[], _T]) -> _T:
        try:
            return look()
        except RecursionError:
            problem = TooDeep("it nests deeper than this process can look")
        raise problem

    def resolver(self) -> Any:
        """Raises: `SchemaBroken` for an `$id` that is no address."""
        if self._resolver is None:
            try:
                self._resolver = resolver_of(self.schema)
            except LookupError:
                raise SchemaBroken("its $id is no address") from None
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


def checker_of(schema_text: str, *, formats: bool = False) -> Checker:
    """The checker of a schema, made once per schema.

    formats: also refuse a string that breaks its `format`.  Off where real values are checked:
    `format` is an annotation in Draft 2020-12, and real flows branch on a malformed one.

    Raises: `SchemaBroken` when the schema breaks the JSON Schema metaschema, or is too large.
    """
    made = _make_checker(schema_text, formats=formats)
    if isinstance(made, str):
        raise SchemaBroken(made)
    return made


def text_of(schema: object) -> str:
    """A schema as JSON text, of which a checker is made; its keywords keep their order.

    Raises: `SchemaBroken` where it cannot be written.
    """
    try:
        return json.dumps(schema, ensure_ascii=False, default=dict)
    except RecursionError:
        problem = "it nests too deeply to be written"
    except ValueError:
        problem = f"it holds a number of more than {MAX_DIGITS:,} digits, or itself"
    except TypeError:
        problem = "it holds something that JSON does not have"
    raise SchemaBroken(problem)


@functools.lru_cache(maxsize=1024)
def _make_checker(schema_text: str, *, formats: bool) -> Checker | str:
    """The checker, or why there is none: both are worked out once."""
    try:
        schema = json.loads(schema_text, parse_int=_whole_number)
        checker = Checker(schema, formats=_is_of_format if formats else None)
        checker.vet(schema, Work(MAX_SCHEMA_STEPS))
    except RecursionError:
        return "it nests too deeply to be read"
    except (SchemaBroken, TooMuchWork) as broken:
        return str(broken)
    except json.JSONDecodeError:
        return "it is no JSON"
    return checker


def _whole_number(digits: str) -> float:
    """A number that Python does not read is infinite: no keyword takes that."""
    if len(digits) > MAX_DIGITS:
        return -math.inf if digits.startswith("-") else math.inf
    return int(digits)


def _is_of_format(name: str, value: Any) -> bool:
    from jsonschema import Draft202012Validator

    if name == "regex":
        return not isinstance(value, str) or pattern_flaw(value) is None
    return bool(Draft202012Validator.FORMAT_CHECKER.conforms(value, name))
