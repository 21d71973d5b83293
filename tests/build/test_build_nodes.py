"""Every kind of node: what the IR says for what the file says."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from oas_compiler import check, compile_flow, ir
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import DataEdge, FlowIR, Node, Place, Port
from oas_compiler.ir.printout import shown
from oas_compiler.pipeline import compile_ir
from oas_compiler.text.source import read_source
from tests.flows import end, flow_node, flow_of, gate, node, start
from tests.samples import (
    codes,
    control,
    data,
    errors,
    only,
    plain,
    ref,
    small,
    text,
    with_node,
)

BLOCK = "$referenced_components"


def built(flow: dict[str, Any]) -> FlowIR:
    return compile_ir(flow).ir


def node_of(component: dict[str, Any], *edges: dict[str, Any]) -> Any:
    return built(with_node(component, *edges)).node(component["id"])


def titles(ports: tuple[Port, ...]) -> list[str]:
    return [port.title for port in ports]


def port_of(property_: dict[str, Any]) -> Port:
    """The port that an ApiNode's output of this form becomes."""
    flow = small(write={"outputs": [text("draft"), property_]})
    node: Node = built(flow).node("write")
    return node.outputs[1]


SERVER_TOOL = {"component_type": "ServerTool", "id": "t", "name": "look", "description": ""}
ACTING: dict[str, dict[str, Any]] = {
    "ApiNode": {"url": "{{CINATRA_BASE_URL}}/x", "http_method": "POST"},
    "ToolNode": {"tool": SERVER_TOOL},
}


@pytest.mark.parametrize("kind", ACTING)
class TestEffect:
    def node(self, kind: str, effect: Any) -> dict[str, Any]:
        return node(kind, "act", cinatra={"effect": effect}, **ACTING[kind])

    @pytest.mark.parametrize(
        ("written", "effect"),
        [("at_most_once", "at_most_once"), ("at_least_once", ""), (None, "")],
    )
    def test_how_often_an_effect_may_happen_is_kept(
        self, kind: str, written: str | None, effect: str
    ) -> None:
        assert node_of(self.node(kind, written)).effect == effect

    @pytest.mark.parametrize(
        "written", ["exactly_once", "At_Most_Once", "", True, 1, ["at_most_once"], {}]
    )
    def test_other_words_are_errors(self, kind: str, written: Any) -> None:
        found = only(with_node(self.node(kind, written)), "OAS038")
        assert found.place.pointer.endswith("/metadata/cinatra/effect")
        assert '"at_most_once" or "at_least_once"' in found.message


def test_at_most_once_is_an_error_at_a_node_that_cannot_keep_it() -> None:
    asking = node(
        "InputMessageNode", "ask", cinatra={"effect": "at_most_once"}, outputs=[text("a")]
    )
    found = only(with_node(asking), "OAS038")
    assert "only an ApiNode and a ToolNode can keep" in found.message
    asking["metadata"]["cinatra"]["effect"] = "a word of another host"
    assert "OAS038" not in codes(with_node(asking))


