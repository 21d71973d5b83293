"""A node whose file asks for it tells its model the context of a first turn before its prompt."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import SystemMessage

from cinatra_sdk import HostParts, NotConfigured
from cinatra_sdk.first_turn import FirstTurn, read_context
from cinatra_sdk.outside.models.model_scripts import ScriptedModel, ScriptedReply
from cinatra_sdk.testing import adrive, drive
from oas_compiler import check, compile_flow
from tests.agents.agent_flows import SEARCH, TEXT, agent, agent_flow
from tests.first_turn.trees import build_tree
from tests.flows import end, flow_of, node, port, start
from tests.models.llm_flows import ask_flow

LLM = {"component_type": "OpenAiConfig", "id": "gpt", "name": "gpt", "model_id": "gpt-5"}
USE: Any = {"imageId": "image_id", "workspace": "photos"}
PARAMS: Any = {"topic": "bees", "image_id": "img"}


def metadata(use: Any) -> dict[str, Any]:
    return {"metadata": {"cinatra": {"firstTurn": use}}}


def llm_flow(use: Any = USE, **more: Any) -> dict[str, Any]:
    ask = node(
        "LlmNode", "ask", llm_config=LLM, prompt_template="About {{ topic }}",
        inputs=[port("topic"), port("image_id")], outputs=[port("text")],
        **(metadata(use) if use is not None else {}), **more,
    )  # fmt: skip
    return flow_of(
        start(port("topic"), port("image_id")), ask, end(port("text")),
        edges=[("start", "topic", "ask", "topic"), ("start", "image_id", "ask", "image_id"),
               ("ask", "text", "end", "text")],
    )  # fmt: skip


def own_agent(**more: Any) -> dict[str, Any]:
    return {**agent(SEARCH, outputs=TEXT), "inputs": [port("topic"), port("image_id")], **more}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    build_tree(
        tmp_path,
        {"work/img/brief.md": "Show the blue.", "tastes/_default.md": "{{ topic }} and calm"},
    )
    return tmp_path / "work"


def reader(work: Path) -> Any:
    return lambda image_id: read_context(work, image_id, tastes_dir=work.parent / "tastes")


def host(first_turn: Any, model: ScriptedModel) -> HostParts:
    found: Any = {"search": lambda query: f"{query}!"}
    return HostParts(models={"*": model}, first_turn=first_turn, tools=found)


def run(flow: Any, first_turn: Any, script: Any = ("ok",), params: Any = PARAMS) -> Any:
    model = ScriptedModel(list(script))
    return drive(compile_flow(flow, host=host(first_turn, model)), params), model


def test_a_model_is_told_the_context_before_the_prompt(work: Path) -> None:
    ran, model = run(llm_flow(), reader(work))
    assert ran.outputs == {"text": "ok"}
    first, prompt = model.asked[0].messages
    assert isinstance(first, SystemMessage)
    assert first.text.startswith("# Context of the first turn, version 1\n")
    assert "\n> Show the blue.\n" in first.text
    assert "\n> {{ topic }} and calm\n" in first.text, "no text of a file is a template"
    assert prompt.text == "About bees"


def test_on_an_event_loop_it_is_the_same(work: Path) -> None:
    model = ScriptedModel(["ok"])
    asyncio.run(adrive(compile_flow(llm_flow(), host=host(reader(work), model)), PARAMS))
    assert "> Show the blue." in model.asked[0].messages[0].text


def test_without_the_metadata_the_request_is_what_it_was(work: Path) -> None:
    for first_turn in (None, reader(work)):
        _, model = run(ask_flow(), first_turn, params={"topic": "bees"})
        assert [message.text for message in model.asked[0].messages] == ["About bees"]


@pytest.mark.parametrize("at", ["agent", "node"])
def test_an_agent_is_told_before_its_system_prompt_at_every_step(work: Path, at: str) -> None:
    own = own_agent(**(metadata(USE) if at == "agent" else {}))
    flow = agent_flow(own, TEXT)
    if at == "node":
        (outer,) = [one for one in flow["$referenced_components"].values() if one.get("agent")]
        outer.update(metadata(USE))
    call = ScriptedReply(tool_calls=({"name": "search", "args": {"query": "a"}},))
    ran, model = run(flow, reader(work), [call, "Found."])
    assert ran.outputs == {"report": "Found."}
    for asked in model.asked:
        systems = [one.text for one in asked.messages if isinstance(one, SystemMessage)]
        assert len(systems) == 1
        assert systems[0].startswith("# Context of the first turn, version 1\n")
        assert systems[0].endswith("\nHelp with bees.")


def test_the_file_names_a_workspace_and_the_host_decides_which_folder_that_is(work: Path) -> None:
    asked: list[str] = []

    def other(image_id: str) -> FirstTurn:
        asked.append(image_id)
        return FirstTurn()

    _, model = run(llm_flow(), {"photos": reader(work), "*": other})
    assert "> Show the blue." in model.asked[0].messages[0].text
    run(
        llm_flow({"imageId": "image_id", "workspace": "../photos"}),
        {"photos": reader(work), "*": other},
    )
    run(llm_flow({"imageId": "image_id"}), {"photos": reader(work), "*": other})
    assert asked == ["img", "img"]


def test_the_workspace_may_be_an_input(work: Path) -> None:
    flow = llm_flow({"imageId": "image_id", "workspace": "topic"})
    _, model = run(flow, {"bees": reader(work)})
    assert "> Show the blue." in model.asked[0].messages[0].text
    ran, _ = run(flow, {"wasps": reader(work)})
    assert "the host lends no reader for this workspace" in str(ran.error)


def test_a_host_without_a_reader_is_told_so() -> None:
    with pytest.raises(NotConfigured, match=r"HostParts\(first_turn=…\)"):
        run(llm_flow(), None)


@pytest.mark.parametrize("at", ["node", "agent"])
def test_a_simulation_is_told_no_context_and_needs_no_reader(at: str) -> None:
    flow = llm_flow() if at == "node" else agent_flow(own_agent(**metadata(USE)), TEXT)
    found: Any = {"search": lambda query: f"{query}!"}
    ran = drive(compile_flow(flow, host=HostParts(tools=found)), PARAMS)
    assert ran.status == "completed", ran.error


@pytest.mark.parametrize(
    ("image_id", "told"),
    [("gone", 'no image "gone" in the workspace'), ("../photos/img", "no image")],
)
def test_an_image_that_is_not_there_fails_the_node(work: Path, image_id: str, told: str) -> None:
    ran, model = run(llm_flow(), reader(work), params={"topic": "x", "image_id": image_id})
    assert ran.status == "failed"
    assert told in str(ran.error)
    assert str(work) not in str(ran.error)
    assert model.asked == []


def test_what_a_reader_of_the_host_raises_is_not_shown(work: Path) -> None:
    def broken(image_id: str) -> FirstTurn:
        raise OSError(f"no access to {work}")

    ran, _ = run(llm_flow(), broken)
    assert "the first turn: its reader raised OSError" in str(ran.error)
    assert str(work) not in str(ran.error)
    ran, _ = run(llm_flow(), lambda _image_id: {"tastes": {}})
    assert "gave a dict, and no FirstTurn" in str(ran.error)


def test_notes_that_change_make_no_other_effect_of_the_same_question(work: Path) -> None:
    effects: list[Any] = []

    def asked() -> Any:
        model = ScriptedModel(["ok"])
        parts = host(reader(work), model).with_parts(spend=effects.append)
        drive(compile_flow(llm_flow(), host=parts), PARAMS)

    asked()
    (work / "img" / "notes.md").write_text("more")
    asked()
    assert effects[0].request_sha256 == effects[1].request_sha256
    assert "Show the blue" not in str(effects[0].arguments)


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("image_id", "must be an object"),
        ([], "must be an object"),
        ({}, "lacks imageId"),
        ({"imageId": "gone"}, 'names the image by "gone", which is no input of it'),
        ({"imageId": 5}, "has a imageId that is no string"),
        ({"imageId": "image_id", "workspace": 5}, "has a workspace that is no string"),
        ({"imageId": "image_id", "path": "/etc"}, 'has the unknown member "path"'),
    ],
)
@pytest.mark.parametrize("kind", ["llm", "agent", "node"])
def test_what_is_written_wrong_is_found_once(use: Any, told: str, kind: str) -> None:
    if kind == "llm":
        flow = llm_flow(
            use,
        )
    else:
        flow = agent_flow(own_agent(**(metadata(use) if kind == "agent" else {})), TEXT)
        if kind == "node":
            (outer,) = [one for one in flow["$referenced_components"].values() if one.get("agent")]
            outer.update(metadata(use))
    found = [one for one in check(flow) if one.code == "OAS038"]
    assert [told in one.message for one in found] == [True]


@pytest.mark.parametrize("type_", ["array", "object"])
def test_an_image_named_by_an_input_without_a_text_is_found(type_: str) -> None:
    flow = llm_flow({"imageId": "image_id"})
    for part in (flow, *flow["$referenced_components"].values()):
        for one in part.get("inputs", []) + part.get("outputs", []):
            if one["title"] == "image_id":
                one["type"] = type_
    found = [one.message for one in check(flow) if one.code == "OAS038"]
    assert len(found) == 1
    assert 'the image by "image_id", which holds no text' in found[0]


def test_an_image_that_only_the_context_needs_is_no_unused_input() -> None:
    assert [
        one.code for one in check(llm_flow()) if one.code in {"OAS082", "OAS038", "OAS133"}
    ] == []
    unused = [one.code for one in check(llm_flow(None, **metadata(None)))]
    assert "OAS082" in unused, "the control"


def test_a_flow_in_place_of_an_agent_has_no_model_that_could_be_told() -> None:
    inner = flow_of(start(port("image_id")), end(port("image_id")),
                    edges=[("start", "image_id", "end", "image_id")], id="inner")  # fmt: skip
    outer = flow_of(
        start(port("image_id")), node("AgentNode", "work", agent=inner, **metadata(USE)),
        end(port("image_id")),
        edges=[("start", "image_id", "work", "image_id"), ("work", "image_id", "end", "image_id")],
    )  # fmt: skip
    assert any("whose agent has a model" in one.message for one in check(outer))
