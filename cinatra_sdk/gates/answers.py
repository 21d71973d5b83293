"""The answer to a gate: the JSON that resumes it, checked before a form reads its value.

In: the JSON of a person's answer (`{"approved": true, "value": …}`).
Out: an `Answer` with the text or value that the gate's output carries, or `AnswerInvalid`.

    read_envelope({"approved": True, "value": "Shorter", "by": "ann"}, output="note", read_value=…)
        -> Answer(approved=True, value="Shorter", by="ann", …)

`reason` is for the record of decisions and never reaches the flow.  `approvalNote` is Cinatra's key
for a note to the flow: the note is the answer's text where the gate takes text and no other text
was sent.  `userResponse` is Cinatra's key for a value as text.

The forms that read the value are in `forms`; answers in the words of other clients are read by
`dialects`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.data.text.person_texts import INVISIBLE, escape_hidden, person_name, reason_text
from cinatra_sdk.errors import AnswerInvalid, ValueRefused
from cinatra_sdk.governed.host_keys import find_governed, without_governed
from cinatra_sdk.governed.secret_values import find_secret, redact
from cinatra_sdk.light_imports.records import dataclass

APPROVED_TEXT: Final = "[Approved by operator]"
"""The value of a text output when a person approved without writing a text (Cinatra's words)."""
APPROVAL_SCHEMA: Final[dict[str, JsonValue]] = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}},
    "required": ["approved"],
}
TAKES_TEXT: Final = "takesText"
"""Key of an answer that a store has checked: the gate, as it paused, takes a text.

A run that paused under a version which asked nothing about the readers of a text goes on as it was
asked.  `Gate.make_resume` writes it, and no other door needs it.
"""
MAX_ANSWER_BYTES: Final = 65_536
_LONGEST_NAME: Final = 40
"""Characters of a given name that an error repeats."""
ANSWER_KEYS: Final = (
    "approved",
    "denied",
    "approvedAt",
    "value",
    "userResponse",
    "approvalNote",
    "reason",
    "by",
    "shown",
    "takesText",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A checked answer."""

    approved: bool
    value: JsonValue = None
    """The value of the gate's output; None after a rejection."""
    reason: str = ""
    """The reason, for the record; the note where only a note was written."""
    denied: bool = False
    """Not approved, and the run goes on: at a gate before a call only."""
    by: str = ""
    at: str = ""
    """`approvedAt` as the host gave it; empty where it is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What an approving answer sends for the gate's output."""

    value: JsonValue = None
    """Without the keys that only the host sets; None also where no value was sent."""
    has_value: bool = True
    """Whether a value was sent, as `value` or as `userResponse`."""
    is_yes: bool = False
    """Whether the answer only says yes: no value, or the value true."""
    note: str = ""
    """`approvalNote`, without the spaces around it."""
    took_text: bool = False
    """Whether the gate took a text when it paused: see `TAKES_TEXT`."""

    @property
    def yes_text(self) -> str:
        """The text of an output that a person approved without writing a text for it."""
        return self.note or APPROVED_TEXT


def envelope_schema(value: JsonValue) -> dict[str, JsonValue]:
    """JSON Schema of the JSON that resumes a gate; `value` is the schema of the value in it."""
    return {
        "type": "object",
        "properties": {
            "approved": {"type": "boolean"},
            "value": value,
            "reason": {"type": "string"},
            "by": {"type": "string"},
        },
        "required": ["approved"],
    }


def read_envelope(
    raw: object,
    *,
    output: str,
    read_value: Callable[[Given], JsonValue],
    deniable: bool = False,
) -> Answer:
    """The checked answer; `read_value` makes the value of the output from what was sent.

    deniable: whether the gate stands before a call, which a person can deny.

    Raises: `AnswerInvalid`, which names the wrong key and the expected answer; `read_answer` of
    `gate.py` adds the gate, and an example that fits.
    """
    message = _check_message(raw)
    texts = {
        key: _read_text(message, key) for key in ("reason", "by", "approvedAt", "approvalNote")
    }
    texts["by"] = person_name(texts["by"])
    reason_text(texts["reason"])
    reason = texts["reason"] or texts["approvalNote"]
    denied = _read_denial(message, deniable=deniable)
    if message["approved"] is False:
        if "value" in message or "userResponse" in message:
            raise AnswerInvalid("a rejection carries no value", hint="send approved and reason")
        return Answer(approved=False, reason=reason, denied=denied, by=texts["by"])
    return Answer(
        approved=True,
        value=read_value(_read_given(message, texts["approvalNote"].strip(), output)),
        reason=reason,
        by=texts["by"],
        at=texts["approvedAt"],
    )


def _read_denial(message: Mapping[str, Any], *, deniable: bool) -> bool:
    denied = message.get("denied", False)
    if not isinstance(denied, bool):
        raise AnswerInvalid("'denied' is neither true nor false")
    if not denied:
        return False
    if message["approved"]:
        raise AnswerInvalid(
            "the answer approves and denies", hint='a denial is {"approved": false, "denied": true}'
        )
    if not deniable:
        raise AnswerInvalid(
            "this gate stands before no call, so nothing can be denied",
            hint="approve it, or reject it, which ends the run",
        )
    return True


def _read_given(message: Mapping[str, Any], note: str, output: str) -> Given:
    value = without_governed(message.get("value"), where=f"the answer for '{output}'")
    took_text = message.get(TAKES_TEXT) is True
    if "userResponse" not in message:
        has_value = "value" in message
        is_yes = not has_value or value is True
        return Given(
            value=value, has_value=has_value, is_yes=is_yes, note=note, took_text=took_text
        )
    text = message["userResponse"]
    if "value" in message:
        raise AnswerInvalid("the answer has both value and userResponse", hint="send one")
    if not isinstance(text, str) or not has_words(text):
        raise AnswerInvalid("userResponse is not a non-empty string")
    return Given(value=text, note=note, took_text=took_text)


class NoWords(AnswerInvalid):
    """An answer says nothing where a text is asked."""


_NOTHING: Final = frozenset({"null", "undefined", "nil"})
"""Words of programs for nothing, in any case."""
_NOTHING_AS_WRITTEN: Final = frozenset({"None", "NoneType", "NaN"})
"""The same in the one spelling of their programs: `none` is a person's word, and Nan a name."""
_OBJECT: Final = re.compile(r"\[object\s+\w+\]", re.IGNORECASE)
"""What JavaScript makes of an object that is joined to a text."""
_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")
_SPEAKING: Final = frozenset({"L", "N", "So", "Sc"})
"""Categories of Unicode that say something alone: letters, numbers, symbols (emoji among them) and
currencies.
"""
_EMOJI: Final = frozenset("\u203c\u2049\u2194\u2934\u2935\u3030\u20e3")
"""Emoji of other categories, and the key around `#` and `*`."""
_FILLING: Final = re.compile("[\u2500-\u259f\ufffd]")
"""Symbols that lines and bars are made of, and the mark of a letter that was lost."""
_LONGEST_PLACEHOLDER: Final = 1_000
_PLACEHOLDER: Final = re.compile(r"(?:approvedbyoperator)+")
_LOOK_ALIKES: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0443\u0442\u0432\u0433\u0475\u0501\u03b1\u03b5\u03bf\u03c1\u03c5\u03c4\u03bd\u03b2",
    "aeopytbrvdaeopytvb",
)
"""Cyrillic and Greek letters that a person reads as those of `approved by operator`."""


