from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import ABOUT, about, mail_agent
from tests.checks.rule_case import findings, found


def with_model(provider, model):
    flow = mail_agent()
    about(flow)["llm"] = {"preferredProvider": provider, "preferredModel": model}
    return flow


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-5.5"),
        ("openai", "o3-mini"),
        ("openai", "chatgpt-4o-latest"),
        ("openai", "codex-mini-latest"),
        ("openai", "computer-use-preview"),
        ("openai", "text-davinci-003"),
        ("openai", "ft:gpt-4.1-2025-04-14:acme::abc"),
        ("anthropic", "claude-sonnet-4-6"),
        ("gemini", "gemini-2.5-pro"),
        ("gemini", "models/gemini-2.5-pro"),
        ("gemini", "gemma-3-27b-it"),
        ("gemini", "text-bison-001"),
    ],
)
def test_a_model_goes_with_its_own_provider_and_no_other(provider, model):
    assert found(with_model(provider, model), "OAS114") == []
    assert found(with_model(provider, model), "OAS134") == []
    for other in {"openai", "anthropic", "gemini"} - {provider}:
        (finding,) = findings(with_model(other, model), "OAS114")
        assert finding.pointer == f"{ABOUT}/llm/preferredModel"
        assert finding.hint == f'its provider is "{provider}"'
        assert found(with_model(other, model), "OAS134") == []


def test_a_name_of_no_family_may_be_on_the_hosts_list():
    assert found(with_model("anthropic", "sonnet"), "OAS114") == []


@pytest.mark.parametrize(("provider", "model"), [("mistral", "x"), (None, "x"), ("openai", 7)])
def test_what_is_wrong_by_itself_is_reported_once(provider, model):
    assert found(with_model(provider, model), "OAS114") == []
    assert len(found(with_model(provider, model), "OAS113")) == 1
