"""Wiring of context slots: the edits of a flow, what they leave alone, and what refuses them."""

from __future__ import annotations

import copy
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.testing import drive
from oas_compiler import check, compile_flow
from oas_compiler.edit.slot_flow import flow_node, subflow
from oas_compiler.edit.slot_wires import CannotWire, edits_between, manifest_edits, plan_wiring
from oas_compiler.findings.finding import Findings
from oas_compiler.text.source import Source, read_source
from oas_compiler.text_edits.json_edits import rewritten
from tests.flows import api, end, flow_of, port, start
from tests.flows import flow_node as node_running
from tests.slot_flows import AGENT, SELECTOR, declared, slot, taking, unwired

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus" / "cinatra"
SLOTTED = {"blog-draft-writer-agent": "draftContext", "email-outreach-agent": "offeringContext"}


def source_of(flow: Any) -> Source:
    raw = flow if isinstance(flow, bytes) else json.dumps(flow, indent=2).encode()
    read = read_source(raw, Findings())
    assert read is not None
    return read


def wired_bytes(flow: Any, **more: Any) -> bytes:
    source = source_of(flow)
    return rewritten(source.raw, plan_wiring(source, **more).edits)


def wired(flow: Any, **more: Any) -> Any:
    return json.loads(wired_bytes(flow, **more))


def slot_findings(flow: Any) -> list[str]:
    raw = json.dumps(flow).encode()
    return [str(one) for one in check(raw) if one.code.startswith(("OAS15", "OAS16"))]


def errors(flow: Any) -> list[str]:
    return [str(one) for one in check(json.dumps(flow).encode()).errors]


def control(flow: Any) -> list[tuple[str, str]]:
    return [
        (one["from_node"]["$component_ref"], one["to_node"]["$component_ref"])
        for one in flow["control_flow_connections"]
    ]


def data(flow: Any) -> set[tuple[str, str, str, str]]:
    return {
        (
            one["source_node"]["$component_ref"],
            one["source_output"],
            one["destination_node"]["$component_ref"],
            one["destination_input"],
        )
        for one in flow["data_flow_connections"]
    }


def fed(flow: Any) -> set[tuple[str, str, str]]:
    """Data edges without the names of the outputs: one public agent has shorter ones at its start."""
    return {(source, target, into) for source, _, target, into in data(flow)}


def refusal(flow: Any, **more: Any) -> str:
    with pytest.raises(CannotWire) as caught:
        plan_wiring(source_of(flow), **more)
    return str(caught.value)


# ------------------------------------------------------------------------ what is written


def public_flow(name: str) -> Any:
    path = CORPUS / name / "cinatra" / "oas.json"
    if not path.exists():
        pytest.skip("the corpus of public flows is not beside the project")
    return json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize(("name", "slot_id"), SLOTTED.items())
def test_subflow_and_flow_node_are_those_of_the_public_agents_key_by_key(
    name: str, slot_id: str
) -> None:
    public = public_flow(name)["$referenced_components"]
    assert json.dumps(subflow(slot_id)) == json.dumps(public[f"context-{slot_id}-subflow"])
    assert json.dumps(flow_node(slot_id)) == json.dumps(public[f"context_{slot_id}"])


@pytest.mark.parametrize("name", SLOTTED)
def test_a_public_agent_that_lost_its_wiring_is_wired_as_its_author_did(name: str) -> None:
    public = public_flow(name)
    bare = unwired(public)
    assert any("OAS154" in one for one in slot_findings(bare)), "the control: it is not wired"
    made = wired(bare)
    assert fed(made) == fed(public)
    assert ("start", f"context_{SLOTTED[name]}") in control(made)
    assert len(control(made)) == len(control(public))
    assert {one["$component_ref"] for one in made["nodes"]} == {
        one["$component_ref"] for one in public["nodes"]
    }
    assert len(made["inputs"]) == len(public["inputs"])
    assert slot_findings(made) == []
    assert errors(made) == []


