"""References: scopes of both kinds of file, unknown names, circles, versions, types."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from oas_compiler.ir import FlowNode
from oas_compiler.pipeline import check, compile_ir
from tests.samples import (
    SMALL,
    as_bytes,
    codes,
    control,
    data,
    errors,
    found_in,
    only,
    plain,
    ref,
    small,
    text,
    with_node,
)

BLOCK = "$referenced_components"


def nested(inner: dict[str, Any]) -> dict[str, Any]:
    """`SMALL` that runs `inner` as a subflow between `write` and `end`."""
    flow = with_node(
        {"component_type": "FlowNode", "id": "sub", "name": "Sub", "subflow": ref("inner")},
        data("start", "topic", "sub", "topic"),
    )
    flow[BLOCK]["inner"] = inner
    return flow


class TestScopes:
    def test_cinatra_flows_may_each_define_start(self):
        compiled = compile_ir(nested(small(flow={"id": "inner"})))
        sub = compiled.ir.node("sub")
        assert isinstance(sub, FlowNode)
        assert [node.id for node in sub.subflow.nodes] == ["start", "write", "end"]

    def test_a_cinatra_flow_with_its_own_block_does_not_see_the_outer_one(self):
        inner = small(flow={"id": "inner"})
        del inner[BLOCK]["write"]
        pointers = [pointer for code, pointer in errors(nested(inner)) if code == "OAS010"]
        assert f"/{BLOCK}/inner/nodes/1/$component_ref" in pointers

    def test_a_cinatra_flow_without_a_block_sees_the_enclosing_one(self):
        inner = {key: value for key, value in SMALL.items() if key != BLOCK} | {"id": "inner"}
        assert not errors(nested(inner))

    def test_a_plain_flow_sees_outwards(self):
        inner = plain(flow={"id": "inner"})
        inner[BLOCK] = {"only": inner[BLOCK].pop("write") | {"id": "only"}}
        inner["nodes"] = [ref("start"), ref("only"), ref("end")]
        inner["control_flow_connections"] = [control("start", "only"), control("only", "end")]
        inner["data_flow_connections"] = None
        flow = nested(inner)
        del flow["metadata"]
        assert not errors(flow)

    def test_one_name_in_two_blocks_of_a_plain_document_is_refused(self):
        flow = nested(plain(flow={"id": "inner"}))
        del flow["metadata"]
        repeated = [pointer for code, pointer in errors(flow) if code == "OAS012"]
        assert repeated == [f"/{BLOCK}/inner/{BLOCK}/{name}" for name in ("start", "write", "end")]

    def test_a_document_may_be_a_reference_beside_its_definitions(self):
        flow = {"$component_ref": "main", "agentspec_version": "26.1.0", BLOCK: {"main": small()}}
        assert compile_ir(flow).ir.id == "small"

    def test_components_may_stand_inline(self):
        flow = small()
        block = flow.pop(BLOCK)
        flow["nodes"] = [block["start"], block["write"], block["end"]]
        flow["start_node"] = block["start"]
        for edge in flow["control_flow_connections"]:
            edge["from_node"] = block[edge["from_node"]["$component_ref"]]
            edge["to_node"] = block[edge["to_node"]["$component_ref"]]
        flow["data_flow_connections"] = None
        compiled = compile_ir(flow)
        assert [(route.source, route.target) for route in compiled.ir.routes] == [
            ("start", "write"),
            ("write", "end"),
        ]

    def test_edges_and_field_values_may_be_references(self):
        flow = small(
            edge=control("start", "write"),
            write={"url": ref("address")},
        )
        flow[BLOCK]["address"] = "https://example.org/a"
        flow["control_flow_connections"][0] = ref("edge")
        node = compile_ir(flow).ir.node("write")
        assert getattr(node, "url", None) == "https://example.org/a"

    def test_a_reference_in_metadata_or_a_request_body_is_the_authors_own_text(self):
        own = {"$component_ref": "nowhere"}
        flow = small(
            write={"metadata": {"note": own}, "data": {"deep": [own], "t": "{{ topic }}"}},
        )
        assert not errors(flow)


class TestBrokenReferences:
    def test_an_unknown_name_gets_the_nearest_spelling(self):
        flow = small(flow={"start_node": ref("strat")})
        found = only(flow, "OAS010")
        assert found.place.pointer == "/start_node/$component_ref"
        assert found.hint == 'did you mean "start"?'

    @pytest.mark.parametrize(
        "block",
        [
            {"a": ref("a")},
            {"a": ref("b"), "b": ref("c"), "c": ref("a")},
        ],
    )
    def test_references_that_lead_in_a_circle_are_refused(self, block):
        assert {code for code, _ in errors(ref("a") | {BLOCK: block})} == {"OAS011"}

    def test_a_reference_that_is_not_a_string_is_refused(self):
        assert errors(small(flow={"start_node": {"$component_ref": 7}})) == [
            ("OAS013", "/start_node/$component_ref")
        ]

    def test_a_long_chain_of_references_costs_no_stack(self):
        block: dict[str, Any] = {f"r{index}": ref(f"r{index + 1}") for index in range(5000)}
        block["r5000"] = small()
        assert compile_ir(ref("r0") | {BLOCK: block}).ir.id == "small"

    def test_a_flow_that_runs_itself_is_refused_at_the_flow_node(self):
        flow = nested({})
        flow[BLOCK]["inner"] = {
            **{key: value for key, value in flow.items() if key != BLOCK},
            "id": "inner",
        }
        assert ("OAS015", f"/{BLOCK}/sub/subflow") in errors(flow)

    def test_two_flows_that_run_each_other_are_refused(self):
        shared = {key: value for key, value in plain().items() if key != BLOCK}
        block = plain()[BLOCK]
        for name, other in (("a", "b"), ("b", "a")):
            node = f"run_{other}"
            block[node] = {"component_type": "FlowNode", "id": node, "subflow": ref(other)}
            block[name] = shared | {
                "id": name,
                "nodes": [ref("start"), ref(node), ref("end")],
                "control_flow_connections": [control("start", node), control(node, "end")],
                "data_flow_connections": None,
            }
        assert ("OAS015", f"/{BLOCK}/run_a/subflow") in errors(ref("a") | {BLOCK: block})

    @pytest.mark.parametrize(
        ("changes", "pointer"),
        [
            ({"flow": {"start_node": ref("edge")}}, "/start_node"),
            ({"flow": {"nodes": [ref("start"), ref("edge")]}}, "/nodes/1"),
            ({"flow": {"control_flow_connections": [ref("write")]}}, "/control_flow_connections/0"),
        ],
    )
    def test_a_reference_to_another_kind_of_component_is_refused(self, changes, pointer):
        flow = small(edge=control("start", "write"), **changes)
        assert ("OAS014", pointer) in errors(flow)

    def test_a_subflow_must_be_a_flow_and_a_tool_must_be_a_tool(self):
        sub = {"component_type": "FlowNode", "id": "sub", "subflow": ref("write")}
        assert ("OAS014", f"/{BLOCK}/sub/subflow") in errors(with_node(sub))
        tool = {"component_type": "ToolNode", "id": "tool", "tool": ref("write")}
        assert ("OAS014", f"/{BLOCK}/tool/tool") in errors(with_node(tool))


class TestSize:
    def test_hints_stop_before_they_take_minutes(self):
        # 400 wrong names among 400 known ones: 160,000 comparisons, unbounded
        flow = small()
        for index in range(400):
            name = f"node_number_{index}"
            flow[BLOCK][name] = {"component_type": "EndNode", "id": name, "outputs": []}
            flow["nodes"].append(ref(f"node_numbr_{index}"))
        hints = [found.hint for found in check(flow) if found.code == "OAS010"]
        assert len(hints) == 400
        assert hints[0].startswith("did you mean")
        assert not hints[-1].startswith("did you mean")

    def test_ten_thousand_nodes_are_refused_by_one_finding(self):
        flow = small()
        for index in range(10_000):
            name = f"n{index}"
            flow[BLOCK][name] = {"component_type": "OutputMessageNode", "id": name, "message": ""}
            flow["nodes"].append(ref(name))
        assert "10,003 nodes" in only(flow, "OAS021").message

    def test_subflows_count_as_often_as_they_are_run(self):
        flow = small(flow={"id": "f0"})
        for level in range(1, 12):
            names = [f"s{index}" for index in range(2)]
            outer = small(flow={"id": f"f{level}", "outputs": [], "data_flow_connections": []})
            outer["control_flow_connections"] = [
                control("start", "s0"),
                control("s0", "s1"),
                control("s1", "end"),
            ]
            outer["nodes"] = [ref("start"), *map(ref, names), ref("end")]
            outer[BLOCK] = {
                "start": outer[BLOCK]["start"],
                "end": {"component_type": "EndNode", "id": "end", "outputs": []},
                "inner": flow,
            } | {
                name: {
                    "component_type": "FlowNode",
                    "id": name,
                    "subflow": ref("inner"),
                    "inputs": [text("topic", default="")],
                }
                for name in names
            }
            flow = outer
        # 4 + 2 * (4 + 2 * (… 3)): 11 levels of two
        expected = 3
        for _ in range(11):
            expected = 4 + 2 * expected
        assert f"{expected:,} nodes" in only(flow, "OAS021").message

    def test_flows_inside_each_other_are_bounded(self):
        block = plain()[BLOCK]
        shared = {key: value for key, value in plain().items() if key != BLOCK}
        block["f70"] = shared | {"id": "f70"}
        for index in range(70):
            node = f"n{index}"
            block[node] = {
                "component_type": "FlowNode",
                "id": node,
                "subflow": ref(f"f{index + 1}"),
            }
            block[f"f{index}"] = shared | {
                "id": f"f{index}",
                "nodes": [ref("start"), ref(node), ref("end")],
                "control_flow_connections": [control("start", node), control(node, "end")],
                "data_flow_connections": None,
            }
        block["end"]["outputs"] = [text("draft", default="")]
        assert ("OAS016", f"/{BLOCK}/n63/subflow") in errors(ref("f0") | {BLOCK: block})
        assert not errors(ref("f10") | {BLOCK: block})


class TestSurvey:
    @pytest.mark.parametrize(
        "version",
        ["25.4.1", "25.4.2", "26.1.0", "26.2.0", "26.3.1", "26.3.9", "25.4.0", "25.3.0", "25.3.2"],
    )
    def test_versions_in_range_are_read(self, version):
        assert not errors(small(flow={"agentspec_version": version}))

    @pytest.mark.parametrize("version", ["25.2.9", "20.99.99", "27", "x", "", 26, 26.1])
    def test_other_versions_are_refused(self, version):
        found = only(small(flow={"agentspec_version": version}), "OAS025")
        assert found.place.pointer == "/agentspec_version"

    @pytest.mark.parametrize("version", ["26.4.0", "26.9", "27.0.0", "27.4", "99.1"])
    def test_a_newer_version_is_read_with_a_warning(self, version):
        made = small(flow={"agentspec_version": version})
        found = only(made, "OAS019")
        assert (found.severity, found.place.pointer) == ("warning", "/agentspec_version")
        assert not errors(made)

    @pytest.mark.parametrize("version", ["25.3.1", "25.4.0", "25.4.1"])
    def test_the_older_key_of_the_version_is_read(self, version):
        made = plain(flow={"agentspec_version": ..., "air_version": version})
        assert not errors(made)
        made[BLOCK]["write"]["sensitive_headers"] = {"X-A": "b"}
        assert errors(made) == [("OAS032", f"/{BLOCK}/write/sensitive_headers")]

    def test_a_missing_version_is_allowed(self):
        assert not errors(small(flow={"agentspec_version": ...}))

    def test_a_component_may_not_claim_another_version_than_its_document(self):
        assert errors(small(write={"agentspec_version": "26.1.2"})) == [
            ("OAS025", f"/{BLOCK}/write/agentspec_version")
        ]
        assert not errors(small(write={"agentspec_version": "26.1.0"}))

    def test_an_unknown_component_type_gets_the_nearest_spelling(self):
        found = next(
            found
            for found in check(small(write={"component_type": "ApiNod"}))
            if found.code == "OAS026"
        )
        assert found.hint == 'did you mean "ApiNode"?'

    def test_an_unknown_field_is_a_warning_with_the_nearest_spelling(self):
        found = only(small(write={"http_metod": "GET"}), "OAS024")
        assert (found.severity, found.hint) == ("warning", 'did you mean "http_method"?')

    @pytest.mark.parametrize(
        ("changes", "code", "pointer"),
        [
            ({"write": {"url": 7}}, "OAS022", f"/{BLOCK}/write/url"),
            ({"write": {"inputs": {}}}, "OAS022", f"/{BLOCK}/write/inputs"),
            ({"write": {"metadata": []}}, "OAS022", f"/{BLOCK}/write/metadata"),
            ({"flow": {"nodes": "start"}}, "OAS022", "/nodes"),
            ({"flow": {"nodes": [1]}}, "OAS022", "/nodes/0"),
            ({"write": {"url": ...}}, "OAS023", f"/{BLOCK}/write"),
            ({"write": {"id": ""}}, "OAS023", f"/{BLOCK}/write"),
            ({"write": {"url": None}}, "OAS023", f"/{BLOCK}/write"),
            ({"flow": {"nodes": ...}}, "OAS023", ""),
        ],
    )
    def test_fields_of_the_wrong_kind_or_missing_are_errors(self, changes, code, pointer):
        assert (code, pointer) in errors(small(**changes))

    @pytest.mark.parametrize("raw", [b"[]", b"7", b'"x"', b"null", b"{}", b"just words"])
    def test_a_document_that_is_no_component_says_so(self, raw):
        only(raw, "OAS020")

    def test_null_counts_as_absent(self):
        flow = small(write={"description": None, "metadata": None, "headers": None})
        assert not codes(flow)

    def test_findings_come_in_file_order(self):
        flow = small(write={"url": 7}, end={"branch_name": 7}, start={"name": 7})
        lines = [found.place.line for found in check(as_bytes(flow))]
        assert len(lines) >= 3
        assert lines == sorted(lines)


class TestFeatures:
    """What is newer than the version that a document declares."""

    CATCH: ClassVar[dict[str, Any]] = {"component_type": "CatchExceptionNode", "id": "spare"}

    def flow(self, version: Any, **spare: Any) -> dict[str, Any]:
        return small(flow={"agentspec_version": version}, spare=spare)

    @pytest.mark.parametrize(
        ("spare", "since", "before"),
        [
            ({"component_type": "CatchExceptionNode"}, "26.1.2", "26.1.0"),
            ({"component_type": "RetryPolicy"}, "26.1.2", "26.1.1"),
            ({"component_type": "ParallelMapNode"}, "25.4.2", "25.4.1"),
            ({"component_type": "ParallelFlowNode"}, "26.1.0", "25.4.1"),
            ({"component_type": "Swarm"}, "26.1.0", "25.4.1"),
            ({"component_type": "ManagerWorkers"}, "26.1.0", "25.4.1"),
            ({"component_type": "SpecializedAgent"}, "26.1.0", "25.4.1"),
            ({"component_type": "A2AAgent"}, "26.1.0", "25.4.1"),
            ({"component_type": "MCPToolBox"}, "26.1.0", "25.4.1"),
            ({"component_type": "DbmsVectorChainLlmConfig"}, "26.3.1", "26.2.0"),
        ],
    )
    def test_a_component_type_needs_its_version(self, spare, since, before):
        assert errors(self.flow(before, **spare, id="spare")) == [
            ("OAS032", f"/{BLOCK}/spare/component_type")
        ]
        assert not errors(self.flow(since, **spare, id="spare"))
        assert not errors(self.flow("26.9.9", **spare, id="spare"))

    @pytest.mark.parametrize(
        ("kind", "field", "value", "since", "before"),
        [
            ("RemoteTool", "retry_policy", {"max_attempts": 1}, "26.1.2", "26.1.0"),
            ("RemoteTool", "url_allow_list", ["https://a"], "26.1.2", "26.1.0"),
            ("RemoteTool", "sensitive_headers", {"A": "b"}, "26.1.0", "25.4.1"),
            ("ServerTool", "requires_confirmation", True, "26.1.0", "25.4.1"),
            ("MCPToolBox", "requires_confirmation", True, "26.1.2", "26.1.0"),
            ("MCPTool", "retry_policy", {"max_attempts": 1}, "26.3.1", "26.1.2"),
            ("Agent", "human_in_the_loop", False, "26.1.0", "25.4.1"),
            ("Agent", "toolboxes", [{}], "26.1.0", "25.4.1"),
            ("Agent", "transforms", [{}], "26.1.2", "26.1.0"),
        ],
    )
    def test_a_field_needs_its_version(self, kind, field, value, since, before):
        spare = {"component_type": kind, "id": "spare", field: value}
        (found,) = found_in(self.flow(before, **spare))
        assert (found.code, found.pointer) == ("OAS032", f"/{BLOCK}/spare/{field}")
        assert since in found.hint
        assert not errors(self.flow(since, **spare))
        assert not errors(self.flow(before, **spare | {field: None}))

    @pytest.mark.parametrize("value", [None, False, [], {}, True])
    def test_what_an_sdk_writes_out_without_need_is_no_feature(self, value):
        field = "human_in_the_loop" if value is True else "requires_confirmation"
        kind = "Agent" if value is True else "ServerTool"
        assert not errors(self.flow("25.4.1", component_type=kind, id="spare", **{field: value}))

    def test_structured_outputs_of_an_llm_node_are_a_feature(self):
        ask = {
            "component_type": "LlmNode",
            "id": "spare",
            "outputs": [{"title": "a", "type": "integer"}],
        }
        assert errors(self.flow("25.4.1", **ask)) == [("OAS032", f"/{BLOCK}/spare/outputs")]
        assert not errors(self.flow("26.1.0", **ask))
        assert not errors(self.flow("25.4.1", **ask | {"outputs": [text("a")]}))

    @pytest.mark.parametrize("version", [None, ...])
    def test_without_a_version_everything_is_there(self, version):
        assert not errors(self.flow(version, **self.CATCH))

    def test_a_version_that_is_not_known_is_one_finding(self):
        assert [code for code, _ in errors(self.flow("20.1.1", **self.CATCH))] == ["OAS025"]


class TestIds:
    def config(self, model: str) -> dict[str, Any]:
        return {"component_type": "VllmConfig", "id": "llm", "name": "llm", "model_id": model}

    def flow(self, first: str, second: str) -> dict[str, Any]:
        """A plain flow with two inline components of one id, that nothing uses."""
        return plain(
            one={"component_type": "Agent", "id": "one", "llm_config": self.config(first)},
            two={"component_type": "Agent", "id": "two", "llm_config": self.config(second)},
        )

    def test_two_different_components_with_one_id_are_refused_at_the_second(self):
        assert errors(self.flow("a", "b")) == [("OAS017", f"/{BLOCK}/two/llm_config/id")]

    def test_copies_that_say_the_same_are_let_through(self):
        assert not errors(self.flow("a", "a"))

    def test_in_a_cinatra_file_every_flow_has_its_own_ids(self):
        flow = self.flow("a", "b") | {"metadata": {"cinatra": {"type": "flow"}}}
        assert not errors(flow)

    def test_two_definitions_of_one_name_are_one_finding(self):
        inner = plain(flow={"id": "inner"})
        inner[BLOCK]["end"]["name"] = "another"
        flow = plain()
        flow[BLOCK]["inner"] = inner
        found = [pair for pair in errors(flow) if pair[1].endswith(("/end", "/end/id"))]
        assert found == [("OAS012", f"/{BLOCK}/inner/{BLOCK}/end")]

    def test_a_node_listed_twice_counts_once_and_is_warned_of(self):
        flow = plain()
        flow["nodes"].append(ref("write"))
        finding = only(flow, "OAS028")
        assert (finding.severity, finding.pointer) == ("warning", "/nodes/3")
        assert not errors(flow)
        flow["nodes"].pop()
        assert not codes(flow)


def test_more_unknown_names_than_are_listed_are_counted_without_an_error():
    flow = plain()
    flow["nodes"] += [ref(f"nowhere{number}") for number in range(700) for _ in range(2)]
    found = [code for code, _ in errors(flow) if code == "OAS010"]
    assert len(found) == 501
