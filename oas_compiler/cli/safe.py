r"""Text from flows, gates and databases, made safe for a terminal.

In: any string.  Out: the same words, without a character that a terminal would obey.

    clean("a\x1b[31mred")  ->  "a␛[31mred"          cut("x" * 500, 10)  ->  "xxxxxxxxx…"

Control characters become visible pictures instead of vanishing: whoever decides at a gate should
see that something was there.
"""

from __future__ import annotations

import unicodedata
from typing import Final

_PICTURES: Final = 0x2400
_UNKNOWN: Final = "\ufffd"
_DIRECTIONS: Final = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
"""Marks that reorder what is on screen: a name could be made to read as another."""


def clean(text: str, *, lines: bool = False) -> str:
    """`text` for people; with `lines` it keeps its line breaks, else they become spaces."""
    if text.isprintable():
        return text
    if lines:
        text = text.replace("\r\n", "\n").replace("\t", "    ")
    return "".join(_safe(character, lines) for character in text)


def cut(text: str, most: int) -> str:
    """The beginning of `text`, ending in `…` where something is missing."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _safe(character: str, lines: bool) -> str:
    if character.isprintable():
        return character
    if character in "\n\t\r\u2028\u2029":
        return "\n" if lines and character == "\n" else " "
    category = unicodedata.category(character)
    if category == "Cc":
        code = ord(character)
        return chr(_PICTURES + code) if code < 0x20 else "\u2421" if code == 0x7F else _UNKNOWN
    if category == "Cs" or character in _DIRECTIONS:
        return _UNKNOWN
    return character
