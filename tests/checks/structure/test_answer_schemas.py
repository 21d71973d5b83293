"""The schemas that people's answers are checked against."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.testing import drive
from oas_compiler import CompileError, compile_flow, compile_ir
from tests.checks.rule_case import findings, found
from tests.flows import end, flow_of, gate, port, start

REFERENCE = {
    "type": "object",
    "properties": {"p": {"$ref": "#/$defs/P"}},
    "required": ["p"],
    "$defs": {"P": {"type": "integer", "minimum": 2}},
}
TREE = {
    "$dynamicAnchor": "node",
    "type": "object",
    "properties": {"next": {"$dynamicRef": "#node"}},
    "unevaluatedProperties": False,
}
FORM = "/$referenced_components/ask/metadata/cinatra/inputMessageSchema"


def flow(schema: Any, **about: Any) -> Any:
    asks = gate("ask", output=port("json"), inputMessageSchema=schema, **about)
    return flow_of(start(), asks, end())


@pytest.mark.parametrize(
    ("broken", "place", "why", "sound"),
    [
        ({"type": "strng"}, "/type", 'there is no type "strng"', {"type": "string"}),
        ({"properties": "x"}, "/properties", "no object of schemas", {"properties": {}}),
        ({"pattern": "("}, "/pattern", "no regular expression", {"pattern": "()"}),
        (
            {"$ref": "https://elsewhere.example/s.json"},
            "/$ref",
            "leads out of the document",
            {"$ref": "#/$defs/a", "$defs": {"a": {}}},
        ),
        (
            {"items": {"$ref": "#/$defs/b"}, "$defs": {"a": {}}},
            "/items/$ref",
            "leads nowhere",
            {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {}}},
        ),
        (
            {"$ref": "#/title", "title": "t"},
            "/$ref",
            "leads to no schema",
            {"$ref": "#/x", "x": {}},
        ),
        ({"anyOf": [{"$ref": "#"}]}, "", "without end", {"items": {"$ref": "#"}}),
        ({"a/b": 1, "allOf": []}, "/allOf", "empty", {"a/b": 1, "allOf": [{}]}),
        (
            {"properties": {"a/b": {"required": ["x", "x"]}}},
            "/properties/a~1b/required",
            "twice",
            {"properties": {"a/b": {"required": ["x", "y"]}}},
        ),
        (TREE | {"unevaluatedProperties": 7}, "/unevaluatedProperties", "it is no schema", TREE),
        (
            {"$anchor": "a", "items": {"$ref": "#b"}},
            "",
            "leads nowhere",
            {"$anchor": "a", "items": {"$ref": "#a"}},
        ),
    ],
)
def test_a_schema_that_cannot_be_checked_is_refused_before_anything_runs(
    broken: Any, place: str, why: str, sound: Any
) -> None:
    (finding,) = findings(flow(broken), "OAS093")
    assert finding.pointer == FORM + place
    assert why in finding.message
    with pytest.raises(CompileError, match="OAS093"):
        compile_flow(flow(broken))
    assert found(flow(sound), "OAS093") == []
    assert compile_flow(flow(sound)).gates[0].id == "ask"


def test_a_misspelt_type_is_hinted_at() -> None:
    (finding,) = findings(flow({"items": {"type": "strng"}}), "OAS093")
    assert finding.hint == 'did you mean "string"?'


def test_the_document_inside_the_answer_has_a_schema_of_its_own_to_be_checked() -> None:
    broken = flow({"type": "string"}, formSchema={"minimum": "two"})
    assert found(broken, "OAS093") == [FORM.replace("inputMessageSchema", "formSchema/minimum")]
    assert found(flow({"type": "string"}, formSchema={"minimum": 2}), "OAS093") == []
    # a schema is an object: a list of fields is none
    assert found(flow({}, formSchema=[]), "OAS093") == [
        FORM.replace("inputMessageSchema", "formSchema")
    ]


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, REFERENCE, TREE, {"not": {}}])
def test_a_schema_that_can_be_checked_is_taken(schema: Any) -> None:
    assert found(flow(schema), "OAS093") == []
    assert compile_flow(flow(schema)).gates[0].id == "ask"


def test_a_schema_in_a_subflow_is_looked_at_once() -> None:
    inner = flow({"type": "strng"}) | {"id": "inner"}
    runs = {"component_type": "FlowNode", "id": "run", "name": "Run", "subflow": inner}
    again = runs | {"id": "again", "subflow": {"$component_ref": "inner"}}
    outer = flow_of(start(), runs, again, end())
    assert found(outer, "OAS093") == [f"/$referenced_components/inner{FORM}/type"]


def test_references_that_multiply_are_refused_without_following_them_all() -> None:
    steps = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
    broken = {"$ref": "#/$defs/d0", "$defs": {**steps, "d40": {}}}
    (finding,) = findings(flow(broken), "OAS093")
    assert "multiply" in finding.message
    few = {"$ref": "#/$defs/d37", "$defs": {**steps, "d40": {}}}
    assert len(findings(flow(few), "OAS093")) == 1  # d0 is still there
    short = {name: steps[name] for name in ("d37", "d38", "d39")}
    assert found(flow({"$ref": "#/$defs/d37", "$defs": {**short, "d40": {}}}), "OAS093") == []


def test_a_gate_whose_schema_refers_to_its_own_definitions_takes_answers() -> None:
    made = compile_flow(flow(REFERENCE))
    assert drive(made, answers=[{"p": 2}]).status == "completed"
    assert drive(made, answers=lambda waiting: waiting.example()).status == "completed"
    with pytest.raises(ValueError, match="minimum"):
        drive(made, answers=[{"p": 1}])


def test_a_gate_that_no_answer_fits_has_no_example_and_can_be_rejected() -> None:
    made = compile_flow(flow({"not": {}}))
    (waiting,) = drive(made).gates
    assert waiting.example() is None
    assert drive(made, answers=[False]).status == "rejected"


def test_the_schema_of_a_choice_is_checked_where_the_output_declares_it() -> None:
    sound = flow_of(start(), gate("ask", output=port("choice", None, enum=["a", "b"])), end())
    assert found(sound, "OAS093") == []
    assert compile_ir(sound).ir.nodes[1].id == "ask"
