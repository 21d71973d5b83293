"""A value that decides by itself inside an approval: taking it as a text would approve.

    refuse_contradiction({"approved": False})    ->  AnswerInvalid: the value is a decision of its own …
    refuse_contradiction({"type": "reject"})     ->  AnswerInvalid: …
    refuse_contradiction('{"approved": false}')  ->  AnswerInvalid: …
    refuse_contradiction(False)                  ->  AnswerInvalid: …
    refuse_contradiction("no")                   ->  nothing: the flow may branch on the text

Where a gate asks for a yes and gives a text to the flow, whatever is sent as the text approves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.values.strict_json import NotStrictJson, read_json

_DECIDES: Final = frozenset({"approved", "denied", "decisions", "rejected"})
"""Members by which an object is a decision and no text."""
_NAMES_A_DECISION: Final = frozenset({"type", "action", "decision", "verdict"})
"""Members of which the value may be the word of a decision."""
_DECISIONS: Final = frozenset(
    {"accept", "accepted", "approve", "approved", "reject", "rejected", "ignore", "deny", "denied",
     "decline", "declined", "no", "cancel"}
)  # fmt: skip
"""Texts that are a decision where a client says nothing else."""
_REFUSALS: Final = _DECISIONS - {"accept", "accepted", "approve", "approved"}
_HOW: Final = "reject the gate, or approve it without a value and say why in the reason"


def refuse_contradiction(value: object, *, is_question: bool = False) -> None:
    """is_question: the gate asks for a text, which may be any.

    Raises: `AnswerInvalid`.
    """
    decoded = read_inside(value)
    if is_decision(decoded):
        raise AnswerInvalid("the value is a decision of its own inside an approval", hint=_HOW)
    if isinstance(decoded, list) and any(
        (isinstance(one, Mapping) and "type" in one)
        or is_decision(one)
        or (says_decision(one) and not is_question)
        for one in decoded
    ):
        raise AnswerInvalid("the value is a list of decisions inside an approval", hint=_HOW)
    if value is False and not is_question:
        raise AnswerInvalid("the value of the approval is false", hint=_HOW)


def refuse_no(value: object) -> None:
    """As `refuse_contradiction`, where the author may ask for an object with `approved` in it, or for
    true or false: what agrees with the approval is a value like any other.

    Raises: `AnswerInvalid`.
    """
    said = read_inside(value)
    listed = said if isinstance(said, list) else [said]
    if any(isinstance(one, Mapping) and _says_no(one) for one in listed):
        raise AnswerInvalid("the answer approves, and its value does not", hint=_HOW)


def _says_no(said: Mapping[object, object]) -> bool:
    if said.get("approved", True) is not True:
        return True
    if any(said.get(name) not in (None, False, "", []) for name in ("denied", "rejected")):
        return True
    words = (said.get(name) for name in _NAMES_A_DECISION)
    return any(isinstance(one, str) and one.strip().casefold() in _REFUSALS for one in words)


def is_decision(value: object) -> bool:
    """Whether an object is a decision, by its members or by the word of one of them."""
    if not isinstance(value, Mapping):
        return False
    if not _DECIDES.isdisjoint(map(str, value)):
        return True
    return any(says_decision(value[name]) for name in _NAMES_A_DECISION if name in value)


def says_decision(text: object) -> bool:
    """Whether a text alone is a word by which clients approve or reject."""
    return isinstance(text, str) and text.strip().casefold() in _DECISIONS


def read_inside(value: object) -> object:
    """The JSON object or list in a text; anything else as it is."""
    if not isinstance(value, str) or value.strip()[:1] not in {"{", "["}:
        return value
    try:
        return read_json(value)
    except NotStrictJson:
        return value