def test_one_slot_gets_node_chain_inputs_and_edges() -> None:
    made = wired(declared())
    assert [one["$component_ref"] for one in made["nodes"]] == [
        "start", "context_brand", "write", "end",
    ]  # fmt: skip
    assert set(control(made)) == {
        ("start", "context_brand"),
        ("context_brand", "write"),
        ("write", "end"),
    }
    assert {one for one in data(made) if "context_brand" in one} == {
        ("start", "cinatra_run_id", "context_brand", "parentRunId"),
        ("start", "brandParentPackageName", "context_brand", "parentPackageName"),
        ("start", "brandSlotId", "context_brand", "slotId"),
        ("start", "projectId", "context_brand", "projectId"),
        ("context_brand", "contextSlotBindings", "write", "contextSlotBindings"),
    }
    new = {
        "cinatra_run_id": "",
        "projectId": "",
        "brandParentPackageName": "@test/agent",
        "brandSlotId": "brand",
    }
    first = made["$referenced_components"]["start"]
    for owner in (made, first):
        found = {one["title"]: one["default"] for one in owner["inputs"] if one["title"] != "topic"}
        assert found == new
    assert first["metadata"]["cinatra"] == {"required": ["topic"], "hidden": list(new)}
    assert made["metadata"]["cinatra"]["hitlScreens"] == [SELECTOR]
    assert errors(made) == []
    assert slot_findings(made) == []


def test_two_slots_are_chained_in_the_order_of_their_declaration() -> None:
    made = wired(declared("voice", "brand"))
    assert set(control(made)) == {
        ("start", "context_voice"),
        ("context_voice", "context_brand"),
        ("context_brand", "write"),
        ("write", "end"),
    }
    assert {
        ("context_voice", "contextSlotBindings", "write", "voiceContextSlotBindings"),
        ("context_brand", "contextSlotBindings", "write", "brandContextSlotBindings"),
    } <= data(made)
    assert (errors(made), slot_findings(made)) == ([], [])


def test_one_slot_of_two_is_wired_alone_and_the_other_one_later() -> None:
    first = wired(declared("voice", "brand"), only="brand")
    assert [one for one in slot_findings(first) if "voice" in one]
    assert not [one for one in slot_findings(first) if '"brand"' in one]
    both = wired(first)
    assert (errors(both), slot_findings(both)) == ([], [])
    assert [one["title"] for one in both["inputs"]].count("projectId") == 1


def test_every_consumer_of_a_slot_is_fed() -> None:
    flow = declared(
        consumers=(
            taking("contextSlotBindings", id_="draft"),
            taking("brandContextSlotBindings", id_="write"),
        )
    )
    plan_ = plan_wiring(source_of(flow))
    assert plan_.wired[0].consumers == (
        ("draft", "contextSlotBindings"),
        ("write", "brandContextSlotBindings"),
    )
    made = wired(flow)
    assert (errors(made), slot_findings(made)) == ([], [])


def test_what_was_wired_is_not_wired_again() -> None:
    made = wired_bytes(declared("voice", "brand"))
    again = plan_wiring(source_of(made))
    assert (again.wired, again.edits) == ((), ())
    assert plan_wiring(source_of(made), only="brand").edits == ()


def test_the_source_is_not_changed() -> None:
    source = source_of(declared())
    before = copy.deepcopy(source.value)
    assert plan_wiring(source).edits
    assert source.value == before


def test_a_run_that_the_flow_calls_agent_run_id_is_handed_on_under_that_name() -> None:
    flow = declared()
    for owner in (flow, flow["$referenced_components"]["start"]):
        owner["inputs"] = [*owner["inputs"], port("agent_run_id", default="")]
    flow["$referenced_components"]["start"]["metadata"]["cinatra"]["hidden"] = ["agent_run_id"]
    made = wired(flow)
    assert ("start", "agent_run_id", "context_brand", "parentRunId") in data(made)
    assert "cinatra_run_id" not in {one["title"] for one in made["inputs"]}
    assert errors(made) == []


def test_an_input_that_is_there_stays_as_visible_as_it_was() -> None:
    flow = declared()
    for owner in (flow, flow["$referenced_components"]["start"]):
        owner["inputs"] = [*owner["inputs"], port("projectId", default="p1")]
    flow["$referenced_components"]["start"]["metadata"]["cinatra"]["required"] += ["projectId"]
    made = wired(flow)
    first = made["$referenced_components"]["start"]
    assert "projectId" not in first["metadata"]["cinatra"]["hidden"]
    assert [one for one in first["inputs"] if one["title"] == "projectId"] == [
        port("projectId", default="p1")
    ]


def test_a_start_node_that_says_nothing_keeps_asking_for_what_it_asked_for() -> None:
    flow = declared()
    first = flow["$referenced_components"]["start"]
    del first["metadata"]
    for owner in (flow, first):
        owner["inputs"] = [port("topic")]
    before = compile_flow(wired(declared())).ir
    after = compile_flow(wired(flow)).ir
    assert after.by_id["start"].required == before.by_id["start"].required == ("topic",)


