from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import ABOUT, about, mail_agent
from tests.checks.rule_case import found


def with_llm(**llm):
    flow = mail_agent()
    about(flow)["llm"] = llm
    return flow


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_media_is_taken_by_one_provider_only(provider):
    bad = with_llm(preferredProvider=provider, capabilityRequired="media_input")
    good = with_llm(preferredProvider="gemini", capabilityRequired="media_input")
    assert found(bad, "OAS116") == [f"{ABOUT}/llm/capabilityRequired"]
    assert found(good, "OAS116") == []


def test_other_capabilities_are_not_bound_to_a_provider():
    llm = {"preferredProvider": "openai", "capabilityRequired": "native_mcp"}
    assert found(with_llm(**llm), "OAS116") == []


def test_without_a_provider_the_host_chooses():
    assert found(with_llm(capabilityRequired="media_input"), "OAS116") == []
