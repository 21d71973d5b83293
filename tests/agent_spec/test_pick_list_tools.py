"""The pick list of upstream cases, rows 11 to 28: tools, of the caller and confirmed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.types import Command

from cinatra_sdk import AnswerInvalid, Decision
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.testing import drive
from oas_compiler import CompileError, compile_flow
from tests.agent_spec.documents import Waiting, around, array, node, port
from tests.platform.loopback_server import LoopbackServer, Reply

OPEN = {"additionalProperties": {}}
APPROVE = {"decisions": [{"type": "approve"}]}
REJECT = {"decisions": [{"type": "reject", "message": "not now"}]}
DENIED = "[Denied by operator] not now"


def tool_of(kind: str, inputs: list[Any], outputs: list[Any], **more: Any) -> Any:
    return node(
        kind, "look_up", description="looks up", inputs=inputs, outputs=outputs, **more
    )  # fmt: skip


def calling(one: Any) -> Any:
    """A ToolNode with this tool between start and end."""
    made = node("ToolNode", "call", tool=one, inputs=one["inputs"], outputs=one["outputs"])
    return around(made, one["inputs"], one["outputs"])


def answered(outputs: list[Any], result: Any) -> Any:
    """The outputs of a flow whose one tool the caller runs, with this result."""
    waiting = Waiting(calling(tool_of("ClientTool", [port("id")], outputs)), {"id": "7"})
    (asked,) = waiting.interrupts
    assert asked.value["values"] == {"call": "look_up", "arguments": {"id": "7"}}
    return waiting.resume(result)


def test_row_11_an_object_is_the_value_of_the_one_output() -> None:
    out = port("out_dict", "object", **OPEN)
    assert answered([out], {"a": 1, "b": 2}) == {"out_dict": {"a": 1, "b": 2}}


def test_row_12_also_an_object_with_one_member() -> None:
    assert answered([port("out_dict", "object", **OPEN)], {"a": 1}) == {"out_dict": {"a": 1}}


def test_row_13_an_object_with_the_title_of_the_output_is_taken_apart() -> None:
    assert answered([port("out_dict", {})], {"out_dict": 1}) == {"out_dict": 1}


def test_row_14_a_text_is_the_value_of_a_string_output() -> None:
    assert answered([port("out_string")], "value") == {"out_string": "value"}


def test_row_15_an_output_that_is_left_out_takes_its_default() -> None:
    outputs = [port("a", "integer"), port("b", "integer", default=0)]
    assert answered(outputs, {"a": 5}) == {"a": 5, "b": 0}


def test_row_16_a_list_is_the_value_of_an_array_output() -> None:
    assert answered([port("out", array("integer"))], [1, 2, 3]) == {"out": [1, 2, 3]}


def test_row_17_a_number_is_the_value_of_a_number_output() -> None:
    assert answered([port("out_number", "number")], 42) == {"out_number": 42}


def test_row_18_a_tuple_becomes_the_json_text_of_a_string_output() -> None:
    assert answered([port("out")], (1, 2)) == {"out": "[1, 2]"}


def test_row_19_a_tuple_gives_several_outputs_in_their_order() -> None:
    assert answered([port("a", "integer"), port("b")], (7, "ok")) == {"a": 7, "b": "ok"}
    three = [port("a", "integer"), port("b", "object", **OPEN), port("c", array("integer"))]
    wanted = {"a": 7, "b": {"key": "val"}, "c": [1]}
    assert answered(three, (7, {"key": "val"}, [1])) == wanted


class Doubling:
    def __init__(self) -> None:
        self.given: list[int] = []

    def look_up(self, x: int) -> str:
        self.given.append(x)
        return f"doubled {2 * x}"


def confirming(kind: str = "ServerTool", **more: Any) -> Any:
    one = tool_of(kind, [port("x", "integer")], [port("y")], requires_confirmation=True, **more)
    return calling(one)


def test_row_20_an_approved_call_of_the_host_is_made_once() -> None:
    tool = Doubling()
    waiting = Waiting(confirming(), {"x": 4}, tools={"look_up": tool.look_up})
    assert (len(waiting.interrupts), tool.given) == (1, [])
    assert waiting.resume(APPROVE) == {"y": "doubled 8"}
    assert tool.given == [4]


def test_row_21_a_denied_call_of_the_host_is_not_made_and_says_so() -> None:
    tool = Doubling()
    waiting = Waiting(confirming(), {"x": 4}, tools={"look_up": tool.look_up})
    assert waiting.resume(REJECT) == {"y": DENIED}
    assert tool.given == []
    flow = compile_flow(confirming(), tools={"look_up": tool.look_up})
    rejected = drive(flow, {"x": 4}, answers=[Decision.reject(by="ann")])
    assert (rejected.status, tool.given) == ("rejected", [])


def test_row_22_an_approved_call_of_the_caller_waits_twice() -> None:
    waiting = Waiting(confirming("ClientTool"), {"x": 4})
    assert not waiting.resume(APPROVE)
    (asked,) = waiting.interrupts
    assert asked.response_schema["x-gate"]["id"] == "call:result"
    assert waiting.resume("done") == {"y": "done"}
    assert waiting.interrupts == []


def test_row_23_a_denied_call_of_the_caller_asks_for_no_result() -> None:
    waiting = Waiting(confirming("ClientTool"), {"x": 4})
    assert waiting.resume(REJECT) == {"y": DENIED}
    assert waiting.interrupts == []


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    made = LoopbackServer()
    made.replies = [Reply(body=json.dumps({"y": "saved"}).encode())]
    yield made
    made.close()


@pytest.fixture
def platform(server: LoopbackServer) -> Iterator[HttpPlatform]:
    made = HttpPlatform(None, allow=[server.url], retries=0)
    yield made
    made.close()


def remote(server: LoopbackServer) -> Any:
    url = f"{server.url}/save/{{{{x}}}}"
    return confirming("RemoteTool", url=url, http_method="POST", data={}, query_params={}, headers={})  # fmt: skip


def test_row_24_an_approved_call_of_a_remote_tool_is_made_once(
    server: LoopbackServer, platform: HttpPlatform
) -> None:
    waiting = Waiting(remote(server), {"x": 4}, platform=platform)
    assert server.seen == []
    assert waiting.resume(APPROVE) == {"y": "saved"}
    assert [(one.method, one.path) for one in server.seen] == [("POST", "/save/4")]


def test_an_edited_call_of_a_remote_tool_goes_where_its_new_arguments_lead(
    server: LoopbackServer, platform: HttpPlatform
) -> None:
    waiting = Waiting(remote(server), {"x": 4}, platform=platform)
    with pytest.raises(ValueError, match="x: not of type 'integer'"):
        waiting.resume({"approved": True, "value": {"x": "../9"}})
    assert server.seen == []
    assert waiting.resume({"approved": True, "value": {"x": 9}}) == {"y": "saved"}
    assert [(one.method, one.path) for one in server.seen] == [("POST", "/save/9")]


def test_row_25_a_denied_call_of_a_remote_tool_is_not_made(
    server: LoopbackServer, platform: HttpPlatform
) -> None:
    waiting = Waiting(remote(server), {"x": 4}, platform=platform)
    assert waiting.resume(REJECT) == {"y": DENIED}
    assert server.seen == []


@pytest.mark.parametrize("document", [confirming(), confirming("ClientTool")])
def test_row_26_without_a_checkpointer_it_stops_at_the_gate_and_cannot_go_on(document: Any) -> None:
    tool = Doubling()
    flow = compile_flow(document, tools={"look_up": tool.look_up})
    graph, context = flow.graph(), flow.context(run_id="r")
    config = flow.config(run_id="r")
    state = graph.invoke(flow.input({"x": 4}), config, context=context)
    assert len(state["__interrupt__"]) == 1
    with pytest.raises(RuntimeError, match="checkpointer"):
        graph.invoke(Command(resume=APPROVE), config, context=context)
    assert tool.given == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"not_decisions": []}, "the answer has unknown keys: not_decisions"),
        ({"decisions": []}, "the decisions are no list of objects with a type"),
        ({"decisions": "approve"}, "the decisions are no list of objects with a type"),
        ({"approved": "yes"}, "'approved' is missing or is neither true nor false"),
        ("yes", "the answer is not an object, got string"),
        (True, "the answer is not an object, got boolean"),
    ],
)
def test_row_27_an_answer_in_other_words_is_refused_and_the_gate_stays_open(
    answer: Any, why: str
) -> None:
    tool = Doubling()
    waiting = Waiting(confirming(), {"x": 4}, tools={"look_up": tool.look_up})
    with pytest.raises(AnswerInvalid, match=f"gate 'call', 'call': {why}"):
        waiting.resume(answer)
    assert (len(waiting.interrupts), tool.given) == (1, [])
    assert waiting.resume(APPROVE) == {"y": "doubled 8"}


def test_row_28_a_tool_that_the_host_does_not_have_is_named_when_the_graph_is_made() -> None:
    document = calling(tool_of("ServerTool", [port("x")], [port("y")]))
    with pytest.raises(CompileError, match='the tool "look_up" of "call" is not registered'):
        compile_flow(document, tools={"other": str}).graph()
