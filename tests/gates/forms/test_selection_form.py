"""A gate that asks for a context selection; what the slot allows is in tests/context."""

from __future__ import annotations

import json

import pytest
from recorded_cases import chosen, selector_of

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.forms.answer_form import AnswerForm
from cinatra_sdk.gates.forms.approval_forms import ApprovalForm, TextForm
from cinatra_sdk.gates.forms.schema_form import SchemaForm
from cinatra_sdk.gates.forms.selection_form import SelectionForm

TITLED = SchemaForm(
    output="pick",
    answer_schema={"type": "object", "properties": {"pick": {"type": "string"}}},
)
CARRIERS: list[AnswerForm] = [
    TextForm(output="pick"),
    ApprovalForm(output="pick", output_schema={"type": "object"}),
    TITLED,
    SchemaForm(output="pick", answer_schema={"type": "string"}),
    SchemaForm(output="pick", text_output=False, answer_schema={"type": "object"}),
]


@pytest.mark.parametrize("carrier", CARRIERS, ids=repr)
def test_every_form_carries_the_envelope_and_the_slot_judges_it(carrier: AnswerForm) -> None:
    form = SelectionForm(carrier=carrier, selector=selector_of({}))
    read = form.read({"approved": True, "value": form.carry_envelope(chosen("a"))}).value
    assert (json.loads(str(read)) if form.text_output else read) == chosen("a")
    with pytest.raises(AnswerInvalid, match="ref_not_in_candidates"):
        form.read({"approved": True, "value": form.carry_envelope(chosen("z"))})


@pytest.mark.parametrize("carrier", CARRIERS, ids=repr)
def test_the_example_is_an_answer_that_fits(carrier: AnswerForm) -> None:
    form = SelectionForm(carrier=carrier, selector=selector_of({"minItems": 2}))
    form.read({"approved": True, "value": form.example()})


@pytest.mark.parametrize("carrier", CARRIERS, ids=repr)
@pytest.mark.parametrize("answer", [{}, {"value": True}, {"approvalNote": "fine"}], ids=repr)
def test_a_yes_alone_chooses_nothing(carrier: AnswerForm, answer: dict[str, object]) -> None:
    form = SelectionForm(carrier=carrier, selector=selector_of({}))
    with pytest.raises(AnswerInvalid, match="the answer chooses none"):
        form.read({"approved": True, **answer})
    assert not form.read({"approved": False}).approved


def test_a_person_ticks_refs_and_fills_in_no_fields() -> None:
    form = SelectionForm(carrier=TITLED, selector=selector_of({}))
    assert (form.needs_data, form.fields_schema, form.text_field) == (True, None, None)
    assert TITLED.text_field == "pick"
