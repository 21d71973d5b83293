"""LlmNodes of stored runs: a killed process, keys, tokens, usage, simulation."""

from __future__ import annotations

import logging
import os
import signal
import sys
from decimal import Decimal
from typing import Any

import pytest
from typer.testing import CliRunner

from cinatra_sdk import HttpPlatform, RunStore
from cinatra_sdk.outside.models.model_scripts import ScriptedModel, ScriptedReply
from cinatra_sdk.outside.models.totals import ModelUsage, NodeUsage
from oas_compiler import compile_flow
from oas_compiler.cli.app import app_for
from tests.flows import port
from tests.models.chat_server import serving
from tests.models.llm_flows import ask_flow
from tests.store.test_canary import every_byte
from tests.warm import begin

KEY = "canary-model-key-5b20e9f1"
BEES = ScriptedReply(text="Bees.", input_tokens=7, output_tokens=2)


def test_a_stored_answer_is_not_asked_for_again_after_a_kill(fresh_database: str) -> None:
    with serving("Bees.", "Wasps.") as server:
        program = (sys.executable, "-m", "tests.models.model_worker")
        given = (fresh_database, server.url, "r1")
        died = begin("tests.models.model_worker:run", program, given, os.environ)
        died.communicate()
        assert died.returncode == -signal.SIGKILL
        assert len(server.bodies) == 1
        platform = HttpPlatform(None, allow=[server.url])
        with RunStore.open(fresh_database, platform=platform) as store:
            assert store.get("r1").status == "running"
            assert store.resume("r1").result() == {"generated_text": "Bees."}
            (effect,) = store.effects("r1").items
    assert len(server.bodies) == 1
    assert (effect.kind, effect.capability) == ("model", "openai_compatible/m")


def test_no_key_of_a_model_is_left_anywhere(
    fresh_database: str, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    texts: list[str] = []

    def watch(event: Any) -> None:
        texts.append(repr(event))

    echo = f"the key is {KEY}"
    failing = (400, {"error": {"message": echo, "code": KEY}})
    with caplog.at_level(logging.DEBUG), serving({"brand": echo}, echo, failing) as server:
        config = {"component_type": "VllmConfig", "model_id": "m", "url": server.url}
        platform = HttpPlatform(None, allow=[server.url])
        with RunStore.open(
            fresh_database, platform=platform, api_key_for=lambda _config: KEY
        ) as store:
            for number, outputs in enumerate([[port("brand", "object")], [], []]):
                flow = compile_flow(ask_flow(*outputs, **config), host=store_parts(platform))
                run = store.start(flow, {"topic": "bees"}, f"r{number}", on_event=watch)
                texts.append(repr(run))
                texts += [repr(event) for event in store.events(run.id)]
                texts += [repr(effect) for effect in store.effects(run.id).items]
    assert all(f"Bearer {KEY}" == headers["authorization"] for headers in server.headers)
    tables = every_byte(fresh_database)
    assert any(b"bees" in content for content in tables.values()), "the control: inputs are found"
    for name, content in tables.items():
        assert KEY.encode() not in content, name
    said = capfd.readouterr()
    # The client of OpenAI logs requests at DEBUG, with their body and without their key.
    assert KEY not in "\n".join([*texts, caplog.text, said.out, said.err])


def store_parts(platform: Any) -> Any:
    from cinatra_sdk import HostParts

    return HostParts(platform=platform, api_key_for=lambda _config: KEY)


def test_tokens_are_live_and_not_stored(fresh_database: str) -> None:
    flow = compile_flow(ask_flow(), models={"*": ScriptedModel(["Bees are small."])})
    with RunStore.open(fresh_database) as store:
        run = store.start(flow, {"topic": "x"}, "r1")
        assert run.status == "completed"
        kinds = {event.kind for event in store.events("r1")}
    assert "usage" in kinds
    assert "token" not in kinds


def test_usage_is_totalled_by_model_with_the_hosts_price(fresh_database: str) -> None:
    flow = compile_flow(ask_flow(), models={"*": ScriptedModel([BEES, BEES])})

    def price(model: str, used: Any) -> Decimal:
        assert model == "openai/gpt-5"
        return Decimal("0.01") * used.input_tokens

    with RunStore.open(fresh_database, price=price) as store:
        store.start(flow, {"topic": "x"}, "r1")
        assert store.usage("r1") == (
            ModelUsage(
                model="openai/gpt-5",
                calls=1,
                input_tokens=7,
                output_tokens=2,
                cost=Decimal("0.07"),
                nodes=(
                    NodeUsage(
                        node="ask", calls=1, input_tokens=7, output_tokens=2, cost=Decimal("0.07")
                    ),
                ),
            ),
        )
        assert store.usage("r1")[0].to_json()["cost"] == "0.07"


def test_a_run_that_failed_has_the_tokens_of_the_answers_that_came(fresh_database: str) -> None:
    wrong = ScriptedReply(value={}, input_tokens=10, output_tokens=1)
    flow = compile_flow(ask_flow(port("hp", "integer")), models={"*": ScriptedModel([wrong] * 2)})
    with RunStore.open(fresh_database) as store:
        assert store.start(flow, {"topic": "x"}, "r1").status == "failed"
        (used,) = store.usage("r1")
    assert (used.calls, used.input_tokens, used.output_tokens) == (2, 20, 2)


def test_show_tells_what_the_models_used_up(fresh_database: str) -> None:
    flow = compile_flow(ask_flow(), models={"*": ScriptedModel([BEES])})
    with RunStore.open(fresh_database) as store:
        store.start(flow, {"topic": "x"}, "r1")
    words = ["show", "r1", "--db", fresh_database]
    shown = CliRunner().invoke(app_for(words), words)
    assert "openai/gpt-5" in shown.output
    assert "TOKENS IN" in shown.output


def test_a_simulated_run_goes_on_simulated_in_another_process(fresh_database: str) -> None:
    flow = compile_flow(ask_flow())
    with RunStore.open(fresh_database) as store:
        store.create(flow, {"topic": "x"}, "r1")
    with RunStore.open(fresh_database) as other:
        assert other.work("r1").result() == {"generated_text": "simulated generated_text"}
        assert other.usage("r1")[0].model == "simulated/openai/gpt-5"
