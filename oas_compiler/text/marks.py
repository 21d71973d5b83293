"""Where every value of a document stands in its text.

In: the parsers call `add` for each value they meet.  Out: `place("/nodes/0/id")` gives the
line and column of that value, or of the nearest value around it that exists.

    {"a":          add(ROOT, "a", 1) -> 1     place("/a/0").line == 2
      [7]}         add(1, 0, 9) -> 2          place("/a/5") == the place of /a, pointer kept

Stored as a tree (parent, key) -> child, never as one pointer string per value: the strings of
a document with one huge key and many values below it would not fit in memory.
The place of an object's member is its key, that of an array's element is the element.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from oas_compiler.ir import Place

ROOT = 0


def child(pointer: str, key: str) -> str:
    """The JSON Pointer of member `key` below `pointer` (RFC 6901 escapes)."""
    if "~" in key or "/" in key:
        key = key.replace("~", "~0").replace("/", "~1")
    return f"{pointer}/{key}"


class Marks:
    """Offsets of values, filled once by a parser and then only read."""

    def __init__(self, text: str = "", *, root: int = 0) -> None:
        self._children: dict[tuple[int, str | int], int] = {}
        self._offsets = [root]
        self._has_text = bool(text)
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]

    def add(self, parent: int, key: str | int, offset: int) -> int:
        """Remember that `key` of value `parent` stands at `offset`; its own number comes back."""
        number = len(self._offsets)
        self._offsets.append(offset)
        self._children[parent, key] = number
        return number

    def has(self, parent: int, key: str) -> bool:
        return (parent, key) in self._children

    def at(self, offset: int, pointer: str = "") -> Place:
        """The place of one character, counted from 0."""
        if not self._has_text:
            return Place(pointer)
        line = bisect_right(self._lines, offset)
        return Place(pointer, line, offset - self._lines[line - 1] + 1)

    def place(self, pointer: str) -> Place:
        """The place of `pointer`; what does not exist is shown where its container stands."""
        if not self._has_text:
            return Place(pointer)
        current = ROOT
        for part in pointer.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~") if "~" in part else part
            number = self._children.get((current, key))
            if number is None and key.isdecimal() and key.isascii() and len(key) < 10:
                number = self._children.get((current, int(key)))
            if number is None:
                break
            current = number
        return self.at(self._offsets[current], pointer)
