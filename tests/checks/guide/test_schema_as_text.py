from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import agent, flow, gated, only, told
from tests.checks.rule_case import found
from tests.flows import api, end, start

CODE = "OAS173"
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
AS_TEXT = '{"type": "object", "properties": {"a": {"type": "string"}}}'


@pytest.mark.parametrize("key", ["inputSchema", "outputSchema"])
def test_a_schema_in_package_json_is_an_object(tmp_path, key):
    assert told(agent(tmp_path, cinatra={key: SCHEMA}), CODE) == []
    finding = only(agent(tmp_path, cinatra={key: AS_TEXT}), CODE)
    assert (finding.severity, finding.pointer) == ("error", f"/cinatra/{key}")
    assert finding.message == f"{key} is a text, not a JSON object"


@pytest.mark.parametrize("value", [[SCHEMA], True, 3])
def test_a_list_a_boolean_and_a_number_are_no_schemas_either(tmp_path, value):
    assert only(agent(tmp_path, cinatra={"inputSchema": value}), CODE).line


def test_no_output_schema_may_be_written_as_null(tmp_path):
    assert told(agent(tmp_path, cinatra={"outputSchema": None}), CODE) == []


def test_the_form_schema_of_a_gate_is_an_object():
    at = "/$referenced_components/review/metadata/cinatra/formSchema"
    assert found(gated(formSchema=AS_TEXT), CODE) == [at]
    assert found(gated(formSchema=[]), CODE) == [at]
    assert found(gated(formSchema=SCHEMA), CODE) == []


def test_the_answer_schema_of_a_gate_is_left_to_the_rule_that_has_it():
    made = gated(inputMessageSchema=AS_TEXT)
    assert found(made, CODE) == []
    assert found(made, "OAS038") != []


def test_a_legacy_schema_of_the_root_flow_is_left_to_the_rule_about_legacy_fields():
    assert found(flow(about={"inputSchema": AS_TEXT}), CODE) == []


def test_a_saved_template_in_a_request_carries_objects_and_a_placeholder_may_become_one():
    def saving(schema):
        return flow(start(), api("save", data={"input": {"inputSchema": schema}}), end())

    at = "/$referenced_components/save/data/input/inputSchema"
    assert found(saving(AS_TEXT), CODE) == [at]
    assert found(saving(SCHEMA), CODE) == []
    assert found(saving("{{ schema }}"), CODE) == []
