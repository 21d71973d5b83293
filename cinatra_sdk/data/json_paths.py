r"""Ways into a JSON value, in the part of jq's language that only looks things up.

    parse_path(".items[0].name")    ->  JsonPath(("items", 0, "name"))
    parse_path("[.[].title]")       ->  JsonPath((EACH, "title"), collects=True): a list
    parse_path("has(\"a\")")        ->  None: that needs jq
    take_path(parse_path(".a"), {"a": 1})    ->  1

A missing member is null, as in jq; a key of a text, or an index of a number, is a `PathError`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import Enum
from typing import Final, TypeAlias

from cinatra_sdk.data.author_json import JsonValue
from cinatra_sdk.light_imports.records import dataclass

_PART: Final = re.compile(
    r"""\.?\[\s*(?:(?P<index>-?\d{1,9})|(?P<quoted>"(?:[^"\\]|\\.)*"))?\s*\]"""
    r"""|\.(?P<name>[A-Za-z_]\w*)|\.(?P<text>"(?:[^"\\]|\\.)*")""",
    re.ASCII,
)


class Each(Enum):
    """The step to every element."""

    EACH = "[]"


EACH: Final = Each.EACH
Step: TypeAlias = str | int | Each


class PathError(ValueError):
    """A step does not fit the value that it is taken from; the message quotes no value."""


@dataclass(frozen=True, slots=True)
class JsonPath:
    """The steps from a value to a part of it."""

    steps: tuple[Step, ...] = ()
    collects: bool = False
    """Whether it gives the list of all parts that it leads to; else it leads to one."""


def parse_path(text: str) -> JsonPath | None:
    """The path that a jq expression is; `None` for one that does more than looking up."""
    text = text.strip()
    steps = _parse_steps(text)
    if steps is not None and EACH not in steps:
        return JsonPath(steps)
    if text.startswith("[") and text.endswith("]"):
        steps = _parse_steps(text[1:-1].strip())
        return None if steps is None else JsonPath(steps, collects=True)
    return None


def take_path(path: JsonPath, value: JsonValue) -> JsonValue:
    """The part of `value`.

    Raises: `PathError`.
    """
    found = list(_follow(path.steps, value))
    return found if path.collects else found[0]


def _parse_steps(text: str) -> tuple[Step, ...] | None:
    if text == ".":
        return ()
    steps: list[Step] = []
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or (at == 0 and not text.startswith(".")):
            return None
        at = part.end()
        quoted = part["quoted"] or part["text"]
        if part["name"]:
            steps.append(part["name"])
        elif quoted:
            try:
                steps.append(json.loads(quoted))
            except ValueError:
                return None
        else:
            steps.append(int(part["index"]) if part["index"] else EACH)
    return tuple(steps) or None


def _follow(steps: tuple[Step, ...], value: JsonValue) -> Iterator[JsonValue]:
    for at, step in enumerate(steps):
        if step is EACH:
            for one in _list_elements(value):
                yield from _follow(steps[at + 1 :], one)
            return
        value = _take_step(step, value)
    yield value


def _list_elements(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return list(value.values())
    raise PathError("what is no list has no elements")


def _take_step(step: str | int, value: JsonValue) -> JsonValue:
    if value is None:
        return None
    if isinstance(step, str):
        if isinstance(value, dict):
            return value.get(step)
        raise PathError(f'what is no object has no "{step[:80]}"')
    if isinstance(value, list):
        return value[step] if -len(value) <= step < len(value) else None
    raise PathError(f"what is no list has no element {step}")
