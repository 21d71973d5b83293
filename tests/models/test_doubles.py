"""The doubles of chat models: scripted, recording, replaying."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.outside.models.model_scripts import ScriptedModel, ScriptedReply, ScriptUsedUp
from cinatra_sdk.outside.models.recordings import QuestionUnknown, RecordingModel, ReplayingModel
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.flows import port
from tests.models.llm_flows import ask_flow

SCHEMA = {"title": "answer", "type": "object", "properties": {"n": {"type": "integer"}}}
KEY = "sk-" + "a1" * 16


def test_replies_come_in_order_and_the_script_ends() -> None:
    model = ScriptedModel(["one", lambda asked: asked.text.upper(), ValueError("down")])
    assert model.invoke("a").text == "one"
    assert model.left == 2
    assert model.invoke("b").text == "B"
    with pytest.raises(ValueError, match="down"):
        model.invoke("c")
    with pytest.raises(ScriptUsedUp, match="3 replies, and this is question 4: 'd'"):
        model.invoke("d")


def test_tools_calls_and_usage() -> None:
    reply = ScriptedReply(
        tool_calls=({"name": "look", "args": {"at": 1}},), input_tokens=3, output_tokens=4
    )
    model = ScriptedModel([reply, reply])
    tools = [{"name": "look", "description": "", "parameters": {"type": "object"}}]
    found = model.bind_tools(tools).invoke("x")
    assert [(call["name"], call["args"]) for call in found.tool_calls] == [("look", {"at": 1})]
    assert found.usage_metadata["total_tokens"] == 7
    assert model.asked[0].tools == tuple(tools)
    whole: Any = None
    for chunk in model.stream("x"):
        whole = chunk if whole is None else whole + chunk
    assert whole.tool_calls[0]["args"] == {"at": 1}
    assert whole.usage_metadata["total_tokens"] == 7


def test_structured_output() -> None:
    model = ScriptedModel([{"n": 1}, "no JSON", {"n": 2}])
    structured = model.with_structured_output(SCHEMA)
    assert structured.invoke("x") == {"n": 1}
    with pytest.raises(ValueError, match="Expecting value"):
        structured.invoke("x")
    assert asyncio.run(structured.ainvoke("x")) == {"n": 2}
    assert model.asked[0].schema == SCHEMA


def test_what_is_recorded_is_replayed(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    outputs = port("brand"), port("hp", "integer")
    scripted = ScriptedModel([{"brand": "Hive", "hp": "x"}, {"brand": "Hive", "hp": 3}])
    flow = ask_flow(*outputs)
    recorded = drive(
        compile_flow(flow, models={"*": RecordingModel(scripted, path)}), {"topic": "bees"}
    )
    replayed = drive(compile_flow(flow, models={"*": ReplayingModel(path)}), {"topic": "bees"})
    assert recorded.outputs == replayed.outputs == {"brand": "Hive", "hp": 3}
    assert len(path.read_text().splitlines()) == 2


def test_equal_questions_have_their_answers_in_order(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    recording = RecordingModel(ScriptedModel(["one", "two"]), path)
    assert [recording.invoke("x").text, recording.invoke("x").text] == ["one", "two"]
    model = ReplayingModel(path)
    assert [str(model.invoke("x").text) for _ in range(3)] == ["one", "two", "two"]


def test_tools_are_part_of_a_question(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    tools = [{"name": "look", "description": "", "parameters": {"type": "object"}}]
    asked = ScriptedModel([ScriptedReply(tool_calls=({"name": "look", "args": {}},))])
    RecordingModel(asked, path).bind_tools(tools).invoke("x")
    assert asked.asked[0].tools == tuple(tools)
    assert ReplayingModel(path).bind_tools(tools).invoke("x").tool_calls[0]["name"] == "look"
    with pytest.raises(QuestionUnknown):
        ReplayingModel(path).invoke("x")


def test_an_unknown_question_names_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    model = RecordingModel(ScriptedModel(["1", "2"]), path)
    model.invoke("About bees")
    model.invoke("Something else")
    with pytest.raises(QuestionUnknown, match=r"no answer for 'About beer'.*nearest.*'About bees'"):
        ReplayingModel(path).invoke("About beer")


def test_a_file_that_is_no_record_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"question": 1}\n')
    with pytest.raises(ValueError, match="line 1: no question with its answer"):
        ReplayingModel(path)


def test_a_credential_in_an_answer_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    RecordingModel(ScriptedModel([f"the key {KEY}"]), path).invoke(f"what is {KEY}?")
    assert KEY not in path.read_text()
    assert json.loads(path.read_text())["question"]["messages"][0]["type"] == "human"
    assert "redacted" in str(ReplayingModel(path).invoke(f"what is {KEY}?").text)
