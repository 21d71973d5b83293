from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import INNER, PARTS, around, mail_agent, parts
from tests.checks.rule_case import findings, found
from tests.flows import port


def with_input(descriptor):
    flow = mail_agent()
    parts(flow)["review"]["inputs"] = [descriptor]
    return flow


def test_a_whole_number_is_no_default_of_a_number():
    (finding,) = findings(with_input(port("limit", "number", default=5)), "OAS119")
    assert finding.pointer == f"{PARTS}/review/inputs/0/default"
    assert finding.message == 'the number "limit" has the whole number 5 as its default'
    assert found(with_input(port("limit", "integer", default=5)), "OAS119") == []


@pytest.mark.parametrize("default", [0.5, None, "5", True])
def test_other_defaults_are_no_matter_of_this_rule(default):
    assert found(with_input(port("limit", "number", default=default)), "OAS119") == []


def test_the_type_may_stand_in_the_wrapped_schema():
    wrapped = {"title": "limit", "json_schema": {"type": "number"}, "default": 0}
    assert found(with_input(wrapped), "OAS119") == [f"{PARTS}/review/inputs/0/default"]
    assert found(with_input(wrapped | {"type": "integer"}), "OAS119") == []


def test_flows_subflows_and_outputs_are_looked_at_too():
    inner = mail_agent()
    inner["outputs"] = [port("score", "number", default=0)]
    assert found(inner, "OAS119") == ["/outputs/0/default"]
    assert found(around(inner), "OAS119") == [f"{INNER}/outputs/0/default"]


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [(["number", "null"], True), (["number", "integer"], False), (["integer", "null"], False)],
)
def test_a_list_of_types_counts_when_whole_numbers_have_no_type_of_their_own(kind, wrong):
    flow = mail_agent()
    item = {"title": "score", "type": kind, "default": 3}
    parts(flow)["write"]["outputs"].append(item)
    at = f"{PARTS}/write/outputs/1/default"
    assert found(flow, "OAS119") == ([at] if wrong else [])
    item["default"] = 3.5
    assert found(flow, "OAS119") == []
