r"""Makes text visible: a picture for every character that commands, reorders or is invisible.

    visible("a\x1b[31m")    ->  "a␛[31m"        visible("paid\u200b")  ->  "paid\ufffd"

Every character stays one character, so that columns stay right.  All code that shows foreign text
(terminals, reports, pictures) uses this module, and treats line breaks itself.
"""

from __future__ import annotations

import re
from typing import Final

_HIDDEN: Final = re.compile(
    r"(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d"  # a joiner that joins no pictures
    r"|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0"
    r"\ufff0-\ufffc\ufffe\uffff\U00013441\U00013442\U00016fe4\U0001bca0-\U0001bca3"
    r"\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Controls but for tab and line breaks, marks of direction, separators of lines and paragraphs,
letters of no width, halves of pairs, tags."""
_PICTURES: Final = 0x2400
_DELETE: Final = "\x7f"


def visible(text: str) -> str:
    """`text` with a picture for every letter that is not one; tabs and line breaks stay."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(_make_character_visible, text)


def _make_character_visible(found: re.Match[str]) -> str:
    character = found[0]
    if character < " ":
        return chr(_PICTURES + ord(character))
    return "\u2421" if character == _DELETE else "\ufffd"