class TestPorts:
    @pytest.mark.parametrize(
        ("property_", "kind"),
        [
            ({}, "any"),
            ({"type": "string"}, "string"),
            ({"type": ["string", "null"]}, "string | null"),
            ({"type": "array"}, "array<any>"),
            ({"type": "array", "items": {"type": "integer"}}, "array<integer>"),
            ({"type": "array", "json_schema": {"items": {"type": "integer"}}}, "array<integer>"),
            (
                {
                    "type": "array",
                    "items": {"type": "string"},
                    "json_schema": {"items": {"type": "integer"}},
                },
                "array<string>",
            ),
            ({"json_schema": {"type": "boolean"}}, "boolean"),
            ({"type": "object", "properties": {"a": {"type": "number"}}}, "object{a: number}"),
            ({"properties": {"a": {}}}, "object{a: any}"),
            ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, "null | integer"),
            ({"oneOf": [{"type": "string"}, {"type": "string"}]}, "string"),
            ({"anyOf": [{"type": "string"}, {}]}, "any"),
            ({"allOf": [{"type": "string"}]}, "string"),
            (
                {"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {"type": "null"}}}]},
                "object{a: any, b: null}",
            ),
            ({"allOf": [{"type": "string"}, {"minLength": 1}]}, "string"),
            ({"enum": [1, 2]}, "integer"),
            ({"const": "x"}, "string"),
            ({"minLength": 1}, "any"),
        ],
    )
    def test_a_property_has_the_type_its_schema_says(self, property_, kind):
        assert shown(port_of({"title": "p", **property_}).type) == kind

    def test_objects_keep_required_and_additional(self):
        schema = {"type": "object", "required": ["a"], "additionalProperties": False}
        assert port_of({"title": "p", **schema}).type == ir.ObjectType(
            additional=None, required=("a",)
        )
        schema = {"type": "object", "additionalProperties": {"type": "integer"}}
        assert port_of({"title": "p", **schema}).type == ir.ObjectType(
            additional=ir.ScalarType("integer")
        )

    def test_the_schema_is_plain_json_schema(self):
        port = port_of(
            {
                "title": "p",
                "type": "string",
                "description": "d",
                "default": "x",
                "x-renderer": "@a/b:c",
                "cinatra": {"object_type": "@a/b:c"},
                "json_schema": {"format": "uuid", "title": "inner", "type": "integer"},
            }
        )
        assert port.schema.mapping() == {
            "format": "uuid",
            "type": "string",
            "description": "d",
            "x-renderer": "@a/b:c",
        }

    def test_null_is_a_default_and_no_default_is_none(self):
        assert port_of({"title": "p", "type": "object", "default": None}).default == ir.Json("null")
        assert port_of({"title": "p", "type": "object"}).default is None

    @pytest.mark.parametrize(
        ("type_", "default"), [("array", ""), ("integer", "5"), ("string", None), ("number", 3)]
    )
    def test_a_default_of_another_type_is_at_most_a_warning(self, type_, default):
        flow = small(write={"outputs": [text("draft"), {"title": "p", "type": type_}]})
        flow[BLOCK]["write"]["outputs"][1]["default"] = default
        assert codes(flow) == ({"OAS031"} if default in {"", "5"} else set())

    @pytest.mark.parametrize(
        ("property_", "code"),
        [
            ("text", "OAS029"),
            ({}, "OAS029"),
            ({"title": ""}, "OAS029"),
            ({"title": 7}, "OAS029"),
            ({"title": "draft"}, "OAS030"),
            ({"title": "p", "type": "strng"}, "OAS037"),
            ({"title": "p", "type": 7}, "OAS037"),
            ({"title": "p", "type": "array", "items": {"type": "text"}}, "OAS037"),
        ],
    )
    def test_a_broken_property_is_reported(self, property_, code):
        assert code in codes(small(write={"outputs": [text("draft"), property_]}))


class TestStart:
    def test_required_and_hidden_come_from_the_metadata_in_its_order(self):
        cinatra = {"required": ["b", "a"], "hidden": ["a"]}
        start = {"inputs": [text("a"), text("b"), text("topic", default="")]}
        flow = small(start=start | {"metadata": {"cinatra": cinatra}}, flow={"inputs": ...})
        found = built(flow).start_node()
        assert (found.required, found.hidden) == (("b", "a"), ("a",))
        assert titles(found.outputs) == ["a", "b", "topic"]

    def test_cinatra_metadata_without_required_asks_for_nothing(self):
        found = built(small(start={"metadata": {"cinatra": {"hidden": ["topic"]}}})).start_node()
        assert (found.required, found.hidden) == ((), ("topic",))

    def test_a_plain_flow_asks_for_inputs_without_default(self):
        inputs = [text("topic"), text("tone", default="")]
        found = built(plain(start={"inputs": inputs}, flow={"inputs": ...})).start_node()
        assert (found.required, found.hidden) == (("topic",), ())

    def test_renderers_hidden_marks_and_titles_are_read(self):
        inputs = [text("topic", **{"x-renderer": "@a/b:r"}), text("run", **{"x-hidden": True})]
        cinatra = {
            "required": ["topic"],
            "inputTitles": {"topic": "The topic"},
            "inputRenderers": {"run": "@a/b:s"},
        }
        flow = small(
            start={"inputs": inputs, "metadata": {"cinatra": cinatra}}, flow={"inputs": ...}
        )
        found = built(flow).start_node()
        assert found.renderers == (("topic", "@a/b:r"), ("run", "@a/b:s"))
        assert found.hidden == ("run",)
        assert found.inputs[0].schema.mapping()["title"] == "The topic"

    def test_a_default_of_the_flow_is_the_start_nodes(self):
        flow = small(flow={"inputs": [text("topic", default="tea")]})
        assert built(flow).inputs[0].default == ir.Json('"tea"')

    def test_a_name_in_the_metadata_that_is_no_input_is_a_warning(self):
        found = only(small(start={"metadata": {"cinatra": {"required": ["topc"]}}}), "OAS034")
        assert (found.severity, found.hint) == ("warning", 'did you mean "topic"?')

    def test_metadata_of_the_wrong_kind_is_an_error(self):
        assert errors(small(start={"metadata": {"cinatra": {"required": "topic"}}})) == [
            ("OAS038", f"/{BLOCK}/start/metadata/cinatra/required")
        ]

    def test_differing_inputs_of_flow_and_start_are_refused(self):
        flow = small(flow={"inputs": [text("topic"), text("other")]})
        assert errors(flow) == [("OAS068", f"/{BLOCK}/start")]
        assert not codes(small(flow={"inputs": ...}))


