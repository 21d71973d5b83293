"""The pick list of upstream cases, rows 31 to 34 and 36: what is refused before a run."""

from __future__ import annotations

from typing import Any

import pytest

from oas_compiler import CompileError, compile_flow
from tests.agent_spec.documents import (
    BRANCHING_KEY,
    add,
    around,
    array,
    call,
    changed,
    codes_of,
    end,
    feed,
    flow,
    inner,
    lead,
    node,
    parts,
    port,
    ref,
    run,
    start,
    tool,
)

ECHO = tool("echo", [port("text")], [port("said")])
OTHER = tool("other", [port("text")], [port("said")])
TOOLS = {"echo": lambda text: text}


def echoing() -> Any:
    return flow(
        start(port("x")), call("echo_node", ECHO), end(port("said")),
        data=[("start", "x", "echo_node", "text"), ("echo_node", "said", "end", "said")],
    )  # fmt: skip


def test_row_31_a_version_that_never_was_is_refused() -> None:
    for version in ("20.99.99", "1", "v26.1.0"):
        assert codes_of({**echoing(), "agentspec_version": version}) == {"OAS025"}
    for version in ("25.4.1", "26.1.0", "26.1.2", "26.3.1"):
        assert codes_of({**echoing(), "agentspec_version": version}) == set()


def test_row_31_one_name_in_two_blocks_is_refused() -> None:
    inside = inner(echoing(), "in")
    document = around(node("FlowNode", "run", subflow=inside), [port("x")], [port("said")])
    assert codes_of(document) == set()
    block = parts(parts(document)["run"]["subflow"])
    block["start"] = block["in_start"]
    assert "OAS012" in codes_of(document)


def test_row_31_a_flow_that_runs_itself_is_refused() -> None:
    document = echoing()
    add(document, node("FlowNode", "again", subflow=ref("flow")))
    inside = parts(document)["again"]
    outer = {
        **around(node("FlowNode", "run", subflow=ref("flow")), [port("x")], [port("said")]),
        "id": "outer",
    }
    rest = {key: value for key, value in document.items() if key != "agentspec_version"}
    outer["$referenced_components"] |= {"flow": {**rest, "$referenced_components": {
        **{f"b_{key}": value for key, value in parts(document).items() if key != "again"},
        "again": inside}}}  # fmt: skip
    assert "OAS015" in codes_of(outer)
    assert codes_of({"agentspec_version": "26.1.0", **ref("a"),
                     "$referenced_components": {"a": ref("b"), "b": ref("a")}}) == {"OAS011"}  # fmt: skip


def unlisted(document: Any) -> None:
    parts(document)["ghost"] = call("ghost", OTHER)


def two_starts(document: Any) -> None:
    add(document, {**start(port("x")), "id": "start2", "name": "start2"})


def no_start(document: Any) -> None:
    document["nodes"].remove(ref("start"))


def no_end(document: Any) -> None:
    document["nodes"].remove(ref("end"))
    document["control_flow_connections"].pop()
    document["data_flow_connections"].pop()
    document["outputs"] = []


def loose_end(document: Any) -> None:
    add(document, end(name="end2"))


def flow_output(**more: Any) -> Any:
    return lambda document: document.update(outputs=[port("said", **more)])


def other_ends(document: Any) -> None:
    """A branch to a second end that gives the same output with another type."""
    parts(document)["start"]["inputs"] = parts(document)["start"]["outputs"] = [port("x")]
    branching = node("BranchingNode", "choose", mapping={"a": "a"})
    add(document, branching, {**end(port("said", "object"), name="end2")})
    document["control_flow_connections"] = []
    lead(document, "start", "choose")
    lead(document, "choose", "echo_node", "a")
    lead(document, "choose", "end2", "default")
    lead(document, "echo_node", "end")
    feed(document, "start", "x", "choose", BRANCHING_KEY)
    parts(document)["end2"]["inputs"] = parts(document)["end2"]["outputs"] = [
        port("said", "object", default={})
    ]


STRUCTURE: dict[str, tuple[Any, set[str]]] = {
    "a control edge from a node that is not listed": (
        lambda made: (unlisted(made), lead(made, "ghost", "end")), {"OAS042"}),
    "a control edge to a node that is not listed": (
        lambda made: (unlisted(made), made["control_flow_connections"].pop(), lead(made, "echo_node", "ghost")),
        {"OAS042", "OAS052"}),
    "a data edge from a node that is not listed": (
        lambda made: (unlisted(made), feed(made, "ghost", "said", "end", "said")), {"OAS060"}),
    "a data edge to a node that is not listed": (
        lambda made: (unlisted(made), feed(made, "start", "x", "ghost", "text")), {"OAS060"}),
    "no StartNode": (no_start, {"OAS050"}),
    "two StartNodes": (two_starts, {"OAS040", "OAS045"}),
    "a start_node that is another node": (lambda made: made.update(start_node=ref("echo_node")), {"OAS050"}),
    "a StartNode without an edge": (lambda made: made["control_flow_connections"].pop(0), {"OAS045"}),
    "a StartNode with two edges": (lambda made: lead(made, "start", "end"), {"OAS044"}),
    "an edge into the StartNode": (lambda made: lead(made, "echo_node", "start"), {"OAS044", "OAS046"}),
    "no EndNode": (no_end, {"OAS041"}),
    "an EndNode without an edge": (loose_end, {"OAS052"}),
    "an edge out of an EndNode": (lambda made: lead(made, "end", "echo_node"), {"OAS047"}),
    "an output that no EndNode has": (
        lambda made: made.update(outputs=[port("said"), port("more")]), {"OAS066"}),
    "an output of a wrong type": (
        lambda made: made.update(outputs=[port("said", "integer")]), {"OAS069"}),
    "one output with two types": (other_ends, {"OAS072"}),
}  # fmt: skip


