"""The form of a gate before a call: make it, deny it and go on, or end the run.

form = ConfirmationForm(output="send_mail")
form.read({"approved": True})                      ->  Answer(approved=True, …)
form.read({"approved": False, "denied": True})     ->  Answer(approved=False, denied=True, …)
form.read({"decisions": [{"type": "approve"}]})    ->  as the first: LangChain's own words
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import Answer, Given, read_envelope, said_name
from cinatra_sdk.gates.forms.form import make_record
from cinatra_sdk.gates.forms.plain import WithoutFields

CONFIRMATION_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "denied": {"type": "boolean"},
        "reason": {"type": "string"},
        "by": {"type": "string"},
    },
    "required": ["approved"],
}

_AS_SHOWN: Final = "the call is made as it was shown, or not at all"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationForm(WithoutFields):
    """A yes, a denial or a rejection, each without a value."""

    output: str = "confirmed"
    """What is confirmed, for errors."""

    def schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the JSON that resumes the gate."""
        return {**CONFIRMATION_SCHEMA}

    def read(self, raw: object) -> Answer:
        """The checked answer; raises `AnswerInvalid`."""
        given = _read_decisions(raw)
        return read_envelope(given, output=self.output, read_value=self.read_value, deniable=True)

    def read_value(self, given: Given) -> JsonValue:
        """Always true: the call is made with the arguments that were shown."""
        if not given.is_yes:
            raise AnswerInvalid(
                _AS_SHOWN,
                hint="approve it without a value, deny it, or reject it, which ends the run",
            )
        return True

    def to_record(self) -> dict[str, JsonValue]:
        return {**make_record(output=self.output, text_output=False), "confirms": True}


def _read_decisions(raw: object) -> object:
    """What LangChain's reviews of calls are answered with, in our words; anything else as it is.

    Its rejection of a call lets the run go on, as a denial does here.  `by` may stand beside the
    decision.
    """
    if not isinstance(raw, Mapping) or not raw.keys() <= {"decisions", "by"}:
        return raw
    decisions = raw.get("decisions")
    if not isinstance(decisions, list) or len(decisions) != 1:
        return raw
    by = {"by": raw["by"]} if "by" in raw else {}
    match decisions[0]:
        case {"type": "approve", **more} if not more:
            return {"approved": True, **by}
        case {"type": "reject", **more} if more.keys() <= {"message"}:
            return {"approved": False, "denied": True, "reason": _read_message(more), **by}
        case {"type": "approve" | "reject", **more}:
            allowed = {"message"} if decisions[0]["type"] == "reject" else set()
            unknown = ", ".join(sorted(said_name(key) for key in more.keys() - allowed))
            raise AnswerInvalid(
                f"the decision about this call has unknown keys: {unknown[:200]}", hint=_AS_SHOWN
            )
    raise AnswerInvalid("a decision about this call is neither approve nor reject", hint=_AS_SHOWN)


def _read_message(decision: Mapping[Any, Any]) -> str:
    message = decision.get("message", "")
    if not isinstance(message, str):
        raise AnswerInvalid("the message of the decision is not a string")
    return message
