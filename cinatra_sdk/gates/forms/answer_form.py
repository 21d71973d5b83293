"""The protocol of every form of answers.

A form says what answers a gate accepts, and turns an answer into the value that the flow reads:

    form.schema()                                  ->  JSON Schema of the JSON that resumes the gate
    form.read({"approved": True, "value": {…}})    ->  Answer(approved=True, value='{…}', …)
    form.example()                                 ->  a value that `form.read` takes
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Protocol

from pydantic import JsonValue

from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import Answer, Given, check_answer_value
from cinatra_sdk.gates.decisions import UNSET, Unset
from cinatra_sdk.governed.host_keys import without_governed
from cinatra_sdk.governed.secret_values import find_secret


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
    """The arguments of `form_of` as JSON; each schema as a text, or null.

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


# ----------------------------------------------------------------------------
# What forms have in common whose answers fill in no field: a yes is enough.


class WithoutFields:
    """Parts of an `AnswerForm`; see there."""

    __slots__ = ()
    text_output: ClassVar[bool] = False

    def example(self) -> JsonValue:
        return True

    @property
    def needs_data(self) -> bool:
        return False

    @property
    def needs_words(self) -> bool:
        return False

    @property
    def plain_yes(self) -> JsonValue | Unset:
        return UNSET

    @property
    def fields_schema(self) -> Mapping[str, JsonValue] | None:
        return None

    @property
    def text_field(self) -> str | None:
        return None

    def name_value(self, value: JsonValue) -> JsonValue:
        return value


# ----------------------------------------------------------------------------
# The checks of values that the forms share.
#
# In: the value that a person sent, and the author's schema.  Out: the value of the gate's output, or
# `AnswerInvalid`.
#
#     make_text({"site": "x"}, output="setupJson", document_schema=None)  ->  '{"site":"x"}'
#     check_typed(3.0, output="count", schema={"type": "integer"})        ->  3


UNDECODED: Final = object()
"""Stands for a text that is not JSON, because null is JSON."""


def refuse_unread(value: JsonValue) -> AnswerInvalid:
    """The error of a value at a gate that asks for a yes, and of which nothing reads a value."""
    if isinstance(value, str):
        return AnswerInvalid(
            "this gate asks for approve or reject, and nothing reads a text here",
            hint="to approve, send no text: oasflow approve RUN/GATE --shown HASH; to refuse: "
            'oasflow reject RUN/GATE --reason "…"; a reason is kept with either',
        )
    return AnswerInvalid(
        "this gate asks for approve or reject: the values that it shows cannot be changed here, and "
        "nothing reads others",
        hint="approve without a value: oasflow approve RUN/GATE --shown HASH; or reject and say what "
        'to change: oasflow reject RUN/GATE --reason "…"',
    )


def check_typed(
    value: JsonValue, *, output: str, schema: Mapping[str, JsonValue] | None
) -> JsonValue:
    """The value of an output that is no string; raises `AnswerInvalid`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 3.0 is an integer in JSON Schema
        check_answer_value(value)
    problem = find_schema_problem(schema, value)
    if problem:
        raise AnswerInvalid(f"the answer does not fit '{output}': {problem}")
    return value


def make_text(
    value: JsonValue, *, output: str, document_schema: Mapping[str, JsonValue] | None
) -> str:
    """The value of an output that is a string: a text as it is, anything else as JSON.

    Raises: `AnswerInvalid` for a text that breaks the author's schema of the document in it.
    """
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if document_schema is not None:
        decoded = _decode_json(value)
        problem = (
            "it is not JSON"
            if decoded is UNDECODED
            else find_schema_problem(document_schema, decoded)
        )
        if problem:
            raise AnswerInvalid(f"the document in '{output}' does not fit: {problem}")
    return value


def decode_document(text: str, *, output: str) -> Any:
    """The JSON document in a text, cleaned by the rules for a document that is sent as an object.

    `UNDECODED` for a text that is not JSON.  Raises: `AnswerInvalid` for a credential in it.
    """
    decoded = _decode_json(text)
    if decoded is UNDECODED:
        return decoded
    found = find_secret(decoded)
    if found:
        raise AnswerInvalid(
            f"the answer holds a credential: {found}", hint="answers are kept; leave it out"
        )
    return without_governed(decoded, where=f"the answer for '{output}'")


def find_schema_problem(schema: Mapping[str, JsonValue] | None, value: Any) -> str:
    """The first way in which `value` breaks `schema`; empty when it fits."""
    from cinatra_sdk.data.schema.problems import first_problem

    return first_problem(schema or {}, value)


def _decode_json(text: str) -> Any:
    try:
        return read_json(text)
    except NotStrictJson:
        return UNDECODED
