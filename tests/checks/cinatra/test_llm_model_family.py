from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import ABOUT, about, mail_agent
from tests.checks.rule_case import findings, found


def with_model(provider, model):
    flow = mail_agent()
    about(flow)["llm"] = {"preferredProvider": provider, "preferredModel": model}
    return flow


@pytest.mark.parametrize(
    ("provider", "model", "full"),
    [
        ("anthropic", "sonnet", "claude-sonnet-4-6"),
        ("openai", "mini", "gpt-5-mini"),
        ("gemini", "models/pro", "models/gemini-2.5-pro"),
    ],
)
def test_a_name_of_no_family_is_a_warning(provider, model, full):
    (finding,) = findings(with_model(provider, model), "OAS134")
    assert (finding.pointer, finding.severity) == (f"{ABOUT}/llm/preferredModel", "warning")
    assert finding.message == f'"{model}" is called like no model of {provider}'
    assert found(with_model(provider, full), "OAS134") == []


def test_the_hint_says_how_the_names_of_the_provider_begin():
    (finding,) = findings(with_model("anthropic", "sonnet"), "OAS134")
    assert finding.hint == 'a model of anthropic begins with "claude-"'


@pytest.mark.parametrize(
    ("provider", "model"), [("mistral", "x"), (None, "x"), ("openai", 7), ("openai", "claude-x")]
)
def test_what_another_rule_says_is_not_told_again(provider, model):
    assert found(with_model(provider, model), "OAS134") == []
