"""Words that YAML reads as the same text with quotes and without.

is_plain("string")     ->  True
is_plain("null"), is_plain("no"), is_plain("1.0")     ->  False
"""

from __future__ import annotations

import re
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z_$][\w$-]*", re.ASCII)
_OTHER_MEANING: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""Of YAML 1.1 or 1.2: readers differ, so that each needs its quotes."""


def is_plain(word: str) -> bool:
    """Whether the word needs no quotes, in brackets and as a key."""
    return _PLAIN.fullmatch(word) is not None and word.lower() not in _OTHER_MEANING
