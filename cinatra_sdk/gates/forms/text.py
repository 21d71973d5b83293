"""The form of a gate without a schema whose output is a text: a yes, or any text.

form = TextForm(output="note")
form.read({"approved": True})                        ->  … value="[Approved by operator]"
form.read({"approved": True, "value": "Shorter"})    ->  … value="Shorter"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pydantic import JsonValue

from cinatra_sdk.gates.answers import Answer, Given, envelope_schema, read_envelope
from cinatra_sdk.gates.decisions import UNSET, Unset
from cinatra_sdk.gates.forms.checks import make_text
from cinatra_sdk.gates.forms.form import make_record


@dataclass(frozen=True, slots=True, kw_only=True)
class TextForm:
    """A yes, or a text; anything else becomes JSON text."""

    output: str = "approved"
    """Title of the gate's output."""
    document_schema: Mapping[str, JsonValue] | None = None
    """JSON Schema of the JSON document in the text, where the author gave a schema."""
    text_output: ClassVar[bool] = True

    def schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the JSON that resumes the gate."""
        return envelope_schema({})

    def read(self, raw: object) -> Answer:
        """The checked answer; raises `AnswerInvalid`."""
        return read_envelope(raw, output=self.output, read_value=self.read_value)

    def read_value(self, given: Given) -> JsonValue:
        """The given text; for a yes the note to the flow, else Cinatra's words for a yes."""
        if given.is_yes:
            return given.yes_text
        return make_text(given.value, output=self.output, document_schema=self.document_schema)

    def example(self) -> JsonValue:
        """True, or a document that fits its schema; raises `ValueError`."""
        if self.document_schema is None:
            return True
        from cinatra_sdk.values.schema_sample import sample  # for examples only

        return sample(self.document_schema, name=self.output)

    @property
    def needs_data(self) -> bool:
        return self.document_schema is not None

    @property
    def plain_yes(self) -> JsonValue | Unset:
        return UNSET

    @property
    def fields_schema(self) -> Mapping[str, JsonValue] | None:
        return self.document_schema

    @property
    def text_field(self) -> str | None:
        return "" if self.document_schema is None else None

    def name_value(self, value: JsonValue) -> JsonValue:
        return value

    def to_record(self) -> dict[str, JsonValue]:
        return make_record(
            output=self.output, text_output=True, document_schema=self.document_schema
        )
