"""The form of a gate without a schema whose output is a text: a yes, or any text; of a question a text.

form = TextForm(output="note")
form.read({"approved": True})                        ->  … value="[Approved by operator]"
form.read({"approved": True, "value": "Shorter"})    ->  … value="Shorter"

question = TextForm(output="city", is_question=True)
question.read({"approved": True})                    ->  AnswerInvalid: "… without words"
question.read("Lyon")                                ->  … value="Lyon"

sign = TextForm(output="signed", is_read=False)
sign.read({"approved": True, "value": "No!"})        ->  AnswerInvalid: "… nothing reads a text here"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from pydantic import JsonValue

from cinatra_sdk.gates.answers import (
    APPROVED_TEXT,
    Answer,
    Given,
    NoWords,
    answers_question,
    envelope_schema,
    has_words,
    read_envelope,
)
from cinatra_sdk.gates.contradiction import refuse_contradiction
from cinatra_sdk.gates.decisions import UNSET, Unset
from cinatra_sdk.gates.dialects import read_dialect
from cinatra_sdk.gates.forms.checks import make_text, refuse_unread
from cinatra_sdk.gates.forms.form import make_record

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
        given = read_dialect(raw, asks="words" if self.is_question else "yes")
        return read_envelope(given, output=self.output, read_value=self.read_value)

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
        from cinatra_sdk.values.schema_sample import sample  # for examples only

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
