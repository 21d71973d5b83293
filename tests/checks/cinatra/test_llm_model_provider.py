from __future__ import annotations

from tests.checks.cinatra.cinatra_case import ABOUT, about, mail_agent
from tests.checks.rule_case import findings, found


def with_llm(**llm):
    flow = mail_agent()
    about(flow)["llm"] = llm
    return flow


def test_a_model_needs_its_provider():
    (finding,) = findings(with_llm(preferredModel="claude-sonnet-4-6"), "OAS115")
    assert finding.pointer == f"{ABOUT}/llm/preferredModel"
    assert finding.hint == 'add "preferredProvider": "anthropic"'
    good = with_llm(preferredModel="claude-sonnet-4-6", preferredProvider="anthropic")
    assert found(good, "OAS115") == []


def test_a_provider_without_a_model_is_fine():
    assert found(with_llm(preferredProvider="anthropic"), "OAS115") == []
    assert found(with_llm(), "OAS115") == []


def test_an_unknown_model_gets_no_hint():
    (finding,) = findings(with_llm(preferredModel="x"), "OAS115")
    assert finding.hint == ""
