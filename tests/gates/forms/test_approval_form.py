"""A gate without a schema whose output is no text."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.forms.approval_forms import ApprovalForm

COUNT = ApprovalForm(output="count", output_schema={"type": "integer"})


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ({"value": 4}, 4),
        ({"value": 4.0}, 4),
        ({"value": True}, "[Approved by operator]"),
        ({}, "[Approved by operator]"),
        ({"approvalNote": " late "}, "late"),
    ],
)
def test_a_yes_or_a_value_of_the_outputs_type_is_taken(answer: Any, value: Any) -> None:
    read = COUNT.read({"approved": True, **answer}).value
    assert (type(read), read) == (type(value), value)


@pytest.mark.parametrize("value", ["4", 1.5, None, {"count": 4}, False, 1e300], ids=repr)
def test_a_value_of_another_type_is_refused(value: Any) -> None:
    with pytest.raises(AnswerInvalid):
        COUNT.read({"approved": True, "value": value})
    with pytest.raises(AnswerInvalid, match="does not fit 'count'"):
        COUNT.read({"approved": True, "userResponse": "4"})


def test_it_asks_for_data_where_the_author_described_fields() -> None:
    assert (COUNT.needs_data, COUNT.text_field, COUNT.fields_schema) == (False, None, None)
    fields = {"type": "object", "properties": {"site": {"const": "s"}}, "required": ["site"]}
    form = ApprovalForm(output="setup", document_schema=fields)
    assert (form.needs_data, form.fields_schema, form.example()) == (True, fields, {"site": "s"})
