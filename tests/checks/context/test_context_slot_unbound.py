from __future__ import annotations

import pytest

from tests.checks.context.slot_samples import INTO, selecting, slotted, writing
from tests.checks.rule_case import findings, found

CODE = "OAS156"
AT = "/$referenced_components/context_brand"


def test_the_selection_reaches_a_consumer():
    (finding,) = findings(slotted(edges=INTO), CODE)
    assert finding.pointer == AT
    assert "contextSlotBindings or brandContextSlotBindings" in finding.hint
    assert found(slotted(), CODE) == []


@pytest.mark.parametrize(
    ("output", "into", "count"),
    [
        ("contextSlotBindings", "contextSlotBindings", 0),
        ("contextRefs", "contextSlotBindings", 0),
        ("contextSlotBindings", "brandContextSlotBindings", 0),
        ("contextSlotBindings", "voiceContextSlotBindings", 1),
        ("contextSlotBindings", "text", 1),
        ("candidates", "contextSlotBindings", 1),
    ],
)
def test_which_edges_bind(output, into, count):
    flow = slotted(edges=[*INTO, ("context_brand", output, "write", into)])
    assert len(found(flow, CODE)) == count


def test_an_end_node_is_no_consumer():
    edge = ("context_brand", "contextSlotBindings", "end", "contextSlotBindings")
    assert found(slotted(edges=[*INTO, edge]), CODE) == [AT]


def test_a_selection_that_a_prompt_names_is_another_rules():
    data = {"user": "{{ context_brand.contextRefs }}"}
    flow = slotted(selecting(), writing(data=data), edges=INTO)
    assert found(flow, CODE) == []
    assert found(flow, "OAS157")


def test_an_edge_that_could_not_be_read_is_not_called_missing():
    flow = slotted()
    edge = flow["data_flow_connections"][-1]
    del flow["data_flow_connections"][-1]
    assert found(flow, CODE) == [AT]
    flow["data_flow_connections"].append({**edge, "destination_node": {"$component_ref": "wriet"}})
    assert found(flow, CODE) == []
    assert found(flow, "OAS010")


def test_a_consumer_whose_input_must_be_fed_is_another_rules():
    write = writing()
    assert len(found(slotted(selecting(), write, edges=INTO), CODE)) == 1
    del write["inputs"][0]["default"]
    flow = slotted(selecting(), write, edges=INTO)
    assert found(flow, CODE) == []
    assert found(flow, "OAS063") == ["/$referenced_components/write/inputs/0"]
