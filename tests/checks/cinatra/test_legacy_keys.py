from __future__ import annotations

import pytest

from oas_compiler.diagnostics import Edit
from tests.checks.cinatra.cinatra_case import ABOUT, about, around, mail_agent, parts
from tests.checks.rule_case import findings, found


@pytest.mark.parametrize(
    "key",
    [
        "formatVersion",
        "executionMode",
        "approvalPolicy",
        "compiledPlan",
        "inputSchema",
        "outputSchema",
        "prompt",
        "taskSpec",
    ],
)
def test_a_legacy_key_of_the_root_flow_is_refused_and_the_fix_removes_it(key):
    flow = mail_agent()
    assert found(flow, "OAS107") == []
    about(flow)[key] = None
    (finding,) = findings(flow, "OAS107")
    assert finding.pointer == f"{ABOUT}/{key}"
    assert finding.message == f'the legacy field "{key}" must not appear'
    assert finding.fix == (Edit(pointer=f"{ABOUT}/{key}", value=None),)


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
