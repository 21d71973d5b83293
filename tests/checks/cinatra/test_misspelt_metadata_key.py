from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import (
    ABOUT,
    INNER,
    PARTS,
    about,
    around,
    mail_agent,
    parts,
)
from tests.checks.rule_case import findings, found


def with_key(node, key, value="x"):
    flow = mail_agent()
    about(parts(flow)[node] if node else flow)[key] = value
    return flow


@pytest.mark.parametrize(
    ("node", "key", "meant"),
    [
        ("review", "maxGateVisit", "maxGateVisits"),
        ("review", "inputMesageSchema", "inputMessageSchema"),
        ("review", "a2UISurfaceID", "a2uiSurfaceId"),
        ("write", "approval_policy", "approvalPolicy"),
        ("", "hitlScreen", "hitlScreens"),
        ("", "contextslots", "contextSlots"),
        ("start", "inputRenderer", "inputRenderers"),
    ],
)
def test_a_key_that_is_almost_one_that_is_read_is_named_with_it(node, key, meant):
    flow = mail_agent()
    about(parts(flow)[node] if node else flow).pop(meant, None)
    assert found(flow, "OAS133") == []
    about(parts(flow)[node] if node else flow)[key] = "x"
    (finding,) = findings(flow, "OAS133")
    at = f"{PARTS}/{node}{ABOUT}" if node else ABOUT
    assert (finding.pointer, finding.severity) == (f"{at}/{key}", "warning")
    assert finding.hint == f'did you mean "{meant}"?'
    about(parts(flow)[node] if node else flow)[meant] = None
    assert found(flow, "OAS133") == []


@pytest.mark.parametrize(
    ("node", "key"),
    [
        ("review", "team"),
        ("review", "reviewers"),
        ("review", "x"),
        ("write", "phase"),
        ("write", "maxGateVisit"),
        ("", "type"),
        ("", "prompt"),
        ("", "inputSchema"),
        ("", "k" * 10_000),
    ],
)
def test_other_keys_are_free(node, key):
    assert found(with_key(node, key), "OAS133") == []


def test_subflows_are_looked_at_too():
    assert found(around(with_key("review", "maxGateVisit")), "OAS133") == [
        f"{INNER}{PARTS}/review{ABOUT}/maxGateVisit"
    ]


def test_one_slip_is_one_finding():
    flow = mail_agent()
    gate, begin = about(parts(flow)["review"]), about(parts(flow)["start"])
    gate["riskclass"] = gate.pop("riskClass", "read_only")
    gate["renderer"] = "@test/agent:review"
    about(flow).pop("hitlScreens", None)
    about(flow)["hitlScreen"] = ["@test/agent:review"]
    begin["requird"] = begin.pop("required")
    assert len(found(flow, "OAS133")) == 3
    for code in ("OAS125", "OAS176", "OAS177"):
        assert found(flow, code) == []
    for key in ("riskclass", "renderer"):
        gate.pop(key)
    gate["renderer"] = "@test/agent:review"
    about(flow).pop("hitlScreen")
    begin.pop("requird")
    for code in ("OAS125", "OAS176", "OAS177"):
        assert len(found(flow, code)) == 1


def test_of_very_many_keys_only_the_first_are_compared():
    flow = mail_agent()
    about(flow).update({f"unknown{number}": 1 for number in range(5_000)})
    assert found(flow, "OAS133") == []
