"""A value that decides by itself inside an approval: taking it as a text would approve.

    refuse_contradiction({"approved": False})    ->  AnswerInvalid: the value is a decision of its own …
    refuse_contradiction(False)                  ->  AnswerInvalid: …
    refuse_contradiction("no")                   ->  nothing: the flow may branch on the text

Where a gate asks for a yes and gives a text to the flow, whatever is sent as the text approves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cinatra_sdk.errors import AnswerInvalid

_DECIDES: Final = frozenset({"approved", "denied", "decisions", "rejected"})
"""Members by which an object is a decision and no text."""
_HOW: Final = "reject the gate, or approve it without a value and say why in the reason"


def refuse_contradiction(value: object, *, is_question: bool = False) -> None:
    """is_question: the gate asks for a text, which may be any.

    Raises: `AnswerInvalid`.
    """
    if isinstance(value, Mapping) and not _DECIDES.isdisjoint(map(str, value)):
        raise AnswerInvalid("the value is a decision of its own inside an approval", hint=_HOW)
    if isinstance(value, list) and any(isinstance(one, Mapping) and "type" in one for one in value):
        raise AnswerInvalid("the value is a list of decisions inside an approval", hint=_HOW)
    if value is False and not is_question:
        raise AnswerInvalid("the value of the approval is false", hint=_HOW)
