"""The schemas that people's answers are checked against."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.testing import drive
from oas_compiler import CompileError, check, compile_flow
from tests.flows import end, flow_of, gate, port, start

REFERENCE = {
    "type": "object",
    "properties": {"p": {"$ref": "#/$defs/P"}},
    "required": ["p"],
    "$defs": {"P": {"type": "integer", "minimum": 2}},
}


def flow(schema: Any) -> Any:
    return flow_of(start(), gate("ask", output=port("json"), inputMessageSchema=schema), end())


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "strng"}, "breaks the rule"),
        ({"properties": "x"}, "/properties"),
        ({"pattern": "("}, "not a regular expression"),
        ({"$ref": "https://elsewhere.example/s.json"}, "leads out of the document"),
        ({"$ref": "#/$defs/nothing"}, "leads nowhere"),
    ],
)
def test_a_schema_that_cannot_be_checked_is_refused_before_anything_runs(
    schema: Any, why: str
) -> None:
    (finding,) = check(flow(schema)).errors
    assert finding.code == "OAS093"
    assert why in finding.message
    with pytest.raises(CompileError, match="OAS093"):
        compile_flow(flow(schema))


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, REFERENCE, {"not": {}}])
def test_a_schema_that_can_be_checked_is_taken(schema: Any) -> None:
    assert check(flow(schema)).errors == []
    assert compile_flow(flow(schema)).gates[0].id == "ask"


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
