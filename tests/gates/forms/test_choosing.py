"""Which form fits a gate."""

from __future__ import annotations

from typing import Any

import pytest
from recorded_cases import selector_of

from cinatra_sdk.gates.forms.approval_forms import ApprovalForm, TextForm
from cinatra_sdk.gates.forms.form_choice import form_of
from cinatra_sdk.gates.forms.schema_form import SchemaForm
from cinatra_sdk.gates.forms.selection_form import SelectionForm

KINDS: list[tuple[dict[str, Any], type]] = [
    ({}, TextForm),
    ({"document_schema": {}}, TextForm),
    ({"text_output": False}, ApprovalForm),
    ({"text_output": False, "document_schema": {}}, ApprovalForm),
    ({"answer_schema": {}}, SchemaForm),
    ({"answer_schema": {"type": "string"}, "text_output": False}, SchemaForm),
]


@pytest.mark.parametrize(("known", "kind"), KINDS)
def test_the_schema_and_the_type_of_the_output_decide(known: dict[str, Any], kind: type) -> None:
    assert type(form_of(**known)) is kind


@pytest.mark.parametrize(("known", "kind"), KINDS)
def test_a_selection_is_carried_by_the_form_that_the_gate_has_without_it(
    known: dict[str, Any], kind: type
) -> None:
    selector = selector_of({})
    form = form_of(**known, selector=selector)
    assert form == SelectionForm(carrier=form_of(**known), selector=selector)
    assert type(form.carrier) is kind