class TestEnd:
    @pytest.mark.parametrize(
        "fields",
        [
            {"outputs": [text("draft")]},
            {"inputs": [text("draft")], "outputs": ...},
            {"inputs": [text("draft")], "outputs": [text("draft")]},
            {"outputs": ...},
        ],
    )
    def test_inputs_and_outputs_are_one_set_and_one_may_be_missing(self, fields):
        end = built(small(end=fields)).node("end")
        assert titles(end.inputs) == titles(end.outputs) == ["draft"]
        assert end.branches == ()

    def test_a_difference_between_them_is_refused(self):
        flow = small(end={"inputs": [text("topic")], "outputs": [text("draft")]})
        assert errors(flow) == [("OAS065", f"/{BLOCK}/end/inputs")]
        flow = small(end={"inputs": [text("draft")], "outputs": [text("draft")]})
        assert not codes(flow)

    def test_an_unfed_output_takes_the_start_nodes_value(self):
        flow = small(end={"outputs": [text("draft"), text("topic", default="x")]})
        assert built(flow).data_edges[-1] == DataEdge(
            source="start",
            output="topic",
            target="end",
            input="topic",
            place=Place(f"/{BLOCK}/end"),
        )

    def test_in_plain_agent_spec_an_unfed_output_with_a_default_keeps_it(self):
        flow = plain(end={"outputs": [text("draft"), text("topic", default="x")]})
        assert len(built(flow).data_edges) == 2


class TestApi:
    def test_inferred_inputs_are_of_any_type_and_upper_case_names_are_left_out(self):
        flow = small(write={"inputs": ..., "data": {"a": "{{ topic }}", "b": "{{ HOST }}"}})
        node = built(flow).node("write")
        assert [(port.title, shown(port.type)) for port in node.inputs] == [("topic", "any")]

    def test_without_outputs_there_is_one_untyped_response(self):
        flow = small(
            write={"outputs": ...},
            flow={
                "data_flow_connections": [
                    data("start", "topic", "write", "topic"),
                    data("write", "response", "end", "draft"),
                ]
            },
        )
        assert titles(built(flow).node("write").outputs) == ["response"]

    def test_the_request_is_kept_as_written(self):
        node = built(
            small(
                write={
                    "http_method": "put",
                    "data": [1, {"b": 2, "a": "{{ topic }}"}],
                    "headers": {"X-A": "1"},
                    "query_params": {"q": ["x"]},
                }
            )
        ).node("write")
        assert isinstance(node, ir.ApiNode)
        assert node.method == "PUT"
        assert node.data == ir.Json('[1,{"b":2,"a":"{{ topic }}"}]')
        assert node.headers.mapping() == {"X-A": "1"}
        assert node.query.mapping() == {"q": ["x"]}

    @pytest.mark.parametrize(
        ("method", "body", "sent"),
        [("GET", {}, None), ("POST", {}, "{}"), ("POST", None, None), ("GET", {"a": 1}, '{"a":1}')],
    )
    def test_an_empty_body_is_sent_only_where_bodies_belong(self, method, body, sent):
        node = built(small(write={"http_method": method, "data": body})).node("write")
        assert isinstance(node, ir.ApiNode)
        assert (node.data.text if node.data else None) == sent


