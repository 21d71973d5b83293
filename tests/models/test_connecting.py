"""Models that are connected: a real server, keys, addresses, parameters, tries."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Any

import pytest

from cinatra_sdk import HostParts, HttpPlatform, NodeFailed
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.outside.effects.effect import Usage
from cinatra_sdk.outside.models.clients import connect_model
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.testing import adrive, drive
from oas_compiler import compile_flow
from tests.flows import port
from tests.models.chat_server import ChatServer, serving
from tests.models.llm_flows import ask_flow

KEY = "canary-model-key-19c7d2"
AT_ONCE = {"initial_retry_delay": 0, "max_retry_delay": 0}


@pytest.fixture(autouse=True)
def _a_key_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def asked(server: ChatServer, *outputs: Any, host: Any = None, **config: Any) -> Any:
    flow = ask_flow(
        *outputs, component_type="OpenAiCompatibleConfig", model_id="m", url=server.url, **config
    )
    parts = host or HostParts()
    platform = HttpPlatform(None, allow=[server.url])
    return drive(compile_flow(flow, host=parts), {"topic": "bees"}, platform=platform)


def test_a_server_of_the_protocol_answers() -> None:
    spent: list[Usage] = []
    host = HostParts(spent=lambda _effect, usage: spent.append(usage))
    with serving("Bees.") as server:
        assert asked(server, host=host).outputs == {"generated_text": "Bees."}
    assert server.bodies[0]["messages"] == [{"role": "user", "content": "About bees"}]
    assert spent == [Usage(calls=1, input_tokens=11, output_tokens=5)]


def test_tokens_of_a_server_are_told() -> None:
    with serving("Bees.") as server:
        url = server.url
        flow = ask_flow(component_type="VllmConfig", model_id="m", url=url)
        made = compile_flow(flow, platform=HttpPlatform(None, allow=[url]))
        events = list(made.stream({"topic": "x"}))
    told = [event.data["text"] for event in events if event.kind == "token"]
    assert told == ["Be", "es."]
    (usage,) = [event.data for event in events if event.kind == "usage"]
    assert usage == {"calls": 1, "input_tokens": 11, "output_tokens": 5}


def test_outputs_are_asked_for_by_schema_and_mended() -> None:
    outputs = port("brand"), port("hp", "integer")
    with serving({"brand": "Hive", "hp": "x"}, {"brand": "Hive", "hp": 3}) as server:
        assert asked(server, *outputs).outputs == {"brand": "Hive", "hp": 3}
    schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["brand", "hp"]
    assert "output 'hp'" in server.bodies[1]["messages"][-1]["content"]


def test_generation_parameters_are_sent_under_their_names() -> None:
    given = {"temperature": 0.5, "max_tokens": 9, "top_p": 0.25, "min_p": 0.1, "stop": ["#"]}
    with serving("ok") as server:
        assert asked(server, default_generation_parameters=given).status == "completed"
    assert {name: server.bodies[0].get(name) for name in given} == given


@pytest.mark.parametrize("name", ["base_url", "extra_headers", "api_key", "http_client"])
def test_a_parameter_cannot_steer_the_request(name: str) -> None:
    with serving("ok") as server:
        result = asked(server, default_generation_parameters={name: "http://evil.example"})
    assert f'the generation parameter "{name}", which is not taken' in str(result.error)
    assert server.bodies == []


def test_a_key_of_the_environment_is_not_sent_to_an_address_of_the_file() -> None:
    with serving("ok") as server:
        asked(server)
    assert server.headers[0]["authorization"] == "Bearer none"
    assert KEY not in str(server.headers)


def test_a_key_of_the_host_is_sent_and_wins_over_the_file() -> None:
    host = HostParts(api_key_for=lambda config: f"key-for-{config.model}-12345678")
    with serving("ok") as server:
        asked(server, host=host, api_key="key-in-the-file")
        asked(server, api_key="key-in-the-file")
    sent = [headers["authorization"] for headers in server.headers]
    assert sent == ["Bearer key-for-m-12345678", "Bearer key-in-the-file"]


def test_a_reference_that_an_sdk_exports_is_no_key() -> None:
    with serving("ok") as server:
        asked(server, api_key={"$component_ref": "model.api_key"})
    assert server.headers[0]["authorization"] == "Bearer none"


def test_an_address_that_the_operator_did_not_open_is_not_called() -> None:
    with serving("ok") as server:
        flow = ask_flow(component_type="OllamaConfig", model_id="m", url=server.url)
        result = drive(compile_flow(flow), {"topic": "x"}, platform=HttpPlatform(None))
    assert "is at an address that this process does not open" in str(result.error)
    assert "--allow" in str(result.error)
    assert server.bodies == []


BUSY = {"error": {"message": "busy", "code": "x"}}


@pytest.mark.parametrize("status", [408, 429, 409, 500, 503])
def test_what_may_pass_is_tried_again(status: int) -> None:
    rules = {**AT_ONCE, "recoverable_statuses": {"408": [], "409": [], "429": []}}
    with serving((status, BUSY), "ok") as server:
        assert asked(server, retry_policy=rules).status == "completed"
    assert len(server.bodies) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 501])
def test_what_does_not_pass_is_not_tried_again(status: int) -> None:
    with serving((status, BUSY), "ok") as server:
        result = asked(server, retry_policy=AT_ONCE)
    assert len(server.bodies) == 1
    assert f"failed with status {status}" in str(result.error)


def test_the_number_of_tries_and_the_flag_for_500_are_honoured() -> None:
    with serving((503, BUSY)) as server:
        asked(server, retry_policy={**AT_ONCE, "max_attempts": 3})
    assert len(server.bodies) == 4
    with serving((503, BUSY)) as server:
        asked(server, retry_policy={**AT_ONCE, "service_error_retry_on_any_5xx": False})
    assert len(server.bodies) == 1


def test_an_error_that_quotes_the_key_does_not_show_it() -> None:
    quoted = {"error": {"message": "the key key-in-the-file is wrong"}}
    for status in (401, 400):
        with serving((status, quoted)) as server:
            result = asked(server, api_key="key-in-the-file")
        assert isinstance(result.error, NodeFailed)
        assert "key-in-the-file" not in f"{result.error!r} {result.error.__cause__!r}"
        assert result.error.__context__ is None


def test_the_async_twin_is_tried_again_too() -> None:
    with serving((503, BUSY), "ok") as server:
        flow = ask_flow(
            component_type="OpenAiCompatibleConfig", model_id="m", url=server.url,
            retry_policy=AT_ONCE,
        )  # fmt: skip
        platform = HttpPlatform(None, allow=[server.url])
        result = asyncio.run(adrive(compile_flow(flow), {"topic": "x"}, platform=platform))
    assert result.outputs == {"generated_text": "ok"}


# ---------------------------------------------------------------------- refusals


@pytest.mark.skipif(
    importlib.util.find_spec("langchain_anthropic") is not None, reason="the package is there"
)
def test_a_missing_package_names_its_extra() -> None:
    with pytest.raises(NotConfigured, match=r"oasflow\[anthropic\]"):
        connect_model(ModelConfig(type="LlmConfig", provider="anthropic", model="m"))


def test_a_model_that_no_package_connects_says_why_and_can_be_lent() -> None:
    with pytest.raises(NotConfigured, match=r"Oracle's own client.*lend a chat model"):
        connect_model(ModelConfig(type="OciGenAiConfig", provider="oci", model="m"))
    with pytest.raises(NotConfigured, match='names the provider "acme"'):
        connect_model(ModelConfig(type="LlmConfig", provider="acme", model="m"))


def test_a_lacking_key_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(NotConfigured, match="OPENAI_API_KEY is not set"):
        connect_model(ModelConfig(type="OpenAiConfig", provider="openai", model="m"))
