r"""Characters that a person does not see in a text, and that a model reads all the same.

    find_unseen("blue\u2060")              "\u2060"
    without_unseen({"a": "bl\u2060ue"})    {"a": "blue"}

Scripts need the two joiners U+200C and U+200D, so a text may hold these; and one selector of a form
behind what has forms: an emoji, a Han letter, a sign.  A row of selectors could spell anything.  The
blank of Braille stands between its letters.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pydantic import JsonValue

_UNSEEN: Final = frozenset({"Cf", "Co", "Cn"})
"""Categories: formats, such as directions and tags; private letters; and no letters at all."""
_JOINERS: Final = "\u200c\u200d"
_FILLERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0\U0001d159")
"""Letters and marks that leave no trace, and that no text of today needs."""
_BRAILLE_BLANK: Final = "\u2800"
_SELECTORS: Final = (("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))
_MONGOLIAN_SELECTORS: Final = "\u180b\u180c\u180d\u180f"
_HAVE_FORMS: Final = frozenset({"So", "Sm", "Lo", "Po", "Sk"})
"""Categories of what a selector may stand behind; and digits, of which keys are drawn."""


def find_unseen(text: str) -> str:
    """The first such character; empty where the text holds none."""
    return next((letter for letter, is_unseen in _judge(text) if is_unseen), "")


def drop_unseen(text: str) -> str:
    """The text without such characters."""
    if text.isascii():
        return text
    return "".join(letter for letter, is_unseen in _judge(text) if not is_unseen)


def without_unseen(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The value without such characters in any of its texts and names."""
    # As one text of JSON: no value is too deep to be looked through.
    text = json.dumps(value, ensure_ascii=False)
    if text.isascii() or not find_unseen(text):
        return value
    kept: dict[str, JsonValue] = json.loads(drop_unseen(text))
    return kept


def _judge(text: str) -> Iterator[tuple[str, bool]]:
    """Each letter, and whether it is unseen."""
    before = ""
    for letter in text:
        yield letter, not letter.isascii() and _is_unseen(letter, before)
        before = letter


def _is_unseen(letter: str, before: str) -> bool:
    if letter in _MONGOLIAN_SELECTORS:
        return not "\u1820" <= before <= "\u18aa"
    if any(first <= letter <= last for first, last in _SELECTORS):
        return not _has_forms(before)
    if letter == _BRAILLE_BLANK:
        return not "\u2800" < before <= "\u28ff"
    if letter in _FILLERS:
        return True
    return letter not in _JOINERS and unicodedata.category(letter) in _UNSEEN


def _has_forms(letter: str) -> bool:
    if not letter or letter in '"\\':
        return False
    return letter.isdigit() or unicodedata.category(letter) in _HAVE_FORMS