def has_words(value: object) -> bool:
    """Whether a value says something where a text is asked: null, an empty list or object, and a text
    without any letter, number or emoji that a person sees do not (`-`, `…`, `{}`, `?`), nor does the
    word of a program for nothing.
    """
    if isinstance(value, str):
        return any(map(_speaks, value)) and not _is_word_for_nothing(value)
    if isinstance(value, Mapping):
        return any(map(has_words, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(has_words, value))
    return value is not None


def _is_word_for_nothing(text: str) -> bool:
    """Whether a text holds no other word than those of programs for nothing, whatever signs stand
    around them: `"null"`, `'None'`, `null.`, `[object Object]`.
    """
    if len(text) > _LONGEST_PLACEHOLDER:
        return False
    rest = _OBJECT.sub("null", text)
    words = [word for word in _BETWEEN_WORDS.split(rest) if word]
    signs = _BETWEEN_WORDS.findall(rest)
    return (
        bool(words)
        and all(one.casefold() in _NOTHING or one in _NOTHING_AS_WRITTEN for one in words)
        and not any(_speaks(letter) for sign in signs for letter in sign)
    )


def _speaks(letter: str) -> bool:
    """Whether a letter, a number, a symbol or an emoji."""
    if letter in _EMOJI:
        return True
    if letter in INVISIBLE or _FILLING.match(letter):
        return False
    category = unicodedata.category(letter)
    return category in _SPEAKING or category[0] in _SPEAKING


def is_placeholder(value: object) -> bool:
    """Whether a text is the one that stands for a yes without words, in whatever spelling, once or
    repeated: in brackets of any kind, since without them a person may mean it.
    """
    if not isinstance(value, str) or len(value) > _LONGEST_PLACEHOLDER:
        return False
    seen = unicodedata.normalize("NFKD", value).casefold().translate(_LOOK_ALIKES)
    in_brackets = any(unicodedata.category(one) in {"Ps", "Pe"} or one in "<>" for one in seen)
    letters = "".join(one for one in seen if one.isalnum() and one not in INVISIBLE)
    return in_brackets and _PLACEHOLDER.fullmatch(letters) is not None


def answers_question(value: object, schema: Mapping[str, Any] | None = None) -> bool:
    """Whether a value answers a question of a text: no part of it is empty, no number and no true or
    false where the schema has no such type, and none is the text by which a program approves.

    schema: JSON Schema of the value; None: of any text.
    """
    if isinstance(value, (bool, int, float)):
        return not _KINDS[type(value)].isdisjoint(_list_types(schema))
    if isinstance(value, str):
        return has_words(value) and not is_placeholder(value)
    parts = [*value.values()] if isinstance(value, Mapping) else value
    if not isinstance(parts, (list, tuple)) or not has_words(value):
        return False
    # A number or a null inside a list or an object is a part of an answer.
    texts = [one for one in parts if isinstance(one, (str, list, tuple, Mapping))]
    return all(map(answers_question, texts))


_KINDS: Final[dict[type, frozenset[str]]] = {
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"integer", "number"}),
}
"""The types of JSON Schema that take a value of Python's."""


