"""Forms of gates without a schema: a yes, a text, a call to confirm, a pause of a node's own code.

form = ApprovalForm(output="count", output_schema={"type": "integer"})
form.read({"approved": True, "value": 3})    ->  Answer(approved=True, value=3, …)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from pydantic import JsonValue

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import (
    APPROVED_TEXT,
    Answer,
    Given,
    NoWords,
    answers_question,
    envelope_schema,
    has_words,
    read_envelope,
    refuse_governed,
)
from cinatra_sdk.gates.decisions import UNSET, Unset
from cinatra_sdk.gates.dialects import (
    AS_SHOWN,
    Asks,
    read_dialect,
    refuse_contradiction,
    refuse_no,
    refuse_own_answer,
)
from cinatra_sdk.gates.forms.answer_form import (
    WithoutFields,
    check_typed,
    find_schema_problem,
    make_record,
    make_text,
    refuse_unread,
)
from cinatra_sdk.light_imports.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalForm:
    """A yes, or a value of the output's type."""

    output: str = "approved"
    """Title of the gate's output."""
    output_schema: Mapping[str, JsonValue] | None = None
    """JSON Schema of the output: of the value that the flow reads."""
    document_schema: Mapping[str, JsonValue] | None = None
    """The author's JSON Schema of the fields that a person fills in; None asks for a yes."""
    is_read: bool = True
    """As of `TextForm`."""
    text_output: ClassVar[bool] = False

    def schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the JSON that resumes the gate."""
        return envelope_schema({})

    def read(self, raw: object) -> Answer:
        """The checked answer; raises `AnswerInvalid`."""
        given = read_dialect(raw, asks="yes")
        answer = read_envelope(given, output=self.output, read_value=self.read_value)
        refuse_own_answer(given, self.document_schema or self.output_schema)
        return answer

    def read_value(self, given: Given) -> JsonValue:
        """The given value; for a yes its text, which a flow may read as any type of output."""
        if given.is_yes:
            return given.yes_text
        if not self.is_read and self.document_schema is None and not given.took_text:
            raise refuse_unread(given.value)
        value = check_typed(given.value, output=self.output, schema=self.output_schema)
        refuse_no(value)
        return value

    def example(self) -> JsonValue:
        """A value for the fields; raises `ValueError`."""
        from cinatra_sdk.data.schema.samples import sample  # for examples only

        return sample(self.document_schema or {}, name=self.output)

    @property
    def needs_data(self) -> bool:
        return self.document_schema is not None

    @property
    def needs_words(self) -> bool:
        return False

    @property
    def plain_yes(self) -> JsonValue | Unset:
        return UNSET

    @property
    def fields_schema(self) -> Mapping[str, JsonValue] | None:
        return self.document_schema

    @property
    def text_field(self) -> str | None:
        return None

    def name_value(self, value: JsonValue) -> JsonValue:
        return value

    def to_record(self) -> dict[str, JsonValue]:
        record = make_record(
            output=self.output,
            text_output=False,
            output_schema=self.output_schema,
            document_schema=self.document_schema,
        )
        return record if self.is_read else {**record, "unread": True}


# ----------------------------------------------------------------------------
# The form of a gate before a call: make it, deny it and go on, end the run, or edit its arguments.
#
# form = ConfirmationForm(output="send_mail", call="send", arguments_schema={…})
# form.read({"approved": True})                             ->  Answer(approved=True, value=True, …)
# form.read({"approved": True, "value": {"to": "bob"}})     ->  Answer(approved=True, value={"to": "bob"}, …)
# form.read({"approved": False, "denied": True})            ->  Answer(approved=False, denied=True, …)
# form.read({"decisions": [{"type": "approve"}]})           ->  as the first: LangChain's own words


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
        answer = read_envelope(given, output=self.output, read_value=self.read_value, deniable=True)
        refuse_own_answer(given, self.arguments_schema)
        return answer

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


# ----------------------------------------------------------------------------
# The form of a pause that is nobody's gate: `interrupt(…)` in a tool, or in a node of a package.
#
#     value = interrupt({"question": "which one?"})         approve with a value: `value` is that value
#     HumanInTheLoopMiddleware of LangChain                 approve or deny: its own decisions
#
# A rejection ends the run, as at every gate: the code that paused never goes on.


REJECTED_KEY: Final = "oasflow:rejected"
"""Key of what the engine hands on after a rejection; the node around the paused code reads it."""
_REVIEWS: Final = ("approve", "edit", "reject", "respond")
"""The types of decisions of LangChain's review."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignForm(WithoutFields):
    """Any JSON value, or a yes; what it means is known to the code that asked."""

    output: str = "answer"
    actions: int = 0
    """How many calls LangChain's own review asks about; 0: the pause is of another kind."""

    def schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the JSON that answers the pause."""
        return envelope_schema({})

    def read(self, raw: object) -> Answer:
        """The checked answer; raises `AnswerInvalid`."""
        refuse_governed(raw)
        return read_envelope(
            raw, output=self.output, read_value=self.read_value, deniable=self.actions > 0
        )

    def read_value(self, given: Given) -> JsonValue:
        """The value itself; true for a yes.

        Raises: `AnswerInvalid` for a value that LangChain's review does not take.
        """
        if given.is_yes:
            return True
        if self.actions > 0:
            self._check_decisions(given.value)
        return given.value

    def _check_decisions(self, value: JsonValue) -> None:
        """The value of an approval may be the decisions, one for each call, of which one is no
        rejection: anything else would approve every call, or none.

        Raises: `AnswerInvalid`.
        """
        listed = value.get("decisions") if isinstance(value, dict) and len(value) == 1 else None
        types = [one.get("type") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []  # fmt: skip
        if len(types) != self.actions or not all(one in _REVIEWS for one in types):
            raise AnswerInvalid(
                f"the review asks about {self.actions} calls, and the value is no decision for each",
                hint="approve without a value, deny, reject, or give "
                '{"decisions": [{"type": "approve"}, …]}',
            )
        if set(types) == {"reject"}:
            raise AnswerInvalid(
                "the answer approves, and each of its decisions rejects",
                hint='deny the calls: {"approved": false, "denied": true, "reason": "…"}',
            )

    def make_resume(self, answer: Answer) -> JsonValue:
        """What the code that paused gets."""
        if not answer.approved and not answer.denied:
            said: dict[str, JsonValue] = {"reason": answer.reason, "by": answer.by}
            return {REJECTED_KEY: {"approved": False, **said}}
        if self.actions == 0 or isinstance(answer.value, dict):
            return answer.value
        decided: dict[str, JsonValue] = (
            {"type": "approve"}
            if answer.approved
            else {"type": "reject", "message": answer.reason or "denied"}
        )
        return {"decisions": [dict(decided) for _ in range(self.actions)]}

    def to_record(self) -> dict[str, JsonValue]:
        record = make_record(output=self.output, text_output=False)
        return {**record, "foreign": True, "actions": self.actions}


# ----------------------------------------------------------------------------
# The form of a gate without a schema whose output is a text: a yes, or any text; of a question a text.
#
# `form = TextForm(output="note")`
# form.read({"approved": True})                        ->  … value="[Approved by operator]"
# form.read({"approved": True, "value": "Shorter"})    ->  … value="Shorter"
#
# `question = TextForm(output="city", is_question=True)`
# question.read({"approved": True})                    ->  AnswerInvalid: "… without words"
# question.read("Lyon")                                ->  … value="Lyon"
#
# `sign = TextForm(output="signed", is_read=False)`
# sign.read({"approved": True, "value": "No!"})        ->  AnswerInvalid: "… nothing reads a text here"


QUESTION_SCHEMA: Final[dict[str, JsonValue]] = {"type": "string", "minLength": 1}
_HOW: Final = "send the words as the value: oasflow answer --text"
_HOW_IN_PYTHON: Final = "Decision.approve(value=…)"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextForm:
    """A yes, or a text; anything else becomes JSON text."""

    output: str = "approved"
    """Title of the gate's output."""
    document_schema: Mapping[str, JsonValue] | None = None
    """JSON Schema of the JSON document in the text, where the author gave a schema."""
    is_question: bool = False
    """Whether the gate asks for the text itself, so that a yes is no answer."""
    is_read: bool = True
    """Whether the flow may read the text: where nothing does, a text would only approve, whatever it
    says, and is refused.  True where that is not known.
    """
    text_output: ClassVar[bool] = True

    def schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the JSON that resumes the gate."""
        if self.is_question:
            return envelope_schema({**QUESTION_SCHEMA})
        return envelope_schema({})

    def read(self, raw: object) -> Answer:
        """The checked answer; raises `AnswerInvalid`."""
        asks: Asks = "words" if self.is_question else "yes"
        given = read_dialect(raw, asks=asks, schema=self.document_schema)
        answer = read_envelope(given, output=self.output, read_value=self.read_value)
        refuse_own_answer(given, self.document_schema)
        return answer

    def read_value(self, given: Given) -> JsonValue:
        """The given text; for a yes the note to the flow, else Cinatra's words for a yes.

        Raises: `AnswerInvalid` for a value without words, and for a yes to a question.
        """
        if given.is_yes:
            if self.is_question and not answers_question(given.note):
                raise NoWords(
                    "the gate asks a question whose answer the flow uses, and is approved without words",
                    hint=_HOW,
                    in_python=_HOW_IN_PYTHON,
                )
            return given.yes_text
        if not self.takes_words and not given.took_text:
            return self._read_unread(given)
        if self.document_schema is None:
            refuse_contradiction(given.value, is_question=self.is_question)
        says = answers_question if self.is_question else has_words
        if self.document_schema is None and not says(given.value):
            raise NoWords(
                "the answer has no words",
                hint=_HOW if self.is_question else "leave the value out, or send a text",
                in_python=_HOW_IN_PYTHON if self.is_question else "",
            )
        return make_text(given.value, output=self.output, document_schema=self.document_schema)

    def _read_unread(self, given: Given) -> JsonValue:
        """The text of a yes; raises `AnswerInvalid` for any other value."""
        if isinstance(given.value, str) and given.value.strip() == APPROVED_TEXT:
            return APPROVED_TEXT  # a host's words for a yes
        raise refuse_unread(given.value)

    def example(self) -> JsonValue:
        """True, or a document that fits its schema; raises `ValueError`."""
        if self.document_schema is None and not self.is_question:
            return True
        from cinatra_sdk.data.schema.samples import sample  # for examples only

        return sample(self.fields_schema or {}, name=self.output)

    @property
    def takes_words(self) -> bool:
        """Whether a text is an answer: the author asks for one, or the flow may read it."""
        return self.is_read or self.is_question or self.document_schema is not None

    @property
    def needs_data(self) -> bool:
        return self.fields_schema is not None

    @property
    def needs_words(self) -> bool:
        return self.is_question

    @property
    def plain_yes(self) -> JsonValue | Unset:
        return UNSET

    @property
    def fields_schema(self) -> Mapping[str, JsonValue] | None:
        """Of a question its text: it is filled in like a form of one field."""
        if self.document_schema is not None:
            return self.document_schema
        return QUESTION_SCHEMA if self.is_question else None

    @property
    def text_field(self) -> str | None:
        return "" if self.document_schema is None and self.takes_words else None

    def name_value(self, value: JsonValue) -> JsonValue:
        return value

    def to_record(self) -> dict[str, JsonValue]:
        record = make_record(
            output=self.output, text_output=True, document_schema=self.document_schema
        )
        record |= {"question": True} if self.is_question else {}
        return record if self.is_read else {**record, "unread": True}
