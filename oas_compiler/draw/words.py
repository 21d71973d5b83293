"""Text in pictures: measured, and broken into lines.

In: names as authors wrote them.  Out: text that any XML reader and any screen takes, its width in
pixels, and its lines.

    wrap("Choose contact source", 13, most=90) -> ("Choose contact", "source")

Widths are those of DejaVu Sans, the widest of the usual sans serif fonts: text that fits in it fits
in whatever font the reader's machine has.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from oas_compiler.text.safe import safe

_BREAKS = frozenset(" -_/.:,")
_MOST_READ = 600
"""Characters of a name that are looked at; no picture shows more."""

# Advance widths of U+0020 to U+007E in hundredths of the font size.
_PLAIN = bytes.fromhex(
    "20282e54405f4e1b272732542024202240404040404040404040222254545435"
    "644445464d3f3a4d4b1d1d4238564b4f3c4f453f3d494463453d452722275432"
    "323d3f373f3e233f3f1c1c3a1c613f3d3f3f2934273f3b523b3b3440224054"
)
_BOLD = bytes.fromhex(
    "232e34544664571f2e2e3454262a26254646464646464646464628285454543a"
    "644d4c49534444525425254d4064545549554d4844514d6e4d48492e252e5432"
    "3243483b48442c4847222243226847454848313c3047415c41413a47254754"
)


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Pixels that `text` takes at most."""
    return sum(_measure_character(character, bold) for character in text) * size / 100


@lru_cache(maxsize=4096)
def _measure_character(character: str, bold: bool) -> int:
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return (_BOLD if bold else _PLAIN)[code - 0x20]
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    if unicodedata.east_asian_width(character) in "WF":
        return 130 if code >= 0x1F000 else 105
    return 90 if code >= 0x0590 else 80


def wrap(
    text: str, size: float, *, most: float, bold: bool = False, lines: int = 3
) -> tuple[str, ...]:
    """Lines no wider than `most` pixels; the last ends in `…` where something is missing."""
    rest = " ".join(safe(text[:_MOST_READ]).split())
    found: list[str] = []
    while rest and len(found) < lines:
        cut = _count_fitting(rest, size, most, bold)
        if cut < len(rest):
            cut = _at_a_break(rest, cut)
        found.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    if (rest or len(text) > _MOST_READ) and found:
        last = found[-1]
        while last and width(last + "…", size, bold=bold) > most:
            last = last[:-1]
        found[-1] = last.rstrip() + "…"
    return tuple(found)


def _count_fitting(text: str, size: float, most: float, bold: bool) -> int:
    """How many characters fit, at least one."""
    left = most * 100 / size
    for index, character in enumerate(text):
        left -= _measure_character(character, bold)
        if left < 0:
            return max(1, index)
    return len(text)


def _at_a_break(text: str, cut: int) -> int:
    """The last place up to `cut` where a line may end; `cut` where there is none near."""
    for at in range(cut, max(0, cut // 3), -1):
        if text[at - 1] in _BREAKS or text[at] == " ":
            return at
    return cut
