"""The form of a gate without a schema whose output is no text: a yes, or a value of that output.

form = ApprovalForm(output="count", output_schema={"type": "integer"})
form.read({"approved": True, "value": 3})    ->  Answer(approved=True, value=3, …)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pydantic import JsonValue

from cinatra_sdk.gates.answers import Answer, Given, envelope_schema, read_envelope
from cinatra_sdk.gates.contradiction import refuse_no
from cinatra_sdk.gates.decisions import UNSET, Unset
from cinatra_sdk.gates.dialects import read_dialect
from cinatra_sdk.gates.forms.checks import check_typed, refuse_unread
from cinatra_sdk.gates.forms.form import make_record


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
        return read_envelope(given, output=self.output, read_value=self.read_value)

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
        from cinatra_sdk.values.schema_sample import sample  # for examples only

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
