"""docs/semantics-table.md: what it names is there, and rules that no other module tests hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.errors import InputInvalid
from oas_compiler.catalog import all_rules
from tests.agent_spec.documents import (
    BRANCHING_KEY,
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

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "semantics-table.md"
WORDS = ("runs", "checked", "wider", "not kept")


def list_rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


RULES = [row for row in list_rows() if "`" in row[2] and row[2].startswith("`")]
SILENCES = [row for row in list_rows() if row not in RULES and row[0] not in {"rule", "silence"}]


def test_every_row_has_a_status_and_its_tests_are_there() -> None:
    assert len(RULES) > 80
    for rule, status, tests in RULES:
        assert status.startswith(WORDS), rule
        modules = re.findall(r"`([\w/]+)`", tests)
        assert modules, rule
        assert [one for one in modules if not (TESTS / f"{one}.py").is_file()] == [], rule


def test_every_code_that_the_page_names_is_a_rule() -> None:
    named = set(re.findall(r"OAS\d{3}", PAGE.read_text("utf-8")))
    assert len(named) > 40
    assert named <= {rule.code for rule in all_rules()}


def test_every_silence_has_a_choice_and_a_reason() -> None:
    assert len(SILENCES) > 35
    assert all(len(row) == 3 and all(row) for row in SILENCES)


ECHO = tool("echo", [port("text")], [port("said")])
X = port("x")


@pytest.mark.parametrize("title", ["a b", "a.b", "a,b", "{a}", "it's", 'a"b', "a-b"])
def test_a_title_of_any_letters_works_along_edges(title: str) -> None:
    document = flow(start(port(title)), end(port(title)), data=[("start", title, "end", title)])
    assert run(document, {title: "v"}).outputs == {title: "v"}


def test_an_input_has_the_value_of_its_edge_else_its_default_else_the_file_is_refused() -> None:
    for default, data, found in (
        ({"default": "d"}, [("start", "x", "end", "y")], {"y": "v"}),
        ({"default": "d"}, [], {"y": "d"}),
    ):
        document = flow(start(X), end(port("y", **default)), data=data)  # type: ignore[arg-type]
        assert run(document, {"x": "v"}).outputs == found
    assert codes_of(flow(start(X), end(port("y")), data=[])) == {"OAS063"}


def test_an_input_of_the_run_takes_its_default_and_is_cast_by_nobody() -> None:
    document = flow(
        start(port("x", "integer", default=3)), end(X), data=[("start", "x", "end", "x")]
    )
    assert run(document, {}).outputs == {"x": "3"}
    for wrong in ("5", 2.5, None, True):
        with pytest.raises(InputInvalid):
            run(document, {"x": wrong})


@pytest.mark.parametrize(
    ("key", "branch"), [("a", "first"), ("b", "rest"), ("default", "first"), ("z", "rest")]
)
def test_a_value_may_be_mapped_to_default_and_default_may_be_a_value(key: str, branch: str) -> None:
    choose = node("BranchingNode", "choose", mapping={"a": "one", "b": "default", "default": "one"})
    document = flow(
        start(port("key")), choose, end(branch="first"), end(name="end2", branch="rest"),
        routes=[("choose", "one", "end"), ("choose", "default", "end2")],
        data=[("start", "key", "choose", BRANCHING_KEY)],
    )  # fmt: skip
    assert run(document, {"key": key}).branch == branch


@pytest.mark.parametrize(
    ("key", "outputs"), [("1", {"r": "one"}), ("2", {"r": "two"}), ("3", {"r": "none"})]
)
def test_of_several_sources_the_one_that_ran_counts(key: str, outputs: Any) -> None:
    one, two = tool("one", [], [port("r")]), tool("two", [], [port("r")])
    document = flow(
        start(port("key")), node("BranchingNode", "choose", mapping={"1": "one", "2": "two"}),
        call("first", one), call("second", two), end(port("r", default="none")),
        routes=[("choose", "one", "first"), ("choose", "two", "second"), ("choose", "default", "end"),
                ("first", "", "end"), ("second", "", "end")],
        data=[("start", "key", "choose", BRANCHING_KEY), ("first", "r", "end", "r"), ("second", "r", "end", "r")],
    )  # fmt: skip
    tools = {"one": lambda: "one", "two": lambda: "two"}
    assert run(document, {"key": key}, tools=tools).outputs == outputs


def test_no_list_of_data_edges_connects_equal_names_and_an_empty_one_connects_nothing() -> None:
    tools = {"echo": lambda text: text}
    for absent in (True, False):
        document = flow(start(port("text")), call("say", ECHO), end(port("said")), data=None)
        if absent:
            del document["data_flow_connections"]
        assert run(document, {"text": "hi"}, tools=tools).outputs == {"said": "hi"}
    nothing = flow(start(port("text")), call("say", ECHO), end(port("said")), data=[])
    assert codes_of(nothing) == {"OAS063"}
    unlike = flow(start(port("text", "object")), call("say", tool("take", [port("text", "integer")], [X])), end(X), data=None)  # fmt: skip
    assert codes_of(unlike) == {"OAS064"}


def test_the_answer_to_a_question_has_the_type_of_its_output() -> None:
    ask = node("InputMessageNode", "ask", outputs=[port("count", "integer")])
    document = around(ask, [], [port("count", "integer")])
    assert run(document, answers=[3]).outputs == {"count": 3}
    with pytest.raises(ValueError, match="integer"):
        run(document, answers=["three"])


@pytest.mark.parametrize(
    ("result", "found"),
    [
        ({"a": 1, "b": "z", "more": 3}, {"a": 1, "b": "z"}),
        ((1, "z"), {"a": 1, "b": "z"}),
        ({"a": 2.9}, {"a": 2, "b": "left out"}),
        ({"a": True, "b": [1, {"k": None}]}, {"a": 1, "b": '[1, {"k": null}]'}),
        ({"b": "z"}, None),
        ("text", None),
    ],
)
def test_a_tool_gives_several_outputs_by_title_or_in_their_order(result: Any, found: Any) -> None:
    outputs = [port("a", "integer"), port("b", default="left out")]
    document = around(
        call("work", tool("make", [], outputs)), [], [port("a", "integer"), port("b")]
    )
    ran = run(document, tools={"make": lambda: result})
    assert (ran.status, ran.outputs) == ("completed" if found else "failed", found)


def test_each_inner_list_is_an_element_of_a_map_over_lists() -> None:
    rows = array(array("string"))
    same = flow(start(port("l", array("string"))), end(port("l", array("string"))), data=[("start", "l", "end", "l")])  # fmt: skip
    document = flow(
        start(port("rows", rows)), node("MapNode", "each", subflow=inner(same, "in")), end(port("out", rows)),
        data=[("start", "rows", "each", "iterated_l"), ("each", "collected_l", "end", "out")],
    )  # fmt: skip
    given = [["a"], [], ["b", "c"]]
    assert run(document, {"rows": given}).outputs == {"out": given}


@pytest.mark.parametrize(
    ("source", "given", "found"),
    [
        ({"anyOf": [{"type": "string"}, array("string")]}, ["a", "b"], ["a", "b"]),
        ({"type": ["array", "null"], "items": {"type": "string"}}, ["a"], ["a"]),
        ({"anyOf": [{"type": "string"}, array("string")]}, "a", None),
        (array("integer"), [1, 2], ["1", "2"]),
    ],
)
def test_where_a_source_may_be_a_list_or_not_its_value_decides(
    source: Any, given: Any, found: Any
) -> None:
    same = flow(start(X), end(X), data=[("start", "x", "end", "x")])
    document = flow(
        start(port("l", source)), node("MapNode", "each", subflow=inner(same, "in")), end(port("out", array("string"))),
        data=[("start", "l", "each", "iterated_x"), ("each", "collected_x", "end", "out")],
    )  # fmt: skip
    ran = run(document, {"l": given})
    assert ran.outputs == ({"out": found} if found else None)


def test_a_list_whose_elements_the_flow_does_not_take_is_the_same_in_every_round() -> None:
    texts, numbers = array("string"), array("integer")
    same = flow(
        start(port("x", "integer"), port("l", texts)), end(port("l", texts)), data=[("start", "l", "end", "l")]
    )  # fmt: skip
    document = flow(
        start(port("xs", numbers), port("l", numbers)), node("MapNode", "each", subflow=inner(same, "in")), end(port("out", array(texts))),
        data=[("start", "xs", "each", "iterated_x"), ("start", "l", "each", "iterated_l"), ("each", "collected_l", "end", "out")],
    )  # fmt: skip
    ran = run(document, {"xs": [7, 8, 9], "l": [1, 2]})
    assert ran.outputs == {"out": [["1", "2"]] * 3}


@pytest.mark.parametrize("key", ["left", "right"])
def test_an_agent_node_over_a_flow_leaves_by_next_whichever_end_was_reached(key: str) -> None:
    inside = flow(
        start(X), node("BranchingNode", "choose", mapping={"left": "left"}),
        end(X, name="l", branch="LEFT"), end(X, name="r", branch="RIGHT"),
        routes=[("choose", "left", "l"), ("choose", "default", "r")],
        data=[("start", "x", "choose", BRANCHING_KEY), ("start", "x", "l", "x"), ("start", "x", "r", "x")],
    )  # fmt: skip
    document = around(node("AgentNode", "work", agent=inner(inside, "in")), [X], [X])
    ran = run(document, {"x": key})
    assert (ran.outputs, ran.branch) == ({"x": key}, "next")
