from __future__ import annotations

import pytest

from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import BLOCK, add, control, data, draft_flow
from tests.flows import end, flow_node, flow_of, plain, port, start


def flow(*extra: dict[str, object]) -> dict[str, object]:
    """`write` has more inputs."""
    made = draft_flow()
    made["$referenced_components"]["write"]["inputs"] += extra
    return made


def test_an_input_without_edge_and_default_is_refused_where_it_is_declared():
    assert found(flow(port("tone")), "OAS063") == [f"{BLOCK}/write/inputs/1"]
    assert found(flow(), "OAS063") == []


@pytest.mark.parametrize("default", ["", None])
def test_a_default_is_enough_and_null_is_one(default: object):
    assert found(flow(port("tone", default=default)), "OAS063") == []


def test_an_inferred_input_is_refused_at_its_placeholder():
    made = draft_flow()
    write = made["$referenced_components"]["write"]
    del write["inputs"]
    write["data"] = {"user": "{{ topic }} in a {{ tone }} tone"}
    assert found(made, "OAS063") == [f"{BLOCK}/write/data/user"]


def test_an_input_of_a_subflow_is_refused_at_its_flow_node():
    made = draft_flow()
    sub = flow_node("sub", {"$component_ref": "inner"})
    add(made, sub, control("write", "sub"), control("sub", "end"))
    made["control_flow_connections"].pop(1)
    made["$referenced_components"]["inner"] = draft_flow(id="inner")
    assert found(made, "OAS063") == [f"{BLOCK}/sub"]
    made["data_flow_connections"].append(data("start", "topic", "sub", "topic"))
    assert found(made, "OAS063") == []


def test_an_end_output_falls_back_to_the_flows_default():
    made = draft_flow(data_flow_connections=[data("start", "topic", "write", "topic")])
    assert found(made, "OAS063") == [f"{BLOCK}/end/outputs/0"]
    made["outputs"] = [port("draft", default="none")]
    assert found(made, "OAS063") == []


def test_the_input_that_a_misspelt_edge_means_is_not_reported_too():
    made = draft_flow()
    made["data_flow_connections"][0] = data("start", "topic", "write", "topc")
    assert found(made, "OAS063") == []
    made["data_flow_connections"][0] = data("start", "topic", "write", "elsewhere")
    assert found(made, "OAS063") == [f"{BLOCK}/write/inputs/0"]
    assert findings(made, "OAS062")[0].line


@pytest.mark.parametrize("edges", [[], None], ids=["no edges", "null"])
def test_an_unfed_end_output_is_the_start_nodes_in_a_file_of_cinatra_only(edges: object):
    made = flow_of(start(port("topic")), end(port("topic")))
    made["data_flow_connections"] = edges
    assert found(made, "OAS063") == []
    end_output = f"{BLOCK}/end/outputs/0"
    assert found(plain(made), "OAS063") == ([] if edges is None else [end_output])


def test_an_unfed_end_output_with_a_default_puts_the_default_out_in_a_plain_file():
    made = flow_of(start(port("topic")), end(port("topic", default="none")))
    assert drive(compile_flow(made), {"topic": "tea"}).outputs == {"topic": "tea"}
    assert drive(compile_flow(plain(made)), {"topic": "tea"}).outputs == {"topic": "none"}
