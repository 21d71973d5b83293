from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import INNER, PARTS, around, mail_agent, parts
from tests.checks.rule_case import findings, found
from tests.flows import plain

REVIEW = f"{PARTS}/review"


def test_a_gate_names_the_answer():
    flow = mail_agent()
    assert found(flow, "OAS128") == []
    del parts(flow)["review"]["outputs"]
    (finding,) = findings(flow, "OAS128")
    assert finding.pointer == REVIEW
    assert found(around(flow), "OAS128") == [INNER + REVIEW]


@pytest.mark.parametrize(("outputs", "code"), [([], "OAS035"), ({}, "OAS022")])
def test_a_wrong_list_is_reported_once(outputs, code):
    flow = mail_agent()
    parts(flow)["review"]["outputs"] = outputs
    assert len(found(flow, code)) == 1
    assert found(flow, "OAS128") == []


def test_agent_spec_itself_does_not_need_one():
    flow = mail_agent()
    del parts(flow)["review"]["outputs"]
    assert found(plain(flow), "OAS128") == []