@pytest.mark.parametrize("name", STRUCTURE)
def test_row_32_a_broken_structure_is_refused(name: str) -> None:
    change, codes = STRUCTURE[name]
    assert codes_of(echoing()) == set()
    found = codes_of(changed(echoing(), change))
    assert codes <= found
    assert found - codes <= {"OAS045", "OAS063", "OAS069"}  # what follows from the same mistake


OBJECT = {"type": "object"}


def one_of(*kinds: Any) -> Any:
    return {"anyOf": [{"type": kind} if isinstance(kind, str) else kind for kind in kinds]}


def table(values: Any) -> Any:
    values = {"type": values} if isinstance(values, str) else values
    return {"type": "object", "additionalProperties": values}


def record(**members: str) -> Any:
    return {"type": "object", "properties": {key: {"type": kind} for key, kind in members.items()}}


ACCEPTED: dict[str, tuple[Any, Any]] = {
    "string to string": ("string", "string"),
    "integer to string": ("integer", "string"),
    "number to string": ("number", "string"),
    "boolean to string": ("boolean", "string"),
    "list to string": (array("integer"), "string"),
    "object to string": (record(a="integer"), "string"),
    "anything to string": ({}, "string"),
    "integer to number": ("integer", "number"),
    "integer to boolean": ("integer", "boolean"),
    "number to integer": ("number", "integer"),
    "number to boolean": ("number", "boolean"),
    "boolean to integer": ("boolean", "integer"),
    "boolean to number": ("boolean", "number"),
    "list of integers to list of strings": (array("integer"), array("string")),
    "list of booleans to list of numbers": (array("boolean"), array("number")),
    "table of lists": (table(array("integer")), table(array("string"))),
    "object to one with fewer members": (record(a="integer", b="string"), record(a="number")),
    "string to a union with it": ("string", one_of("integer", "string")),
    "union to union": (one_of("integer", "boolean"), one_of("number", "null")),
    "null or string to string": (one_of("string", "null"), "string"),
    "string to anything": ("string", {}),
}
REFUSED: dict[str, tuple[Any, Any]] = {
    "string to integer": ("string", "integer"),
    "string to number": ("string", "number"),
    "string to boolean": ("string", "boolean"),
    "list of strings to list of booleans": (array("string"), array("boolean")),
    "table of strings to table of integers": (table("string"), table("integer")),
    "table of lists of strings to table of lists of integers": (
        table(array("string")),
        table(array("integer")),
    ),
    "union with string to boolean": (one_of("string", "boolean"), "boolean"),
    "null or integer to integer": (one_of("integer", "null"), "integer"),
    "anything to integer": ({}, "integer"),
    "object to one with a member": (OBJECT, record(k="string")),
    "list of anything to list of integers": ({"type": "array"}, array("integer")),
    "object to list": (OBJECT, array({})),
}


def leading(source: Any, target: Any) -> Any:
    take = tool("take", [port("v", target)], [port("told")])
    return flow(
        start(port("x", source)), call("work", take), end(port("told")),
        data=[("start", "x", "work", "v"), ("work", "told", "end", "told")],
    )  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_row_33_a_type_that_can_become_another_feeds_it(name: str) -> None:
    assert codes_of(leading(*ACCEPTED[name])) == set()


@pytest.mark.parametrize("name", REFUSED)
def test_row_34_a_type_that_cannot_become_another_does_not_feed_it(name: str) -> None:
    assert codes_of(leading(*REFUSED[name])) == {"OAS064"}


def branching(**more: Any) -> Any:
    chosen = node("BranchingNode", "choose", mapping={"a": "one", "b": "two", "c": "one"}, **more)
    title = more["inputs"][0]["title"] if "inputs" in more else BRANCHING_KEY
    return flow(
        start(port("key")), chosen, *(end(name=f"end_{name}", branch=name) for name in ("one", "two", "rest")),
        routes=[("choose", "one", "end_one"), ("choose", "two", "end_two"), ("choose", "default", "end_rest")],
        data=[("start", "key", "choose", title)], outputs=[],
    )  # fmt: skip


@pytest.mark.parametrize(
    "more", [{}, {"inputs": [port("word")]}, {"branches": ["two", "default", "one"]}]
)
def test_row_36_the_branches_follow_from_the_mapping(more: Any) -> None:
    document = branching(**more)
    (chosen,) = [one for one in compile_flow(document).ir.nodes if one.id == "choose"]
    assert sorted(chosen.branches) == ["default", "one", "two"]
    left = {key: run(document, {"key": key}).branch for key in ("a", "b", "c", "z")}
    assert left == {"a": "one", "b": "two", "c": "one", "z": "rest"}


@pytest.mark.parametrize(
    "branches",
    [["one", "two"], ["one", "two", "default", "three"], ["one", "one", "two", "default"], []],
)
def test_row_36_branches_that_do_not_follow_from_it_are_refused(branches: list[str]) -> None:
    with pytest.raises(CompileError, match="OAS051"):
        compile_flow(branching(branches=branches))