class TestMessages:
    GATE: ClassVar[dict[str, Any]] = {"component_type": "InputMessageNode", "id": "gate"}

    def test_without_outputs_the_answer_is_user_input(self):
        node = node_of(self.GATE)
        assert [(port.title, shown(port.type)) for port in node.outputs] == [
            ("user_input", "string")
        ]
        assert (node.message, node.answer_schema, node.renderer, node.max_visits) == (
            None,
            None,
            "",
            None,
        )

    def test_inputs_of_any_type_with_a_null_default_are_accepted(self):
        gate = self.GATE | {"inputs": [{"title": "last", "type": "object", "default": None}]}
        assert node_of(gate).inputs[0].default == ir.Json("null")

    def test_placeholders_of_the_message_become_inputs(self):
        gate = self.GATE | {"message": "About {{ topic }}?"}
        node = node_of(gate, data("start", "topic", "gate", "topic"))
        assert (titles(node.inputs), node.message) == (["topic"], "About {{ topic }}?")

    @pytest.mark.parametrize("outputs", [[], [text("a"), text("b")]])
    def test_there_is_exactly_one_answer(self, outputs):
        found = only(with_node(self.GATE | {"outputs": outputs}), "OAS035")
        assert found.hint == (
            'keep one of "a", "b"' if outputs else 'add one to outputs: {"title": "…"}'
        )

    @pytest.mark.parametrize(
        ("output", "schema"),
        [
            (text("a"), None),
            ({"title": "a"}, None),
            (text("a", description="d", **{"x-note": 1}), None),
            (text("a", enum=["x", "y"]), {"type": "string", "enum": ["x", "y"]}),
            (text("a", json_schema={"format": "uuid"}), {"type": "string", "format": "uuid"}),
            ({"title": "a", "type": "boolean"}, {"type": "boolean"}),
        ],
    )
    def test_an_output_that_says_more_than_a_string_is_the_answers_schema(self, output, schema):
        found = node_of(self.GATE | {"outputs": [output]}).answer_schema
        assert (found.mapping() if found else None) == schema

    def test_the_authors_form_is_the_answers_schema(self):
        form = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "x-renderer": "@a/b:f"}
        gate = self.GATE | {"metadata": {"cinatra": {"inputMessageSchema": form}}}
        node = node_of(gate)
        assert (node.answer_schema.mapping(), node.renderer) == (form, "@a/b:f")

    def test_a_renderer_of_the_output_wins_over_the_nodes_over_the_forms(self):
        cinatra: dict[str, Any] = {"inputMessageSchema": {"x-renderer": "@a/b:form"}}
        gate = self.GATE | {"outputs": [text("a")], "metadata": {"cinatra": cinatra}}
        assert node_of(gate).renderer == "@a/b:form"
        cinatra["renderer"] = "@a/b:node"
        assert node_of(gate).renderer == "@a/b:node"
        cinatra["inputRenderers"] = {"a": "@a/b:output"}
        assert node_of(gate).renderer == "@a/b:output"

    @pytest.mark.parametrize("visits", [0, 101, "5", 2.5, True])
    def test_visits_are_a_whole_number_up_to_a_hundred(self, visits):
        gate = self.GATE | {"metadata": {"cinatra": {"maxGateVisits": visits}}}
        only(with_node(gate), "OAS038")

    @pytest.mark.parametrize("visits", [1, 100])
    def test_a_number_of_visits_is_kept(self, visits):
        gate = self.GATE | {"metadata": {"cinatra": {"maxGateVisits": visits}}}
        assert node_of(gate).max_visits == visits

    def test_risk_class_and_metadata_are_kept(self):
        gate = self.GATE | {"metadata": {"cinatra": {"riskClass": "approval", "other": [1]}}}
        node = node_of(gate)
        assert (node.risk_class, node.cinatra.mapping()["other"]) == ("approval", [1])

    def test_an_output_message_needs_the_names_it_says(self):
        say = {"component_type": "OutputMessageNode", "id": "say", "message": "{{ topic }}!"}
        node = node_of(say, data("start", "topic", "say", "topic"))
        assert (node.message, titles(node.inputs), node.outputs) == ("{{ topic }}!", ["topic"], ())