@pytest.mark.parametrize("flaw", [None, "x"])
def test_a_list_that_is_null_is_filled_and_one_that_is_none_is_refused(flaw: Any) -> None:
    flow = declared()
    flow["$referenced_components"]["start"]["metadata"]["cinatra"]["hidden"] = flaw
    if flaw is None:
        assert (
            len(wired(flow)["$referenced_components"]["start"]["metadata"]["cinatra"]["hidden"])
            == 4
        )
    else:
        assert '"hidden" is no list' in refusal(flow)


# ------------------------------------------------------------------------ flows inside flows


def nested(**more: Any) -> Any:
    inner = declared(id_="inner-flow", **more)
    return flow_of(
        start(port("topic", default=""), required=["topic"]),
        node_running("inner", inner),
        end(port("text")),
        edges=[("start", "topic", "inner", "topic"), ("inner", "text", "end", "text")],
    )


def test_a_flow_inside_another_one_gets_the_run_and_the_project_from_outside() -> None:
    made = wired(nested())
    assert {
        ("start", "cinatra_run_id", "inner", "cinatra_run_id"),
        ("start", "projectId", "inner", "projectId"),
    } <= data(made)
    assert (errors(made), slot_findings(made)) == ([], [])
    assert not plan_wiring(source_of(nested())).root_has_slots
    result = drive(
        compile_flow(made),
        {"topic": "x", "projectId": "p7"},
        answers=lambda gate: gate.example(),
    )
    resolve = next(one for one in result.calls if one.url.endswith("/api/context-resolve"))
    assert resolve.body["parentRunId"].startswith("drive-")
    assert resolve.body["projectId"] == "p7"


# ------------------------------------------------------------------------ running


def interactive(mode: str) -> dict[str, Any]:
    resolved = {
        "candidates": [{"artifactId": "a1"}],
        "slotMeta": {"slotId": "brand"},
        "selectedRefs": [{"artifactId": "a1"}],
        "selectionMode": mode,
        "resolutionMode": "accumulate",
    }
    return {
        "/api/context-resolve": resolved,
        "/api/context-finalize": {"contextSlotBindings": [{"slotId": "brand", "refs": ["a1"]}]},
    }


def test_a_wired_flow_stops_at_the_gate_and_hands_the_choice_to_the_consumer() -> None:
    flow = compile_flow(wired(declared()))
    waiting = drive(flow, {"topic": "x"}, stubs=interactive("interactive"))
    assert (waiting.status, waiting.gates[-1].renderer) == ("waiting", SELECTOR)
    answer = json.dumps({"slotId": "brand", "resolutionMode": "accumulate", "selectedRefs": []})
    done = drive(
        flow,
        {"topic": "x"},
        answers=lambda _gate: answer,
        stubs=interactive("interactive"),
    )
    assert done.status == "completed", done.error
    assert done.calls[0].body["parentRunId"].startswith("drive-"), "the run's own id"
    by_url = {one.url.rsplit("/", 1)[-1]: one.body for one in done.calls}
    assert by_url["context-resolve"] == {
        "parentRunId": by_url["context-finalize"]["parentRunId"],
        "parentPackageName": "@test/agent",
        "slotId": "brand",
        "projectId": "",
    }
    assert by_url["context-finalize"]["userResponse"] == answer
    assert by_url["write"]["contextSlotBindings"] == [{"slotId": "brand", "refs": ["a1"]}]


def test_a_wired_flow_asks_nobody_where_the_slot_is_autonomous() -> None:
    flow = compile_flow(wired(declared()))
    done = drive(flow, {"topic": "x"}, stubs=interactive("autonomous"))
    assert (done.status, done.gates) == ("completed", ())
    (finalize,) = [one for one in done.calls if one.url.endswith("context-finalize")]
    assert json.loads(finalize.body["userResponse"]) == {
        "slotId": "brand",
        "resolutionMode": "accumulate",
        "selectedRefs": [{"artifactId": "a1"}],
    }


# ------------------------------------------------------------------------ refusals


def test_a_slot_that_nobody_uses_is_refused_with_the_input_to_add() -> None:
    said = refusal(declared(consumers=(taking(),)))
    assert 'the context slot "brand" is used by no node' in said
    assert "input contextSlotBindings" in said


