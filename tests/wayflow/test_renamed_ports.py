"""Ports that a node of WayFlow renames: edges lead to the node's own."""

from __future__ import annotations

from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.flows import end, flow_of, plain, port, start
from tests.wayflow.nodes import around, template


def test_an_input_and_an_output_with_other_names_carry_their_values() -> None:
    tell = template(
        "tell", "Hello {{ a }}{{ b }}", inputs=[port("alpha"), port("b")],
        outputs=[port("greeting")], input_mapping={"a": "alpha"}, output_mapping={"output": "greeting"},
    )  # fmt: skip
    flow = around(tell, [port("alpha"), port("b")], [port("greeting")])
    ran = drive(compile_flow(flow), {"alpha": "Ada", "b": "!"})
    assert ran.outputs == {"greeting": "Hello Ada!"}


def test_one_value_for_two_inputs_goes_into_both() -> None:
    tell = template(
        "tell", "{{ a }} and {{ b }}", inputs=[port("x")], input_mapping={"a": "x", "b": "x"}
    )
    flow = around(tell, [port("x")], [port("output")])
    assert drive(compile_flow(flow), {"x": "one"}).outputs == {"output": "one and one"}


def test_names_that_change_places_are_told_apart() -> None:
    tell = template(
        "tell", "{{ a }} then {{ b }}", inputs=[port("a"), port("b")],
        input_mapping={"a": "b", "b": "a"},
    )  # fmt: skip
    flow = around(tell, [port("a"), port("b")], [port("output")])
    assert drive(compile_flow(flow), {"a": "1", "b": "2"}).outputs == {"output": "2 then 1"}


def test_a_node_that_edges_cannot_follow_is_refused_with_the_field() -> None:
    tell = template("tell", "{{ a }}", inputs=[port("x")], input_mapping={"a": "x"})
    flow = around(tell, [port("x")], [port("output")], data_flow_connections=None)
    told = [one.message for one in check(flow).errors if one.code == "OAS090"]
    assert 'PluginTemplateNode "tell" with input_mapping' in told[0]


def test_a_node_in_line_in_its_edges_is_followed_too() -> None:
    tell = template("tell", "{{ a }}", inputs=[port("x")], input_mapping={"a": "x"})
    flow = plain(
        flow_of(start(port("x")), tell, end(port("output")), edges=[("tell", "output", "end", "output")])
    )  # fmt: skip
    edge = {
        "component_type": "DataFlowEdge", "name": "into",
        "source_node": {"$component_ref": "start"}, "source_output": "x",
        "destination_node": {"$component_ref": "again"}, "destination_input": "x",
    }  # fmt: skip
    flow["$referenced_components"]["again"] = {"$component_ref": "tell"}
    flow["data_flow_connections"].append(edge)
    assert drive(compile_flow(flow), {"x": "found"}).outputs == {"output": "found"}