class TestUnusedInputs:
    """An input that no template uses; each twin uses it or has another way to show it."""

    def say(self, **fields: Any) -> dict[str, Any]:
        say = {"component_type": "OutputMessageNode", "id": "say", "message": "{{ topic }}!"}
        edges = [data("start", "topic", "say", "topic")]
        return with_node(
            say | {"inputs": [text("topic"), text("tone", default="")]} | fields, *edges
        )

    def test_an_input_that_the_message_does_not_use_is_refused(self):
        assert errors(self.say()) == [("OAS082", f"/{BLOCK}/say/inputs/1")]

    @pytest.mark.parametrize(
        "message",
        [
            "{{ topic }} {{ tone }}",
            "{{ topic }} {{ tone | upper }}",
            "{% if tone %}{{ topic }}{% endif %}",
            "{{ topic }} {# hint: {{ tone }} #}",
        ],
    )
    def test_every_way_to_use_it_counts(self, message):
        assert not errors(self.say(message=message))

    def test_a_placeholder_in_upper_case_counts(self):
        inputs = [text("topic"), text("TONE", default="")]
        assert not errors(self.say(inputs=inputs, message="{{ topic }} {{ TONE }}"))
        assert errors(self.say(inputs=inputs)) == [("OAS082", f"/{BLOCK}/say/inputs/1")]

    def test_a_misspelt_placeholder_is_one_finding(self):
        found = only(self.say(message="{{ topic }} {{ tune }}"), "OAS081")
        assert found.hint == 'did you mean "tone"?'

    def test_a_broken_template_is_one_finding(self):
        only(self.say(message="{{ topic }} {% if %}"), "OAS080")

    @pytest.mark.parametrize(
        "fields",
        [
            {},
            {"message": None},
            {"message": "Fine?", "metadata": {"cinatra": {"surfaceGateInputs": True}}},
        ],
    )
    def test_a_gate_shows_its_inputs_without_a_message(self, fields):
        gate = {
            "component_type": "InputMessageNode",
            "id": "say",
            "inputs": [text("a", default="")],
        }
        assert not errors(with_node(gate | fields))
        assert errors(with_node(gate | {"message": "Fine?"})) == [
            ("OAS082", f"/{BLOCK}/say/inputs/0")
        ]

    def test_an_api_node_is_compared_in_plain_files_only(self):
        more = {"inputs": [text("topic"), text("tone", default="")]}
        assert not errors(small(write=more))
        assert errors(plain(write=more)) == [("OAS082", f"/{BLOCK}/write/inputs/1")]
        headers = {"sensitive_headers": {"X-Tone": "{{ tone }}"}}
        assert ("OAS082", f"/{BLOCK}/write/inputs/1") not in errors(plain(write=more | headers))

    @pytest.mark.parametrize(
        ("field", "value", "pointer", "says"),
        [
            ("retry_policy", [], "", "must be an object"),
            ("retry_policy", {"max_atempts": 1}, "/max_atempts", "is none of"),
            ("retry_policy", {"jitter": "some"}, "/jitter", "null or one of"),
            ("retry_policy", {"recoverable_statuses": {"403": []}}, "/recoverable_statuses", "403"),
            ("url_allow_list", ["h.example/x"], "/0", "http or https"),
            ("url_allow_list", ["https://h.example", 3], "/1", "must be a string"),
            ("url_allow_list", ["https://{{ host }}/x"], "/0", "value of the run"),
            ("url_allow_list", ["https://u:p@h.example"], "/0", "user name"),
            ("url_allow_list", ["https://h.example/?q"], "/0", "no query"),
        ],
    )
    def test_a_policy_or_a_list_that_cannot_be_kept_is_an_error(
        self, field: str, value: Any, pointer: str, says: str
    ) -> None:
        made = {**small(write={field: value}), "agentspec_version": "26.1.2"}
        finding = only(made, "OAS022")
        assert finding.place.pointer == f"/{BLOCK}/write/{field}{pointer}"
        assert says in finding.message

    def test_a_policy_and_a_list_reach_the_node(self) -> None:
        listed = ["https://h.example/v1", "{{CRM_URL}}/x", "{{CINATRA_BASE_URL}}"]
        write = {"retry_policy": {"max_attempts": 5}, "url_allow_list": listed}
        made = {**small(write=write), "agentspec_version": "26.1.2"}
        assert errors(made) == []
        call = built(made).node("write")
        assert isinstance(call, ir.ApiNode)
        assert call.retry is not None
        assert call.retry.max_attempts == 5
        assert call.url_allow_list == tuple(listed)


