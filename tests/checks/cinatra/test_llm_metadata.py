from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import ABOUT, about, around, mail_agent
from tests.checks.rule_case import findings, found


def with_llm(llm):
    flow = mail_agent()
    about(flow)["llm"] = llm
    return flow


@pytest.mark.parametrize(
    "llm",
    [
        None,
        {},
        {"preferredProvider": "openai", "preferredModel": "gpt-5.5"},
        {"preferredProvider": "anthropic"},
        {"preferredProvider": "gemini", "capabilityRequired": "media_input"},
        {"capabilityRequired": "function_tools"},
        {"capabilityRequired": "native_mcp"},
    ],
)
def test_what_the_host_knows_is_taken(llm):
    assert found(with_llm(llm), "OAS113") == []


@pytest.mark.parametrize(
    ("llm", "pointer"),
    [
        ({"temperature": 0.2}, "/llm/temperature"),
        ({"preferredProvider": "mistral"}, "/llm/preferredProvider"),
        ({"preferredProvider": None}, "/llm/preferredProvider"),
        ({"preferredModel": 5}, "/llm/preferredModel"),
        ({"capabilityRequired": ["media_input"]}, "/llm/capabilityRequired"),
        ({"capabilityRequired": "vision"}, "/llm/capabilityRequired"),
        ("openai", "/llm"),
        ([], "/llm"),
    ],
)
def test_everything_else_is_refused_where_it_stands(llm, pointer):
    assert found(with_llm(llm), "OAS113") == [ABOUT + pointer]


def test_a_misspelt_key_is_named_with_the_nearest_one():
    (finding,) = findings(with_llm({"preferedModel": "gpt-5.5"}), "OAS113")
    assert finding.hint == 'did you mean "preferredModel"?'
    (finding,) = findings(with_llm({"preferredProvider": "OpenAI"}), "OAS113")
    assert finding.hint == 'did you mean "openai"?'


def test_the_copy_of_a_child_agent_is_not_looked_at():
    assert found(around(with_llm({"temperature": 1})), "OAS113") == []
