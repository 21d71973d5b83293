"""Flows that may fail: caught by the name of an exception, run again, or told as a text."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk import Decision
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.flows import end, flow_of, gate, message, node, plain, port, start, tool
from tests.wayflow.nodes import around, extended, inner, rename_ends

TOOL = tool("call", "work", [port("x", "integer")], [port("y")])
WORK = inner(TOOL, [port("x", "integer")], [port("y")])


def fail(x: int) -> str:
    raise {1: ValueError, 2: KeyError}.get(x, OSError)("no luck")


def catching(**fields: Any) -> Any:
    catch = extended("PluginCatchExceptionNode", "try", flow=WORK, **fields)
    ways = [("try", branch, branch) for branch in (fields.get("except_on") or {}).values()]
    if fields.get("catch_all_exceptions"):
        ways.append(("try", "default_exception_branch", "all"))
    says = [message(to, to) for _, _, to in ways]
    outputs = [port("exception_name"), port("y")]
    return plain(
        flow_of(
            start(port("x", "integer")), catch, *says, end(*outputs),
            routes=[("start", None, "try"), ("try", None, "end"), *ways, *((one["id"], None, "end") for one in says)],
            edges=[("start", "x", "try", "x"), *(("try", one["title"], "end", one["title"]) for one in outputs)],
        )
    )  # fmt: skip


BOTH = {"except_on": {"ValueError": "wrong"}, "catch_all_exceptions": True}


@pytest.mark.parametrize(
    ("x", "said", "outputs"),
    [
        (1, ("wrong",), {"exception_name": "ValueError", "y": ""}),
        (2, ("all",), {"exception_name": "KeyError", "y": ""}),
    ],
)
def test_an_exception_goes_by_the_branch_of_its_name(x: int, said: Any, outputs: Any) -> None:
    ran = drive(compile_flow(catching(**BOTH), tools={"work": fail}), {"x": x})
    assert (ran.messages, ran.outputs) == (said, outputs)


def test_without_a_failure_the_names_are_empty() -> None:
    ran = drive(compile_flow(catching(**BOTH), tools={"work": lambda x: f"{x}"}), {"x": 7})
    assert (ran.messages, ran.outputs) == ((), {"exception_name": "", "y": "7"})


def test_an_exception_that_nobody_names_fails_the_run() -> None:
    flow = compile_flow(catching(except_on={"ValueError": "wrong"}), tools={"work": fail})
    ran = drive(flow, {"x": 2})
    assert ran.status == "failed"
    assert "KeyError" in str(ran.error)


def retrying(flow: Any, **fields: Any) -> Any:
    again = extended("PluginRetryNode", "again", flow=flow, success_condition="ok", **fields)
    outputs = [port("retry_step_num_retries", "integer"), port("retry_step_success", "boolean")]
    return plain(
        flow_of(
            start(), again, message("sorry", "Sorry"), end(*outputs),
            routes=[("start", None, "again"), ("again", None, "end"), ("again", "failure", "sorry"), ("sorry", None, "end")],
            edges=[("again", one["title"], "end", one["title"]) for one in outputs],
        )
    )  # fmt: skip


TRY = inner(tool("call", "attempt", [], [port("ok", "boolean")]), [], [port("ok", "boolean")])


@pytest.mark.parametrize(
    ("results", "said", "tries", "succeeded"),
    [
        ([True], (), 1, True),
        ([False, False, True], (), 3, True),
        ([False, False, False], ("Sorry",), 3, False),
    ],
)
def test_a_flow_is_run_again_until_it_succeeds(
    results: list[bool], said: Any, tries: int, succeeded: bool
) -> None:
    left = list(results)
    flow = compile_flow(retrying(TRY, max_num_trials=3), tools={"attempt": lambda: left.pop(0)})
    ran = drive(flow, {})
    assert ran.outputs == {"retry_step_num_retries": tries, "retry_step_success": succeeded}
    assert (ran.messages, left) == (said, [])


def test_each_try_asks_its_own_gate() -> None:
    asks = rename_ends(
        flow_of(start(), gate("review", output=port("ok", "boolean")), end(port("ok", "boolean")), id_="inner", edges=[("review", "ok", "end", "ok")])
    )  # fmt: skip
    flow = compile_flow(plain(retrying(asks, max_num_trials=2)))
    ran = drive(flow, {}, answers=[Decision.approve(value=False), Decision.approve(value=True)])
    assert ran.outputs == {"retry_step_num_retries": 2, "retry_step_success": True}
    assert [one["gate"] for one in ran.decisions] == ["again/review", "again#2/review"]


def test_a_condition_that_is_no_output_is_found() -> None:
    found = check(retrying(WORK))
    assert any('"ok" is no output of the flow' in one.message for one in found.errors)


def telling(tool_node: Any, outputs: list[Any]) -> Any:
    call = {**tool_node, "component_type": "ExtendedToolNode", "raise_exceptions": False}
    return around(call, [port("x", "integer")], outputs)


def test_an_error_is_the_text_of_a_tool_that_tells_it() -> None:
    ran = drive(compile_flow(telling(TOOL, [port("y")]), tools={"work": fail}), {"x": 1})
    assert ran.outputs == {"y": "node 'call': tool 'work' raised ValueError: no luck"}


def test_a_tool_without_a_text_has_nowhere_to_tell_its_error() -> None:
    number = tool("call", "work", [port("x", "integer")], [port("y", "integer")])
    (found,) = check(telling(number, [port("y", "integer")]), tools=["work"]).errors
    assert "its tool has no single text to put out" in found.message


def test_a_confirmed_tool_that_tells_its_errors_still_asks() -> None:
    asked = node("ToolNode", "call", tool={**TOOL["tool"], "requires_confirmation": True})
    flow = compile_flow(telling(asked, [port("y")]), tools={"work": fail})
    ran = drive(flow, {"x": 1}, answers=[True])
    assert ran.outputs == {"y": "node 'call': tool 'work' raised ValueError: no luck"}


def test_a_node_that_feeds_itself_takes_the_same_at_each_try() -> None:
    number, ok = port("n", "integer"), port("ok", "boolean")
    attempt = inner(tool("call", "attempt", [number], [number, ok]), [number], [number, ok])
    again = extended(
        "PluginRetryNode", "again", flow=attempt, success_condition="ok", max_num_trials=2
    )
    choose = node(
        "BranchingNode", "choose", mapping={"2": "stop"}, branches=["stop", "default"],
        inputs=[port("branching_mapping_key")],
    )  # fmt: skip
    made = flow_of(
        start(number), again, choose, end(number),
        routes=[("start", None, "again"), ("again", None, "choose"), ("again", "failure", "end"),
                ("choose", "stop", "end"), ("choose", "default", "again")],
        edges=[("start", "n", "again", "n"), ("again", "n", "again", "n"),
               ("again", "n", "choose", "branching_mapping_key"), ("again", "n", "end", "n")],
    )  # fmt: skip
    given: list[int] = []

    def tried(n: int) -> tuple[int, bool]:
        given.append(n)
        return n + 1, len(given) != 2  # the second try of all fails

    flow = compile_flow(plain(made), tools={"attempt": tried})
    assert drive(flow, {"n": 0}).outputs == {"n": 2}
    assert given == [0, 1, 1]
