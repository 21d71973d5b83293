"""A field under another name: put right where it must be meant, left to the author where it need not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.samples import control, found_in, only, ref, small, text

BLOCK = "$referenced_components"


def with_edge(**more: Any) -> dict[str, Any]:
    flow = small()
    flow["control_flow_connections"][0] |= more
    return flow


def noted() -> dict[str, Any]:
    """A note at an edge that leaves another node than the one with a branch of that name."""
    flow = branching(from_branch="yes")
    flow["control_flow_connections"][0]["branch"] = "yes"
    return flow


def branching(**more: Any) -> dict[str, Any]:
    """A flow that goes two ways; `more` stands at the edge of the second way."""
    flow = small()
    flow[BLOCK]["choose"] = {
        "component_type": "BranchingNode",
        "id": "choose",
        "name": "Choose",
        "inputs": [text("topic")],
        "mapping": {"bees": "yes"},
    }
    flow["nodes"].append(ref("choose"))
    flow["control_flow_connections"][0] = control("start", "choose")
    flow["control_flow_connections"] += [
        control("choose", "end", "default"),
        {**control("choose", "write"), **more},
    ]
    flow["data_flow_connections"].append(
        {**flow["data_flow_connections"][0], "name": "topic_to_choose",
         "destination_node": ref("choose")}
    )  # fmt: skip
    flow[BLOCK]["end"]["outputs"][0]["default"] = ""
    flow["outputs"][0]["default"] = ""
    return flow


@pytest.mark.parametrize(
    ("flow", "field"),
    [
        (small(end={"meta": {"owner": "ann"}}), "meta"),
        (small(end={"meta": {}}), "meta"),
        (with_edge(branch="main"), "branch"),
        (with_edge(branch="next"), "branch"),
        (noted(), "branch"),
    ],
)
def test_a_key_of_the_authors_own_in_the_words_of_elsewhere_is_a_warning(flow: Any, field: str):
    (found,) = found_in(flow)
    assert (found.code, found.severity) == ("OAS024", "warning")
    assert found.pointer.endswith(f"/{field}")


def test_metadata_under_another_word_is_meant_where_it_holds_the_block_of_the_host():
    flow = small()
    flow["meta"] = flow.pop("metadata")
    found = only(flow, "OAS023")
    assert (found.severity, found.pointer) == ("error", "/meta")


def test_a_branch_under_another_word_is_meant_where_the_flow_has_one_of_that_name():
    assert found_in(branching(from_branch="yes")) == []
    found = only(branching(branch="yes"), "OAS023")
    assert (found.severity, found.pointer) == ("error", "/control_flow_connections/3/branch")


@pytest.mark.parametrize(
    ("written", "meant"), [("body", "data"), ("payload", "data"), ("header", "headers")]
)
def test_what_a_call_sends_is_meant_whatever_it_holds(written: str, meant: str):
    flow = small()
    node = flow[BLOCK]["write"]
    node[written] = node.pop("data") if meant == "data" else {"X-Team": "a"}
    found = only(flow, "OAS023")
    assert (found.severity, found.hint) == ("error", f'did you mean "{meant}"?')


@pytest.mark.parametrize("written", ["ulr", "rul", "ur", "ul", "urll", "uurl"])
def test_a_slip_in_a_field_of_three_letters_is_read_as_the_field(written: str):
    flow = small()
    node = flow[BLOCK]["write"]
    node[written] = node.pop("url")
    found = only(flow, "OAS023")
    assert found.pointer == f"/{BLOCK}/write/{written}"
    assert found.hint == 'did you mean "url"?'


def test_a_short_key_beside_the_field_is_only_unknown():
    assert only(small(write={"ulr": "x"}), "OAS024").severity == "warning"


@pytest.mark.parametrize("written", ["url ", " url", "http method", "http-method"])
def test_a_field_with_a_blank_in_its_name_is_read_as_the_field(written: str):
    flow = small()
    node = flow[BLOCK]["write"]
    meant = "url" if "url" in written else "http_method"
    node[written] = node.pop(meant)
    assert only(flow, "OAS023").hint == f'did you mean "{meant}"?'
