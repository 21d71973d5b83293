"""The ContextSelector: read from a gate's values, grouped, capped, and refusing what does not fit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cinatra_sdk.context.artifact_refs import PinnedTriple
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.context.selector import Selector, is_selector, read_selector
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.forms.form_choice import form_of
from cinatra_sdk.gates.forms.selection_form import SelectionForm
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.gates.hitl import build_hitl_gate


def ref(name: str, scope: str = "organization", **more: Any) -> dict[str, Any]:
    return {
        "artifactId": name, "representationRevisionId": f"{name}-r", "semanticAssertionId":
        f"{name}-s", "extension": "@x/voice", "sourceScope": scope, "ownerId": "bob", **more,
    }  # fmt: skip


def values(*refs: dict[str, Any], **meta: Any) -> dict[str, Any]:
    given = {"slotId": "voice", "resolutionMode": "accumulate", "minItems": 0}
    return {"candidates": list(refs), "slotMeta": given | meta, "selectedRefs": []}


def selector(*refs: dict[str, Any], **meta: Any) -> Selector:
    found = read_selector(values(*refs, **meta))
    assert found is not None
    return found


def triple(name: str) -> PinnedTriple:
    return PinnedTriple(name, f"{name}-r", f"{name}-s")


def chosen(*names: str, slot_id: str = "voice", mode: str = "accumulate") -> str:
    refs = [
        {k: v for k, v in ref(name).items() if k.endswith(("Id",)) and k != "ownerId"}
        for name in names
    ]
    return json.dumps({"slotId": slot_id, "resolutionMode": mode, "selectedRefs": refs})


@pytest.mark.parametrize(
    ("renderer", "selects"),
    [
        ("@cinatra-ai/context-selection-agent:context-selector", True),
        ("@acme/own-agent:context-selector", True),
        ("@acme/own-agent:output", False),
        ("@acme/context-selector:output", False),
        ("", False),
    ],
)
def test_a_gate_selects_by_the_kind_of_its_screen_whoever_publishes_it(renderer, selects):
    assert is_selector(renderer) is selects


def test_groups_go_from_narrow_to_broad_and_a_scope_of_a_newer_platform_comes_last():
    found = selector(
        ref("w", "workspace"), ref("g", "galaxy"), ref("p", "project"), ref("u", "user"),
        ref("t", "team"), ref("o"), ref("p2", "project"),
    )  # fmt: skip
    assert found.groups == (
        ("project", (2, 6)), ("user", (3,)), ("team", (4,)), ("organization", (5,)),
        ("workspace", (0,)), ("galaxy", (1,)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("meta", "cap", "full_at"),
    [({}, None, None), ({"maxItems": 2}, 2, 2), ({"resolutionMode": "override"}, 1, 1)],
)
def test_the_cap_is_the_slots_and_one_for_override(meta, cap, full_at):
    found = selector(ref("a"), ref("b"), ref("c"), **meta)
    assert found.screen()["limits"]["maxItems"] == cap
    assert [number for number in range(4) if found.is_full(number)][:1] == (
        [] if full_at is None else [full_at]
    )


def test_what_is_preselected_counts_towards_the_cap():
    shown = {**values(ref("a"), ref("b"), maxItems=1), "selectedRefs": [ref("b")]}
    found = read_selector(shown)
    assert found is not None
    assert found.preselected == (triple("b"),)
    assert found.screen()["limits"] == {"minItems": 0, "maxItems": 1, "chosen": 1, "atCap": True}
    assert json.loads(found.unasked()) == json.loads(chosen("b"))


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"candidates": []},
        {"candidates": [], "slotMeta": {"slotId": "voice"}},
        {"candidates": [], "slotMeta": {"slotId": "", "resolutionMode": "override"}},
        {"candidates": [], "slotMeta": {"slotId": "voice", "resolutionMode": "merge"}},
        values(ref("a"), minItems=-1),
        values(ref("a"), minItems=True),
        values(ref("a"), maxItems="2"),
        values(ref("a", artifactId="")),
        values(ref("a", semanticAssertionId=7)),
        {**values(), "candidates": ["a"]},
        {**values(), "candidates": {"a": 1}},
        {**values(), "candidates": "abc"},
    ],
)
def test_values_that_offer_nothing_well_formed_are_no_selector(broken):
    assert read_selector(broken) is None


def test_a_ref_may_carry_more_than_we_know_and_less_than_we_show():
    bare = {key: value for key, value in ref("a").items() if key.endswith("Id")}
    found = selector({**bare, "mime": "text/plain"}, minItems=1)
    assert [(one.triple, one.scope, one.extension) for one in found.candidates] == [
        (triple("a"), "user", "")
    ]


def test_a_newer_template_shows_planned_refs_instead_of_candidates():
    planned = {"plannedRefs": [ref("a")], "slotMeta": values()["slotMeta"]}
    found = read_selector(planned)
    assert found is not None
    assert [one.triple for one in found.candidates] == [triple("a")]


CASES = [
    (chosen("a"), chosen("z"), "ref_not_in_candidates"),
    (chosen("a"), chosen(), "below_min_items"),
    (chosen("a", "b"), chosen("a", "b", "c"), "above_max_items"),
    (chosen("a", "a", "b"), chosen("a", "b", "c"), "above_max_items"),
    (chosen("a"), chosen("a", slot_id="tone"), "slot_mismatch"),
    (chosen("a"), chosen("a", mode="override"), "resolution_mode_mismatch"),
    (chosen("a"), "[]", "bad_envelope"),
    (chosen("a"), "[Approved by operator]", "bad_envelope"),
]


@pytest.mark.parametrize(("right", "wrong", "code"), CASES)
def test_a_choice_is_refused_with_the_code_that_the_platform_would_give(right, wrong, code):
    found = selector(ref("a"), ref("b"), ref("c"), minItems=1, maxItems=2)
    found.check(right)
    with pytest.raises(ContextError) as raised:
        found.check(wrong)
    assert raised.value.code == code


def test_the_form_takes_the_envelope_as_text_byte_for_byte_or_as_an_object():
    form = form_of(output="userResponse", selector=selector(ref("a")))
    text = chosen("a").replace(",", " , ")
    for key in ("value", "userResponse"):
        assert form.read({"approved": True, key: text}).value == text
    read = form.read({"approved": True, "value": json.loads(text)}).value
    assert json.loads(str(read)) == json.loads(text)
    with pytest.raises(AnswerInvalid, match=r"no candidate .*ref_not_in_candidates"):
        form.read({"approved": True, "value": chosen("z")})
    with pytest.raises(AnswerInvalid, match="the answer chooses none"):
        form.read({"approved": True, "value": True})


def test_a_gate_whose_output_is_an_object_is_held_to_the_slot_too():
    form = form_of(
        output="chosen", text_output=False, output_schema={"type": "object"},
        selector=selector(ref("a")),
    )  # fmt: skip
    right, wrong = json.loads(chosen("a")), json.loads(chosen("z"))
    assert form.read({"approved": True, "value": right}).value == right
    with pytest.raises(AnswerInvalid, match="ref_not_in_candidates"):
        form.read({"approved": True, "value": wrong})


@pytest.mark.parametrize("note", [{}, {"note": {"type": "string"}}])
def test_an_example_stands_under_its_title_where_the_author_gave_it_one(note):
    schema = {
        "type": "object",
        "properties": {"userResponse": {"type": "string"}, **note},
        "required": ["userResponse", *note],
    }
    form = form_of(output="userResponse", answer_schema=schema, selector=selector(ref("a")))
    example = form.example()
    assert set(example) == {"userResponse", *note}
    form.read({"approved": True, "value": example})


@pytest.mark.parametrize(
    ("meta", "number"), [({}, 1), ({"minItems": 2}, 2), ({"resolutionMode": "override"}, 1)]
)
def test_an_example_is_an_answer_that_fits(meta, number):
    found = selector(ref("a"), ref("b"), ref("c"), **meta)
    example = found.example()
    found.check(json.dumps(example))
    assert len(example["selectedRefs"]) == number
    empty = selector()
    empty.check(json.dumps(empty.example()))


def test_a_gate_read_back_in_another_process_refuses_the_same():
    asked: list[Any] = []

    def pause(payload: Any, *, response_schema: Any) -> Any:
        asked.append((payload, response_schema))
        raise KeyboardInterrupt

    gate = build_hitl_gate(
        step_number=1,
        node="pick",
        renderer="@acme/own:context-selector",
        values=lambda state: values(ref("a"), ref("b"), maxItems=1, readableOnly=True),
    )
    policy = {"steps": [{"stepNumber": 1, "requiresApproval": True}]}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("cinatra_sdk.gates.hitl.interrupt", pause)
        with pytest.raises(KeyboardInterrupt):
            gate({"approval_policy": policy})
    payload, type_ = asked[0]
    schema = type_.__get_pydantic_json_schema__(None, None)
    assert payload["values"]["selector"]["badges"] == ["readableOnly"]
    offered = {key: part for key, part in schema.items() if key != "x-gate"}
    assert payload["schema"] == offered
    for answer, fits in [
        ({"approved": False}, True),
        ({"approved": True}, False),
        ({"approved": True, "value": json.loads(chosen("a"))}, True),
        ({"approved": True, "value": json.loads(chosen("a", "b"))}, False),
        ({"approved": True, "userResponse": chosen("a")}, True),
    ]:
        assert (first_problem(json.dumps(payload["schema"]), answer) == "") is fits, answer
    assert schema["properties"]["value"]["properties"]["slotId"] == {"const": "voice"}
    made = {"interrupt": "i1", "payload": payload, "response_schema": schema}
    again = Gate.from_json(json.loads(json.dumps(made)))
    assert isinstance(again.form, SelectionForm)
    again.read({"approved": True, "value": chosen("a")})
    with pytest.raises(AnswerInvalid, match="above_max_items"):
        again.read({"approved": True, "value": chosen("a", "b")})
