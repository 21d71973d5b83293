from __future__ import annotations

import pytest

from tests.checks.context.slot_samples import (
    INTO,
    SLOT,
    SLOTS_AT,
    about,
    selecting,
    slotted,
    writing,
)
from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_node, flow_of, port, start

CODE = "OAS154"


def test_a_slot_without_a_flow_node_is_found_at_its_declaration():
    (finding,) = findings(slotted(writing(), edges=[]), CODE)
    assert finding.pointer == f"{SLOTS_AT}/0"
    assert "context_brand" in finding.hint
    assert "oasflow wire-context" in finding.hint
    assert found(slotted(), CODE) == []


def test_what_can_be_done_first_is_said_first():
    # Without a node that uses the slot, wire-context would refuse.
    unused = api("write", inputs=[port("topic", default="")])
    (finding,) = findings(slotted(unused, edges=[]), CODE)
    assert finding.hint.startswith(
        'first give the node that uses it an input "contextSlotBindings"'
    )
    assert "then run oasflow wire-context" in finding.hint
    two = [SLOT, {**SLOT, "slotId": "voice"}]
    plain, _other = findings(slotted(writing(), slots=two, edges=[]), CODE)
    assert '"brandContextSlotBindings"' in plain.hint


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


def test_a_flow_node_that_names_another_slot_is_not_taken_by_elimination():
    other = [{**SLOT, "slotId": "other"}]
    (finding,) = findings(slotted(selecting(), writing(), slots=other), CODE)
    assert finding.pointer == f"{SLOTS_AT}/0"
    assert '"context_brand" selects for another one' in finding.message
    assert '"other"' in finding.hint
    assert found(slotted(selecting("choose"), writing(), slots=other, edges=[]), CODE) == []


def handing_on(agreed, *, uses=1):
    """A parent whose child declares a slot and takes what the parent selected."""
    given = port("contextSlotBindings", "array", default=[])
    about_child = {"cinatra": {"type": "flow", "packageName": "@x/drafts", "contextSlots": [SLOT]}}
    edges = [("start", "contextSlotBindings", "write", "contextSlotBindings")]
    child = flow_of(start(given), writing(), end(), id_="child", edges=edges, metadata=about_child)
    names = [f"run{number}" for number in range(uses)]
    into = [("context_brand", "contextSlotBindings", name, "contextSlotBindings") for name in names]
    return slotted(
        selecting(),
        *(flow_node(name, child, packageName=f"@x/{name}") for name in names),
        edges=[*INTO, *into],
        metadata=about(SLOT, parentSatisfiedContextSlots=agreed),
    )


AGREED = {"parentSlotId": "brand", "childPackage": "@x/run0", "childSlotId": "brand"}
IN_CHILD = f"/$referenced_components/child{SLOTS_AT}/0"


@pytest.mark.parametrize(
    ("rule", "at"),
    [(CODE, IN_CHILD), ("OAS160", "/$referenced_components/child/data_flow_connections/0")],
)
def test_a_child_whose_slot_the_parent_fills_selects_nothing_itself(rule, at):
    assert found(handing_on([AGREED]), rule) == []
    assert found(handing_on([]), rule) == [at]
    assert found(handing_on([{**AGREED, "childPackage": "@x/other"}]), rule) == [at]
    assert found(handing_on([{**AGREED, "childSlotId": "voice"}]), rule) == [at]


def test_a_child_is_satisfied_only_when_every_flow_node_that_runs_it_says_so():
    assert found(handing_on([AGREED], uses=2), CODE) == [IN_CHILD]
    both = [AGREED, {**AGREED, "childPackage": "@x/run1"}]
    assert found(handing_on(both, uses=2), CODE) == []


@pytest.mark.parametrize("odd", [None, 7, "x", {}, [7, {}, {"parentSlotId": []}]])
def test_odd_agreements_satisfy_nothing(odd):
    assert found(handing_on(odd), CODE) == [IN_CHILD]
