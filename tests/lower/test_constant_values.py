"""PluginConstantValuesNode: fixed values as outputs."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.testing import drive
from oas_compiler import check, compile_flow
from oas_compiler.diff import diff
from oas_compiler.explain import explain
from oas_compiler.pipeline import compile_ir
from tests.flows import end, flow_of, node, plain, port, start


def flow_with(values: Any, *outputs: Any, **fields: Any) -> Any:
    """A flow that gives the constant "limit" as its output."""
    declared = {"outputs": list(outputs)} if outputs else {}
    fixed = node("PluginConstantValuesNode", "fixed", constant_values=values, **declared, **fields)
    edges = [("fixed", "limit", "end", "limit")]
    return plain(flow_of(start(), fixed, end(port("limit", None)), edges=edges))


def codes(values: Any, *outputs: Any, **fields: Any) -> list[str]:
    found = check(flow_with(values, *outputs, **fields))
    return [finding.code for finding in found.errors]


@pytest.mark.parametrize("value", [3, 1.5, True, "three", ""])
def test_a_value_of_each_type_is_an_output_of_that_type(value: Any) -> None:
    made = flow_with({"limit": value, "other": "x"})
    assert check(made).errors == []
    assert drive(compile_flow(made)).outputs == {"limit": value}


def test_an_output_has_the_type_of_its_value_where_none_is_declared() -> None:
    outputs = compile_ir(flow_with({"limit": 3, "loud": True})).ir.by_id["fixed"].outputs
    assert [(port.title, port.schema.text) for port in outputs] == [
        ("limit", '{"type":"integer"}'),
        ("loud", '{"type":"boolean"}'),
    ]


@pytest.mark.parametrize("value", [[1], {"a": 1}, None])
def test_any_other_value_is_refused_by_one_finding(value: Any) -> None:
    assert codes({"limit": value}) == ["OAS022"]


def test_a_declared_output_holds_its_value_and_there_is_one_for_each_value() -> None:
    assert codes({"limit": 3}, port("limit", "number")) == []
    assert codes({"limit": "three"}, port("limit", "array")) == ["OAS036"]
    assert "OAS067" in codes({"limit": 3}, port("limit", "integer"), port("more"))
    assert codes({"limit": 3}, inputs=[port("topic")]) == ["OAS067"]


def test_explain_and_diff_know_the_node() -> None:
    told = explain(flow_with({"limit": 3})).to_json()["nodes"]
    assert "PluginConstantValuesNode" in [step["type"] for step in told]
    before, after = (compile_ir(flow_with({"limit": value})).ir for value in (3, 4))
    (change,) = diff(before, after)
    assert "fixed" in change.message
    assert "constant_values" in change.message
