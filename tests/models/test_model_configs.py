"""The `llm_config` of a file: what is found when it is checked, and what a run reads of it."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.outside.models.config import read_model_config
from oas_compiler.ir import LlmNode
from oas_compiler.pipeline import check, compile_ir
from tests.models.llm_flows import ask_flow


def found(**config: Any) -> list[tuple[str, str]]:
    """Findings below OAS100, which are about the file and not about a host."""
    findings = check(ask_flow(**config)).findings
    return [(one.code, one.message) for one in findings if one.code < "OAS100"]


def read(**config: Any) -> Any:
    node = compile_ir(ask_flow(**config)).ir.by_id["ask"]
    assert isinstance(node, LlmNode)
    return read_model_config(node.llm_config)


@pytest.mark.parametrize(
    ("config", "code", "message"),
    [
        ({"temperature": 1}, "OAS024", 'an OpenAiConfig has no field "temperature"; it is ignored'),
        ({"model_id": None}, "OAS023", 'the OpenAiConfig "model" has no "model_id"'),
        ({"url": 7}, "OAS022", '"url" of an OpenAiConfig must be a string, not a number'),
        ({"component_type": "EndNode"}, "OAS014", "a model must be an LlmConfig, not an EndNode"),
        ({"component_type": "VlmConfig"}, "OAS026", '"VlmConfig" is not a component type'),
        ({"component_type": "VllmConfig"}, "OAS023", 'the VllmConfig "model" has no "url"'),
        ({"api_key": {"$component_ref": "key"}}, "OAS010", 'no component "key" is defined here'),
        (
            {"component_type": "VllmConfig", "url": "http://h", "ca_file": "/ca.pem"},
            "OAS090",
            'not supported yet: VllmConfig "model" with ca_file',
        ),
    ],
)
def test_a_wrong_model_is_one_finding(config: Any, code: str, message: str) -> None:
    ((said, text),) = found(**config)
    assert said == code
    assert text.startswith(message)


def test_a_reference_in_place_of_an_exported_key_is_no_finding() -> None:
    assert found(api_key={"$component_ref": "model.api_key"}) == []
    assert read(api_key={"$component_ref": "model.api_key"}).api_key == ""


def test_a_model_can_be_defined_elsewhere_and_so_can_its_parts() -> None:
    flow = ask_flow(default_generation_parameters={"$component_ref": "settings"})
    block = flow["$referenced_components"]
    block["writer"] = block["ask"]["llm_config"]
    block["ask"]["llm_config"] = {"$component_ref": "writer"}
    block["settings"] = {"temperature": 0.5}
    node = compile_ir(flow).ir.by_id["ask"]
    assert isinstance(node, LlmNode)
    config = read_model_config(node.llm_config)
    assert (config.name, dict(config.parameters)) == ("Writer", {"temperature": 0.5})


@pytest.mark.parametrize(
    ("config", "capability"),
    [
        ({}, "openai/gpt-5"),
        ({"component_type": "LlmConfig", "provider": "anthropic"}, "anthropic/gpt-5"),
        (
            {"component_type": "LlmConfig", "provider": "meta", "api_provider": "bedrock"},
            "bedrock/gpt-5",
        ),
        ({"component_type": "OllamaConfig", "url": "http://u:secret@h"}, "ollama/gpt-5"),
    ],
)
def test_the_capability_names_provider_and_model_only(config: Any, capability: str) -> None:
    made = read(**config)
    assert made.capability == capability
    assert "secret" not in repr(made)


def test_the_policy_of_tries_has_the_defaults_of_agent_spec() -> None:
    usual = read().retry
    assert (usual.max_attempts, usual.initial_retry_delay, usual.max_retry_delay) == (2, 1.0, 8.0)
    given = read(
        retry_policy={
            "max_attempts": 5, "request_timeout": 3, "jitter": None,
            "recoverable_statuses": {"418": ["tea"]},
        }
    ).retry  # fmt: skip
    assert (given.max_attempts, given.request_timeout, given.jitter) == (5, 3.0, None)
    assert dict(given.recoverable_statuses) == {418: ("tea",)}


def test_a_model_of_google_has_its_key_in_its_auth() -> None:
    auth = {
        "component_type": "GeminiAIStudioAuthConfig",
        "id": "a",
        "name": "a",
        "api_key": "k" * 9,
    }
    config = read(component_type="GeminiConfig", auth=auth)
    assert (config.provider, config.api_key) == ("google_genai", "k" * 9)


def test_a_policy_of_tries_that_cannot_be_kept_is_a_finding() -> None:
    ((code, message),) = found(retry_policy={"max_attempts": -1})
    assert code == "OAS022"
    assert "retry_policy.max_attempts" in message
