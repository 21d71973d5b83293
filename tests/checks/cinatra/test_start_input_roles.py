from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import INNER, PARTS, about, around, mail_agent, parts
from tests.checks.rule_case import findings, found

TOPIC = f"{PARTS}/start/inputs/0"


def with_roles(**roles):
    flow = mail_agent()
    about(parts(flow)["start"]).update(roles)
    return flow


def test_an_input_without_a_role_is_a_warning():
    (finding,) = findings(with_roles(required=[]), "OAS125")
    assert (finding.pointer, finding.severity) == (TOPIC, "warning")
    assert finding.message == (
        'the input "topic" of the StartNode "start" is neither required nor hidden'
    )
    assert found(with_roles(), "OAS125") == []


def test_hidden_is_a_role_as_good_as_required():
    assert found(with_roles(required=[], hidden=["topic", "cinatra_run_id"]), "OAS125") == []


@pytest.mark.parametrize("roles", [None, [["topic"]]])
def test_no_list_and_a_list_of_something_else_name_nothing(roles):
    assert found(with_roles(required=roles), "OAS125") == [TOPIC]


@pytest.mark.parametrize("roles", ["topic", {"topic": True}])
def test_what_is_no_list_is_told_once_by_the_rule_about_forms(roles):
    assert found(with_roles(required=roles), "OAS125") == []
    assert len(found(with_roles(required=roles), "OAS038")) == 1


def test_ports_that_are_listed_as_outputs_count_once():
    flow = with_roles(required=[])
    start = parts(flow)["start"]
    start["outputs"] = start["inputs"]
    assert found(flow, "OAS125") == [TOPIC]
    del start["inputs"]
    assert found(flow, "OAS125") == [f"{PARTS}/start/outputs/0"]


def test_subflows_are_looked_at_too():
    assert found(around(with_roles(required=[])), "OAS125") == [INNER + TOPIC]


def test_a_misspelt_name_in_a_list_is_told_once():
    flow = with_roles(required=["topik"])
    assert len(found(flow, "OAS034")) == 1
    assert found(flow, "OAS125") == []
    assert found(with_roles(required=["audience"]), "OAS125") == [TOPIC]


def test_a_name_that_belongs_to_the_host_needs_no_role():
    flow = mail_agent()
    for inputs in (flow["inputs"], parts(flow)["start"]["inputs"]):
        inputs.append({"title": "bearer_token", "type": "string", "default": ""})
    assert found(flow, "OAS091") == [f"{PARTS}/start/inputs/2"]
    assert found(flow, "OAS125") == []
