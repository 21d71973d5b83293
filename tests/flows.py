"""Small flows for tests, built as an author would write them.

    flow_of(start(port("topic")), gate("review"), end(), edges=[("start", "topic", "end", "topic")])

Nodes run in the order given; `routes` adds or replaces control edges.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]
_UNSET: Any = object()


def port(title: str, type_: str | None = "string", *, default: Any = _UNSET, **more: Any) -> Json:
    described: Json = {"title": title, **more}
    if type_ is not None:
        described["type"] = type_
    if default is not _UNSET:
        described["default"] = default
    return described


def node(kind: str, id_: str, *, cinatra: Json | None = None, **fields: Any) -> Json:
    made: Json = {"component_type": kind, "id": id_, "name": f"The {id_}", **fields}
    if cinatra is not None:
        made["metadata"] = {"cinatra": cinatra}
    return made


def start(
    *inputs: Json, required: Sequence[str] = (), hidden: Sequence[str] = (), **more: Any
) -> Json:
    about = {"required": list(required), "hidden": list(hidden), **more}
    return node("StartNode", "start", inputs=list(inputs), cinatra=about)


def end(*outputs: Json, id_: str = "end", **fields: Any) -> Json:
    return node("EndNode", id_, outputs=list(outputs), **fields)


def gate(
    id_: str, *, output: Json | None = None, inputs: Sequence[Json] = (), **cinatra: Any
) -> Json:
    fields: Json = {"outputs": [output or port("userResponse")]}
    if inputs:
        fields["inputs"] = list(inputs)
    about = {"riskClass": "read_only", "requiresApproval": True, **cinatra}
    return node("InputMessageNode", id_, cinatra=about, **fields)


def api(
    id_: str,
    *,
    outputs: Sequence[Json] = (),
    data: Any = None,
    risk: str = "read_only",
    **fields: Any,
) -> Json:
    fields.setdefault("url", f"{{{{CINATRA_BASE_URL}}}}/api/{id_}")
    return node(
        "ApiNode", id_, http_method="POST", data=data if data is not None else {},
        outputs=list(outputs), cinatra={"riskClass": risk}, **fields,
    )  # fmt: skip


def branching(id_: str, input_: Json, mapping: Json, **fields: Any) -> Json:
    branches = ["default", *dict.fromkeys(mapping.values())]
    return node(
        "BranchingNode",
        id_,
        inputs=[input_],
        outputs=[],
        mapping=mapping,
        branches=branches,
        **fields,
    )


def message(id_: str, text: str, *inputs: Json) -> Json:
    fields: Json = {"inputs": list(inputs)} if inputs else {}
    return node("OutputMessageNode", id_, message=text, **fields)


def tool(id_: str, name: str, inputs: Sequence[Json], outputs: Sequence[Json]) -> Json:
    server_tool = {
        "component_type": "ServerTool", "id": f"tool-{id_}", "name": name,
        "description": "", "inputs": list(inputs), "outputs": list(outputs),
    }  # fmt: skip
    return node("ToolNode", id_, tool=server_tool, inputs=list(inputs), outputs=list(outputs))


def flow_node(id_: str, flow: Json, **cinatra: Any) -> Json:
    return node("FlowNode", id_, subflow=flow, cinatra=cinatra)


def flow_of(
    *nodes: Json,
    edges: Sequence[tuple[str, str, str, str]] = (),
    routes: Sequence[tuple[str, str | None, str]] | None = None,
    id_: str = "test-flow",
    outputs: Sequence[Json] | None = None,
    **fields: Any,
) -> Json:
    """A flow whose nodes follow each other; `routes` gives all control edges instead."""
    ids = [made["id"] for made in nodes]
    if routes is None:
        routes = [(a, None, b) for a, b in itertools.pairwise(ids)]
    components: Json = {}
    for made in nodes:
        subflow = made.get("subflow")
        if isinstance(subflow, dict) and "$component_ref" not in subflow:
            components[subflow["id"]] = subflow
            made = {**made, "subflow": {"$component_ref": subflow["id"]}}  # noqa: PLW2901
        components[made["id"]] = made
    ends = [made for made in nodes if made["component_type"] == "EndNode"]
    return {
        "agentspec_version": "26.1.0",
        "component_type": "Flow",
        "id": id_,
        "name": f"The {id_}",
        "metadata": {"cinatra": {"type": "flow", "packageName": "@test/agent"}},
        "inputs": nodes[0]["inputs"],
        "outputs": list(outputs) if outputs is not None else ends[0].get("outputs", []),
        "start_node": {"$component_ref": ids[0]},
        "nodes": [{"$component_ref": i} for i in ids],
        "control_flow_connections": [
            {
                "component_type": "ControlFlowEdge", "name": f"c{i}",
                "from_node": {"$component_ref": a}, "to_node": {"$component_ref": b},
                **({"from_branch": branch} if branch else {}),
            }
            for i, (a, branch, b) in enumerate(routes)
        ],
        "data_flow_connections": [
            {
                "component_type": "DataFlowEdge", "name": f"d{i}",
                "source_node": {"$component_ref": a}, "source_output": out,
                "destination_node": {"$component_ref": b}, "destination_input": into,
            }
            for i, (a, out, b, into) in enumerate(edges)
        ],
        "$referenced_components": components,
        **fields,
    }  # fmt: skip


def plain(made: Any) -> Any:
    """The same without a sign of Cinatra: no `metadata.cinatra`, no call of the platform."""
    if isinstance(made, dict):
        return {
            key: plain(member)
            for key, member in made.items()
            if not (key == "metadata" and isinstance(member, dict) and "cinatra" in member)
        }
    if isinstance(made, list):
        return [plain(item) for item in made]
    if isinstance(made, str):
        return made.replace("{{CINATRA_BASE_URL}}", "https://api.example.com")
    return made
