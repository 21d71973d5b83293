"""Variables of a flow: what was written last is read, and what nobody wrote has its default."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.flows import branching, end, flow_of, plain, port, start, tool
from tests.wayflow.nodes import around, extended

SEEN = port("seen", "array", items={"type": "string"}, default=[])
COUNT = port("count", "number", default=5)


def write(id_: str, variable: Any, operation: str = "overwrite", **more: Any) -> Any:
    return extended("PluginWriteVariableNode", id_, variable=variable, operation=operation, **more)


def read(id_: str, variable: Any, **more: Any) -> Any:
    return extended("PluginReadVariableNode", id_, variable=variable, **more)


def test_a_variable_that_nobody_wrote_has_its_default() -> None:
    flow = around(read("r", COUNT), [], [port("value", "number")])
    assert drive(compile_flow(flow), {}).outputs == {"value": 5}


def test_elements_are_put_in_one_after_the_other() -> None:
    flow = plain(
        flow_of(
            start(port("a"), port("b")),
            write("first", SEEN, "insert"), write("second", SEEN, "insert"), read("r", SEEN),
            end(port("value", "array", items={"type": "string"})),
            edges=[("start", "a", "first", "value"), ("start", "b", "second", "value"),
                   ("r", "value", "end", "value")],
        )
    )  # fmt: skip
    assert check(flow).errors == []
    assert drive(compile_flow(flow), {"a": "x", "b": "y"}).outputs == {"value": ["x", "y"]}


@pytest.mark.parametrize(
    ("kind", "before", "given", "after"),
    [
        ("array", ["a"], ["b", "c"], ["a", "b", "c"]),
        ("object", {"a": 1, "b": 2}, {"b": 3}, {"a": 1, "b": 3}),
    ],
)
def test_lists_and_objects_are_merged(kind: str, before: Any, given: Any, after: Any) -> None:
    variable = port("all", kind, default=before)
    both = extended(
        "PluginVariableNode", "both", write_variables=[variable], read_variables=[variable],
        write_operations={"all": "merge"},
    )  # fmt: skip
    flow = around(both, [port("all", kind)], [port("all", kind)])
    assert drive(compile_flow(flow), {"all": given}).outputs == {"all": after}


def test_a_variable_keeps_its_value_around_a_loop() -> None:
    """Two rounds: 5, then 6, then the tool says that it is enough."""
    call = tool("call", "next", [port("count", "number")], [port("more", "number"), port("go")])
    flow = plain(
        flow_of(
            start(), read("r", COUNT, output_mapping={"value": "count"}), call,
            write("w", COUNT, input_mapping={"value": "more"}),
            branching("choose", port("go"), {"yes": "again"}),
            end(port("more", "number")),
            routes=[("start", None, "r"), ("r", None, "call"), ("call", None, "w"), ("w", None, "choose"),
                    ("choose", "again", "r"), ("choose", "default", "end")],
            edges=[("r", "count", "call", "count"), ("call", "more", "w", "more"),
                   ("call", "go", "choose", "go"), ("call", "more", "end", "more")],
        )
    )  # fmt: skip
    asked: list[float] = []

    def go_on(count: float) -> dict[str, Any]:
        asked.append(count)
        return {"more": count + 1, "go": "yes" if count < 6 else "no"}

    ran = drive(compile_flow(flow, tools={"next": go_on}), {})
    assert (asked, ran.outputs) == ([5, 6], {"more": 7})


@pytest.mark.parametrize(
    ("variable", "operations", "told"),
    [
        (COUNT, {"count": "insert"}, "which is no list"),
        (COUNT, {"count": "append"}, "does not say how"),
        (COUNT, {}, "does not say how"),
        (COUNT, {"count": "overwrite", "other": "merge"}, "none of its write_variables"),
    ],
)
def test_a_variable_that_cannot_be_written_so_is_found(
    variable: Any, operations: Any, told: str
) -> None:
    node = extended(
        "PluginVariableNode", "w", write_variables=[variable], write_operations=operations
    )
    found = check(around(node, [port("count", "number")], []))
    assert any(told in one.message for one in found.errors)
