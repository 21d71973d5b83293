"""Breaks flow files in random but repeatable ways; used by `test_front_robustness.py`.

A mutant is the bytes of a corpus file after one to four changes, of the decoded document
(a value replaced, a member removed, renamed or doubled) or of the text (cut, bytes changed).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**70,
    1e308,
    "",
    "\u0000",
    "{{ x }}",
    "{% for",
    "{{ 9**9**9 }}",
    "\ud800",
    "next",
    [],
    [[]],
    [None],
    {},
    {"$component_ref": "start"},
    {"$component_ref": "nowhere"},
    {"$component_ref": 7},
    {"$component_ref": {"$component_ref": "start"}},
    {"component_type": "Flow"},
    {"component_type": "LlmNode", "id": "x"},
    {"component_type": 4},
    {"title": "t", "type": ["string", "null", 3]},
    {"a": {"b": {"c": [1, "two", None]}}},
)


def mutant(document: bytes, dice: random.Random) -> bytes:
    """A broken copy of a JSON document."""
    if dice.random() < 0.15:
        return _break_text(document, dice)
    value = json.loads(document)
    for _ in range(dice.randint(1, 4)):
        value = _break_value(value, dice)
    return json.dumps(value).encode()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of the document."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        current = waiting.pop()
        keys: Any = ()
        if isinstance(current, dict):
            keys = list(current)
        elif isinstance(current, list):
            keys = range(len(current))
        for key in keys:
            found.append((current, key))
            waiting.append(current[key])
    return found


def _break_value(value: Any, dice: random.Random) -> Any:
    places = _places(value)
    if not places:
        return dice.choice(ODD_VALUES)
    container, key = dice.choice(places)
    other_container, other_key = dice.choice(places)

    def replace() -> None:
        container[key] = json.loads(json.dumps(dice.choice(ODD_VALUES)))

    def remove() -> None:
        del container[key]

    def transplant() -> None:
        container[key] = json.loads(json.dumps(other_container[other_key]))

    def double() -> None:
        if isinstance(container, list):
            container.append(json.loads(json.dumps(container[key])))
        else:
            container[f"{key}2"] = container.pop(key)

    change: Callable[[], None] = dice.choice((replace, replace, remove, transplant, double))
    change()
    return value


def _break_text(document: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(document))
    kind = dice.randrange(4)
    if kind == 0:
        return document[:at]
    if kind == 1:
        return document[:at] + bytes([dice.randrange(256)]) + document[at + 1 :]
    if kind == 2:
        return (
            document[:at] + dice.choice((b"[" * 200, b'"', b"\\", b"}", b"1e999")) + document[at:]
        )
    return document[at:]