class TestBranching:
    NODE: ClassVar[dict[str, Any]] = {
        "component_type": "BranchingNode",
        "id": "choose",
        "inputs": [text("value", default="")],
        "mapping": {"a": "left", "true": "right", "1": "left"},
    }

    def flow(self, **fields: Any) -> dict[str, Any]:
        flow = with_node(self.NODE | fields)
        flow["control_flow_connections"][2:] = [
            control("choose", "end", branch) for branch in ("left", "right", "default")
        ]
        return flow

    def test_branches_follow_from_the_mapping_and_default(self):
        node = built(self.flow()).node("choose")
        assert isinstance(node, ir.BranchingNode)
        assert node.branches == ("left", "right", "default")
        assert node.mapping == (("a", "left"), ("true", "right"), ("1", "left"))

    def test_the_same_branches_may_be_declared_in_any_order(self):
        assert not errors(self.flow(branches=["default", "right", "left"]))

    @pytest.mark.parametrize("branches", [["left", "right"], ["left", "right", "default", "up"]])
    def test_other_declared_branches_are_refused(self, branches):
        only(self.flow(branches=branches), "OAS051")

    def test_yaml_keys_are_compared_by_their_json_text(self):
        raw = b"component_type: BranchingNode\nid: x\nmapping: {true: a, 1: b, no: c, 'yes': d}\n"
        source = read_source(raw, Findings())
        assert source is not None
        assert isinstance(source.value, dict)
        assert source.value["mapping"] == {"true": "a", "1": "b", "no": "c", "yes": "d"}

    def test_there_is_exactly_one_input(self):
        only(self.flow(inputs=[]), "OAS035")

    def test_an_input_left_to_inference_has_the_standard_name(self):
        flow = self.flow()
        del flow[BLOCK]["choose"]["inputs"]
        flow["data_flow_connections"].append(
            data("start", "topic", "choose", "branching_mapping_key")
        )
        assert titles(built(flow).node("choose").inputs) == ["branching_mapping_key"]

    def test_a_branch_that_is_no_string_is_refused(self):
        only(self.flow(mapping={"a": "left", "b": 7, "c": "right"}), "OAS039")


