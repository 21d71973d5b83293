r"""Text of a stranger, made fit to stand inside a line of ours.

    write_one_line("a\nb\u202ec", most=120)    "a b c"

A new line or a character that steers the reading direction would let a title look like another line,
or like the end of ours.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_STEERING: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Categories of characters that are not written: controls, formats, halves, private ones, line ends."""


def write_one_line(text: str, *, most: int) -> str:
    """`text` on one line of at most `most` characters; the end of a longer text becomes `…`."""
    # No more than this much can show: a title may be as long as a book.
    head = text[: most * 4 + 64]
    plain = "".join(" " if unicodedata.category(sign) in _STEERING else sign for sign in head)
    plain = re.sub(r"\s+", " ", plain).strip()
    if len(plain) <= most and len(head) == len(text):
        return plain
    return plain[: most - 1].rstrip() + "…"
