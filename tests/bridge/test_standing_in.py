"""A script in place of the models that nodes ask by themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, HostParts, RunStore
from cinatra_sdk.host import standalone
from cinatra_sdk.host.host_settings import LocalSettings
from cinatra_sdk.host.model_routes import modelled, owned_by, read_models
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from oas_compiler import compile_flow
from tests.agents.agent_flows import RESULT, SEARCH, agent, agent_flow
from tests.flows import end, flow_node, flow_of, gate, node, port, start

LLM = {
    "component_type": "OpenAiConfig", "id": "gpt", "name": "gpt", "model_id": "gpt-5",
}  # fmt: skip
SETTINGS = LocalSettings.model_validate({"actor": {"orgId": "acme", "principalId": "ann"}})
ASKS = agent_flow(agent(SEARCH, outputs=RESULT), RESULT)
FOUND = {"brand": "Hive", "hp": 3}
ANSWER = Decision.approve(by="ann")
SEARCHED = {"$calls": [{"name": "search", "args": {"query": "x"}}]}


def llm_flow(*outputs: Any) -> Any:
    return flow_of(
        start(port("topic")), gate("review"),
        node("LlmNode", "draft", llm_config=LLM, prompt_template="About {{topic}}", inputs=[port("topic")], outputs=list(outputs)),
        end(*outputs),
        edges=[("start", "topic", "draft", "topic"), *(("draft", one["title"], "end", one["title"]) for one in outputs)],
    )  # fmt: skip


def run(dsn: str, folder: Path, flow: Any, script: Any, **parts: Any) -> Any:
    """The run at its end, after every gate; another store answers each."""
    path = folder / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    host = HostParts(**parts)
    with RunStore.open(dsn, host=host) as store:
        models = read_models([f"scripted:{path}"])
        routed = modelled(store.database, models, identify=owned_by(SETTINGS.owner))
        platform = standalone(store.database, SETTINGS, beyond=routed)
        made = store.start(compile_flow(flow, platform=platform, host=host), {"topic": "bees"})
    while made.status == "waiting":
        with RunStore.open(dsn, host=host) as store:
            made = store.answer(made.id, made.waiting[0].id, ANSWER)
    return made


@pytest.mark.parametrize("key", ["draft", "*", None])
def test_an_llm_node_is_answered_also_in_another_process(
    fresh_database: str, tmp_path: Path, key: str | None
) -> None:
    script = ["Hello"] if key is None else {key: ["Hello"]}
    done = run(fresh_database, tmp_path, llm_flow(port("text")), script)
    assert (done.status, done.outputs) == ("completed", {"text": "Hello"})


def test_an_answer_of_another_form_is_mended_by_the_next_step(
    fresh_database: str, tmp_path: Path
) -> None:
    script = {"draft": [[{"brand": "Hive"}, FOUND]]}
    done = run(fresh_database, tmp_path, llm_flow(*RESULT), script)
    assert (done.status, done.outputs) == ("completed", FOUND)


@pytest.mark.parametrize(
    "script", [{"work": [[SEARCHED, FOUND]]}, {"*": [SEARCHED, FOUND]}, [[SEARCHED, FOUND]]]
)
def test_an_agent_calls_its_tools_and_gives_its_result(
    fresh_database: str, tmp_path: Path, script: Any
) -> None:
    asked: list[str] = []

    def search(query: str) -> str:
        asked.append(query)
        return "found"

    done = run(fresh_database, tmp_path, ASKS, script, tools={"search": search})
    assert (done.status, done.outputs, asked) == ("completed", FOUND, ["x"])


def test_each_visit_of_an_agent_has_its_own_answer(fresh_database: str, tmp_path: Path) -> None:
    twice = flow_of(
        start(port("topic")), flow_node("first", ASKS), flow_node("second", ASKS), end(*RESULT),
        edges=[("start", "topic", "first", "topic"), ("start", "topic", "second", "topic"),
               *(("second", one["title"], "end", one["title"]) for one in RESULT)],
    )  # fmt: skip
    script = {"first/work": [[FOUND]], "second/work": [[{**FOUND, "hp": 4}]]}
    done = run(fresh_database, tmp_path, twice, script, tools={"search": lambda query: query})
    assert (done.status, done.outputs) == ("completed", {**FOUND, "hp": 4})


def test_what_the_script_lacks_is_named(fresh_database: str, tmp_path: Path) -> None:
    failed = run(fresh_database, tmp_path, llm_flow(port("text")), {"other": "x"})
    assert failed.status == "failed"
    assert "the script has no answer for draft or *" in failed.error["message"]
    short = run(
        fresh_database,
        tmp_path,
        ASKS,
        {"work": [[SEARCHED]]},
        tools={"search": lambda query: query},
    )
    assert "the script has 1 answer for work, and this is question 2" in short.error["message"]


def test_a_model_that_the_host_lends_comes_first(fresh_database: str, tmp_path: Path) -> None:
    lent = ScriptedModel(["lent"])
    done = run(fresh_database, tmp_path, llm_flow(port("text")), ["script"], models={"gpt": lent})
    assert done.outputs == {"text": "lent"}
