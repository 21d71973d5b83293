"""The checks of values that the forms share.

In: the value that a person sent, and the author's schema.  Out: the value of the gate's output, or
`AnswerInvalid`.

    make_text({"site": "x"}, output="setupJson", document_schema=None)  ->  '{"site":"x"}'
    check_typed(3.0, output="count", schema={"type": "integer"})        ->  3
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import check_answer_value
from cinatra_sdk.governed.keys import without_governed
from cinatra_sdk.governed.secrets import find_secret
from cinatra_sdk.values.strict_json import NotStrictJson, read_json

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
    from cinatra_sdk.values.json_schema import (
        first_problem,  # on first use
    )

    return first_problem(schema or {}, value)


def _decode_json(text: str) -> Any:
    try:
        return read_json(text)
    except NotStrictJson:
        return UNDECODED
