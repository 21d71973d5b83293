"""One flaw, one finding: what cannot be read hides what would follow from it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tests.effort import tries
from tests.samples import (
    CINATRA,
    as_bytes,
    codes,
    control,
    data,
    errors,
    found_in,
    needs_corpus,
    ref,
    small,
    text,
    with_node,
)

Json = dict[str, Any]
BLOCK = "$referenced_components"
WRONG = "nowhere_at_all"


def flow() -> Json:
    """start -> write -> choose -> (retry: write | default: sub) -> end, every input fed by an edge."""
    made = with_node(
        {
            "component_type": "BranchingNode",
            "id": "choose",
            "inputs": [text("value")],
            "mapping": {"again": "retry"},
        },
        data("write", "draft", "choose", "value"),
        data("start", "topic", "sub", "topic"),
    )
    made[BLOCK]["sub"] = {"component_type": "FlowNode", "id": "sub", "subflow": ref("inner")}
    made[BLOCK]["inner"] = small(flow={"id": "inner"})
    made["nodes"].insert(3, ref("sub"))
    made["control_flow_connections"][2:] = [
        control("choose", "write", "retry"),
        control("choose", "sub", "default"),
        control("sub", "end"),
    ]
    return made


def references(document: Any, pointer: str = "") -> list[str]:
    """Pointers of the references in `nodes`, in `start_node` and in edges, of every flow."""
    found: list[str] = []
    if isinstance(document, dict):
        if document.get("component_type") == "Flow":
            for key in ("nodes", "control_flow_connections", "data_flow_connections", "start_node"):
                found += _below(document.get(key), f"{pointer}/{key}")
        for key, member in document.items():
            found += references(member, f"{pointer}/{key}")
    return found


def _below(value: Any, pointer: str) -> list[str]:
    if isinstance(value, dict) and "$component_ref" in value:
        return [pointer]
    pairs = value.items() if isinstance(value, dict) else enumerate(value or ())
    if isinstance(value, (str, int, float)):
        return []
    return [found for key, member in pairs for found in _below(member, f"{pointer}/{key}")]


def misspelt(document: Json, pointer: str) -> Json:
    broken = copy.deepcopy(document)
    place: Any = broken
    for key in pointer.split("/")[1:]:
        place = place[int(key)] if isinstance(place, list) else place[key]
    place["$component_ref"] = WRONG
    return broken


def test_the_flow_that_is_broken_has_no_findings():
    assert codes(flow()) == set()


@pytest.mark.parametrize("pointer", references(flow()))
def test_a_misspelt_reference_is_exactly_one_finding(pointer: str):
    assert [(found.code, found.pointer) for found in found_in(misspelt(flow(), pointer))] == [
        ("OAS010", f"{pointer}/$component_ref")
    ]


@pytest.mark.parametrize("pointer", references(flow()))
def test_so_it_is_in_a_flow_whose_data_follow_equal_names(pointer: str):
    by_name = flow() | {"data_flow_connections": None}
    by_name[BLOCK]["choose"]["inputs"] = [text("draft")]
    assert codes(by_name) == set()
    if not pointer.startswith("/data_flow_connections"):
        assert {found.code for found in found_in(misspelt(by_name, pointer))} == {"OAS010"}


@needs_corpus
@pytest.mark.parametrize("file", CINATRA, ids=lambda file: file.parts[-3])
def test_so_it_is_in_real_flows(file):
    document = json.loads(file.read_text(encoding="utf-8"))
    pointers = references(document)
    # every kind of place, thinned out: the large flows have hundreds of references
    for pointer in pointers[:: max(1, len(pointers) // tries(10, 100))]:
        found = found_in(as_bytes(misspelt(document, pointer)))
        assert [(each.code, each.pointer) for each in found] == [
            ("OAS010", f"{pointer}/$component_ref")
        ], [str(each) for each in found]


@pytest.mark.parametrize(
    "entry", [7, None, {"component_type": "ServerTool", "name": "t"}, {"$component_ref": 7}]
)
@pytest.mark.parametrize("field", ["nodes", "control_flow_connections", "data_flow_connections"])
def test_an_entry_that_is_no_component_of_the_kind_hides_what_it_may_mean(field: str, entry: Any):
    """The entry stands in the place of one that the flow needs."""
    broken = flow()
    broken[field][1] = entry
    (finding,) = found_in(broken)
    assert finding.pointer.startswith(f"/{field}/1")
    assert finding.code in {"OAS013", "OAS014", "OAS022"}


@pytest.mark.parametrize("field", ["nodes", "control_flow_connections", "data_flow_connections"])
def test_a_list_of_the_wrong_kind_hides_what_it_may_hold(field: str):
    assert errors(flow() | {field: "all of them"}) == [("OAS022", f"/{field}")]


def test_a_branch_name_of_the_wrong_kind_hides_the_branch():
    broken = flow()
    broken["control_flow_connections"][2]["from_branch"] = 7
    assert errors(broken) == [("OAS022", "/control_flow_connections/2/from_branch")]


@pytest.mark.parametrize(
    ("field", "code"), [("destination_input", "OAS062"), ("source_output", "OAS061")]
)
def test_a_misspelt_name_of_a_port_is_exactly_one_finding(field: str, code: str):
    broken = flow()
    broken["data_flow_connections"][0][field] = "topc"
    assert errors(broken) == [(code, f"/data_flow_connections/0/{field}")]


def test_a_misspelt_branch_is_exactly_one_finding():
    broken = flow()
    broken["control_flow_connections"][2]["from_branch"] = "rety"
    assert errors(broken) == [("OAS043", "/control_flow_connections/2/from_branch")]


def test_a_gap_hides_nothing_that_it_does_not_explain():
    """The wrong start_node says nothing about the loose branch and the unfed input."""
    broken = misspelt(flow(), "/start_node")
    del broken["control_flow_connections"][2]
    broken[BLOCK]["write"]["inputs"].append(text("tone"))
    broken[BLOCK]["write"]["data"]["tone"] = "{{ tone }}"
    assert errors(broken) == [
        ("OAS010", "/start_node/$component_ref"),
        ("OAS045", f"/{BLOCK}/choose"),
        ("OAS063", f"/{BLOCK}/write/inputs/1"),
    ]


def test_two_flaws_are_two_findings():
    broken = misspelt(misspelt(flow(), "/start_node"), "/control_flow_connections/1/to_node")
    (finding,) = found_in(broken)  # one name, which may be one missing definition
    assert finding.message == f'no component "{WRONG}" is defined here (2 references)'
    broken["control_flow_connections"][1]["to_node"] = ref("another_one")
    assert [code for code, _ in errors(broken)] == ["OAS010", "OAS010"]


def test_a_misspelt_definition_is_one_finding_that_counts_its_references():
    broken = flow()
    broken[BLOCK]["wrte"] = broken[BLOCK].pop("write")
    (finding,) = found_in(broken)
    assert (finding.code, finding.pointer) == ("OAS010", "/nodes/1/$component_ref")
    # one in nodes, three in control edges, three in data edges
    assert finding.message == 'no component "write" is defined here (7 references)'
    assert finding.hint == '"wrte" has this id: define it as "write"'


def test_the_same_name_missing_in_two_flows_is_two_findings():
    broken = flow()
    broken[BLOCK]["wrte"] = broken[BLOCK].pop("write")
    inner = broken[BLOCK]["inner"]
    inner[BLOCK]["wrte"] = inner[BLOCK].pop("write")
    assert [code for code, _ in errors(broken)] == ["OAS010", "OAS010"]


def start_of(broken: Json) -> Json:
    return broken[BLOCK]["start"]


def one_flaw(change: Any) -> list[str]:
    """Codes after one change of the flow without findings."""
    broken = flow()
    change(broken)
    return [found.code for found in found_in(broken)]


def put(*path: Any, value: Any = ...) -> Any:
    """A change that writes one value, or removes it."""

    def change(broken: Any) -> None:
        for key in path[:-1]:
            broken = broken[key]
        if value is ...:
            del broken[path[-1]]
        else:
            broken[path[-1]] = value

    return change


def renamed(*path: Any, to: str) -> Any:
    def change(broken: Any) -> None:
        for key in path[:-1]:
            broken = broken[key]
        broken[to] = broken.pop(path[-1])

    return change


UNTITLED = {"type": "string"}
ONE_FLAW: dict[str, tuple[Any, str]] = {
    "type of the end": (put(BLOCK, "end", "component_type", value="EnNode"), "OAS026"),
    "type of the start": (put(BLOCK, "start", "component_type", value="Start"), "OAS026"),
    "type of a branching node": (
        put(BLOCK, "choose", "component_type", value="BranchNode"),
        "OAS026",
    ),
    "type of a flow's end": (
        put(BLOCK, "inner", BLOCK, "end", "component_type", value="EnNode"),
        "OAS026",
    ),
    "no from_branch": (put("control_flow_connections", 2, "from_branch"), "OAS043"),
    "mapping as a list": (put(BLOCK, "choose", "mapping", value=["retry"]), "OAS022"),
    "no mapping": (put(BLOCK, "choose", "mapping"), "OAS023"),
    "mapping to a number": (put(BLOCK, "choose", "mapping", "again", value=1), "OAS039"),
    "misspelt field": (renamed(BLOCK, "write", "http_method", to="http_metod"), "OAS023"),
    "misspelt mapping": (renamed(BLOCK, "choose", "mapping", to="maping"), "OAS023"),
    "misspelt list of nodes": (renamed("nodes", to="node"), "OAS023"),
    "input without a title": (put(BLOCK, "write", "inputs", 0, value=UNTITLED), "OAS029"),
    "output without a title": (put(BLOCK, "write", "outputs", 0, value=UNTITLED), "OAS029"),
    "start without a title": (put(BLOCK, "start", "inputs", 0, value=UNTITLED), "OAS029"),
    "end without a title": (put(BLOCK, "end", "outputs", 0, value=UNTITLED), "OAS029"),
    "value to branch on without a title": (
        put(BLOCK, "choose", "inputs", 0, value=UNTITLED),
        "OAS029",
    ),
    "flow's input without a title": (put("inputs", 0, value=UNTITLED), "OAS029"),
    "inner input without a title": (
        put(BLOCK, "inner", BLOCK, "start", "inputs", 0, value=UNTITLED),
        "OAS029",
    ),
    "inputs that are no list": (put(BLOCK, "write", "inputs", value="topic"), "OAS022"),
    "outputs that are no list": (put(BLOCK, "write", "outputs", value={}), "OAS022"),
    "a node as a plain string": (put("nodes", 1, value="write"), "OAS022"),
    "an end of an edge as a plain string": (
        put("control_flow_connections", 1, "to_node", value="choose"),
        "OAS022",
    ),
}


@pytest.mark.parametrize("name", ONE_FLAW)
def test_one_flaw_makes_one_finding(name: str):
    change, code = ONE_FLAW[name]
    assert one_flaw(change) == [code]


def test_a_default_of_another_type_is_said_once_where_the_flow_repeats_it():
    broken = flow()
    for ports in (broken["inputs"], start_of(broken)["inputs"]):
        ports[0]["default"] = ["x"]
        ports[0]["type"] = "boolean"
    assert [(each.code, each.pointer) for each in found_in(broken)].count(
        ("OAS031", "/inputs/0/default")
    ) == 1
    assert [each.code for each in found_in(broken)].count("OAS031") == 1
    start_of(broken)["inputs"][0]["default"] = ["y"]
    assert [each.code for each in found_in(broken)].count("OAS031") == 2


def test_a_node_without_any_edge_is_one_finding():
    broken = flow()
    spare = {"component_type": "OutputMessageNode", "id": "spare", "message": "x"}
    broken[BLOCK]["spare"] = spare
    broken["nodes"].append(ref("spare"))
    (finding,) = found_in(broken)
    assert (finding.code, finding.pointer) == ("OAS045", f"/{BLOCK}/spare")
    assert finding.message == 'no control edge leads to "spare" or away from it'
    broken["control_flow_connections"].append(control("spare", "end"))
    assert codes(broken) == {"OAS048"}


def test_two_edges_without_a_branch_are_not_also_two_edges_of_one_branch():
    broken = flow()
    for edge in broken["control_flow_connections"][2:4]:
        del edge["from_branch"]
    assert [code for code, _ in errors(broken)] == ["OAS043", "OAS043"]


def test_the_type_of_a_gate_s_output_is_said_once():
    gate = {"component_type": "InputMessageNode", "id": "ask", "outputs": [text("a")]}
    assert codes(with_node(gate)) == set()
    gate["outputs"][0]["type"] = "strng"
    assert [found.code for found in found_in(with_node(gate))] == ["OAS037"]


def test_all_findings_of_a_file_come_in_one_run():
    broken = small(
        write={"url": "{{ topc }}", "outputs": [text("draft"), text("draft")]},
        end={"branches": ["next"]},
        flow={"outputs": [text("drafd")], "start_node": ref("strat")},
    )
    assert {"OAS081", "OAS030", "OAS051", "OAS066", "OAS010"} <= codes(broken)


def test_a_flow_that_compiles_has_no_gaps():
    from oas_compiler.pipeline import compile_ir

    assert compile_ir(flow()).ir.gaps == ()
