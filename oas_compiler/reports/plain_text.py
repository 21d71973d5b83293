r"""Text that neither commands a terminal nor reorders what is read, for reports that people see.

plain("a\x1b[31m")    ->    "a␛[31m"          line breaks stay
"""

from __future__ import annotations

import re
from typing import Final

_HIDDEN: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f"
    r"\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Controls, marks of direction, separators that some readers take for line ends, halves of pairs."""
_PICTURES: Final = 0x2400
_DELETE: Final = "\x7f"


def plain(text: str) -> str:
    """`text` with a visible picture for every character that is none."""
    return _HIDDEN.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    character = found[0]
    if character < " ":
        return chr(_PICTURES + ord(character))
    return "\u2421" if character == _DELETE else "\ufffd"
