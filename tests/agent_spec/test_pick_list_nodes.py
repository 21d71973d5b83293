"""The pick list of upstream cases, rows 1 to 10: nodes one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cinatra_sdk import Decision
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.agent_spec.documents import (
    BRANCHING_KEY,
    NULLABLE,
    Waiting,
    around,
    array,
    call,
    end,
    flow,
    inner,
    node,
    port,
    run,
    start,
    tool,
)
from tests.platform.loopback_server import LoopbackServer, Reply


@pytest.mark.parametrize(
    ("given", "outputs"),
    [
        ("a", {"output_a": "a", "output_b": "no_value"}),
        ("b", {"output_a": "no_value", "output_b": "b"}),
        ("no_match", {"output_a": "no_value", "output_b": "no_value"}),
    ],
)
def test_row_01_each_branch_leads_to_an_end_of_its_own(given: str, outputs: Any) -> None:
    none = {"default": "no_value"}
    document = flow(
        start(port("custom_input")),
        node("BranchingNode", "choose", mapping={"a": "to_a", "b": "to_b"}),
        end(port("output_a"), name="end_a"), end(port("output_b"), name="end_b"), end(name="end_c"),
        routes=[("choose", "to_a", "end_a"), ("choose", "to_b", "end_b"), ("choose", "default", "end_c")],
        data=[("start", "custom_input", "choose", BRANCHING_KEY),
              ("start", "custom_input", "end_a", "output_a"), ("start", "custom_input", "end_b", "output_b")],
        outputs=[port("output_a", **none), port("output_b", **none)],
    )  # fmt: skip
    assert run(document, {"custom_input": given}).outputs == outputs


def check_sign(x: int) -> str:
    if x < 0:
        raise ValueError("a secret that the flow is not told")
    return "ok"


CHECK = tool("check_sign", [port("x", "integer")], [port("y")])


def catching(branch: str = "next") -> Any:
    """A flow that checks a number and catches the error of a negative one."""
    inside = flow(
        start(port("x", "integer")), call("check", CHECK), end(port("y", default=""), branch=branch),
        data=[("start", "x", "check", "x"), ("check", "y", "end", "y")],
    )  # fmt: skip
    outputs = [port("y"), port("error_info", NULLABLE)]
    edges = [("careful", "y", "y"), ("careful", "caught_exception_info", "error_info")]
    return flow(
        start(port("x", "integer")), node("CatchExceptionNode", "careful", subflow=inner(inside, "in")),
        end(*outputs, branch=branch), end(*outputs, name="failed", branch="ERROR"),
        routes=[("careful", branch, "end"), ("careful", "caught_exception_branch", "failed")],
        data=[("start", "x", "careful", "x"),
              *((source, out, into, title) for into in ("end", "failed") for source, out, title in edges)],
    )  # fmt: skip


def test_row_02_an_error_is_caught_and_leaves_by_its_branch_with_defaults() -> None:
    good = run(catching(), {"x": 1}, tools={"check_sign": check_sign})
    assert good.outputs == {"y": "ok", "error_info": None}
    bad = run(catching(), {"x": -1}, tools={"check_sign": check_sign})
    assert (bad.status, bad.branch) == ("completed", "ERROR")
    assert bad.outputs is not None
    assert bad.outputs["y"] == ""
    info = bad.outputs["error_info"]
    assert isinstance(info, str)
    assert info
    assert "secret" not in info


@pytest.mark.parametrize(("branch", "x"), [("OK", 7), ("OK", 0)])
def test_row_03_without_an_error_the_branch_is_that_of_the_inner_end(branch: str, x: int) -> None:
    ran = run(catching(branch), {"x": x}, tools={"check_sign": check_sign})
    assert (ran.outputs, ran.branch) == ({"y": "ok", "error_info": None}, "OK")


def test_row_04_without_a_named_branch_it_is_next() -> None:
    ran = run(catching(), {"x": 5}, tools={"check_sign": check_sign})
    assert (ran.outputs, ran.branch) == ({"y": "ok", "error_info": None}, "next")


@pytest.mark.parametrize("kind", ["MapNode", "ParallelMapNode"])
def test_row_05_a_map_squares_each_element_in_order(kind: str) -> None:
    title = "input_square"
    square = tool("square_tool", [port("number", "integer")], [port(title, "integer")])
    inside = around(call("square", square), [port("number", "integer")], [port(title, "integer")])
    out = port(f"collected_{title}", array("integer"))
    document = flow(
        start(port("input_list", array("integer"))), node(kind, "each", subflow=inner(inside, "in")), end(out),
        data=[("start", "input_list", "each", "iterated_number"), ("each", out["title"], "end", out["title"])],
    )  # fmt: skip
    ran = run(
        document, {"input_list": [1, 2, 3, 4]}, tools={"square_tool": lambda number: number**2}
    )
    assert ran.outputs == {"collected_input_square": [1, 4, 9, 16]}


def test_row_06_a_flow_inside_a_flow_gives_its_value_on() -> None:
    inside = flow(
        start(port("custom_prop")), end(port("custom_prop")),
        data=[("start", "custom_prop", "end", "custom_prop")],
    )  # fmt: skip
    document = around(
        node("FlowNode", "run", subflow=inner(inside, "in")), [port("custom_prop")], [port("custom_prop")]
    )  # fmt: skip
    assert run(document, {"custom_prop": "custom"}).outputs == {"custom_prop": "custom"}


def asking() -> Any:
    ask = node("InputMessageNode", "ask", outputs=[port("custom_input")])
    return around(ask, [], [port("custom_input")])


def test_row_07_a_question_is_answered_and_the_answer_joins_the_conversation() -> None:
    waiting = Waiting(asking())
    assert len(waiting.interrupts) == 1
    assert waiting.resume({"approved": True, "value": "3"}) == {"custom_input": "3"}
    said = [one.content for one in waiting.state["messages"] if one.type == "human"]
    assert said == ["3"]
    assert drive(compile_flow(asking()), answers=["3"]).outputs == {"custom_input": "3"}


def test_row_08_a_message_is_said_once_with_its_value() -> None:
    say = node("OutputMessageNode", "say", message="Hey {{custom}}")
    waiting = Waiting(around(say, [port("custom")]), {"custom": "custom"})
    assert [(one.type, one.content) for one in waiting.state["messages"]] == [("ai", "Hey custom")]


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    made = LoopbackServer()
    made.replies = [Reply(body=json.dumps({"status": "ok"}).encode())]
    yield made
    made.close()


@pytest.fixture
def platform(server: LoopbackServer) -> Iterator[HttpPlatform]:
    made = HttpPlatform(None, allow=[server.url], retries=0)
    yield made
    made.close()


def ordering(platform: HttpPlatform, url: str, *, allowed: Any = None) -> Any:
    api = node(
        "ApiNode", "order", url=url, http_method="GET", data={}, query_params={}, headers={},
        outputs=[port("status")], **({} if allowed is None else {"url_allow_list": allowed}),
    )  # fmt: skip
    inputs = [port("order_id"), *([port("host")] if "host" in url else [])]
    return compile_flow(around(api, inputs, [port("status")]), platform=platform)


def test_row_09_a_call_puts_its_values_into_the_address(
    server: LoopbackServer, platform: HttpPlatform
) -> None:
    made = ordering(platform, f"{server.url}/orders/{{{{order_id}}}}")
    ran = drive(made, {"order_id": "123"}, platform=platform)
    assert ran.outputs == {"status": "ok"}
    assert [(one.method, one.path) for one in server.seen] == [("GET", "/orders/123")]


def test_row_09_the_host_may_be_a_value_too(server: LoopbackServer, platform: HttpPlatform) -> None:
    made = ordering(platform, "http://{{host}}/orders/{{order_id}}", allowed=[server.url])
    given = {"host": f"127.0.0.1:{server.port}", "order_id": "123"}
    assert drive(made, given, platform=platform).outputs == {"status": "ok"}
    assert server.last.path == "/orders/123"


@pytest.mark.parametrize("host", ["blocked.example.com", "127.0.0.1:1", "127.0.0.1.example.com"])
def test_row_10_an_address_that_the_node_does_not_allow_is_never_called(
    server: LoopbackServer, platform: HttpPlatform, host: str
) -> None:
    made = ordering(platform, "http://{{host}}/orders/{{order_id}}", allowed=[server.url])
    ran = drive(made, {"host": host, "order_id": "123"}, platform=platform)
    assert ran.status == "failed"
    assert "url_allow_list" in str(ran.error)
    assert server.seen == []


def test_row_07_a_rejected_question_ends_the_run() -> None:
    assert drive(compile_flow(asking()), answers=[Decision.reject(by="ann")]).status == "rejected"
