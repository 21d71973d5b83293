"""What a tool gave for an output: null is no value of a type that has none."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.data.ports import ANY, ArrayType, ObjectType, ScalarType, UnionType
from cinatra_sdk.data.ports import port as typed
from cinatra_sdk.flow.plan.casts import CastError, cast_result
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.flows import end, flow_of, node, port, start

INTEGER = ScalarType("integer")
ROWS = ArrayType(ObjectType((("n", INTEGER),)))


@pytest.mark.parametrize(
    ("of", "given"),
    [
        (INTEGER, None), (ScalarType("number"), None), (ScalarType("boolean"), None), (ROWS, None),
        (ROWS, [{"n": None}]), (ObjectType(), None), (ArrayType(INTEGER), [1, None]),
        (UnionType((ArrayType(INTEGER), ScalarType("string"))), [None]),
        (ObjectType((), INTEGER), {"n": None}), (INTEGER, float("nan")), (ScalarType("number"), float("inf")),
    ],
)  # fmt: skip
def test_what_is_no_value_of_the_type_is_refused(of: Any, given: Any) -> None:
    with pytest.raises(CastError):
        cast_result(typed("out", of), given)


@pytest.mark.parametrize(
    ("of", "given", "expected"),
    [
        (INTEGER, "7", 7), (INTEGER, True, 1), (ScalarType("string"), None, ""), (ANY, None, None),
        (UnionType((INTEGER, ScalarType("null"))), None, None), (ROWS, [{"n": 1}], [{"n": 1}]),
        (ObjectType((("n", INTEGER),)), {"n": 1, "m": None}, {"n": 1, "m": None}),
        (ArrayType(ANY), [None], [None]),
    ],
)  # fmt: skip
def test_any_other_value_is_cast_as_along_an_edge(of: Any, given: Any, expected: Any) -> None:
    assert cast_result(typed("out", of), given) == expected


def test_a_default_stands_for_null() -> None:
    assert cast_result(typed("out", INTEGER, default=3), None) == 3


@pytest.mark.parametrize("given", [None, float("nan"), [None], {"n": None}])
def test_a_python_tool_that_gives_no_number_fails_its_node(given: Any) -> None:
    tool = {
        "component_type": "ServerTool", "id": "t", "name": "count", "inputs": [],
        "outputs": [port("n", "integer")],
    }  # fmt: skip
    flow = flow_of(
        start(), node("ToolNode", "call", tool=tool), end(port("n", "integer")),
        edges=[("call", "n", "end", "n")],
    )  # fmt: skip
    ran = drive(compile_flow(flow, tools={"count": lambda: given}), {})
    assert ran.status == "failed"
    assert "tool 'count', output 'n'" in str(ran.error)
