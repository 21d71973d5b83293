"""A flow that only declares context slots, as an author has it before `wire-context`.

declared()                      start → write → end, slot "brand", write takes contextSlotBindings
declared("brand", "voice")      two slots, write takes brandContextSlotBindings and voice…
nested("child", *steps, packageName="@x/b")    start → steps → end, with this metadata.cinatra
unwired(public_flow)            a public flow without what its author wired for slots
"""

from __future__ import annotations

import copy
from typing import Any

from tests.flows import api, end, flow_of, port, start

Json = dict[str, Any]
AGENT = "@cinatra-ai/context-selection-agent"
SELECTOR = f"{AGENT}:context-selector"
MANIFEST: Json = {"name": "@test/agent", "version": "0.1.0", "cinatra": {"agentDependencies": {}}}


def slot(id_: str = "brand", **more: Any) -> Json:
    return {
        "slotId": id_,
        "acceptedArtifactExtensions": ["@x/brand-artifact"],
        "selectionMode": "interactive",
        "resolutionMode": "accumulate",
        **more,
    }


def taking(*titles: str, id_: str = "write") -> Json:
    """A node that uses selections under these names."""
    ports = [
        port("topic"),
        *(port(one, "array", json_schema={"items": {"type": "object"}}) for one in titles),
    ]
    data = {"topic": "{{ topic }}", **{one: f"{{{{ {one} }}}}" for one in titles}}
    return api(id_, inputs=ports, outputs=[port("text")], data=data)


def declared(*slots: str, consumers: tuple[Json, ...] | None = None, **fields: Any) -> Json:
    """start → consumers → end with a slot of each id."""
    ids = slots or ("brand",)
    names = ["contextSlotBindings"] if len(ids) == 1 else [f"{one}ContextSlotBindings" for one in ids]  # fmt: skip
    nodes = (taking(*names),) if consumers is None else consumers
    last = nodes[-1]["id"]
    about: Json = {"type": "flow", "packageName": "@test/agent", "hitlScreens": []}
    about["contextSlots"] = [slot(one) for one in ids]
    fields.setdefault("metadata", {"cinatra": about})
    fields.setdefault("edges", (*((("start", "topic", one["id"], "topic")) for one in nodes), (last, "text", "end", "text")))  # fmt: skip
    return flow_of(
        start(port("topic", default=""), required=["topic"]), *nodes, end(port("text")), **fields
    )


def nested(id_: str, *steps: Any, **about: Any) -> Json:
    return flow_of(start(), *steps, end(), id_=id_, metadata={"cinatra": about})


def agreement(own: str, child: str, theirs: str | None = None) -> Json:
    """One entry of `parentSatisfiedContextSlots`."""
    entry = {"parentSlotId": own, "childPackage": child}
    return entry if theirs is None else entry | {"childSlotId": theirs}


def unwired(public: Json) -> Json:
    """A flow that carries its wiring, without it: only the declaration and the consumers stay."""
    flow = copy.deepcopy(public)
    ids = [one["slotId"] for one in flow["metadata"]["cinatra"]["contextSlots"]]
    nodes = {f"context_{one}" for one in ids}
    edges = flow["data_flow_connections"]
    into = [one for one in edges if one["destination_node"]["$component_ref"] in nodes]
    inputs = {one["source_output"] for one in into}
    # what other nodes are fed with, too, is the flow's own
    inputs -= {one["source_output"] for one in edges if one not in into}
    flow["metadata"]["cinatra"]["hitlScreens"].remove(SELECTOR)
    known = flow["$referenced_components"]
    for one in ids:
        del known[f"context_{one}"], known[f"context-{one}-subflow"]
    flow["nodes"] = [one for one in flow["nodes"] if one["$component_ref"] not in nodes]
    flow["data_flow_connections"] = [
        one
        for one in flow["data_flow_connections"]
        if not nodes & {one["source_node"]["$component_ref"], one["destination_node"]["$component_ref"]}
    ]  # fmt: skip
    routes = flow["control_flow_connections"]
    following = {one["from_node"]["$component_ref"]: one["to_node"] for one in routes}
    flow["control_flow_connections"] = kept = [
        one for one in routes if one["from_node"]["$component_ref"] not in nodes
    ]
    for one in kept:
        while one["to_node"]["$component_ref"] in nodes:
            one["to_node"] = following[one["to_node"]["$component_ref"]]
    first = known[flow["start_node"]["$component_ref"]]
    for owner in (flow, first):
        owner["inputs"] = [one for one in owner["inputs"] if one["title"] not in inputs]
    about = first["metadata"]["cinatra"]
    about["hidden"] = [one for one in about["hidden"] if one not in inputs]
    return flow
