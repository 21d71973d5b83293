"""The contract of the slot `tone`: its shape, and that the flow selects for it before it is used."""

from __future__ import annotations

import json
from pathlib import Path

from cinatra_sdk.context import read_slots
from oas_compiler import check

AGENT = Path(__file__).resolve().parent
SELECTION_AGENT = "@cinatra-ai/context-selection-agent"


def flow() -> dict:
    return json.loads((AGENT / "cinatra/oas.json").read_text(encoding="utf-8"))


def test_the_slot_has_the_shape_that_was_agreed_on() -> None:
    (slot,) = read_slots(flow()["metadata"]["cinatra"].get("contextSlots"))
    assert slot.model_dump(by_alias=True, mode="json") == {
        "slotId": "tone",
        "acceptedArtifactExtensions": ["@oasflow-examples/tone-artifact"],
        "selectionMode": "autonomous",
        "resolutionMode": "override",
        "minItems": 1,
        "maxItems": 1,
        "readableOnly": False,
    }


def test_the_package_depends_on_the_selection_agent() -> None:
    package = json.loads((AGENT / "package.json").read_text(encoding="utf-8"))
    assert SELECTION_AGENT in package["cinatra"]["agentDependencies"]


def test_the_selection_runs_before_its_consumer_and_feeds_it() -> None:
    edges = flow()["data_flow_connections"]
    bound = [
        (edge["source_node"]["$component_ref"], edge["destination_node"]["$component_ref"])
        for edge in edges
        if edge["destination_input"] == "contextSlotBindings"
    ]
    assert bound == [("context_tone", "draft_reply")]
    routes = [
        (edge["from_node"]["$component_ref"], edge["to_node"]["$component_ref"])
        for edge in flow()["control_flow_connections"]
    ]
    assert ("context_tone", "draft_reply") in routes


def test_check_has_nothing_to_say() -> None:
    assert list(check(AGENT)) == []
