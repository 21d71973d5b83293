"""A plausible value for a JSON Schema: what the simulation answers and a gate shows as example.

In: a JSON Schema (Draft 2020-12) and a name.  Out: a value that the schema accepts, always
the same one; `ValueError` naming the schema when none was found.

    sample({"type": "string"}, name="subject")                            "simulated subject"
    sample({"type": "object", "required": ["n"],
            "properties": {"n": {"type": "integer", "minimum": 3}}}, …)   {"n": 3}

Each schema has a list of candidates in order of preference (const, enum, default, examples,
then made-up values), and the first that validates is taken; the parts of a value are chosen
in the same way before the whole.
"""

from __future__ import annotations

import copy
import functools
import itertools
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, Final, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.data.patterns.automaton import automaton_of
from cinatra_sdk.data.patterns.syntax import PatternFlawed, read
from cinatra_sdk.data.schema.checker import (
    Checker,
    SchemaBroken,
    checker_of,
    is_pointer,
    pointed,
    text_of,
)
from cinatra_sdk.data.work_budget import TooMuchWork, Work
from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# A short text that a regular expression accepts, for the everyday part of the syntax.
#
# In: the `pattern` of a JSON Schema.  Out: texts that probably match, shortest first; the
# caller checks them.  Look-arounds and back-references are skipped, so a pattern that needs
# them yields texts that do not match, and the caller says so.
#
#     list(matching("^[A-Z]{2}-\d+$", longest=4))  ->  ["AA-0", "AA-00", "AA-0000", …]


_CLASSES = {"d": "0", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\x00"}
_COUNT = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}")
_GROUP = re.compile(r"\(\?(:|P?<[A-Za-z_]\w*>)")
_LOOK_AROUND = re.compile(r"\(\?(=|!|<=|<!)")
_ANY_ORDER = "a0A-_ .@/:1bB"
"""Tried in this order for a negated class."""
_LONGEST = 20_000
"""Characters of a text that is made up."""


def matching(pattern: str, *, longest: int = 16) -> Iterator[str]:
    """Candidates for `pattern`; open-ended repetitions grow up to about `longest`."""
    seen = set()
    grow = 0
    while grow <= max(longest, 1):
        text = _Reader(pattern, grow).alternatives()
        if text not in seen:
            seen.add(text)
            yield text
        grow = max(1, grow * 2)


@functools.lru_cache(maxsize=1024)
def _first_in(letters: str) -> str:
    """The first of `_ANY_ORDER` that is in a character class."""
    try:
        accepted = automaton_of(read(letters))
    except PatternFlawed:
        return ""
    if accepted is None:
        return ""
    return next((letter for letter in _ANY_ORDER if accepted.finds(letter, Work(1_000))), "")


