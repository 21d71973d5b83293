from __future__ import annotations

from tests.checks.cinatra.cinatra_case import mail_agent
from tests.checks.rule_case import found

BLOCK = "$referenced_components"


def test_a_cinatra_flow_brings_its_components_along():
    flow = mail_agent()
    assert found(flow, "OAS105") == []
    assert found(flow | {BLOCK: {}}, "OAS105") == []
    assert found(flow | {BLOCK: None}, "OAS105") == [""]
    del flow[BLOCK]
    assert found(flow, "OAS105") == [""]


def test_a_block_of_the_wrong_kind_is_reported_once():
    flow = mail_agent() | {BLOCK: []}
    assert found(flow, "OAS022") == [f"/{BLOCK}"]
    assert found(flow, "OAS105") == []
