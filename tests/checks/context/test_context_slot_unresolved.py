from __future__ import annotations

import pytest

from tests.checks.context.slot_samples import SLOT, SLOTS_AT, selecting, slotted, writing
from tests.checks.rule_case import findings, found
from tests.flows import end, flow_node, flow_of, start

CODE = "OAS154"


def test_a_slot_without_a_flow_node_is_found_at_its_declaration():
    (finding,) = findings(slotted(writing(), edges=[]), CODE)
    assert finding.pointer == f"{SLOTS_AT}/0"
    assert "context_brand" in finding.hint
    assert found(slotted(), CODE) == []


def test_a_flow_node_with_the_right_name_must_really_select():
    flow = slotted(selecting(url="/api/other"), writing())
    (finding,) = findings(flow, CODE)
    assert finding.pointer == "/$referenced_components/context_brand"
    assert "/api/context-resolve" in finding.message


def test_a_selection_deep_inside_a_child_is_the_childs_own():
    child = flow_of(start(), selecting("context_x"), end(), id_="child")
    flow = slotted(flow_node("run", child), writing(), edges=[])
    assert found(flow, CODE) == [f"{SLOTS_AT}/0"]


@pytest.mark.parametrize("id_", ["context_brand", "choose_something"])
@pytest.mark.parametrize("marker", ["author-placed", "loader-injected", ""])
def test_each_slot_has_a_flow_node_of_its_own_however_it_is_named(id_, marker):
    purpose = {"purpose": f"{marker}-context-resolution-for-brand"} if marker else {}
    slots = [{**SLOT, "slotId": "voice"}, SLOT]
    one = selecting(id_, **purpose)
    both = slotted(selecting("context_voice"), one, writing(), slots=slots, edges=[])
    assert found(both, CODE) == []
    # by elimination an unmarked node may stand for either slot, so that one is left over
    lone = slotted(one, writing(), slots=slots, edges=[])
    assert len(found(lone, CODE)) == 1
    if marker or id_ == "context_brand":
        assert found(lone, CODE) == [f"{SLOTS_AT}/0"]


def test_the_default_of_the_input_behind_slot_id_names_the_slot():
    from tests.flows import port

    slots = [{**SLOT, "slotId": "voice"}, SLOT]
    flow = slotted(
        selecting("choose"), writing(), slots=slots, edges=[("start", "which", "choose", "slotId")]
    )
    inputs = [port("which", default="brand")]
    flow["inputs"] = inputs
    flow["$referenced_components"]["start"]["inputs"] = inputs
    assert found(flow, CODE) == [f"{SLOTS_AT}/0"]
    inputs[0]["default"] = "voice"
    assert found(flow, CODE) == [f"{SLOTS_AT}/1"]


def test_a_default_inside_the_subflow_names_the_slot_too():
    slots = [{**SLOT, "slotId": "voice"}, SLOT]
    node = selecting("choose")
    subflow = node["subflow"]
    ports = subflow["$referenced_components"]["start"]["inputs"]
    next(item for item in ports if item["title"] == "slotId")["default"] = "brand"
    assert found(slotted(node, writing(), slots=slots, edges=[]), CODE) == [f"{SLOTS_AT}/0"]
