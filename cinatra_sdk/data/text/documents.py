"""Reads a JSON or YAML document of a host: returns a value, or refuses with one sentence.

    read_document("stubs.yaml", what="stubs file", most=8_000_000)      by the file's ending

The same bounds and refusals for both: each key once, finite numbers of at most 64 bits, no depth
that could exhaust a stack.  A refusal names the rule and the place, and quotes only keys of the
text, because the user may have named the wrong file.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from typing import Any, Final, NoReturn

from pydantic import JsonValue

from cinatra_sdk.data.text.author_files import read_named, shown_name
from cinatra_sdk.data.text.yaml_reader import MAX_DEPTH, YamlFlaw, line_and_column, read_yaml

_LONGEST_INTEGER: Final = 20
_BEYOND_64_BITS: Final = 2**63
_ENDINGS: Final = (".json", ".yaml", ".yml")


class DocumentRefused(ValueError):
    """The document cannot be used; the text says which rule it breaks, and where."""

    def __init__(self, message: str, *, of_text: bool = True) -> None:
        super().__init__(message)
        self.of_text = of_text
        """Whether it is the text that is refused, and not the file."""


def read_document(
    path: str | os.PathLike[str], *, what: str, most: int, max_depth: int = MAX_DEPTH
) -> JsonValue:
    """The value of a file that a user or a host named; `what` is what messages call it.

    Raises: `DocumentRefused`.
    """
    _find_ending(path, what)  # before any file is opened
    problem = ""
    try:
        raw = read_named(path, most + 1)
    except OSError as error:
        problem = f"cannot be read: {error.strerror or type(error).__name__}"
    if problem:
        raise DocumentRefused(problem, of_text=False)
    return decode_document(raw, path, what=what, most=most, max_depth=max_depth)


def decode_document(
    raw: bytes,
    path: str | os.PathLike[str],
    *,
    what: str,
    most: int,
    max_depth: int = MAX_DEPTH,
) -> JsonValue:
    """As `read_document`, of bytes that were read; path: says by its ending what they are."""
    ending = _find_ending(path, what)
    if len(raw) > most:
        raise DocumentRefused(f"a {what} has at most {most:,} bytes", of_text=False)
    return _decode_document(raw, is_json=ending == ".json", max_depth=max_depth)


def _find_ending(path: str | os.PathLike[str], what: str) -> str:
    ending = os.path.splitext(os.fsdecode(path))[1].lower()  # noqa: PTH122 - the name may be anything
    if ending not in _ENDINGS:
        raise DocumentRefused(f"a {what} ends in .json, .yaml or .yml", of_text=False)
    return ending


def _decode_document(raw: bytes, *, is_json: bool, max_depth: int) -> JsonValue:
    problem = "is not UTF-8"
    value: JsonValue = None
    try:
        text = raw.decode("utf-8-sig")
        value, problem = _parse_json(text) if is_json else _parse_yaml(text, max_depth)
    except UnicodeDecodeError:
        pass  # the problem is said, and the bytes stay here
    problem = problem or _beyond_bounds(value, max_depth)
    if problem:
        raise DocumentRefused(problem)
    return value


def _parse_json(text: str) -> tuple[JsonValue, str]:
    """The value, or what is wrong with the text."""
    try:
        value: JsonValue = json.loads(
            text,
            object_pairs_hook=_once_each,
            parse_int=_parse_integer,
            parse_constant=_no_constant,
        )
    except DocumentRefused as error:
        return None, str(error)
    except json.JSONDecodeError as error:
        return None, f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
    except RecursionError:
        return None, "is nested too deeply"
    return value, ""


def _parse_yaml(text: str, max_depth: int) -> tuple[JsonValue, str]:
    beyond: list[int] = []

    def look(_scalar: str, value: JsonValue, offset: int) -> None:
        if not beyond and _is_beyond(value):
            beyond.append(offset)

    reading = read_yaml(text, plain=look, max_depth=max_depth)
    if not reading.flaws:
        problem = _beyond_bounds(reading.value, max_depth)
        if problem and beyond:
            line, column = line_and_column(text, beyond[0])
            problem = f"{problem} at line {line}, column {column}"
        return reading.value, problem
    flaw = reading.flaws[0]
    return (None, "") if flaw.kind == "empty" else (None, _describe_flaw(flaw, text))


def _describe_flaw(flaw: YamlFlaw, text: str) -> str:
    line, column = line_and_column(text, flaw.offset)
    place = f"line {line}, column {column}"
    match flaw.kind:
        case "alias" | "anchor":
            return f"holds an alias, which is refused: write the value out ({place})"
        case "tag":
            return f"holds a tag at line {line}, which is refused: write a plain value ({place})"
        case "bounds":
            return f"is nested too deeply, or holds too much ({place})"
        case "twice":
            return f'is not YAML: the key "{shown_name(flaw.name)}" is written twice at {place}'
    return f"is not YAML: {flaw.message} at {place}"


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        double = next(key for key, number in counts.items() if number > 1)
        raise DocumentRefused(
            f'is not usable: the key "{shown_name(double[:80])}" is written twice'
        )
    return found


def _parse_integer(digits: str) -> int:
    # more digits are never decoded: that takes quadratic time
    return int(digits) if len(digits) <= _LONGEST_INTEGER else _BEYOND_64_BITS


def _no_constant(name: str) -> NoReturn:
    raise DocumentRefused(f"is not JSON: {name} is no number")


def _beyond_bounds(value: JsonValue, max_depth: int) -> str:
    """What no database and no other reader could keep; empty where there is nothing."""
    waiting: list[tuple[JsonValue, str, int]] = [(value, "", 0)]
    while waiting:
        item, pointer, depth = waiting.pop()
        if isinstance(item, (dict, list)):
            if depth >= max_depth:
                return "is nested too deeply"
            members = item.items() if isinstance(item, dict) else enumerate(item)
            waiting += [(one, f"{pointer}/{key}"[:200], depth + 1) for key, one in members]
        elif _is_beyond(item):
            return f"{shown_name(pointer) or 'it'} is no number of at most 64 bits"
    return ""


def _is_beyond(value: JsonValue) -> bool:
    """Whether a value is a number that neither JSON nor a database has."""
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, int) and not -_BEYOND_64_BITS <= value < _BEYOND_64_BITS
