"""Plain differences: what changed is named, where it is, and nothing else is."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oas_compiler.diff import Difference, diff
from oas_compiler.diff.difference import leaves
from oas_compiler.diff.schema_strictness import as_strict
from oas_compiler.ir import FlowIR, FlowNode
from oas_compiler.pipeline import compile_ir
from tests.effort import tries
from tests.flows import api, branching, end, flow_node, flow_of, gate, node, port, start
from tests.samples import CINATRA, agent, needs_corpus

BASE = flow_of(
    start(port("topic", default="x")),
    api("draft", inputs=[port("topic")], data={"user": "{{ topic }}"}, outputs=[port("text")]),
    gate("review", output=port("said")),
    branching("choose", port("value"), {"a": "again"}),
    end(port("text")),
    edges=[
        ("start", "topic", "draft", "topic"), ("review", "said", "choose", "value"),
        ("draft", "text", "end", "text"),
    ],
    routes=[
        ("start", None, "draft"), ("draft", None, "review"), ("review", None, "choose"),
        ("choose", "again", "draft"), ("choose", "default", "end"),
    ],
)  # fmt: skip


def compare(first: Any, second: Any) -> Difference:
    return diff(compile_ir(first).ir, compile_ir(second).ir)


def edited(**changes: Any) -> dict[str, Any]:
    """BASE with fields of its components changed: `draft={"url": "…"}`."""
    made = copy.deepcopy(BASE)
    for name, fields in changes.items():
        made["$referenced_components"][name].update(fields)
    return made


def lines(found: Difference) -> list[str]:
    return [
        f"{change.sign} {change.message}"
        + (f": {change.before} -> {change.after}" if change.before or change.after else "")
        for change in found
    ]


def test_a_flow_does_not_differ_from_itself_whatever_the_order_of_its_parts() -> None:
    assert compare(BASE, copy.deepcopy(BASE)).equal
    turned = copy.deepcopy(BASE)
    for key in ("nodes", "control_flow_connections", "data_flow_connections"):
        turned[key] = turned[key][::-1]
    turned["$referenced_components"] = dict(reversed(turned["$referenced_components"].items()))
    assert compare(BASE, turned).equal


@needs_corpus
@pytest.mark.parametrize("file", CINATRA, ids=lambda file: file.parts[-3])
def test_no_real_flow_differs_from_itself(file) -> None:
    assert compare(file, file).equal


@needs_corpus
def test_every_pair_of_real_flows_can_be_compared() -> None:
    flows = [compile_ir(file).ir for file in CINATRA]
    for one in flows:
        for other in flows:
            assert diff(one, other).equal == (one is other)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"draft": {"url": "https://host.example/x"}},
         '~ url of "draft" (The draft) changed: "{{CINATRA_BASE_URL}}/api/draft" -> "https://host.example/x"'),
        ({"draft": {"data": {"user": "Write {{ topic }}"}}},
         '~ data/user of "draft" (The draft) changed: "{{ topic }}" -> "Write {{ topic }}"'),
        ({"draft": {"name": "Other"}},
         '~ name of "draft" (Other) changed: "The draft" -> "Other"'),
        ({"draft": {"http_method": "PUT"}},
         '~ http_method of "draft" (The draft) changed: nothing -> "PUT"'),
        ({"draft": {"outputs": [port("text", "integer")]}},
         '~ type of output "text" of "draft" (The draft) changed: "string" -> "integer"'),
        ({"draft": {"outputs": [port("text", default="none")]}},
         '~ default of output "text" of "draft" (The draft) changed: nothing -> "none"'),
        ({"draft": {"outputs": [port("text"), port("more")]}},
         '+ output "more" of "draft" (The draft) is new: string'),
        ({"choose": {"mapping": {"b": "again"}}},
         '~ mapping/0/0 of "choose" (The choose) changed: "a" -> "b"'),
        ({"review": {"metadata": {"cinatra": {"riskClass": "read_only", "requiresApproval": True, "surfaceGateInputs": True}}}},
         '~ metadata.cinatra.surfaceGateInputs of "review" (The review) changed: nothing -> true'),
    ],
    ids=str,
)  # fmt: skip
def test_one_change_is_one_line(change: dict[str, Any], line: str) -> None:
    found = compare(BASE, edited(**change))
    assert [text.replace(":  ->", ": nothing ->") for text in lines(found)] == [line]


def test_values_of_headers_are_not_shown() -> None:
    first = edited(draft={"headers": {"X-Api-Key": "hidden-1"}})
    second = edited(draft={"headers": {"X-Api-Key": "hidden-2"}})
    found = compare(first, second)
    assert lines(found) == ['~ headers/X-Api-Key of "draft" (The draft) changed']
    assert "hidden" not in json.dumps(found.to_json())


def test_a_new_node_comes_with_its_edges() -> None:
    made = copy.deepcopy(BASE)
    extra = api("polish")
    made["$referenced_components"]["polish"] = extra
    made["nodes"].append({"$component_ref": "polish"})
    edges = made["control_flow_connections"]
    edges[1]["to_node"] = {"$component_ref": "polish"}
    edges.append(
        {
            "component_type": "ControlFlowEdge", "name": "new",
            "from_node": {"$component_ref": "polish"}, "to_node": {"$component_ref": "review"},
        }
    )  # fmt: skip
    assert lines(compare(BASE, made)) == [
        '+ ApiNode "polish" (The polish) is new',
        "~ control edge draft leads to another node: review -> polish",
        "+ control edge polish -> review is new",
    ]
    assert lines(compare(made, BASE)) == [
        '- ApiNode "polish" (The polish) is gone',
        "~ control edge draft leads to another node: polish -> review",
        "- control edge polish -> review is gone",
    ]


def test_data_edges_and_branches_are_compared() -> None:
    made = copy.deepcopy(BASE)
    made["data_flow_connections"][2]["source_output"] = "topic"
    made["data_flow_connections"][2]["source_node"] = {"$component_ref": "start"}
    made["control_flow_connections"][3]["to_node"] = {"$component_ref": "review"}
    assert lines(compare(BASE, made)) == [
        '~ control edge choose by "again" leads to another node: draft -> review',
        "- data edge draft.text -> end.text is gone",
        "+ data edge start.topic -> end.text is new",
    ]


def test_a_renamed_node_changes_no_edge() -> None:
    text = json.dumps(BASE).replace('"draft"', '"write"').replace("The draft", "The write")
    found = compare(BASE, json.loads(text.replace("/api/draft", "/api/draft")))
    codes = [change.code for change in found]
    assert "node_renamed" in codes
    assert not {"control_edge_added", "control_edge_removed", "node_removed"} & set(codes)


def test_steps_that_get_another_number_are_named_because_policies_name_them() -> None:
    first = flow_of(start(), gate("b"), end())
    second = flow_of(start(), gate("a", riskClass="write"), gate("b"), end())
    assert '~ the policy step of "b" (The b) has another number: 1 -> 2' in lines(
        compare(first, second)
    )


def test_what_is_inside_a_subflow_is_named_with_its_path() -> None:
    def flow(url: str) -> dict[str, Any]:
        inner = flow_of(node("StartNode", "start", inputs=[]), api("work", url=url), end(), id_="i")
        return flow_of(start(), flow_node("sub", inner), end())

    (change,) = compare(flow("https://a.example"), flow("https://b.example"))
    assert change.flow == ("sub",)
    assert change.node == ("sub", "work")
    assert change.place.line == 0  # a dict has no lines


def test_places_are_those_of_the_file_that_has_the_thing(tmp_path) -> None:
    files = []
    for name, flow in (("a.json", BASE), ("b.json", edited(draft={"url": "https://b.example"}))):
        files.append(tmp_path / name)
        files[-1].write_text(json.dumps(flow, indent=1), "utf-8")
    (change,) = compare(*files)
    assert '"draft"' in files[1].read_text("utf-8").split("\n")[change.place.line - 1]
    assert not change.gone


def test_the_json_form_says_everything() -> None:
    found = compare(flow_of(start(), gate("ask"), end()), flow_of(start(), end()))
    document = json.loads(json.dumps(found.to_json()))
    assert (document["equal"], document["weakened"]) == (False, 1)
    assert document["changes"][0] | {"pointer": ""} == {
        "sign": "!", "code": "gate_removed", "message": 'the gate "ask" (The ask) is gone',
        "flow": "", "node": "ask", "before": "", "after": "", "file": "first",
        "line": 0, "column": 0, "pointer": "",
    }  # fmt: skip
    assert compare(BASE, BASE).to_json() == {"equal": True, "weakened": 0, "changes": []}


# ---------------------------------------------------------------------------- properties


def _nodes(flow: FlowIR, around: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for one in flow.nodes:
        found.append((*around, one.id))
        if isinstance(one, FlowNode):
            found += _nodes(one.subflow, (*around, one.id))
    return found


def _block(document: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """The component of a node, found by its id: ids of this flow are all different."""
    waiting = [document]
    while waiting:
        block = waiting.pop().get("$referenced_components", {})
        if path[-1] in block:
            return block[path[-1]]
        waiting += [value for value in block.values() if isinstance(value, dict)]
    raise KeyError(path)


@needs_corpus
@settings(max_examples=tries(8, 200), deadline=None)
@given(data=st.data())
def test_an_edit_of_any_node_of_a_real_flow_names_that_node_and_no_other(data: Any) -> None:
    file = agent("email-outreach-agent")
    first = compile_ir(file).ir
    path = data.draw(st.sampled_from(_nodes(first)))
    field = data.draw(st.sampled_from(["name", "description"]))
    document = json.loads(file.read_text("utf-8"))
    _block(document, path)[field] = data.draw(st.text("abc", min_size=1)) + "-edited"
    found = diff(first, compile_ir(document).ir)
    assert {change.node for change in found} == {path}
    assert {change.sign for change in found} == {"~"}


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from("ab"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(one=values, other=values)
def test_values_have_differing_leaves_exactly_when_they_differ(one: Any, other: Any) -> None:
    assert not list(leaves(one, copy.deepcopy(one)))
    assert bool(list(leaves(one, other))) == (json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True))  # fmt: skip


schemas = st.recursive(
    st.sampled_from(
        [{}, {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"enum": [1, "a"]}, {"enum": [1]},
         {"const": "a"}, {"type": "string", "maxLength": 1}, {"minimum": 1}, {"type": ["string", "null"]}]
    ),
    lambda inner: st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.dictionaries(st.sampled_from("xy"), inner, max_size=2),
            "required": st.lists(st.sampled_from("xy"), unique=True),
            "additionalProperties": st.booleans() | inner,
        },
    )
    | st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
    max_leaves=5,
)  # fmt: skip
instances = st.recursive(
    st.none() | st.sampled_from([0, 1, 2.5, "a", "ab"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@settings(max_examples=tries(150, 500), deadline=None)
@given(new=schemas, old=schemas, instance=instances)
def test_a_schema_called_as_strict_accepts_nothing_that_the_other_refuses(
    new: Any, old: Any, instance: Any
) -> None:
    import jsonschema

    if as_strict(new, old) and jsonschema.Draft202012Validator(new).is_valid(instance):
        assert jsonschema.Draft202012Validator(old).is_valid(instance)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ({"type": "integer"}, {"type": "number"}),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}),
        ({"const": "a"}, {"enum": ["a", "b"]}),
        ({"type": "object", "required": ["x", "y"]}, {"type": "object", "required": ["x"]}),
        ({"minLength": 3, "pattern": "a"}, {"minLength": 2, "pattern": "a"}),
        ({"properties": {"x": {"type": "string"}}}, {"properties": {}}),
        (False, {"type": "string"}),
        ({"type": "string"}, True),
    ],
)
def test_what_is_as_strict_is_seen_one_way_and_not_the_other(new: Any, old: Any) -> None:
    assert as_strict(new, old)
    assert not as_strict(old, new)


@pytest.mark.parametrize(
    ("node_id", "fields"),
    [
        ("draft", {"outputs": [port("text", cinatra={"object_type": "@x/y:draft"})]}),
        ("review", {"outputs": [port("said", cinatra={"object_type": "@x/y:answer"})]}),
        ("draft", {"api_spec_uri": "https://x.example/spec"}),
        ("draft", {"metadata": {"cinatra": {"riskClass": "read_only", "renderer": "@x/y:z"}}}),
        ("draft", {"metadata": {"cinatra": {"riskClass": "read_only", "packageName": "@x/y"}}}),
        ("draft", {"metadata": {"cinatra": {"riskClass": "read_only"}, "team": "sales"}}),
        ("choose", {"metadata": {"cinatra": {"maxGateVisits": 3}}}),
        ("review", {"metadata": {"cinatra": {"riskClass": "read_only", "requiresApproval": True,
                                             "inputRenderers": {"other": "@x/y:z"}}}}),
    ],
)  # fmt: skip
def test_whatever_leaf_of_a_node_changes_is_seen(node_id: str, fields: dict[str, Any]) -> None:
    found = compare(BASE, edited(**{node_id: fields}))
    assert [change.sign for change in found] == ["~"], lines(found)


def test_long_texts_are_shown_around_their_first_difference() -> None:
    text = "Write a letter about {{ topic }}. " + "Be kind. " * 40
    first = edited(draft={"data": {"user": text + "Close with thanks."}})
    second = edited(draft={"data": {"user": text + "Close with regards."}})
    (change,) = compare(first, second)
    assert change.before == '…ind. Be kind. Close with thanks."'
    assert change.after == '…ind. Be kind. Close with regards."'
    long = edited(draft={"data": {"user": text + "Close with regards." + "x" * 200}})
    (change,) = compare(first, long)
    assert change.after.startswith("…ind. Be kind. Close with regards.xxx")
    assert change.after.endswith("…")
    assert len(change.after) == 80


def test_a_tool_that_ceases_to_require_confirmation_is_a_difference() -> None:
    def paying(**facts: Any) -> dict[str, Any]:
        made = {
            "component_type": "ServerTool", "id": "t", "name": "pay", "inputs": [], "outputs": [],
            **facts,
        }  # fmt: skip
        return flow_of(start(), node("ToolNode", "pay", tool=made), end())

    def without_rules(made: dict[str, Any]) -> FlowIR:
        return compile_ir(made, rules=()).ir  # OAS090: a tool that asks does not run yet

    asks = without_rules(paying(requires_confirmation=True))
    about = {"cinatra": {"riskClass": "email_send"}}
    assert lines(diff(asks, without_rules(paying()))) == [
        '! the node "pay" (The pay) asks no person any more',
        '~ tool/requires_confirmation of "pay" (The pay) changed: true -> ',
    ]
    assert lines(compare(paying(), paying(metadata=about))) == [
        '~ tool/metadata.cinatra.riskClass of "pay" (The pay) changed:  -> "email_send"'
    ]
