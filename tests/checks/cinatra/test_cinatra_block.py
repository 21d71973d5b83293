from __future__ import annotations

import json

import pytest

from tests.checks.cinatra.cinatra_case import ABOUT, about, mail_agent
from tests.checks.rule_case import findings, found, package_of
from tests.flows import plain

PACKAGE = {"name": "@acme/mail", "version": "0.1.0", "license": "MIT", "cinatra": {}}


@pytest.mark.parametrize("kind", ["orchestrator", "leaf", "node", "flow"])
def test_the_four_types_of_agent_are_taken(kind):
    flow = mail_agent()
    about(flow)["type"] = kind
    assert found(flow, "OAS102") == []


def test_a_misspelt_type_is_named_with_the_nearest_one():
    flow = mail_agent()
    about(flow)["type"] = "flows"
    (finding,) = findings(flow, "OAS102")
    assert finding.pointer == f"{ABOUT}/type"
    assert finding.hint == 'did you mean "flow"?'


def test_another_type_is_answered_with_the_list():
    flow = mail_agent()
    about(flow)["type"] = "agent"
    assert findings(flow, "OAS102")[0].hint == "it is one of orchestrator, leaf, node, flow"
    about(flow)["type"] = ["flow"]
    assert found(flow, "OAS102") == [f"{ABOUT}/type"]


def test_a_missing_type_is_reported_at_the_block():
    flow = mail_agent()
    del about(flow)["type"]
    assert found(flow, "OAS102") == [ABOUT]


def test_screens_are_a_list_of_strings():
    flow = mail_agent()
    about(flow)["hitlScreens"] = ["@acme/mail:review"]
    assert found(flow, "OAS102") == []
    about(flow)["hitlScreens"] = "@acme/mail:review"
    assert found(flow, "OAS102") == [f"{ABOUT}/hitlScreens"]
    about(flow)["hitlScreens"] = ["@acme/mail:review", {"id": "x"}]
    assert found(flow, "OAS102") == [f"{ABOUT}/hitlScreens/1"]


def test_a_flow_in_a_cinatra_package_needs_the_block(tmp_path):
    flow = mail_agent()
    assert found(package_of(tmp_path / "good", flow, PACKAGE), "OAS102") == []
    del flow["metadata"]
    assert found(package_of(tmp_path / "bad", flow, PACKAGE), "OAS102") == [""]
    assert found(package_of(tmp_path / "alone", plain(flow)), "OAS102") == [""]
    (tmp_path / "oas.json").write_text(json.dumps(plain(flow)), encoding="utf-8")
    assert found(tmp_path / "oas.json", "OAS102") == []


def test_a_block_that_is_no_object_is_reported_there(tmp_path):
    flow = mail_agent() | {"metadata": {"cinatra": []}}
    assert found(package_of(tmp_path / "a", flow, PACKAGE), "OAS102") == [ABOUT]
    flow = mail_agent() | {"metadata": 7}
    assert found(package_of(tmp_path / "b", flow, PACKAGE), "OAS102") == []
    assert found(package_of(tmp_path / "b", flow, PACKAGE), "OAS022") == ["/metadata"]