def test_the_plain_name_does_not_stand_for_one_of_two_slots() -> None:
    said = refusal(declared("brand", "voice", consumers=(taking("contextSlotBindings"),)))
    assert "the name of an only slot" in said
    assert "brandContextSlotBindings" in said
    assert "voiceContextSlotBindings" in said


def test_a_consumer_with_both_names_is_refused() -> None:
    both = taking("contextSlotBindings", "brandContextSlotBindings")
    said = refusal(declared(consumers=(both,)))
    assert 'goes into "write" by two inputs' in said
    assert "keep contextSlotBindings only" in said


def test_a_consumer_that_is_fed_already_is_refused_with_the_edge_to_remove() -> None:
    flow = declared(
        consumers=(
            api("old", inputs=[port("topic")], data={"t": "{{ topic }}"}, outputs=[port("found", "array")]),
            taking("contextSlotBindings"),
        ),
        edges=[
            ("start", "topic", "old", "topic"),
            ("start", "topic", "write", "topic"),
            ("old", "found", "write", "contextSlotBindings"),
            ("write", "text", "end", "text"),
        ],
    )  # fmt: skip
    assert "data edge from old.found" in refusal(flow)


@pytest.mark.parametrize("taken", ["context_brand", "context-brand-subflow"])
def test_an_id_that_is_taken_is_refused(taken: str) -> None:
    flow = declared()
    flow["$referenced_components"][taken] = api(taken)
    said = refusal(flow)
    assert f'needs a component "{taken}"' in said
    assert "rename" in said


def test_a_slot_that_two_flows_declare_has_no_owner() -> None:
    flow = nested()
    flow["metadata"]["cinatra"]["contextSlots"] = [slot()]
    said = refusal(flow)
    assert "has no one owner" in said
    assert '"test-flow" and "inner-flow"' in said


def test_a_consumer_in_an_inner_flow_is_named() -> None:
    flow = nested()
    inner = flow["$referenced_components"]["inner-flow"]["metadata"]["cinatra"]
    flow["metadata"]["cinatra"]["contextSlots"] = inner.pop("contextSlots")
    assert '"write" of "inner-flow" could' in refusal(flow)


def test_an_input_that_means_something_else_is_refused() -> None:
    flow = declared()
    for owner in (flow, flow["$referenced_components"]["start"]):
        owner["inputs"] = [*owner["inputs"], port("brandSlotId", default="other")]
    assert 'needs the input "brandSlotId"' in refusal(flow)


def test_a_node_of_the_slots_name_that_selects_nothing_is_refused() -> None:
    inner = flow_of(start(), end(), id_="nothing")
    flow = declared(consumers=(taking("contextSlotBindings"), node_running("context_brand", inner)))
    flow["data_flow_connections"] = [
        one
        for one in flow["data_flow_connections"]
        if "context_brand" not in {one["source_node"]["$component_ref"], one["destination_node"]["$component_ref"]}
    ]  # fmt: skip
    assert "does not call /api/context-resolve" in refusal(flow)


def test_a_slot_declared_twice_is_refused() -> None:
    flow = declared()
    flow["metadata"]["cinatra"]["contextSlots"] *= 2
    assert "is declared 2 times" in refusal(flow)


def test_a_slot_whose_id_is_no_name_is_refused() -> None:
    assert "letters, digits and _" in refusal(declared("brand voice"))


def test_a_slot_that_is_not_declared_is_answered_with_the_nearest_one() -> None:
    assert 'did you mean "brand"?' in refusal(declared(), only="brnad")


def test_every_obstacle_is_told_at_once() -> None:
    with pytest.raises(CannotWire) as caught:
        plan_wiring(source_of(declared("brand", "voice", consumers=(taking(),))))
    assert len(caught.value.obstacles) == 2


def test_a_document_that_is_no_flow_is_refused() -> None:
    assert "oasflow check" in refusal({"component_type": "ServerTool"})


# ------------------------------------------------------------------------ the text


