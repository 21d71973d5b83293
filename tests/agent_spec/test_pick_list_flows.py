"""The pick list of upstream cases, rows 29, 30 and 40: maps inside maps, questions in them, parallel flows."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.agent_spec.documents import (
    around,
    array,
    call,
    codes_of,
    end,
    flow,
    inner,
    node,
    port,
    run,
    start,
    tool,
)

NUMBER = "number"
SQUARE = tool("square", [port("x", NUMBER)], [port("y", NUMBER)])
DIVIDE = tool("divide", [port("x", NUMBER), port("by", NUMBER)], [port("y", NUMBER)])
TOTAL = tool("total", [port("xs", array(NUMBER))], [port("squared", NUMBER)])
TOOLS = {
    "square": lambda x: x * x,
    "divide": lambda x, by: x / by,
    "total": lambda xs: sum(xs) ** 2,
}


def normalising(kind: str) -> Any:
    """Divides each number by the square of the sum of their squares."""
    squares = around(call("one", SQUARE), [port("x", NUMBER)], [port("y", NUMBER)])
    quotients = around(call("one", DIVIDE), DIVIDE["inputs"], [port("y", NUMBER)])
    xs, ys = port("x_list", array(NUMBER)), port("y_list", array(NUMBER))
    return flow(
        start(xs),
        node(kind, "squares", subflow=inner(squares, "squared")),
        call("whole", TOTAL),
        node(kind, "quotients", subflow=inner(quotients, "divided")),
        end(ys),
        data=[("start", "x_list", "squares", "iterated_x"), ("squares", "collected_y", "whole", "xs"),
              ("start", "x_list", "quotients", "iterated_x"), ("whole", "squared", "quotients", "iterated_by"),
              ("quotients", "collected_y", "end", "y_list")],
    )  # fmt: skip


NUMBERS = [1.1, 2.2, 3.3, 4.4]
WANTED = [0.00083479, 0.00166959, 0.00250438, 0.00333918]


@pytest.mark.parametrize("kind", ["MapNode", "ParallelMapNode"])
def test_row_29_a_list_is_normalised_by_maps_one_after_the_other(kind: str) -> None:
    ran = run(normalising(kind), {"x_list": NUMBERS}, tools=TOOLS)
    assert ran.outputs == {"y_list": pytest.approx(WANTED, abs=5e-9)}


@pytest.mark.parametrize("kind", ["MapNode", "ParallelMapNode"])
def test_row_29_and_lists_of_lists_by_a_map_around_them(kind: str) -> None:
    lists = array(array(NUMBER))
    each = node(kind, "each", subflow=inner(normalising(kind), "row"))
    document = flow(
        start(port("rows", lists)), each, end(port("told", lists)),
        data=[("start", "rows", "each", "iterated_x_list"), ("each", "collected_y_list", "end", "told")],
    )  # fmt: skip
    ran = run(document, {"rows": [NUMBERS, [2.0], []]}, tools=TOOLS)
    assert ran.outputs is not None
    first, second, third = ran.outputs["told"]  # type: ignore[misc]
    assert first == pytest.approx(WANTED, abs=5e-9)
    assert (second, third) == ([0.125], [])


def test_row_30_questions_of_a_map_are_asked_for_each_element() -> None:
    asking = flow(
        start(port("topic")),
        node("PluginInputMessageNode", "ask", message_template="What about {{ topic }}?", inputs=[port("topic")],
             outputs=[port("value")], component_plugin_name="nodes", component_plugin_version="1",
             input_mapping={}, output_mapping={}, rephrase=False, llm_config=None),
        end(port("value")),
        data=[("start", "topic", "ask", "topic"), ("ask", "value", "end", "value")],
    )  # fmt: skip
    each = node("MapNode", "each", subflow=inner(asking, "round"))
    document = flow(
        start(port("topics", array("string"))), each, end(port("user_feedback", array("string"))),
        data=[("start", "topics", "each", "iterated_topic"), ("each", "collected_value", "end", "user_feedback")],
    )  # fmt: skip
    document |= {"component_type": "ExtendedFlow", "context_providers": [], "state": []}
    answers = ["Very good!", "Need to improve!"]
    ran = run(document, {"topics": ["food", "music"]}, answers=answers)
    assert ran.outputs == {"user_feedback": answers}
    assert ran.messages == ("What about food?", "What about music?")


# ------------------------------------------------------------------ row 40


def making(out: str, name: str, given: str = "a") -> Any:
    """A flow that calls one tool and gives its result as `out`."""
    made = tool(name, [port(given)], [port(out)])
    return inner(around(call("work", made), [port(given)], [port(out)]), f"of_{name}")


def both(*flows: Any, outputs: Any = ("x", "y"), inputs: Any = ("a",)) -> Any:
    one = node("ParallelFlowNode", "both", subflows=list(flows))
    return around(one, [port(title) for title in inputs], [port(title) for title in outputs])


def test_row_40_flows_run_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=20)

    def meet(a: str) -> str:
        meeting.wait()
        return a + "!"

    document = both(making("x", "left"), making("y", "right"))
    ran = run(document, {"a": "1"}, tools={"left": meet, "right": meet})
    assert ran.outputs == {"x": "1!", "y": "1!"}


def test_row_40_an_input_of_several_flows_is_given_to_each() -> None:
    seen: list[str] = []
    document = both(making("x", "left"), making("y", "right"))
    tools = {"left": lambda a: seen.append(a) or "l", "right": lambda a: seen.append(a) or "r"}
    assert run(document, {"a": "1"}, tools=tools).outputs == {"x": "l", "y": "r"}
    assert seen == ["1", "1"]


def test_row_40_each_flow_gets_its_own_inputs() -> None:
    document = both(making("x", "left"), making("y", "right", "b"), inputs=("a", "b"))
    tools = {"left": lambda a: a, "right": lambda b: b}
    assert run(document, {"a": "1", "b": "2"}, tools=tools).outputs == {"x": "1", "y": "2"}


@pytest.mark.parametrize(
    "flows",
    [
        (making("x", "left"), making("x", "right")),
        (making("x", "left"), making("y", "right"), making("x", "third")),
    ],
)
def test_row_40_two_flows_with_one_output_are_refused(flows: Any) -> None:
    assert "OAS076" in codes_of(both(*flows, outputs=("x",)))


def test_row_40_one_flow_alone_is_enough() -> None:
    document = both(making("x", "left"), outputs=("x",))
    assert run(document, {"a": "1"}, tools={"left": lambda a: a}).outputs == {"x": "1"}


def test_row_40_an_error_in_one_flow_fails_the_run() -> None:
    def fail(a: str) -> str:
        raise ValueError(a)

    document = both(making("x", "left"), making("y", "right"))
    ran = run(document, {"a": "1"}, tools={"left": lambda a: a, "right": fail})
    assert ran.status == "failed"
    assert "right" in str(ran.error)


def test_row_40_flows_may_ask_at_the_same_time_where_upstream_refuses_it() -> None:
    asking = [
        inner(around(node("InputMessageNode", "ask", outputs=[port(out)]), [], [port(out)]), name)
        for out, name in (("x", "left"), ("y", "right"))
    ]
    ran = run(both(*asking, inputs=()), answers=["one", "two"])
    assert ran.outputs == {"x": "one", "y": "two"}
    assert len({gate.id for gate in ran.gates}) == 2


def words(kind: str, *, source: Any = None, other: Any = "string") -> Any:
    """Joins each word with another one."""
    joined = tool("join", [port("word"), port("other")], [port("told")])
    inside = inner(around(call("work", joined), joined["inputs"], [port("told")]), "round")
    return flow(
        start(port("words", source or array("string")), port("other", other)),
        node(kind, "each", subflow=inside), end(port("told", array("string"))),
        data=[("start", "words", "each", "iterated_word"), ("start", "other", "each", "iterated_other"),
              ("each", "collected_told", "end", "told")],
    )  # fmt: skip


JOIN = {"join": lambda word, other: f"{word}-{other}"}
MAPS = pytest.mark.parametrize("kind", ["MapNode", "ParallelMapNode"])


@MAPS
def test_row_40_a_map_keeps_the_order_and_gives_a_single_value_to_each(kind: str) -> None:
    given = {"words": [f"w{number}" for number in range(30)], "other": "z"}
    assert run(words(kind), given, tools=JOIN).outputs == {"told": [f"w{number}-z" for number in range(30)]}  # fmt: skip


@MAPS
def test_row_40_two_lists_are_gone_through_together(kind: str) -> None:
    document = words(kind, other=array("string"))
    given = {"words": ["a", "b"], "other": ["1", "2"]}
    assert run(document, given, tools=JOIN).outputs == {"told": ["a-1", "b-2"]}
    ran = run(document, {**given, "other": ["1"]}, tools=JOIN)
    assert "different lengths: 'iterated_word' has 2, 'iterated_other' has 1" in str(ran.error)


@MAPS
def test_row_40_a_map_without_a_list_fails_and_one_over_nothing_gives_nothing(kind: str) -> None:
    ran = run(words(kind, source="string"), {"words": "a", "other": "z"}, tools=JOIN)
    assert "none of its inputs is a list" in str(ran.error)
    assert run(words(kind), {"words": [], "other": "z"}, tools=JOIN).outputs == {"told": []}


@MAPS
@pytest.mark.parametrize(
    ("reducer", "value"), [("sum", 14), ("average", 14 / 3), ("max", 9), ("min", 1)]
)
def test_row_40_numbers_are_put_together_by_their_reducer(
    kind: str, reducer: str, value: float
) -> None:
    squares = around(call("one", SQUARE), [port("x", NUMBER)], [port("y", NUMBER)])
    each = node(kind, "each", subflow=inner(squares, "in"), reducers={"y": reducer})
    document = flow(
        start(port("xs", array(NUMBER))), each, end(port("told", NUMBER)),
        data=[("start", "xs", "each", "iterated_x"), ("each", "collected_y", "end", "told")],
    )  # fmt: skip
    assert run(document, {"xs": [1, 2, 3]}, tools=TOOLS).outputs == {"told": pytest.approx(value)}


def test_row_40_questions_in_a_parallel_map_are_answered_one_by_one() -> None:
    ask = node("InputMessageNode", "ask", message="{{w}}?", outputs=[port("told")])
    inside = inner(around(ask, [port("w")], [port("told")]), "round")
    document = flow(
        start(port("ws", array("string"))), node("ParallelMapNode", "each", subflow=inside),
        end(port("all", array("string"))),
        data=[("start", "ws", "each", "iterated_w"), ("each", "collected_told", "end", "all")],
    )  # fmt: skip
    answers = {"a?": "1", "b?": "2"}
    ran = run(document, {"ws": ["a", "b"]}, answers=lambda gate: answers[gate.values["output"]])
    assert ran.outputs == {"all": ["1", "2"]}
    assert [gate.id for gate in ran.gates] == ["each[0]/round_ask", "each[1]/round_ask"]
