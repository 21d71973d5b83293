"""The rules of checks/: each with an invalid case beside the valid twin it differs from."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from front_samples import (
    codes,
    control,
    data,
    errors,
    only,
    ref,
    small,
    text,
    with_node,
)

from oas_compiler.pipeline import check

BLOCK = "$referenced_components"


def test_the_small_flow_that_all_others_are_made_of_has_no_findings():
    assert not codes(small())


class TestEntry:
    def test_a_flow_without_a_start_node(self):
        flow = small(flow={"nodes": [ref("write"), ref("end")]})
        assert {"OAS040", "OAS050"} <= codes(flow)

    def test_a_second_start_node(self):
        flow = small(again={"component_type": "StartNode", "id": "again", "inputs": []})
        flow["nodes"].append(ref("again"))
        flow["control_flow_connections"].append(control("again", "write"))
        assert errors(flow) == [("OAS040", f"/{BLOCK}/again")]

    def test_a_start_node_that_is_another_node(self):
        assert {"OAS050"} <= codes(small(flow={"start_node": ref("write")}))

    def test_a_flow_without_an_end_node(self):
        flow = small(flow={"nodes": [ref("start"), ref("write")]})
        assert "OAS041" in codes(flow)

    def test_an_edge_into_the_start(self):
        flow = small()
        flow["control_flow_connections"].append(control("write", "start", "again"))
        assert ("OAS046", "/control_flow_connections/2") in errors(flow)

    def test_an_edge_out_of_the_end(self):
        flow = small()
        flow["control_flow_connections"].append(control("end", "write"))
        assert errors(flow) == [("OAS047", "/control_flow_connections/2")]


class TestIds:
    def test_two_nodes_with_one_id(self):
        flow = small(other={"component_type": "OutputMessageNode", "id": "write", "message": ""})
        flow["nodes"].append(ref("other"))
        assert ("OAS027", f"/{BLOCK}/other") in errors(flow)

    def test_a_node_listed_twice_is_one_node_and_a_warning(self):
        flow = small()
        flow["nodes"].append(ref("write"))
        found = only(flow, "OAS028")
        assert (found.severity, found.place.pointer) == ("warning", "/nodes/3")


class TestBranches:
    def branching(self, **branches: str) -> dict[str, Any]:
        """`SMALL` with a node whose branches are Yes, No and default; edges leave by `branches`."""
        flow = with_node(
            {
                "component_type": "BranchingNode",
                "id": "choose",
                "inputs": [text("value", default="")],
                "mapping": {"yes": "Yes", "no": "No"},
            }
        )
        flow["control_flow_connections"][2:] = [
            control("choose", target, branch) for branch, target in branches.items()
        ]
        return flow

    def test_every_branch_leads_somewhere(self):
        assert not codes(self.branching(Yes="end", No="write", default="end"))

    def test_a_branch_without_an_edge(self):
        found = only(self.branching(Yes="end", No="end"), "OAS045")
        assert found.place.pointer == f"/{BLOCK}/choose"
        assert '"default"' in found.message

    def test_an_unknown_branch_is_reported_once_with_the_branch_that_is_meant(self):
        found = only(self.branching(yes="end", No="end", default="end"), "OAS043")
        assert found.hint == 'did you mean "Yes"?'

    def test_an_edge_without_a_branch_does_not_leave_a_branching_node(self):
        flow = self.branching(Yes="end", No="end", default="end")
        flow["control_flow_connections"].append(control("choose", "end"))
        only(flow, "OAS043")

    def test_two_edges_from_one_branch(self):
        flow = small()
        flow["control_flow_connections"].append(control("start", "end", None))
        assert errors(flow) == [("OAS044", "/control_flow_connections/2")]

    def test_null_is_the_branch_next(self):
        flow = small()
        flow["control_flow_connections"][0]["from_branch"] = None
        assert not codes(flow)

    def test_an_edge_to_a_node_that_is_not_listed(self):
        flow = small(spare={"component_type": "OutputMessageNode", "id": "spare", "message": ""})
        flow["control_flow_connections"][1] = control("write", "spare")
        assert ("OAS042", "/control_flow_connections/1") in errors(flow)


class TestReach:
    def test_a_node_that_no_path_meets_is_a_warning(self):
        flow = small(spare={"component_type": "OutputMessageNode", "id": "spare", "message": ""})
        flow["nodes"].append(ref("spare"))
        flow["control_flow_connections"].append(control("spare", "end"))
        found = only(flow, "OAS048")
        assert (found.severity, found.place.pointer) == ("warning", f"/{BLOCK}/spare")

    def test_a_loop_without_a_way_out(self):
        flow = small(say={"component_type": "OutputMessageNode", "id": "say", "message": ""})
        flow["nodes"].append(ref("say"))
        flow["control_flow_connections"] = [
            control("start", "write"),
            control("write", "say"),
            control("say", "write"),
        ]
        assert [code for code, _ in errors(flow)] == ["OAS049"] * 3
        assert codes(flow) == {"OAS049", "OAS048"}

    def test_a_loop_with_a_way_out_is_fine(self):
        flow = TestBranches().branching(Yes="write", No="end", default="end")
        assert not codes(flow)


class TestDataEdges:
    @pytest.mark.parametrize(
        ("edge", "code"),
        [
            (data("start", "topik", "write", "topic"), "OAS061"),
            (data("start", "topic", "write", "topik"), "OAS062"),
            (data("spare", "topic", "write", "topic"), "OAS060"),
        ],
    )
    def test_an_edge_needs_a_real_output_and_input(self, edge, code):
        flow = small(spare={"component_type": "OutputMessageNode", "id": "spare", "message": ""})
        flow["data_flow_connections"].append(edge)
        found = only(flow, code)
        assert found.place.pointer == "/data_flow_connections/2"
        if code != "OAS060":
            assert found.hint == 'did you mean "topic"?'

    def test_a_string_does_not_feed_an_integer(self):
        flow = small(write={"inputs": [{"title": "topic", "type": "integer"}]})
        found = only(flow, "OAS064")
        assert '"start.topic" is string, "write.topic" takes integer' in found.message

    def test_an_integer_feeds_a_string(self):
        integer = [{"title": "topic", "type": "integer"}]
        assert not codes(small(start={"inputs": integer}, flow={"inputs": integer}))

    def test_an_untyped_output_feeds_anything(self):
        flow = small(
            write={"outputs": [{"title": "draft"}]},
            end={"outputs": [{"title": "draft", "type": "integer"}]},
            flow={"outputs": [{"title": "draft", "type": "integer"}]},
        )
        assert not codes(flow)


class TestRequiredInputs:
    def test_an_input_without_edge_and_default(self):
        flow = small(write={"inputs": [text("topic"), text("tone")]})
        found = only(flow, "OAS063")
        assert found.place.pointer == f"/{BLOCK}/write/inputs/1"

    @pytest.mark.parametrize("default", ["", None])
    def test_a_default_is_enough_and_null_is_one(self, default):
        assert not codes(small(write={"inputs": [text("topic"), text("tone", default=default)]}))

    def test_an_inferred_input_is_required_too(self):
        flow = small(write={"inputs": ..., "data": {"a": "{{ topic }} {{ tone }}"}})
        assert errors(flow) == [("OAS063", f"/{BLOCK}/write/data/a")]

    def test_an_input_of_a_subflow_is_required_at_its_flow_node(self):
        flow = with_node({"component_type": "FlowNode", "id": "sub", "subflow": ref("inner")})
        flow[BLOCK]["inner"] = small(flow={"id": "inner"})
        assert errors(flow) == [("OAS063", f"/{BLOCK}/sub")]

    def test_an_end_output_falls_back_to_the_flows_default(self):
        flow = small(
            flow={
                "data_flow_connections": [data("start", "topic", "write", "topic")],
                "outputs": [text("draft")],
            }
        )
        assert errors(flow) == [("OAS063", f"/{BLOCK}/end/outputs/0")]
        flow["outputs"] = [text("draft", default="none")]
        assert not errors(flow)


class TestOutputs:
    def test_an_output_that_no_end_has(self):
        found = only(small(flow={"outputs": [text("drafd")]}), "OAS066")
        assert (found.place.pointer, found.hint) == ("/outputs/0", 'did you mean "draft"?')

    def test_an_output_with_a_default_needs_no_end(self):
        assert not codes(small(flow={"outputs": [text("other", default="")]}))

    def test_an_output_of_a_type_no_end_can_give(self):
        flow = small(flow={"outputs": [{"title": "draft", "type": "integer"}]})
        assert errors(flow) == [("OAS069", f"/{BLOCK}/end/outputs/0")]

    def test_an_output_that_one_of_two_ends_lacks_is_a_warning_without_a_default(self):
        flow = TestBranches().branching(Yes="late", No="end", default="end")
        flow[BLOCK]["late"] = {"component_type": "EndNode", "id": "late", "outputs": []}
        flow["nodes"].append(ref("late"))
        assert only(flow, "OAS070").severity == "warning"
        flow["outputs"] = [text("draft", default="")]
        assert not codes(flow)


class TestAuthority:
    @pytest.mark.parametrize("name", ["bearer_token", "approval_policy", "rejected_at"])
    def test_what_the_host_sets_is_no_input_and_no_target(self, name):
        own = [text("topic"), text(name, default="")]
        flow = small(start={"inputs": own}, flow={"inputs": own})
        assert errors(flow) == [("OAS091", f"/{BLOCK}/start/inputs/1")]
        flow = small(write={"inputs": [text("topic"), text(name, default="")]})
        flow["data_flow_connections"].append(data("start", "topic", "write", name))
        assert errors(flow) == [("OAS091", "/data_flow_connections/2")]


class TestSubflows:
    def test_rules_apply_in_subflows_and_once_each(self):
        inner = small(flow={"id": "inner", "outputs": [text("drafd")]})
        flow = with_node(
            {"component_type": "FlowNode", "id": "sub", "subflow": ref("inner")},
            data("start", "topic", "sub", "topic"),
        )
        flow[BLOCK]["inner"] = inner
        again = copy.deepcopy(flow[BLOCK]["sub"]) | {"id": "again"}
        flow[BLOCK]["again"] = again
        flow["nodes"].insert(3, ref("again"))
        flow["control_flow_connections"][2:] = [control("sub", "again"), control("again", "end")]
        flow["data_flow_connections"].append(data("start", "topic", "again", "topic"))
        assert errors(flow) == [("OAS066", f"/{BLOCK}/inner/outputs/0")]

    def test_all_findings_of_a_file_come_in_one_run(self):
        flow = small(
            write={"url": "{{ topc }}", "outputs": [text("draft"), text("draft")]},
            end={"branches": ["next"]},
            flow={"outputs": [text("drafd")], "start_node": ref("strat")},
        )
        assert {"OAS081", "OAS030", "OAS051", "OAS066", "OAS010"} <= codes(flow)

    def test_a_node_that_cannot_run_hides_no_other_finding_and_adds_none(self):
        flow = with_node(
            {"component_type": "LlmNode", "id": "ask", "prompt_template": "x"},
            data("start", "topic", "ask", "whatever"),
            data("ask", "generated_text", "end", "draft"),
        )
        assert [code for code, _ in errors(flow)] == ["OAS090"]
        flow["outputs"] = [text("drafd")]
        assert {code for code, _ in errors(flow)} == {"OAS090", "OAS066"}
        assert all(found.severity == "error" for found in check(flow))
