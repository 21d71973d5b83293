r"""Names of people who decide: in one normal form, without invisible characters.

    person_name("  Jose\u0301  Lima ")   ->  "José Lima"
    person_name("ann\u200b@example.org")  ->  AnswerInvalid: 'by' holds U+200B (ZERO WIDTH SPACE) …
    recorded_name("ann\u200b@example.org")  ->  "ann<U+200B>@example.org"

People compare names in an audit: names that look the same must be the same.  A name that was
recorded before this rule is shown with its invisible characters spelled out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from cinatra_sdk.errors import AnswerInvalid

MAX_NAME: Final = 200
"""Characters of a name."""
MAX_REASON: Final = 10_000
"""Characters of a reason, wherever one is kept."""
UNKEEPABLE: Final = re.compile("[\x00\ud800-\udfff]")
"""Characters that no database takes as text."""
INVISIBLE: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\ufffc"
    "\U00013441\U00013442\U00016fe4\U0001d159"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
"""Letters and marks that leave no trace on a screen, and that count as printable: all that Unicode lets
a screen ignore, and the blanks among the letters (of Braille, Hangul, hieroglyphs, Khitan and music).
Names have none of them; prose needs some (`first_turn/unseen.py`).
"""
_MOST_MARKS: Final = 3
"""Marks on one letter; more paint over other lines."""


def find_hidden(name: str) -> str:
    """The first letter of a name that nobody sees; empty where each is seen."""
    if name.isascii() and name.isprintable():
        return ""
    return next((one for one in name if not one.isprintable() or one in INVISIBLE), "")


def escape_hidden(text: str) -> str:
    r"""The text with codes, such as `\u3164`, in place of the letters that nobody sees."""
    if not find_hidden(text):
        return text
    return "".join(
        one.encode("unicode_escape").decode("ascii") if find_hidden(one) else one for one in text
    )


def person_name(name: object) -> str:
    """`name` in Unicode's composed form (NFC), trimmed, with single blanks; empty stays empty.

    Raises: `AnswerInvalid` for a name that is no text, too long, or has invisible characters.
    """
    if not isinstance(name, str):
        raise AnswerInvalid(f"'by' is a {type(name).__name__}, not a string")
    if len(name) > 2 * MAX_NAME:
        raise AnswerInvalid(f"'by' has more than {MAX_NAME} characters")
    composed = unicodedata.normalize("NFC", name)
    words = "".join(" " if unicodedata.category(one) == "Zs" else one for one in composed)
    found = " ".join(word for word in words.split(" ") if word)
    if len(found) > MAX_NAME:
        raise AnswerInvalid(f"'by' has more than {MAX_NAME} characters")
    hidden = find_hidden(found)
    if hidden:
        named = unicodedata.name(hidden, "a control character")
        raise AnswerInvalid(
            f"'by' holds U+{ord(hidden):04X} ({named}), which nobody sees",
            hint="a name is printable text",
        )
    _check_marks(found)
    return found


def reason_text(reason: object) -> str:
    """A person's reason as it is kept; None is no reason.

    Raises: `AnswerInvalid` for one that is no text, too long, or that no database takes.
    """
    if reason is None:
        return ""
    if not isinstance(reason, str):
        raise AnswerInvalid(f"the reason is a {type(reason).__name__}, not a string")
    if len(reason) > MAX_REASON:
        raise AnswerInvalid(
            f"the reason has more than {MAX_REASON:,} characters",
            hint="say it shorter, and name the document that has the rest",
        )
    found = UNKEEPABLE.search(reason)
    if found:
        raise AnswerInvalid(f"the reason holds U+{ord(found[0]):04X}, which no database takes")
    return reason


def recorded_name(name: object) -> str:
    """A recorded name in a form for showing; never refused."""
    text = name if isinstance(name, str) else ""
    try:
        return person_name(text)
    except AnswerInvalid:
        pass
    shown = "".join(_escape_hidden_letters(text))
    return person_name(shown if len(shown) <= MAX_NAME else shown[: MAX_NAME - 1] + "…")


def _escape_hidden_letters(name: str) -> Iterator[str]:
    """The letters; invisible characters and surplus marks are replaced by their codes."""
    for letter in unicodedata.normalize("NFC", name):
        category = unicodedata.category(letter)
        hidden = category != "Zs" and find_hidden(letter)
        yield f"<U+{ord(letter):04X}>" if hidden or category in {"Mn", "Me"} else letter


def _check_marks(name: str) -> None:
    marks = 0
    for position, letter in enumerate(name):
        marks = marks + 1 if unicodedata.category(letter) in {"Mn", "Me"} else 0
        if marks > _MOST_MARKS or (marks and position == 0):
            raise AnswerInvalid("'by' holds marks that belong to no letter of it")
