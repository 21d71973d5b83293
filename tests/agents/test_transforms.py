"""Transforms of an agent: its model sees summaries, and the conversation stays as it was said."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.agents.agent_flows import SEARCH, TEXT, agent, agent_flow
from tests.agents.test_agent import asks_for
from tests.agents.test_swarm import swarm

SUMMARIES = {
    "component_type": "OpenAiConfig",
    "id": "short",
    "name": "short",
    "model_id": "gpt-5-mini",
}


def transform(kind: str, **more: Any) -> dict[str, Any]:
    return {
        "component_type": f"{kind}SummarizationTransform", "id": f"{kind}-t", "name": kind, "llm": SUMMARIES,
        "datastore": None, **more,
    }  # fmt: skip


def run(own: Any, script: Any, summaries: Any, *, outputs: Any = TEXT, size: int = 10) -> Any:
    model, short = ScriptedModel(script), ScriptedModel(summaries)
    flow = {**agent_flow(own, outputs), "agentspec_version": "26.1.2"}
    tools = {"search": lambda query: query * size}
    made = compile_flow(flow, models={"short": short, "*": model}, tools=tools)
    return drive(made, {"topic": "bees"}), model, short


def seen(model: ScriptedModel, index: int = -1) -> list[str]:
    return [str(one.content) for one in model.asked[index].messages]


def test_a_long_message_becomes_its_summary_once() -> None:
    own = agent(SEARCH, outputs=TEXT, transforms=[transform("Message", max_message_size=30)])
    script = [asks_for(("search", {"query": "abc"})), asks_for(("search", {"query": "d"})), "Done."]
    ran, model, short = run(own, script, ["abc, often"], size=20)
    assert ran.outputs == {"report": "Done."}, ran.error
    assert len(short.asked) == 1
    assert "abc" * 20 in seen(short)[1]
    assert seen(model, 1)[-1] == "Summarized message: abc, often"
    results = [one for one in model.asked[-1].messages if isinstance(one, ToolMessage)]
    assert [str(one.content) for one in results] == ["Summarized message: abc, often", "d" * 20]


def test_many_messages_become_one_summary_which_is_summarized_again() -> None:
    own = agent(
        SEARCH, outputs=TEXT,
        transforms=[transform("Conversation", max_num_messages=4, min_num_messages=1,
                              summarization_instructions="Be short.", summarized_conversation_template="So far: {{summary}}")],
    )  # fmt: skip
    script = [*(asks_for(("search", {"query": one})) for one in "abcd"), "Done."]
    ran, model, short = run(own, script, ["first", "second"])
    assert ran.outputs == {"report": "Done."}, ran.error
    assert [seen(short, index)[0] for index in range(len(short.asked))] == ["Be short."] * 2
    assert "first" in seen(short, 1)[1]
    for asked in model.asked:
        messages = asked.messages
        assert len(messages) <= 2 + 4
        for index, one in enumerate(messages):  # no result without the message that asked for it
            if isinstance(one, ToolMessage):
                assert isinstance(messages[index - 1], AIMessage)
    assert seen(model)[1] == "So far: second"


def test_characters_count_too() -> None:
    own = agent(
        SEARCH, outputs=TEXT,
        transforms=[transform("Conversation", max_num_messages=None, max_num_characters=50, min_num_messages=1)],
    )  # fmt: skip
    script = [*(asks_for(("search", {"query": one})) for one in "ab"), "Done."]
    ran, _, short = run(own, script, ["short"] * 3, size=40)
    assert ran.status == "completed", ran.error
    assert short.asked


def test_one_transform_sees_what_another_has_made() -> None:
    own = agent(
        SEARCH, outputs=TEXT,
        transforms=[transform("Message", max_message_size=30),
                    transform("Conversation", max_num_messages=2, min_num_messages=1, id="c")],
    )  # fmt: skip
    script = [*(asks_for(("search", {"query": one})) for one in "ab"), "Done."]
    ran, _, short = run(own, script, ["one", "two", "three", "four"], size=40)
    assert ran.status == "completed", ran.error
    assert any("Summarized message" in seen(short, index)[1] for index in range(len(short.asked)))


def test_a_transform_of_a_swarm_is_its_agents_own() -> None:
    other = {
        **agent(SEARCH, transforms=[transform("Message", max_message_size=5)]),
        "id": "b", "name": "B", "inputs": [], "system_prompt": "You are B.",
    }  # fmt: skip
    own = {**swarm("A B", members=[other], handoff="always", outputs=TEXT), "inputs": []}
    script = [asks_for(("hand_over_to_B", {})), "Done."]
    model, short = ScriptedModel(script), ScriptedModel(["it was handed over"])
    made = compile_flow(
        {**agent_flow(own, TEXT), "agentspec_version": "26.1.2"},
        models={"short": short, "*": model}, tools={"search": str},
    )  # fmt: skip
    ran = drive(made, {})
    assert ran.outputs == {"report": "Done."}, ran.error
    assert "Summarized message: it was handed over" in seen(model)


def test_the_conversation_stays_as_it_was_said() -> None:
    own = agent(SEARCH, outputs=TEXT, transforms=[transform("Message", max_message_size=30)])
    ran, model, _ = run(own, [asks_for(("search", {"query": "abc"})), "Done."], ["short"], size=20)
    assert ran.messages[-1] == "Done."
    assert not any("short" in text for text in ran.messages)
    assert isinstance(model.asked[0].messages[-1], HumanMessage)


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (transform("Message", max_message_size=0), "max_message_size"),
        (transform("Conversation", min_num_messages="few"), "min_num_messages"),
        (transform("Message", llm=None), "llm"),
        ({"component_type": "VllmConfig", "id": "x", "name": "x", "url": "http://x"}, "transform"),
        (7, "transforms"),
    ],
)
def test_a_transform_that_means_nothing_is_refused(own: Any, words: str) -> None:
    found = check({**agent_flow(agent(transforms=[own])), "agentspec_version": "26.1.2"})
    assert any(words in one.message for one in found.errors)
