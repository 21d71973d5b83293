"""Where every value of a JSON text begins and ends.

    '{"a": [7]}'    ->    Span(0, 10, children={"a": Span(6, 9, children={"0": Span(7, 8)})})

The text is known to be JSON: `read_source` has read it.  Offsets count characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+',
    re.DOTALL,
)


@dataclass(slots=True, eq=False)
class Span:
    """One value; built by `spans` and then only read."""

    start: int
    end: int
    member: int
    """Where the member that it is the value of begins: at its key; an array's element: `start`."""
    after_key: int
    """Where that key ends; without a key `start`."""
    opens: str
    """`{`, `[`, or nothing for a string, number, boolean or null."""
    children: dict[str, Span] = field(default_factory=dict)
    """By key, or by index written as text; in the order of the text."""

    def find(self, pointer: str) -> Span | None:
        """The value that a JSON Pointer names; `None` where there is none."""
        found: Span | None = self
        for key in keys_of(pointer):
            found = found.children.get(key) if found is not None else None
        return found


def keys_of(pointer: str) -> tuple[str, ...]:
    """`/a~1b/0` as `("a/b", "0")` (RFC 6901)."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def spans(text: str) -> Span:
    """The value of the whole text, with everything below it."""
    root: Span | None = None
    containers: list[Span] = []
    key: tuple[str, int, int] | None = None
    for start, end, piece in _iterate_tokens(text):
        if piece in "}]":
            containers.pop().end = end
            continue
        around = containers[-1] if containers else None
        if around is not None and around.opens == "{" and key is None:
            key = (str(json.loads(piece)), start, end)
            continue
        name, member, after_key = key or ("", start, start)
        key = None
        opens = piece if piece in "{[" else ""
        span = Span(start=start, end=end, member=member, after_key=after_key, opens=opens)
        if around is None:
            root = span
        else:
            around.children[name if around.opens == "{" else str(len(around.children))] = span
        if opens:
            containers.append(span)
    if root is None:
        raise ValueError("there is no JSON value in the text")
    return root


def _iterate_tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Brackets, keys and scalars; commas and colons say nothing more."""
    for match in _TOKEN.finditer(text):
        piece = match.group()
        if piece not in ",:":
            yield match.start(), match.end(), piece
