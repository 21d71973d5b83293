"""LlmNode with a scripted model: prompt, outputs, repair, tokens, budget, simulation."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from cinatra_sdk import HostParts, HttpPlatform, NodeFailed
from cinatra_sdk.outside.effects.door import Verdict
from cinatra_sdk.outside.effects.effect import Effect, Usage
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.outside.models.model_scripts import ScriptedModel, ScriptedReply
from cinatra_sdk.testing import adrive, drive
from oas_compiler import compile_flow
from tests.flows import port
from tests.models.llm_flows import ask_flow

BRAND, HP = port("brand"), port("hp", "integer")
NOWHERE = HttpPlatform(None)


def asked(flow: Any, model: Any, topic: Any = "bees", **host: Any) -> Any:
    parts = HostParts(models={"*": model}, **host)
    return drive(compile_flow(flow, host=parts), {"topic": topic})


def test_the_prompt_is_rendered_once_and_the_answer_is_the_raw_text() -> None:
    model = ScriptedModel([" Bees!\n"])
    result = asked(ask_flow(prompt="Ask {{topic}} and {{ topic }}"), model, "X{{topic}}")
    assert model.asked[0].text == "Ask X{{topic}} and X{{topic}}"
    assert result.outputs == {"generated_text": " Bees!\n"}


def test_an_object_is_put_in_as_json() -> None:
    model = ScriptedModel(["ok"])
    flow = ask_flow()
    for made in (flow["inputs"][0], flow["$referenced_components"]["start"]["inputs"][0]):
        made["type"] = "object"
    asked(flow, model, {"a": [1, "ü"]})
    assert model.asked[0].text == 'About {"a":[1,"ü"]}'


def test_the_text_can_have_another_name() -> None:
    assert asked(ask_flow(port("letter")), ScriptedModel(["Dear"])).outputs == {"letter": "Dear"}


def test_outputs_of_other_types_are_asked_for_by_a_schema_that_requires_them() -> None:
    model = ScriptedModel([{"brand": "Hive", "hp": 3}])
    flow = ask_flow(BRAND, HP, port("note", default="none"))
    assert asked(flow, model).outputs == {"brand": "Hive", "hp": 3, "note": "none"}
    schema = model.asked[0].schema
    assert schema["required"] == ["brand", "hp"]
    assert schema["properties"]["hp"]["type"] == "integer"
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"brand": "Hive", "hp": "three"}, "output 'hp': the value: not of type 'integer'"),
        ({"brand": "Hive"}, "output 'hp' is missing"),
        ("no JSON at all", "the outputs 'brand', 'hp': the answer is not of the form asked for"),
        ([1], "the answer is no JSON object"),
    ],
)
def test_a_wrong_answer_is_mended_once(wrong: Any, told: str) -> None:
    model = ScriptedModel([wrong, {"brand": "Hive", "hp": 3}])
    assert asked(ask_flow(BRAND, HP), model).outputs == {"brand": "Hive", "hp": 3}
    assert told in model.asked[1].text
    assert model.asked[1].messages[0] == model.asked[0].messages[0]


def test_a_second_wrong_answer_fails_the_node_and_names_the_output() -> None:
    model = ScriptedModel([{"brand": "Hive", "hp": "three"}] * 3)
    result = asked(ask_flow(BRAND, HP), model)
    assert isinstance(result.error, NodeFailed)
    assert result.error.node == "ask"
    assert "output 'hp': the value: not of type 'integer', got string" in str(result.error)
    assert "three" not in str(result.error)
    assert len(model.asked) == 2


def test_a_model_that_takes_no_schema_is_asked_for_json_text() -> None:
    fenced = AIMessage('```json\n{"brand": "Hive", "hp": 3}\n```')
    model = GenericFakeChatModel(messages=iter([fenced]))
    assert asked(ask_flow(BRAND, HP), model).outputs == {"brand": "Hive", "hp": 3}


class Car(BaseModel):
    brand: str
    hp: int


class GivesObjects(GenericFakeChatModel):
    """Knows nothing of `include_raw`."""

    given: Any

    def with_structured_output(self, _schema: Any, **_more: Any) -> Any:
        return RunnableLambda(lambda _: self.given)


CAR = {"brand": "Hive", "hp": 3}


@pytest.mark.parametrize(
    "given", [CAR, Car(brand="Hive", hp=3), AIMessage('{"brand": "Hive", "hp": 3}')]
)
def test_a_model_may_give_its_structured_answer_alone(given: Any) -> None:
    model = GivesObjects(messages=iter([]), given=given)
    assert asked(ask_flow(BRAND, HP), model).outputs == CAR


@pytest.mark.parametrize("name", ["model", "Writer", "gpt-5", "*"])
def test_a_model_is_lent_by_id_name_or_model(name: str) -> None:
    flow = compile_flow(ask_flow(), models={name: ScriptedModel(["hi"])})
    assert drive(flow, {"topic": "x"}, platform=NOWHERE).outputs == {"generated_text": "hi"}


def test_a_function_lends_models_and_gets_the_config() -> None:
    seen: list[ModelConfig] = []

    def lend(config: ModelConfig) -> ScriptedModel:
        seen.append(config)
        return ScriptedModel(["hi"])

    flow = ask_flow(default_generation_parameters={"temperature": 0.5}, api_key="in-the-file-key")
    assert drive(compile_flow(flow, models=lend), {"topic": "x"}).status == "completed"
    assert (seen[0].provider, seen[0].model) == ("openai", "gpt-5")
    assert dict(seen[0].parameters) == {"temperature": 0.5}
    assert "in-the-file-key" not in repr(seen[0])


def test_what_is_no_chat_model_is_refused_by_name() -> None:
    result = asked(ask_flow(), object())
    assert "lends a object as the model openai/gpt-5" in str(result.error)


def test_a_simulation_makes_answers_up_and_says_so() -> None:
    result = drive(compile_flow(ask_flow(BRAND, HP)), {"topic": "x"})
    assert result.outputs == {"brand": "simulated brand", "hp": 1}
    (call,) = result.calls_of("ask")
    assert (call.method, call.url) == ("MODEL", "simulated/openai/gpt-5")


def test_stubs_answer_for_models_too() -> None:
    result = drive(compile_flow(ask_flow()), {"topic": "x"}, stubs={"ask": {"generated_text": "B"}})
    assert result.outputs == {"generated_text": "B"}


def test_tokens_are_told_while_they_come_and_void_ones_are_taken_back() -> None:
    broken = ScriptedReply(chunks=("Be", "es"), error=ConnectionError("cut"))
    model = ScriptedModel([broken, ScriptedReply(text="Bees!", chunks=("Bees", "!"))])
    quick = {"initial_retry_delay": 0, "max_retry_delay": 0}
    flow = compile_flow(ask_flow(retry_policy=quick), models={"*": model})
    told = [
        (event.name, event.data.get("text"))
        for event in flow.stream({"topic": "x"})
        if event.kind == "token"
    ]
    assert told == [
        ("said", "Be"), ("said", "es"), ("dropped", None), ("said", "Bees"), ("said", "!"),
    ]  # fmt: skip


def test_langgraph_streams_the_chunks_as_messages() -> None:
    flow = compile_flow(
        ask_flow(), models={"*": ScriptedModel([ScriptedReply(text="ab", chunks=("a", "b"))])}
    )
    context, config = flow.context(run_id="r"), flow.config(run_id="r")
    given = flow.input({"topic": "x"})
    found = flow.graph().stream(given, config, context=context, stream_mode="messages")
    assert [part[0].content for part in found if part[0].content] == ["a", "b"]


def test_usage_is_told_and_both_tries_count() -> None:
    spent: list[tuple[str, Usage]] = []
    wrong = ScriptedReply(value={}, input_tokens=10, output_tokens=1)
    right = ScriptedReply(value={"brand": "H", "hp": 1}, input_tokens=20, output_tokens=2)
    asked(
        ask_flow(BRAND, HP),
        ScriptedModel([wrong, right]),
        spent=lambda effect, usage: spent.append((effect.capability, usage)),
    )
    assert spent == [("openai/gpt-5", Usage(calls=2, input_tokens=30, output_tokens=3))]


WRONG = ScriptedReply(value={"brand": 1}, input_tokens=10, output_tokens=1)


@pytest.mark.parametrize(
    ("second", "used"),
    [
        (WRONG, Usage(calls=2, input_tokens=20, output_tokens=2)),
        (ValueError("gone"), Usage(calls=1, input_tokens=10, output_tokens=1)),
    ],
)
@pytest.mark.parametrize("run", [drive, lambda *given: asyncio.run(adrive(*given))])
def test_a_question_that_fails_counts_the_answers_that_came(
    second: Any, used: Usage, run: Any
) -> None:
    spent: list[Usage] = []
    parts = HostParts(
        models={"*": ScriptedModel([WRONG, second])},
        spent=lambda _effect, usage: spent.append(usage),
    )
    result = run(compile_flow(ask_flow(BRAND, HP), host=parts), {"topic": "bees"})
    assert result.status == "failed"
    assert spent == [used]


def test_a_question_without_any_answer_counts_nothing() -> None:
    spent: list[Usage] = []
    asked(ask_flow(), ScriptedModel([ValueError("gone")]), spent=lambda _, used: spent.append(used))
    assert spent == []


def test_a_budget_and_a_policy_refuse_before_the_model_is_asked() -> None:
    def spend(_effect: Effect) -> None:
        raise RuntimeError("nothing left")

    model = ScriptedModel([])
    assert "budget refuses" in str(asked(ask_flow(), model, spend=spend).error)
    no = asked(ask_flow(), model, allow_effect=lambda effect: Verdict.refuse(effect.kind))
    assert "the policy refuses it: model" in str(no.error)
    assert model.asked == []


def test_the_async_twin_answers_alike() -> None:
    model = ScriptedModel([{"brand": "Hive", "hp": "x"}, {"brand": "Hive", "hp": 3}, "text"])
    flow = compile_flow(ask_flow(BRAND, HP), models={"*": model})
    result = asyncio.run(adrive(flow, {"topic": "x"}))
    assert result.outputs == {"brand": "Hive", "hp": 3}
    text = compile_flow(ask_flow(), models={"*": model})
    assert asyncio.run(adrive(text, {"topic": "x"})).outputs == {"generated_text": "text"}


def test_a_used_up_script_says_what_was_asked() -> None:
    result = asked(ask_flow(), ScriptedModel([]))
    assert "the script has 0 replies, and this is question 1: 'About bees'" in str(result.error)