class _Reader:
    """Reads the pattern once, from left to right, and writes a matching text."""

    def __init__(self, pattern: str, grow: int) -> None:
        self._pattern = pattern
        self._at = 0
        self._grow = grow

    def _take_letter(self) -> str:
        letter = self._pattern[self._at : self._at + 1]
        self._at += 1
        return letter

    def _is_next(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def alternatives(self) -> str:
        """The first alternative; the others are read over."""
        first = self._sample_sequence()
        while self._is_next("|"):
            self._at += 1
            self._sample_sequence()
        return first

    def _sample_sequence(self) -> str:
        text = ""
        while self._at < len(self._pattern) and not self._is_next("|") and not self._is_next(")"):
            atom = self._sample_atom()
            least, most = self._read_repetition()
            turns = min(least + (self._grow if most is None else 0), 1000)
            # Repetitions of repetitions multiply: what is too long to be made up is cut.
            text += (atom * min(turns, _LONGEST // max(len(atom), 1) + 1))[: _LONGEST - len(text)]
        return text

    def _sample_atom(self) -> str:
        if self._is_next("("):
            return self._group()
        letter = self._take_letter()
        if letter == "[":
            return self._sample_set()
        if letter == "\\":
            return self._sample_escape()
        if letter in "^$":
            return ""
        return "a" if letter == "." else letter

    def _group(self) -> str:
        skipped = _LOOK_AROUND.match(self._pattern, self._at)
        opening = skipped or _GROUP.match(self._pattern, self._at)
        self._at = opening.end() if opening else self._at + 1
        inner = self.alternatives()
        self._at += 1
        return "" if skipped else inner

    def _sample_escape(self) -> str:
        letter = self._take_letter()
        if letter == "u":
            digits = self._pattern[self._at : self._at + 4]
            self._at += 4
            return chr(int(digits, 16)) if re.fullmatch("[0-9A-Fa-f]{4}", digits) else ""
        if letter in "bBAZ":
            return ""
        return _CLASSES.get(letter) or _CONTROLS.get(letter) or letter

    def _sample_set(self) -> str:
        """One member of a character class."""
        begin = self._at
        negated = self._is_next("^")
        if negated:
            self._at += 1
        first = ""
        while self._at < len(self._pattern) and (
            self._at == begin + negated or not self._is_next("]")
        ):
            letter = self._take_letter()
            member = self._sample_escape() if letter == "\\" else letter
            first = first or member
        body = self._pattern[begin : self._at]
        self._at += 1
        if not negated:
            return first
        return _first_in(f"[{body}]")

    def _read_repetition(self) -> tuple[int, int | None]:
        """Least and most repetitions of what was just read; most is `None` when open."""
        least, most = 1, 1
        counted = _COUNT.match(self._pattern, self._at)
        bounds = {"*": 0, "+": 1}
        mark = self._pattern[self._at : self._at + 1]
        open_ended = False
        if counted:
            self._at = counted.end()
            least = int(counted[1])
            open_ended = counted[2] is not None and not counted[3]
        elif mark in bounds and mark:
            self._at += 1
            least, open_ended = bounds[mark], True
        elif mark == "?":
            self._at += 1
            least, most = 0, 1
        else:
            return 1, 1
        if self._is_next("?") or self._is_next("+"):
            self._at += 1
        return least, None if open_ended else most


Schema: TypeAlias = "Mapping[str, Any]"

MAX_TRIES: Final = 2_000
"""Candidates looked at for one sample; a schema that needs more is not worth the time."""
MAX_LENGTH: Final = 10_000
"""A required length beyond this is not sampled."""
MAX_STEPS: Final = 1_000_000
"""Steps of one sample: rules looked at, and members and characters made up."""

_SHOWN: Final = 200
"""Characters of a schema that an error quotes."""

_FORMATS: Final = {
    "uuid": "00000000-0000-4000-8000-000000000001",
    "uri": "https://example.com/simulated",
    "uri-reference": "/simulated",
    "iri": "https://example.com/simulated",
    "url": "https://example.com/simulated",
    "email": "simulated@example.com",
    "idn-email": "simulated@example.com",
    "date-time": "2030-01-01T09:00:00Z",
    "date": "2030-01-01",
    "time": "09:00:00Z",
    "duration": "P1D",
    "hostname": "simulated.example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "json-pointer": "/simulated",
    "regex": "simulated",
}
_KEYWORDS_OF_TYPES: Final = (
    ("object", ("properties", "required", "additionalProperties", "minProperties")),
    ("array", ("items", "prefixItems", "minItems", "contains")),
    ("string", ("pattern", "minLength", "maxLength", "format")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)


def sample(schema: Mapping[str, JsonValue] | bool, *, name: str, formats: bool = True) -> JsonValue:
    """A value that `schema` accepts; deterministic, and never shared with the schema.

    formats: make a string fit its `format` too; without, it is plainly a made-up one.

    Raises: `ValueError` when the schema is broken, or no candidate satisfies it.
    """
    text = ""
    try:
        text = text_of(schema)
        checker = checker_of(text, formats=formats)
        work = _Work(checker=checker, root=checker.schema, formats=formats)
        return _choose_candidate(work, work.root, name)
    except SchemaBroken as broken:
        told = f" in the schema {text[:_SHOWN]}" if text else ""
        problem = f'the schema of "{name}" is no JSON Schema that can be checked: {broken}{told}'
    except ArithmeticError:
        problem = _no_sample(name, text, "its numbers are too large")
    except RecursionError:
        problem = _no_sample(name, text, "it nests too deeply")
    except (_NoneFound, _GaveUp, TooMuchWork) as none:
        problem = _no_sample(name, text, str(none))
    raise ValueError(problem)


def _no_sample(name: str, text: str, why: str) -> str:
    return f'no sample of "{name}" fits the schema {text[:_SHOWN]} ({why})'


class _NoneFound(Exception):
    """No candidate of a part fits: a turn in the search, not an error."""


class _GaveUp(Exception):
    """The budget of the whole search is used up."""


@dataclass(slots=True, kw_only=True)
class _Budget:
    left: int = MAX_TRIES


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What one sample needs at every depth."""

    checker: Checker
    root: Any
    formats: bool = True
    references: tuple[str, ...] = ()
    """`$ref`s that are being followed: a value must not contain itself."""
    budget: _Budget = field(default_factory=_Budget)
    steps: Work = field(default_factory=lambda: Work(MAX_STEPS))

    def accepts(self, schema: Any, value: JsonValue) -> bool:
        self.budget.left -= 1
        if self.budget.left < 0:
            raise _GaveUp(f"gave up after {MAX_TRIES} candidates")
        return self.checker.fits_part(schema, value, self.steps)


def _choose_candidate(
    work: _Work, schema: Any, name: str, *, but_not: Collection[str] = ()
) -> JsonValue:
    """The first candidate that `schema` accepts and whose JSON is none of `but_not`."""
    for candidate in _iterate_candidates(work, schema, name):
        # A part is made up and looked at once more for each of the parts around it.
        work.steps.spend(1 + _measure_value(candidate))
        if (not but_not or _format_json(candidate) not in but_not) and work.accepts(
            schema, candidate
        ):
            return copy.deepcopy(candidate)
    raise _NoneFound(f'at "{name}"')


def _format_json(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True)


def _measure_value(value: JsonValue) -> int:
    """Members of `value`, and its characters by the hundred."""
    size, waiting = 0, [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            size += len(part) // 100
        elif isinstance(part, (list, dict)):
            size += len(part)
            waiting += part.values() if isinstance(part, dict) else part
    return size


def _iterate_candidates(work: _Work, schema: Any, name: str) -> Iterator[JsonValue]:
    """Values that may fit `schema`, best first; a part that has none ends only its own branch."""
    if isinstance(schema, bool):
        yield f"simulated {name}"
        return
    if "const" in schema:
        yield schema["const"]
    yield from schema.get("enum", ())
    if "default" in schema:
        yield schema["default"]
    yield from schema.get("examples", ())
    for variant, inner in _iterate_variants(work, schema):
        if variant is not schema:
            # Checked against its own part first: that is cheaper than against the whole.
            fitting = _iterate_candidates(inner, variant, name)
            yield from (value for value in fitting if inner.accepts(variant, value))
            continue
        for kind in _list_types(schema):
            try:
                yield from _MAKERS[kind](inner, schema, name)
            except _NoneFound:
                continue


def _iterate_variants(work: _Work, schema: Schema) -> Iterator[tuple[Schema, _Work]]:
    """The schema with its references and alternatives put in; itself when it has none."""
    properties = schema.get("properties")
    work.steps.spend(1 + len(schema) + (len(properties) if isinstance(properties, dict) else 0))
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if reference not in work.references:
            target = _resolve_reference(work, reference)
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            yield (
                _merge_schemas(target, rest),
                replace(work, references=(*work.references, reference)),
            )
        return
    for key in ("allOf", "anyOf", "oneOf"):
        if schema.get(key):
            rest = {name: value for name, value in schema.items() if name != key}
            if key == "allOf":
                yield functools.reduce(_merge_schemas, schema[key], rest), work
                return
            for option in schema[key]:
                yield _merge_schemas(rest, option), work
            return
    if "if" in schema:
        rest = {k: v for k, v in schema.items() if k not in {"if", "then", "else"}}
        yield rest, work
        yield _merge_schemas(_merge_schemas(rest, schema["if"]), schema.get("then", {})), work
        yield _merge_schemas(rest, schema.get("else", {})), work
        return
    yield schema, work


def _resolve_reference(work: _Work, reference: str) -> Schema:
    """The schema that a `#/…` reference names."""
    if not is_pointer(reference):
        raise _NoneFound(f'the reference "{reference[:80]}" leaves the schema')
    try:
        found = pointed(work.root, reference)
    except LookupError:
        raise _NoneFound(f'the reference "{reference[:80]}" leads nowhere') from None
    work.checker.vet(found, work.steps)
    return found if isinstance(found, dict) else {}


def _merge_schemas(base: Schema, more: Any) -> dict[str, Any]:
    """Both schemas' demands in one; where they differ on one keyword, those of `more`."""
    if not isinstance(more, dict):
        return dict(base)
    merged = {**base, **more}
    for key in ("properties", "$defs"):
        if key in base and key in more:
            merged[key] = {**base[key], **more[key]}
    if "required" in base and "required" in more:
        merged["required"] = list(dict.fromkeys([*base["required"], *more["required"]]))
    if "allOf" in base and "allOf" in more:
        merged["allOf"] = [*base["allOf"], *more["allOf"]]
    return merged


def _list_types(schema: Schema) -> list[str]:
    declared = schema.get("type")
    if isinstance(declared, str):
        return [declared]
    if isinstance(declared, list):
        return sorted(declared, key=lambda kind: bool(kind == "null"))
    for kind, keywords in _KEYWORDS_OF_TYPES:
        if any(keyword in schema for keyword in keywords):
            return [kind]
    return ["string", "integer", "boolean", "object", "array", "null"]


# --------------------------------------------------------------------------- scalars


def _iterate_strings(work: _Work, schema: Schema, name: str) -> Iterator[JsonValue]:
    least = int(schema.get("minLength", 0))
    most = int(schema.get("maxLength", MAX_LENGTH))
    if least > MAX_LENGTH:
        raise _NoneFound(f"a text of {least} characters is not made up")
    pattern = schema.get("pattern")
    if work.formats and schema.get("format") in _FORMATS:
        yield _FORMATS[schema["format"]]
    words = f"simulated {name}"
    for text in (words, *(f"{words} {number}" for number in range(2, 12))):
        yield text[:most].rstrip() if len(text) > most else text.ljust(least, ".")
        if len(text) > most:
            yield text[:most]
    if isinstance(pattern, str):
        yield from matching(pattern, longest=min(max(least, 16), MAX_LENGTH))
    yield from _FORMATS.values()
    yield from ("a" * least, "1".ljust(least, "0"), "A".ljust(least, "A"))
    yield from (chr(ord("a") + number) * max(1, least) for number in range(26))


def _iterate_integers(_work: _Work, schema: Schema, _name: str) -> Iterator[JsonValue]:
    yield 1
    for number in _numbers_near(schema):
        yield math.ceil(number)
        yield math.floor(number)
    yield from range(2, 20)


def _iterate_numbers(_work: _Work, schema: Schema, _name: str) -> Iterator[JsonValue]:
    yield 1.5
    yield 1
    yield from _numbers_near(schema)
    yield from (number + 0.5 for number in range(2, 20))


def _numbers_near(schema: Schema) -> Iterator[int | float]:
    """The bounds, their neighbours, and the multiples beside them."""
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    step = schema.get("multipleOf")
    bounds = [bound for bound in (low, high, above, below) if bound is not None]
    if step is not None:
        yield step
        for bound in bounds:
            yield math.ceil(bound / step) * step
            yield math.floor(bound / step) * step
            yield (math.floor(bound / step) + 1) * step
            yield (math.ceil(bound / step) - 1) * step
        yield 0
    yield from bounds
    yield from (bound + 1 for bound in (low, above) if bound is not None)
    yield from (bound - 1 for bound in (high, below) if bound is not None)
    for low_bound, high_bound in itertools.product((low, above), (high, below)):
        if low_bound is not None and high_bound is not None:
            yield (low_bound + high_bound) / 2


def _iterate_booleans(_work: _Work, _schema: Schema, _name: str) -> Iterator[JsonValue]:
    yield False
    yield True


def _iterate_nulls(_work: _Work, _schema: Schema, _name: str) -> Iterator[JsonValue]:
    yield None


# ------------------------------------------------------------------- arrays, objects


def _iterate_arrays(work: _Work, schema: Schema, name: str) -> Iterator[JsonValue]:
    least = int(schema.get("minItems", 0))
    if least > MAX_LENGTH:
        raise _NoneFound(f"a list of {least} elements is not made up")
    yield _make_array(work, schema, name, least)
    if "contains" in schema:
        wanted = max(1, int(schema.get("minContains", 1)))
        if wanted > MAX_LENGTH:
            raise _NoneFound(f"a list of {wanted} elements is not made up")
        found = [_choose_candidate(work, schema["contains"], name) for _ in range(wanted)]
        yield [*found, *_make_array(work, schema, name, least - wanted)]
    yield _make_array(work, schema, name, least + 1)


def _make_array(work: _Work, schema: Schema, name: str, length: int) -> list[JsonValue]:
    first: list[Any] = schema.get("prefixItems", [])
    rest = schema.get("items", True)
    elements: list[JsonValue] = []
    taken: set[str] = set()
    for index in range(length):
        part = first[index] if index < len(first) else rest
        elements.append(_choose_candidate(work, part, name, but_not=taken))
        if schema.get("uniqueItems"):
            taken.add(_format_json(elements[-1]))
    return elements


def _iterate_objects(work: _Work, schema: Schema, name: str) -> Iterator[JsonValue]:
    required = list(schema.get("required", ()))
    yield _make_object(work, schema, name, required)
    for dependent in ("dependentRequired", "dependentSchemas"):
        for key, demanded in schema.get(dependent, {}).items():
            more = demanded if isinstance(demanded, list) else demanded.get("required", ())
            if key in required:
                required = list(dict.fromkeys([*required, *more]))
    properties = schema.get("properties", {})
    yield _make_object(work, schema, name, required)
    yield _make_object(work, schema, name, list(dict.fromkeys([*required, *properties])))
    missing = int(schema.get("minProperties", 0)) - len(set(required) | set(properties))
    made_up = [f"key{number}" for number in range(1, min(missing, 100) + 1)]
    yield _make_object(work, schema, name, list(dict.fromkeys([*required, *properties, *made_up])))


def _make_object(work: _Work, schema: Schema, name: str, keys: list[str]) -> dict[str, JsonValue]:
    properties = schema.get("properties", {})
    other = schema.get("additionalProperties", True)
    del name  # the parts are named after their own keys
    return {key: _choose_candidate(work, properties.get(key, other), key) for key in keys}


_MAKERS: Final = {
    "string": _iterate_strings,
    "integer": _iterate_integers,
    "number": _iterate_numbers,
    "boolean": _iterate_booleans,
    "null": _iterate_nulls,
    "array": _iterate_arrays,
    "object": _iterate_objects,
}
