from __future__ import annotations

import pytest

from oas_compiler.findings.finding import Edit
from tests.checks.cinatra.cinatra_case import ABOUT, about, around, mail_agent, parts
from tests.checks.rule_case import findings, found

KEYS = {
    "formatVersion": "V2",
    "executionMode": "V3",
    "approvalPolicy": "V4",
    "compiledPlan": "V5",
    "inputSchema": "V6",
    "outputSchema": "V7",
    "prompt": "V8",
    "taskSpec": "V9",
}
OF_TOOLS = {"formatVersion", "executionMode", "compiledPlan"}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("empty", [None, "", [], {}])
def test_a_legacy_key_that_says_nothing_is_refused_and_the_fix_removes_it(key, empty):
    flow = mail_agent()
    assert found(flow, "OAS107") == []
    about(flow)[key] = empty
    (finding,) = findings(flow, "OAS107")
    assert finding.pointer == f"{ABOUT}/{key}"
    assert finding.message == f'the legacy field "{key}" must not appear ({KEYS[key]})'
    assert finding.hint == "remove it"
    assert finding.fix == (Edit(pointer=f"{ABOUT}/{key}", value=None),)


@pytest.mark.parametrize("key", KEYS)
def test_what_an_author_wrote_is_not_removed_and_the_hint_says_what_replaces_it(key):
    flow = mail_agent()
    about(flow)[key] = {"steps": [{"stepNumber": 1, "riskClass": "email_send"}]}
    (finding,) = findings(flow, "OAS107")
    assert bool(finding.fix) == (key in OF_TOOLS)
    assert (finding.hint == "remove it") == (key in OF_TOOLS)


def test_the_old_spelling_of_component_type_is_refused():
    (finding,) = findings(mail_agent() | {"componentType": "Flow"}, "OAS107")
    assert finding.pointer == "/componentType"
    assert finding.fix == (Edit(pointer="/componentType", value=None),)


def test_a_node_and_a_subflow_may_have_such_keys():
    flow = mail_agent()
    about(parts(flow)["write"])["approvalPolicy"] = "always"
    about(flow)["prompt"] = "x"
    assert found(flow, "OAS107") == [f"{ABOUT}/prompt"]
    assert found(around(flow), "OAS107") == []


def test_the_old_name_of_the_type_is_reported_once():
    flow = mail_agent() | {"componentType": "Flow"}
    assert found(flow, "OAS107") == ["/componentType"]
    assert found(flow, "OAS024") == []
    flow["componentTipe"] = "Flow"
    assert found(flow, "OAS024") == ["/componentTipe"]
