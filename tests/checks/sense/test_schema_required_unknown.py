from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import end, flow_of, gate, start

CODE = "OAS240"
TEXT = {"type": "string"}


def asking(schema):
    return flow_of(start(), gate("ask", inputMessageSchema=schema), end())


def test_a_misspelt_name_is_found():
    schema = {
        "type": "object",
        "properties": {"verdict": TEXT, "note": TEXT},
        "required": ["verdikt"],
    }
    (finding,) = findings(asking(schema), CODE)
    at = "/$referenced_components/ask/metadata/cinatra/inputMessageSchema/required/0"
    assert (finding.pointer, finding.hint) == (at, 'did you mean "verdict"?')


def test_so_is_one_where_no_further_members_are_allowed():
    schema = {"properties": {"a": TEXT}, "required": ["zeit"], "additionalProperties": False}
    assert len(findings(asking(schema), CODE)) == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"verdict": TEXT}, "required": ["verdict"]},
        {"properties": {"verdict": TEXT}, "required": ["zeit"]},
        {"required": ["verdict"]},
        {"properties": {"notes": TEXT, "note": TEXT}, "required": ["note", "notes"]},
        {"properties": {"x": {"enum": [{"properties": {"a": 1}, "required": ["aa"]}]}}},
        {"properties": {"a": TEXT}, "required": ["b1"], "patternProperties": {"b": TEXT},
         "additionalProperties": False},
    ],
)  # fmt: skip
def test_other_schemas_are_fine(schema):
    assert found(asking(schema), CODE) == []
