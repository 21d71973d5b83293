"""WayFlow's map: one list is gone through, and parts of each element go in."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.flows import port
from tests.wayflow.nodes import around, extended, say_who

LIST = port("iterated_input", "array", items={})
SAID = port("output", "array", items={"type": "string"})


def mapped(unpack: Any, iterated: Any = LIST, kind: str = "ExtendedMapNode", **more: Any) -> Any:
    node = extended(
        kind, "each", flow=say_who(), unpack_input=unpack, inputs=[iterated, port("day")],
        outputs=[SAID], **more,
    )  # fmt: skip
    return around(node, [iterated, port("day")], [SAID])


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("ExtendedMapNode", {}),
        ("ExtendedMapNode", {"parallel_execution": True, "max_workers": 2}),
        ("ExtendedParallelMapNode", {"max_workers": 1}),
    ],
)
def test_each_element_gives_its_part_and_the_rest_is_the_same(kind: str, more: Any) -> None:
    flow = compile_flow(mapped({"who": ".name"}, kind=kind, **more))
    given = {"iterated_input": [{"name": "Ada"}, {"name": "Bob"}], "day": "Monday"}
    assert drive(flow, given).outputs == {"output": ["Ada on Monday", "Bob on Monday"]}


def test_an_object_is_gone_through_by_keys_and_values() -> None:
    iterated = port("iterated_input", "object")
    flow = compile_flow(mapped({"who": "._value.name"}, iterated))
    given = {"iterated_input": {"x": {"name": "Ada"}}, "day": "Monday"}
    assert drive(flow, given).outputs == {"output": ["Ada on Monday"]}


def test_a_part_is_cast_to_the_input_of_the_flow() -> None:
    ran = drive(compile_flow(mapped({"who": "."})), {"iterated_input": [[1, 2]], "day": "Monday"})
    assert ran.outputs == {"output": ["[1, 2] on Monday"]}


def test_an_element_without_the_part_fails_and_is_named() -> None:
    ran = drive(compile_flow(mapped({"who": ".name"})), {"iterated_input": ["Ada"], "day": "x"})
    assert ran.error is not None
    assert "input 'who' of item 0 (from 0): what is no object has no \"name\"" in str(ran.error)


def test_a_part_that_needs_jq_is_refused() -> None:
    found = check(mapped({"who": ".name | ascii_downcase"}))
    assert [one.code for one in found.errors] == ["OAS090"]
    assert 'ExtendedMapNode "each" with unpack_input ("who" needs jq' in found.errors[0].message


def test_a_part_for_no_input_of_the_flow_is_found() -> None:
    found = check(mapped({"who": ".", "dya": "."}))
    assert any('"dya" that' in one.message and "day" in one.hint for one in found.errors)
