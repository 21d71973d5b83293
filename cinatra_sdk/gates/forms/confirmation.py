"""The form of a gate before a call: make it, deny it and go on, or end the run.

form = ConfirmationForm(output="send_mail")
form.read({"approved": True})                      ->  Answer(approved=True, …)
form.read({"approved": False, "denied": True})     ->  Answer(approved=False, denied=True, …)
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import Answer, Given, read_envelope
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
        return read_envelope(raw, output=self.output, read_value=self.read_value, deniable=True)

    def read_value(self, given: Given) -> JsonValue:
        """Always true: the call is made with the arguments that were shown."""
        if not given.is_yes:
            raise AnswerInvalid(
                "the call is made as it was shown, or not at all",
                hint="approve it without a value, deny it, or reject it, which ends the run",
            )
        return True

    def to_record(self) -> dict[str, JsonValue]:
        return {**make_record(output=self.output, text_output=False), "confirms": True}
