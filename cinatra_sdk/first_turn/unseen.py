r"""Characters that a person does not see in a text, and that a model reads all the same.

    find_unseen("blue\u2060")              "\u2060"
    without_unseen({"a": "bl\u2060ue"})    {"a": "blue"}

Scripts need the two joiners U+200C and U+200D, so a text may hold these.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Final

from pydantic import JsonValue

_UNSEEN: Final = frozenset({"Cf", "Co", "Cn"})
"""Categories: formats, such as directions and tags; private letters; and no letters at all."""
_JOINERS: Final = "\u200c\u200d"


def find_unseen(text: str) -> str:
    """The first such character; empty where the text holds none."""
    return next((one for one in text if _is_unseen(one)), "")


def without_unseen(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The value without such characters in any of its texts and names."""
    # As one text of JSON: no value is too deep to be looked through.
    text = json.dumps(value, ensure_ascii=False)
    if text.isascii() or not find_unseen(text):
        return value
    kept: dict[str, JsonValue] = json.loads("".join(one for one in text if not _is_unseen(one)))
    return kept


def _is_unseen(letter: str) -> bool:
    return letter not in _JOINERS and unicodedata.category(letter) in _UNSEEN