class TestFlowNode:
    def inner(self) -> dict[str, Any]:
        inner = small(flow={"id": "inner"})
        inner["nodes"] += [ref("choose"), ref("other")]
        inner[BLOCK]["choose"] = {
            "component_type": "BranchingNode",
            "id": "choose",
            "inputs": [text("value")],
            "mapping": {"x": "x"},
        }
        inner[BLOCK]["other"] = inner[BLOCK]["end"] | {"id": "other", "branch_name": "LATE"}
        inner["control_flow_connections"] = [
            control("start", "write"),
            control("write", "choose"),
            control("choose", "end", "default"),
            control("choose", "other", "x"),
        ]
        inner["data_flow_connections"] += [
            data("write", "draft", "choose", "value"),
            data("write", "draft", "other", "draft"),
        ]
        return inner

    def flow(self, **fields: Any) -> dict[str, Any]:
        node = {"component_type": "FlowNode", "id": "sub", "subflow": ref("inner"), **fields}
        flow = with_node(node, data("start", "topic", "sub", "topic"))
        flow[BLOCK]["inner"] = self.inner()
        flow["control_flow_connections"].append(control("sub", "end", "LATE"))
        return flow

    def test_ports_and_branches_come_from_the_subflow(self):
        node = built(self.flow()).node("sub")
        assert isinstance(node, ir.FlowNode)
        assert (titles(node.inputs), titles(node.outputs)) == (["topic"], ["draft"])
        assert node.branches == ("next", "LATE")
        assert node.subflow.id == "inner"

    def test_declared_ports_must_exist_in_the_subflow(self):
        found = only(self.flow(inputs=[text("topic"), text("topik", default="")]), "OAS067")
        assert found.hint == 'did you mean "topic"?'
        assert not errors(self.flow(inputs=[text("topic")], outputs=[text("draft")]))

    def test_gate_steps_and_package_are_read(self):
        steps = [
            {
                "name": "One",
                "description": "d",
                "renderer": "@a/b:c",
                "riskClass": "approval",
                "requiresApproval": False,
                "hitlOwnedBy": "self",
                "gateCount": 2,
            },
            {},
        ]
        cinatra = {"packageName": "@acme/inner", "gateSteps": steps}
        node = built(self.flow(metadata={"cinatra": cinatra})).node("sub")
        assert isinstance(node, ir.FlowNode)
        assert node.package_name == "@acme/inner"
        assert node.gate_steps == (
            ir.GateStep(
                name="One",
                description="d",
                renderer="@a/b:c",
                risk_class="approval",
                requires_approval=False,
                hitl_owned_by="self",
                gate_count=2,
            ),
            ir.GateStep(),
        )

    @pytest.mark.parametrize("steps", [{}, [1], [{"gateCount": 0}], [{"gateCount": "2"}]])
    def test_broken_gate_steps_are_refused(self, steps):
        only(self.flow(metadata={"cinatra": {"gateSteps": steps}}), "OAS038")

    def test_one_flow_run_by_two_nodes_is_built_once(self):
        flow = self.flow()
        flow[BLOCK]["again"] = flow[BLOCK]["sub"] | {"id": "again"}
        flow["nodes"].insert(3, ref("again"))
        flow["control_flow_connections"][2:] = [
            control("sub", "again"),
            control("sub", "end", "LATE"),
            control("again", "end"),
            control("again", "end", "LATE"),
        ]
        flow["data_flow_connections"].append(data("start", "topic", "again", "topic"))
        found = built(flow)
        first, second = found.node("sub"), found.node("again")
        assert isinstance(first, ir.FlowNode)
        assert isinstance(second, ir.FlowNode)
        assert first.subflow is second.subflow


class TestPlugins:
    REGEX: ClassVar[dict[str, Any]] = {
        "component_type": "PluginRegexNode",
        "id": "find",
        "regex_pattern": "a+",
    }

    @pytest.mark.parametrize(
        ("first_only", "kind"),
        [(True, "string"), (False, "array<string>"), (None, "string")],
    )
    def test_a_regex_gives_the_first_match_or_all(self, first_only, kind):
        node = node_of(
            self.REGEX | {"return_first_match_only": first_only},
            data("start", "topic", "find", "text"),
        )
        assert (titles(node.inputs), titles(node.outputs)) == (["text"], ["output"])
        assert shown(node.outputs[0].type) == kind
        assert (node.pattern, node.first_only) == ("a+", kind == "string")

    def test_an_output_that_cannot_hold_the_matches_is_refused(self):
        node = self.REGEX | {
            "return_first_match_only": True,
            "outputs": [{"title": "output", "type": "array"}],
        }
        only(with_node(node, data("start", "topic", "find", "text")), "OAS036")

    @pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "[z-a]", "(" * 5000])
    def test_a_pattern_that_does_not_compile_is_refused(self, pattern):
        node = self.REGEX | {"regex_pattern": pattern}
        found = only(with_node(node, data("start", "topic", "find", "text")), "OAS033")
        assert found.place.pointer == f"/{BLOCK}/find/regex_pattern"

    def test_a_template_needs_its_names_and_gives_a_string(self):
        component = {
            "component_type": "PluginTemplateNode",
            "id": "t",
            "template": "{{ m|length }}",
        }
        node = node_of(component, data("start", "topic", "t", "m"))
        assert isinstance(node, ir.PluginTemplateNode)
        assert (titles(node.inputs), shown(node.outputs[0].type)) == (["m"], "string")

    def test_an_output_that_cannot_hold_a_text_is_refused(self):
        component = {
            "component_type": "PluginTemplateNode",
            "id": "t",
            "template": "{{ m|length }}",
            "outputs": [{"title": "n", "type": "integer"}],
        }
        found = only(with_node(component, data("start", "topic", "t", "m")), "OAS036")
        assert "renders a string, its output is integer" in found.message

    def test_a_tool_node_has_the_ports_of_its_tool(self):
        tool = {
            "component_type": "ServerTool",
            "id": "t1",
            "name": "get_weather",
            "inputs": [text("city", default="zurich")],
            "outputs": [text("forecast")],
        }
        node = node_of({"component_type": "ToolNode", "id": "call", "tool": tool})
        assert isinstance(node, ir.ToolNode)
        assert node.tool_name == "get_weather"
        assert (titles(node.inputs), titles(node.outputs)) == (["city"], ["forecast"])
        flow = with_node({"component_type": "ToolNode", "id": "call", "tool": tool})
        assert only(flow, "OAS092", tools=["get_wether"]).hint == 'did you mean "get_wether"?'
        assert not errors(flow, tools={"get_weather"})
        assert not errors(flow)