def test_what_is_not_wired_stays_byte_for_byte() -> None:
    raw = json.dumps(declared(), indent="\t").replace("\n", "\r\n").encode()
    raw = b"\xef\xbb\xbf" + raw.replace(b'"name": "The write"', b'"name"  :  "The write"') + b"\r\n"
    made = wired_bytes(raw)
    assert made.startswith(b"\xef\xbb\xbf{\r\n\t")
    assert made.endswith(b"}\r\n")
    assert b'"name"  :  "The write"' in made
    assert b"\n" not in made.replace(b"\r\n", b"")
    lines = [one.strip(b"\t,") for one in raw.split(b"\r\n")]
    left = [one.strip(b"\t,") for one in made.split(b"\r\n")]
    # An empty list opens, and the control edge out of the StartNode is another one's.
    gone = {one for one in lines if one not in left}
    assert gone == {b'"hitlScreens": []', b'"hidden": []'}


def test_entries_of_one_line_each_get_neighbours_of_one_line() -> None:
    text = json.dumps(declared(), indent=2)
    text = re.sub(r'\{\s*"\$component_ref": ("\w+")\s*\}', r'{"$component_ref": \1}', text)
    made = wired_bytes(text.encode()).decode()
    nodes = made[made.index('"nodes"') : made.index('"control_flow_connections"')]
    assert nodes.split("\n")[1:-2] == [
        '    {"$component_ref": "start"},',
        '    {"$component_ref": "context_brand"},',
        '    {"$component_ref": "write"},',
        '    {"$component_ref": "end"}',
    ]


def test_edits_between_two_documents_make_one_of_the_other() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)

    def value(depth: int) -> Any:
        kind = rng.randrange(6 if depth else 4)
        if kind < 4:
            return rng.choice([None, True, False, 0, 1, "a", "b/~", ""])
        if kind == 4:
            # Numbered, as an appended value is taken once.
            return [{"n": rng.random(), "v": value(depth - 1)} for _ in range(rng.randrange(4))]
        return {key: value(depth - 1) for key in rng.sample(["a", "b/c", "d~", "é"], rng.randrange(4))}  # fmt: skip

    for _ in range(500):
        before, after = {"top": value(3)}, {"top": value(3)}
        raw = json.dumps(before, indent=rng.choice([None, 2])).encode()
        made = json.loads(rewritten(raw, edits_between(before, after)))
        assert json.dumps(made, sort_keys=True) == json.dumps(after, sort_keys=True), (
            before,
            after,
        )


# ------------------------------------------------------------------------ package.json


@pytest.mark.parametrize(
    ("cinatra", "expected"),
    [
        (None, {"agentDependencies": {AGENT: "^0.1.1"}}),
        ({"agentDependencies": {"@x/b": "1"}}, {"agentDependencies": {"@x/b": "1", AGENT: "^0.1.1"}}),
        ({"agentDependencies": {AGENT: "^0.0.1"}}, {"agentDependencies": {AGENT: "^0.0.1"}}),
        ({"agentDependencies": {AGENT: ""}}, {"agentDependencies": {AGENT: "^0.1.1"}}),
        (
            {"dependencies": [{"packageName": AGENT}]},
            {"dependencies": [{"packageName": AGENT, "versionConstraint": {"kind": "semver-range", "range": "^0.1.1"}}]},
        ),
    ],
)  # fmt: skip
def test_package_json_names_the_selection_agent_once(cinatra: Any, expected: Any) -> None:
    manifest = {"name": "@test/agent"} | ({"cinatra": cinatra} if cinatra is not None else {})
    source = source_of(manifest)
    made = rewritten(source.raw, manifest_edits(source, selects=True, asks=False))
    assert json.loads(made)["cinatra"] == expected
    assert manifest_edits(source_of(made), selects=True, asks=False) == ()
    # A person who chooses is a gate.
    asking = rewritten(source.raw, manifest_edits(source, selects=True, asks=True))
    assert json.loads(asking)["cinatra"] == {**expected, "hasApprovalGates": True}


def test_the_selection_agent_does_not_depend_on_itself() -> None:
    assert manifest_edits(source_of({"name": AGENT}), selects=True, asks=False) == ()


def test_wiring_loads_neither_langgraph_nor_a_database() -> None:
    code = (
        "import sys, oas_compiler.edit.slot_wires, oas_compiler.edit.slot_wires; "
        "heavy = {'langgraph', 'langchain_core', 'psycopg', 'pydantic', 'httpx2', 'typer', 'rich'}; "
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_flow_with_a_misspelt_field_is_refused_until_it_is_mended() -> None:
    flow = declared()
    assert plan_wiring(source_of(flow)).edits
    flow["startNode"] = flow.pop("start_node")
    assert "the flow cannot be built" in refusal(flow)
