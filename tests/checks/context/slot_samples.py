"""A small flow with one context slot, wired as it should be; tests change one thing of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.flows import api, end, flow_node, flow_of, port, start

Json = dict[str, Any]
AGENT = "@cinatra-ai/context-selection-agent"
SLOT: Json = {
    "slotId": "brand",
    "acceptedArtifactExtensions": ["@x/brand-artifact"],
    "selectionMode": "autonomous",
    "resolutionMode": "override",
}
MANIFEST: Json = {
    "name": "@test/agent",
    "version": "0.1.0",
    "cinatra": {"agentDependencies": {AGENT: "^0.1.1"}},
}
SLOTS_AT = "/metadata/cinatra/contextSlots"
NAMES = ("parentRunId", "parentPackageName", "slotId", "projectId")
INTO = tuple(("start", name, "context_brand", name) for name in NAMES)
OUT = ("context_brand", "contextSlotBindings", "write", "contextSlotBindings")


def about(*slots: Any, **more: Any) -> Json:
    """The root's metadata."""
    return {
        "cinatra": {
            "type": "flow",
            "packageName": "@test/agent",
            "contextSlots": list(slots),
            **more,
        }
    }


def selecting(
    id_: str = "context_brand", *, url: str = "/api/context-resolve", **cinatra: Any
) -> Json:
    """A FlowNode that selects, as an author places it."""
    bindings = port("contextSlotBindings", "array")
    subflow = flow_of(
        start(*(port(name, default="") for name in NAMES)),
        api("resolve", url="{{CINATRA_BASE_URL}}" + url, outputs=[bindings]),
        end(bindings),
        id_=f"{id_}-subflow",
        edges=[("resolve", "contextSlotBindings", "end", "contextSlotBindings")],
    )
    return flow_node(id_, subflow, **cinatra)


def writing(id_: str = "write", **fields: Any) -> Json:
    """A node that uses what was selected."""
    given = port("contextSlotBindings", "array", default=[])
    fields.setdefault("data", {"user": "{{ contextSlotBindings }}"})
    return api(id_, inputs=[given], **fields)


def slotted(
    *nodes: Json,
    slots: Sequence[Any] = (SLOT,),
    edges: Sequence[tuple[str, str, str, str]] = (*INTO, OUT),
    **fields: Any,
) -> Json:
    """start → context_brand → write → end, or the given nodes between start and end."""
    titles = [*NAMES, "contextSlotBindings", "contextRefs"]
    fields.setdefault("metadata", about(*slots))
    return flow_of(
        start(*(port(name, default="") for name in titles), hidden=titles),
        *(nodes or (selecting(), writing())),
        end(),
        edges=edges,
        **fields,
    )