class TestDataEdges:
    @pytest.mark.parametrize("missing", [None, ...])
    def test_null_connects_equal_names_and_nothing_into_the_start(self, missing):
        flow = small(
            flow={"data_flow_connections": missing},
            write={"outputs": [text("draft"), text("topic")]},
        )
        edges = [
            (edge.source, edge.output, edge.target, edge.input) for edge in built(flow).data_edges
        ]
        assert edges == [
            ("start", "topic", "write", "topic"),
            ("write", "draft", "end", "draft"),
            ("write", "topic", "write", "topic"),
        ]

    def test_an_empty_list_connects_nothing(self):
        flow = plain(flow={"data_flow_connections": []})
        assert {code for code, _ in errors(flow)} == {"OAS063"}

    def test_connecting_equal_names_is_bounded(self):
        flow = small(flow={"data_flow_connections": None})
        for index in range(400):
            name = f"n{index}"
            flow[BLOCK][name] = {
                "component_type": "ApiNode",
                "id": name,
                "url": "x",
                "http_method": "GET",
                "inputs": [text("v", default="")],
                "outputs": [text("v")],
            }
            flow["nodes"].append(ref(name))
        assert "OAS073" in codes(flow)

    def test_flow_outputs_default_to_what_every_end_has(self):
        flow = small(flow={"outputs": ...})
        assert titles(built(flow).outputs) == ["draft"]


def test_a_pattern_that_takes_seconds_to_compile_is_refused_by_its_length():
    from oas_compiler.text.input_bounds import MAX_PATTERN
    from tests.checks.rule_case import findings
    from tests.flows import end, flow_of, node, port, start

    def flow(pattern: str):
        text = port("text", default="")
        regex = node(
            "PluginRegexNode", "find", regex_pattern=pattern, return_first_match_only=True,
            inputs=[text], outputs=[port("output")],
        )  # fmt: skip
        return flow_of(start(), regex, end())

    assert findings(flow("a" * MAX_PATTERN), "OAS033") == []
    (finding,) = findings(flow("a" * (MAX_PATTERN + 1)), "OAS033")
    assert "10,001 characters" in finding.message


def test_each_node_whose_flow_is_unread_is_not_compared_with_all_the_others(monkeypatch):
    compared: list[object] = []
    equals = ir.Gap.__eq__

    def count(gap: ir.Gap, other: object) -> bool:
        compared.append(gap)
        return equals(gap, other)

    monkeypatch.setattr(ir.Gap, "__eq__", count)
    nodes = [node("FlowNode", f"n{index}") for index in range(100)]
    assert {finding.code for finding in check(flow_of(start(), *nodes, end()))} >= {"OAS023"}
    assert len(compared) < 200


@pytest.mark.parametrize("ignored", [{"subflows": [{"component_type": "ServerTool", "id": "t"}]}, {"subflows": {"component_type": "EndNode", "id": "e"}}])  # fmt: skip
def test_a_flow_node_runs_its_subflow_whatever_stands_in_a_field_that_it_does_not_have(ignored):
    inside = flow_of(start(), gate("ask"), end(), id_="inner")
    child = {**flow_node("child", inside), **ignored}
    flow = flow_of(start(), child, end())
    assert {finding.code for finding in check(flow) if finding.severity == "error"} == set()
    compiled = compile_flow(flow)
    assert isinstance(compiled.ir.node("child"), ir.FlowNode)