def _list_types(schema: object) -> set[str]:
    """The types that a schema names, also in the alternatives of it."""
    if not isinstance(schema, Mapping):
        return set()
    named = schema.get("type")
    found = {named} if isinstance(named, str) else {*named} if isinstance(named, list) else set()
    for key in ("anyOf", "oneOf"):
        for part in schema.get(key) or ():
            found |= _list_types(part)
    return {str(one) for one in found}


def refuse_governed(raw: object) -> None:
    """Refuse an answer whose value names a key that only the host sets: of an edited call it would be
    dropped, and the call made with other arguments than its author wrote.

    Raises: `AnswerInvalid`.
    """
    value = raw.get("value") if isinstance(raw, Mapping) else None
    found = find_governed(value)
    if found:
        raise AnswerInvalid(
            f"the edited arguments hold {found}",
            hint="only the host sets it: leave it out, and deny the call if it needs another value",
        )


def check_answer_value(value: Any) -> None:
    """Raise `AnswerInvalid` for a value that no run can hold."""
    try:
        check_value(value, where="the answer")
    except ValueRefused as refused:
        raise AnswerInvalid(str(refused)) from None


def _check_message(raw: object) -> dict[str, Any]:
    if not isinstance(raw, Mapping):
        from cinatra_sdk.data.schema.problems import type_name  # for errors only

        raise AnswerInvalid(
            f"the answer is not an object, got {type_name(raw)}",
            hint='send {"approved": true} or {"approved": false}',
        )
    message = dict(raw)
    unknown = sorted(said_name(key) for key in message if key not in ANSWER_KEYS)
    if unknown:
        raise AnswerInvalid(f"the answer has unknown keys: {', '.join(unknown)[:200]}")
    if not isinstance(message.get("approved"), bool):
        raise AnswerInvalid(
            "'approved' is missing or is neither true nor false",
            hint='send {"approved": true} or {"approved": false}',
        )
    check_answer_value(message)
    found = find_secret(message)
    if found:
        raise AnswerInvalid(
            f"the answer holds a credential: {found}", hint="answers are kept; leave it out"
        )
    if len(json.dumps(message)) > MAX_ANSWER_BYTES:
        raise AnswerInvalid(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
    return message


def said_name(name: object) -> str:
    """A given member name for an error text, without credentials and invisible characters."""
    return escape_hidden(redact(str(name))[:_LONGEST_NAME])


def _read_text(message: Mapping[str, Any], key: str) -> str:
    value = message.get(key, "")
    if not isinstance(value, str):
        raise AnswerInvalid(f"'{key}' is not a string")
    return value
