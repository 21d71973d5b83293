"""The form of a gate before a call: make it, deny it and go on, end the run, or edit its arguments.

form = ConfirmationForm(output="send_mail", call="send", arguments_schema={…})
form.read({"approved": True})                             ->  Answer(approved=True, value=True, …)
form.read({"approved": True, "value": {"to": "bob"}})     ->  Answer(approved=True, value={"to": "bob"}, …)
form.read({"approved": False, "denied": True})            ->  Answer(approved=False, denied=True, …)
form.read({"decisions": [{"type": "approve"}]})           ->  as the first: LangChain's own words
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import Answer, Given, read_envelope, refuse_governed
from cinatra_sdk.gates.dialects import AS_SHOWN, read_dialect
from cinatra_sdk.gates.forms.checks import find_schema_problem
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
    """A yes, a denial or a rejection, each without a value; or a yes with edited arguments."""

    output: str = "confirmed"
    """What is confirmed, for errors."""
    call: str = ""
    """Name of the call, as the gate shows it."""
    arguments_schema: Mapping[str, JsonValue] | None = None
    """JSON Schema of the arguments that a person may give instead; None: of a call that is made as it
    was shown or not at all, since rules have examined it, or only its server knows what it takes.
    """

    def schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the JSON that resumes the gate."""
        return {**CONFIRMATION_SCHEMA}

    def read(self, raw: object) -> Answer:
        """The checked answer; raises `AnswerInvalid`."""
        given = read_dialect(raw, asks="call", call=self.call)
        refuse_governed(given)
        return read_envelope(given, output=self.output, read_value=self.read_value, deniable=True)

    def read_value(self, given: Given) -> JsonValue:
        """True: the call is made with the arguments that were shown; else the edited arguments."""
        if given.is_yes:
            return True
        if self.arguments_schema is None:
            named = f"the call of '{self.call}'" if self.call else "this call"
            raise AnswerInvalid(
                f"the arguments of {named} cannot be edited: it is made as it was shown, or not at all",
                hint="approve it without a value, deny it, or reject it, which ends the run",
            )
        if not isinstance(given.value, Mapping):
            raise AnswerInvalid(
                "the edited arguments are no object", hint=f"give all of them by name; {AS_SHOWN}"
            )
        problem = find_schema_problem(self.arguments_schema, given.value)
        if problem:
            raise AnswerInvalid(
                f"the edited arguments of '{self.call}' do not fit: {problem}",
                hint="give all of them by name",
            )
        return given.value

    def to_record(self) -> dict[str, JsonValue]:
        record = make_record(
            output=self.output, text_output=False, answer_schema=self.arguments_schema
        )
        return {**record, "confirms": True}
