"""One small flow for the tests of this folder: start -> write -> end, nothing wrong with it."""

from __future__ import annotations

from typing import Any

from tests.flows import api, end, flow_of, port, start

Json = dict[str, Any]
BLOCK = "/$referenced_components"


def ref(name: str) -> Json:
    return {"$component_ref": name}


def draft_flow(**fields: Any) -> Json:
    """A flow that writes a draft about a topic; keyword arguments replace fields of the flow."""
    write = api(
        "write",
        inputs=[port("topic")],
        outputs=[port("draft")],
        data={"user": "Write about {{ topic }}"},
    )
    made = flow_of(
        start(port("topic"), required=["topic"]),
        write,
        end(port("draft")),
        edges=[("start", "topic", "write", "topic"), ("write", "draft", "end", "draft")],
    )
    return {**made, **fields}


def control(source: str, target: str, branch: str | None = None) -> Json:
    edge: Json = {
        "component_type": "ControlFlowEdge",
        "name": f"{source}-{target}",
        "from_node": ref(source),
        "to_node": ref(target),
    }
    return edge if branch is None else {**edge, "from_branch": branch}


def data(source: str, output: str, target: str, into: str) -> Json:
    return {
        "component_type": "DataFlowEdge",
        "name": f"{source}.{output}-{target}.{into}",
        "source_node": ref(source),
        "source_output": output,
        "destination_node": ref(target),
        "destination_input": into,
    }


def add(flow: Json, node: Json, *edges: Json) -> Json:
    """List one more node, and add edges to the list of their kind."""
    flow["$referenced_components"][node["id"]] = node
    flow["nodes"].append(ref(node["id"]))
    for edge in edges:
        kind = "control" if edge["component_type"] == "ControlFlowEdge" else "data"
        flow[f"{kind}_flow_connections"].append(edge)
    return flow


def without(flow: Json, node: str) -> Json:
    """The same flow whose `nodes` do not list a node; its edges stay."""
    return {**flow, "nodes": [entry for entry in flow["nodes"] if entry != ref(node)]}


def choosing(**branches: str) -> Json:
    """start -> choose (branches Yes, No, default) -> end; edges leave by `branches`."""
    from tests.flows import branching

    return flow_of(
        start(port("answer")),
        branching("choose", port("answer"), {"yes": "Yes", "no": "No"}),
        end(),
        edges=[("start", "answer", "choose", "answer")],
        routes=[
            ("start", None, "choose"),
            *(("choose", branch, target) for branch, target in branches.items()),
        ],
        outputs=[],
    )
