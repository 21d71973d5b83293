"""The protocol of every form of answers.

A form says what answers a gate accepts, and turns an answer into the value that the flow reads:

    form.schema()                                  ->  JSON Schema of the JSON that resumes the gate
    form.read({"approved": True, "value": {…}})    ->  Answer(approved=True, value='{…}', …)
    form.example()                                 ->  a value that `form.read` takes
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol

from pydantic import JsonValue

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import Answer, Given
from cinatra_sdk.gates.decisions import Unset


class AnswerForm(Protocol):
    """The form of the answers that one gate accepts."""

    @property
    def output(self) -> str:
        """Title of the gate's output, or of the input of the run, that an answer fills.  Empty for
        a form of several inputs.
        """

    @property
    def text_output(self) -> bool:
        """Whether that output is a string."""

    def schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the JSON that resumes the gate; clients build their form from it."""

    def read(self, raw: object) -> Answer:
        """The checked answer.

        Raises: `AnswerInvalid`, see `answers.read_envelope`.
        """

    def read_value(self, given: Given) -> JsonValue:
        """The value of the output, from what an approving answer sends; raises `AnswerInvalid`."""

    def example(self) -> JsonValue:
        """A value that approves the gate: True where a plain yes is enough.

        Raises: `ValueError` where no fitting value can be made up.
        """

    @property
    def needs_data(self) -> bool:
        """Whether an approval needs data, not only a yes."""

    @property
    def needs_words(self) -> bool:
        """Whether an approval needs a text: the gate asks a question, and a yes is no answer to it."""

    @property
    def plain_yes(self) -> JsonValue | Unset:
        """The value of a plain yes: no value, unless the author's schema contains the yes."""

    @property
    def fields_schema(self) -> Mapping[str, JsonValue] | None:
        """JSON Schema of the fields that a person fills in; None where there are none to fill in."""

    @property
    def text_field(self) -> str | None:
        """The name of the only text that the answer asks for, where it asks for nothing else.

        Empty where the text itself is the answer's value; None where an answer is no single text.
        """

    def name_value(self, value: JsonValue) -> JsonValue:
        """The value of the output as an answer gives it: under its title where the form asks so."""

    def to_record(self) -> dict[str, JsonValue]:
        """The form as the gate's interrupt keeps it, see `make_record`."""


def takes(form: AnswerForm, value: JsonValue) -> bool:
    """Whether an approval with this value fits the form."""
    try:
        form.read({"approved": True, "value": value})
    except AnswerInvalid:
        return False
    return True


def make_record(
    *,
    output: str,
    text_output: bool,
    bare: bool = False,
    answer_schema: Mapping[str, JsonValue] | None = None,
    output_schema: Mapping[str, JsonValue] | None = None,
    document_schema: Mapping[str, JsonValue] | None = None,
) -> dict[str, JsonValue]:
    """The arguments of `choosing.form_of` as JSON; each schema as a text, or null.

    The selection is left out: the values of the payload hold it.
    """
    return {
        "output": output,
        "textOutput": text_output,
        "bare": bare,
        # As text: pydantic would resolve a `$ref` in the author's schema as its own.
        "answerSchema": _format_schema(answer_schema),
        "outputSchema": _format_schema(output_schema),
        "innerSchema": _format_schema(document_schema),
    }


def _format_schema(schema: Mapping[str, JsonValue] | None) -> str | None:
    return None if schema is None else json.dumps(schema, ensure_ascii=False)
