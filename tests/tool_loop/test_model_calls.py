"""The steps of a loop of a model and its tools, without a model and without a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from cinatra_sdk.agents.tool_offers import ListedTool, OfferedTool, ResultTool
from cinatra_sdk.data.ports import STRING, port
from cinatra_sdk.host.bridge.toolboxes import BridgeTool
from cinatra_sdk.tool_loop import (
    ArgumentsUnusable,
    DueCall,
    LoopTool,
    ModelCall,
    UnmadeCall,
    describe_function,
    format_result,
    list_calls,
    name_calls,
    set_ids,
    walk_calls,
)


@dataclass(frozen=True)
class Double:
    """Takes any object with a `q`."""

    ends: str = ""

    def read_arguments(self, given: Any) -> dict[str, Any]:
        if not isinstance(given, dict) or "q" not in given:
            raise ArgumentsUnusable("'q' is missing")
        return {"search.q": given["q"]}


TOOLS: Mapping[str, LoopTool] = {
    "search": Double(),
    "pass_on": Double(ends="it was passed on before it"),
}


def call(name: str, args: Any = None, id_: str = "c") -> ModelCall:
    return {"id": id_, "name": name, "args": args}


def test_calls_of_a_reply_are_listed_with_those_that_are_no_json_last() -> None:
    reply = AIMessage(
        "",
        tool_calls=[{"id": None, "name": "search", "args": {"q": 1}}],
        invalid_tool_calls=[{"id": "x", "name": "search", "args": "{", "error": None}],
    )
    assert list_calls(reply, visit=2) == [
        {"id": "call_2_0", "name": "search", "args": {"q": 1}},
        {"id": "x", "name": "search", "args": None},
    ]
    assert list_calls(AIMessage("Done"), visit=1) == []


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (["x", "x", "x"], ["x", "call_1_1", "call_1_2"]),
        (["call_1_1", None], ["call_1_1", "call_1_1_2"]),
        ([None, "call_1_0"], ["call_1_0_2", "call_1_0"]),
        (["call_1_1", "call_1_1", "call_1_1_2"], ["call_1_1", "call_1_1_3", "call_1_1_2"]),
        ([5, "5", ""], ["5", "call_1_1", "call_1_2"]),
    ],
)
def test_each_call_of_a_reply_has_an_id_of_its_own(given: list[Any], made: list[str]) -> None:
    calls = name_calls([{"id": one, "name": "search", "args": {}} for one in given], visit=1)
    assert [one["id"] for one in calls] == made


def test_a_reply_is_kept_under_the_ids_of_its_calls() -> None:
    reply = AIMessage(
        [
            {"type": "text", "text": "Look."},
            {"type": "tool_use", "id": "x", "name": "a", "input": {}},
        ],
        tool_calls=[{"id": "x", "name": "a", "args": {}}, {"id": "x", "name": "b", "args": {}}],
        invalid_tool_calls=[{"id": None, "name": "c", "args": "{", "error": None}],
        additional_kwargs={"tool_calls": [{"id": "x"}]},
    )
    kept = set_ids(reply, list_calls(reply, visit=3))
    assert [one["id"] for one in kept.tool_calls] == ["x", "call_3_1"]
    assert [one["id"] for one in kept.invalid_tool_calls] == ["call_3_2"]
    assert (kept.content, kept.additional_kwargs) == ("Look.", {})
    assert set_ids(kept, list_calls(kept, visit=3)) is kept


def test_a_call_that_can_be_made_comes_with_its_place_and_what_it_is_made_with() -> None:
    (due,) = walk_calls([call("search", {"q": "bees"})], TOOLS)
    assert isinstance(due, DueCall)
    assert (due.index, due.tool, due.arguments) == (0, TOOLS["search"], {"search.q": "bees"})


@pytest.mark.parametrize(
    ("name", "args", "why", "problem"),
    [
        ("find", {"q": 1}, "unknown", "the tools are: search, pass_on"),
        ("search", {}, "unusable", "'q' is missing"),
        ("search", None, "unusable", "'q' is missing"),
        ("pass_on", {}, "unusable", "'q' is missing"),
    ],
)
def test_a_call_that_cannot_be_made_says_why_and_the_next_one_is_made(
    name: str, args: Any, why: str, problem: str
) -> None:
    unmade, due = walk_calls([call(name, args), call("search", {"q": 1})], TOOLS)
    assert isinstance(unmade, UnmadeCall)
    assert (unmade.why, unmade.problem) == (why, problem)
    assert isinstance(due, DueCall)
    assert due.index == 1


def test_the_names_of_an_unknown_tools_neighbours_are_those_that_were_offered() -> None:
    for offered, told in ((["search"], "search"), ([], "none")):
        (unmade,) = walk_calls([call("find")], TOOLS, offered=offered)
        assert isinstance(unmade, UnmadeCall)
        assert unmade.problem == f"the tools are: {told}"


def test_a_loop_whose_calls_are_made_elsewhere_goes_on_behind_the_last_one() -> None:
    calls = [call("search", {"q": number}) for number in range(3)]
    steps = list(walk_calls(calls, TOOLS, first=2))
    assert [one.index for one in steps if isinstance(one, DueCall)] == [2]
    assert list(walk_calls(calls, TOOLS, first=3)) == []


def test_no_call_behind_one_that_ends_the_loop_is_made() -> None:
    calls = [call("pass_on", {"q": 1}), call("search", {"q": 2}), call("find")]
    due, *after = walk_calls(calls, TOOLS)
    assert isinstance(due, DueCall)
    assert [(one.call["name"], one.why) for one in after if isinstance(one, UnmadeCall)] == [
        ("search", "late"),
        ("find", "late"),
    ]


def test_a_call_is_judged_when_its_turn_comes_and_not_before() -> None:
    asked: list[Any] = []

    class Watched(Double):
        def read_arguments(self, given: Any) -> dict[str, Any]:
            asked.append(given)
            return {}

    steps = walk_calls([call("search", 1), call("search", 2)], {"search": Watched()})
    next(steps)
    assert asked == [1]


TEXT = port("q", STRING, schema={"type": "string"})
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


@pytest.mark.parametrize(
    "tool",
    [
        OfferedTool(name="search", node="search", inputs=(TEXT,)),
        ListedTool(node="box", listed={"name": "search", "tool": "s", "description": "", "schema": SCHEMA}),
        ResultTool(results=(TEXT,)),
        BridgeTool(name="search", schema=SCHEMA, run=lambda _call, _given: None),
    ],
    ids=["node", "toolbox", "result", "bridge"],
)  # fmt: skip
def test_every_tool_of_an_agent_and_of_the_bridge_takes_and_refuses_the_same(tool: Any) -> None:
    (due,) = walk_calls([call("search", {"q": "bees"})], {"search": tool})
    assert isinstance(due, DueCall)
    for given, told in (
        (None, "the arguments are no JSON object"),
        ({}, "'q'"),
        ({"q": 7}, "not of type 'string', got integer"),
    ):
        (unmade,) = walk_calls([call("search", given)], {"search": tool})
        assert isinstance(unmade, UnmadeCall)
        assert told in unmade.problem


def test_a_tool_without_a_description_is_described_by_its_name() -> None:
    assert describe_function("search", "", SCHEMA) == {
        "type": "function",
        "function": {"name": "search", "description": "search", "parameters": SCHEMA},
    }


def test_a_result_is_a_text_as_it_is_or_json() -> None:
    assert [format_result(one) for one in ("é", {"é": 1}, None)] == ["é", '{"é": 1}', "null"]
