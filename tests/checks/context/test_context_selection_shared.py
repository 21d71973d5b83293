from __future__ import annotations

from tests.checks.context.slot_samples import INTO, SLOT, about, selecting, slotted
from tests.checks.rule_case import findings, found
from tests.flows import end, flow_node, flow_of, port, start

CODE = "OAS161"


def child(id_, package):
    given = port("contextSlotBindings", "array", default=[])
    about_ = {"cinatra": {"type": "node", "packageName": package}} if package else {}
    return flow_node(id_, flow_of(start(given), end(), id_=f"{id_}-flow", metadata=about_))


def shared(*packages, **more):
    ids = [f"child{index}" for index in range(len(packages))]
    children = [child(id_, package) for id_, package in zip(ids, packages, strict=True)]
    edges = [("context_brand", "contextSlotBindings", id_, "contextSlotBindings") for id_ in ids]
    return slotted(selecting(), *children, edges=[*INTO, *edges], metadata=about(SLOT, **more))


def test_a_selection_is_handed_to_one_child_agent_only():
    (finding,) = findings(shared("@x/drafts", "@x/posts"), CODE)
    assert finding.pointer == "/data_flow_connections/5"
    assert finding.message == (
        '"context_brand" selects for "@x/drafts" and for "@x/posts" too: '
        "a selection belongs to one agent"
    )
    assert found(shared("@x/drafts"), CODE) == []


def test_subflows_of_the_agent_itself_may_share():
    assert found(shared("@x/drafts", "", "@test/agent"), CODE) == []


def test_children_may_share_by_agreement():
    agreed = [{"parentSlotId": "brand", "childPackage": "@x/posts", "childSlotId": "brand"}]
    other = [{"parentSlotId": "voice", "childPackage": "@x/posts", "childSlotId": "brand"}]
    packages = ("@x/drafts", "@x/posts")
    assert found(shared(*packages, parentSatisfiedContextSlots=agreed), CODE) == []
    assert len(found(shared(*packages, parentSatisfiedContextSlots=other), CODE)) == 1
    assert len(found(shared(*packages, parentSatisfiedContextSlots=[7, {}]), CODE)) == 1


def test_one_child_agent_at_two_places_is_one_agent():
    assert found(shared("@x/drafts", "@x/drafts"), CODE) == []
    (finding,) = findings(shared("@x/drafts", "@x/drafts", "@x/posts"), CODE)
    assert finding.pointer == "/data_flow_connections/6"
