r"""Names and other stored texts of people: one normal form, bounds, no invisible characters.

    person_name("  Jose\u0301  Lima ")   ->  "José Lima"
    person_name("ann\u200b@example.org")  ->  AnswerInvalid: 'by' holds U+200B (ZERO WIDTH SPACE) …
    recorded_name("ann\u200b@example.org")  ->  "ann<U+200B>@example.org"

People compare names in an audit: names that look the same must be the same.  A name that was
recorded before this rule is shown with its invisible characters spelled out.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from cinatra_sdk.errors import AnswerInvalid

if TYPE_CHECKING:
    from pydantic import JsonValue


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
Names have none of them; prose needs some.
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
    """A person's reason as it is kept; empty: none was given.

    Raises: `AnswerInvalid` for one that is no text (None, too), too long, or that no database takes.
    """
    if not isinstance(reason, str):
        kind = "None" if reason is None else f"a {type(reason).__name__}"
        raise AnswerInvalid(
            f"the reason is {kind}, not a string", hint="give a text, or leave the reason out"
        )
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


# ----------------------------------------------------------------------------
# The longest texts that are stored, by their subject; characters that no database takes.
#
#     find_fault("x" * 300, "name of an artifact")   ->  "has more than 200 characters"
#     find_fault("a\\0", "type of an object")          ->  "holds U+0000, which no database takes"
#     find_fault("ann", "owner of an artifact")      ->  ""
#
# `BOUNDS` is the table of docs/python-api.md; each door refuses with an error of its own.


BOUNDS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "name of the flow": 1_000,
        "id of an artifact": 200,
        "organisation of an artifact": 200,
        "owner of an artifact": 200,
        "level of an owner": 40,
        "visibility of an artifact": 300,
        "kind of an artifact": 300,
        "name of an artifact": 1_000,
        "text of an artifact": 10_000_000,
        "extension of a classification": 300,
        "author of a classification": 40,
        "eligibility of a classification": 40,
        "media type": 200,
        "id of an object": 200,
        "type of an object": 300,
        "key of an object": 2_000,
        "tenant": 200,
        "run": 200,
        "title of a file": 1_000,
        "name of a file": 1_000,
        "author of a file": 200,
        "id of a file": 200,
    }
)
"""Characters of each."""


def find_fault(text: object, what: str) -> str:
    """What is wrong, after the name of the text; empty where nothing is.  what: one of `BOUNDS`."""
    most = BOUNDS[what]
    if not isinstance(text, str):
        return (
            "is missing" if text is None else f"is of the type {type(text).__name__}, and no text"
        )
    if len(text) > most:
        return f"has more than {most:,} characters"
    found = UNKEEPABLE.search(text)
    return f"holds U+{ord(found[0]):04X}, which no database takes" if found else ""


def describe_fault(texts: Mapping[str, object], *, may_lack: frozenset[str] = frozenset()) -> str:
    """A sentence about the first text that does not fit; empty where all do.

    may_lack: those that may be None.
    """
    for what, text in texts.items():
        fault = "" if text is None and what in may_lack else find_fault(text, what)
        if fault:
            return f"the {what} {fault}"
    return ""


# ----------------------------------------------------------------------------
# Characters that a person does not see in a text, and that a model reads all the same.
#
#     find_unseen("blue\u2060")              "\u2060"
#     without_unseen({"a": "bl\u2060ue"})    {"a": "blue"}
#
# Scripts need the two joiners U+200C and U+200D, so a text may hold these; and one selector of a form
# behind what has forms: an emoji, a Han letter, a sign.  A row of selectors could spell anything.  The
# blank of Braille stands between its letters.


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
