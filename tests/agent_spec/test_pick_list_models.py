"""What stands below the pick list: nodes that ask a language model, with a scripted one."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from tests.agent_spec.documents import around, end, flow, inner, node, port, run, start

MODEL = node("OpenAiConfig", "gpt", model_id="gpt-5")


def asking(prompt: str, given: Any, *outputs: Any) -> Any:
    one = node(
        "LlmNode", "ask", llm_config=MODEL, prompt_template=prompt,
        **({"outputs": list(outputs)} if outputs else {}),
    )  # fmt: skip
    return around(one, [given], list(outputs) or [port("generated_text")])


def test_extra_prompt_a_prompt_is_filled_in_once_and_the_reply_is_the_output() -> None:
    model = ScriptedModel(["the reply"])
    document = asking("Ask {{q}} and {{ q }}", port("q"))
    ran = run(document, {"q": "X{{q}}"}, models={"*": model})
    assert model.asked[0].text == "Ask X{{q}} and X{{q}}"
    assert ran.outputs == {"generated_text": "the reply"}


def test_extra_structured_several_outputs_are_asked_for_by_a_schema_that_requires_them() -> None:
    model = ScriptedModel([{"brand": "VW", "hp": 90}])
    document = asking("Read {{q}}", port("q"), port("brand"), port("hp", "integer"))
    ran = run(document, {"q": "a car"}, models={"*": model})
    assert ran.outputs == {"brand": "VW", "hp": 90}
    schema: Any = model.asked[0].schema
    assert sorted(schema["required"]) == ["brand", "hp"]
    assert {title: one["type"] for title, one in schema["properties"].items()} == {
        "brand": "string",
        "hp": "integer",
    }


def test_extra_object_an_object_in_a_prompt_is_its_json_text() -> None:
    model = ScriptedModel(["ok"])
    run(asking("Read {{q}}", port("q", "object")), {"q": {"a": [1, None]}}, models={"*": model})
    assert model.asked[0].text == 'Read {"a":[1,null]}'


def agent(**more: Any) -> Any:
    return node(
        "Agent", "helper", llm_config=MODEL, system_prompt="Help.", inputs=[], outputs=[], **more
    )


def test_extra_agent_an_agent_without_outputs_adds_its_words_to_the_conversation() -> None:
    model = ScriptedModel(["I can help."])
    ran = run(around(node("AgentNode", "work", agent=agent())), models={"*": model})
    assert (ran.status, ran.outputs) == ("completed", {})
    assert ran.messages == ("I can help.",)


@pytest.mark.parametrize("may_ask", [True, False])
def test_extra_human_an_agent_may_ask_a_person_only_where_the_file_lets_it(may_ask: bool) -> None:
    model = ScriptedModel(["Done."])
    one = agent(human_in_the_loop=may_ask)
    run(around(node("AgentNode", "work", agent=one)), models={"*": model})
    offered = repr(model.asked[0].tools)
    assert ("ask_user" in offered) is may_ask


def test_extra_flow_an_agent_node_over_a_flow_runs_the_flow_with_a_conversation_of_its_own() -> None:  # fmt: skip
    say = node("OutputMessageNode", "say", message="inside {{a}}")
    inside = flow(
        start(port("a")), say, end(port("a")),
        data=[("start", "a", "say", "a"), ("start", "a", "end", "a")],
    )  # fmt: skip
    document = around(
        node("AgentNode", "work", agent=inner(inside, "in")), [port("a")], [port("a")]
    )
    ran = run(document, {"a": "x"})
    assert (ran.outputs, ran.messages) == ({"a": "x"}, ())
