"""Flows for benchmarks, as Agent Spec documents: a loop, a fan-out, and their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

Json = dict[str, Any]
Edges = Sequence[tuple[str, str | None, str]]
TEXT: Final[Json] = {"type": "string"}
GROWN: Final[Json] = {"title": "n", **TEXT}
PORTS: Final[Json] = {"inputs": [{"title": "x", **TEXT}], "outputs": [{"title": "y", **TEXT}]}


def loop_document(size: int) -> Json:
    """Adds a letter to `n` until it has `size` of them."""
    return flow_document(
        node_document("StartNode", "start", inputs=[GROWN]),
        node_document("PluginTemplateNode", "add", template="{{ n }}x", inputs=[GROWN], outputs=[GROWN]),
        node_document("BranchingNode", "way", inputs=[{"title": "key", **TEXT}], mapping={"x" * size: "done"}),
        node_document("EndNode", "end", outputs=[GROWN]),
        control=[("start", None, "add"), ("add", None, "way"), ("way", "default", "add"), ("way", "done", "end")],
        data=[
            ("start", "n", "add", "n"), ("add", "n", "add", "n"), ("add", "n", "way", "key"),
            ("add", "n", "end", "n"),
        ],
    )  # fmt: skip


def fan_document(
    work: Json,
    *,
    control: Edges = (("begin", None, "work"), ("work", None, "finish")),
    data: Sequence[tuple[str, str, str, str]] = (
        ("begin", "x", "work", "x"),
        ("work", "y", "finish", "y"),
    ),
) -> Json:
    """Goes through the texts `xs`, each with `work` from `x` to `y`, all at the same time."""
    item = flow_document(
        node_document("StartNode", "begin", inputs=PORTS["inputs"]), work,
        node_document("EndNode", "finish", outputs=PORTS["outputs"]),
        control=control, data=data, name="item",
    )  # fmt: skip
    texts = {"type": "array", "items": TEXT}
    each = node_document(
        "ParallelMapNode", "each", subflow=item,
        inputs=[{"title": "iterated_x", "anyOf": [TEXT, texts]}],
        outputs=[{"title": "collected_y", **texts}],
    )  # fmt: skip
    return flow_document(
        node_document("StartNode", "start", inputs=[{"title": "xs", **texts}]),
        each,
        node_document("EndNode", "end", outputs=[{"title": "ys", **texts}]),
        control=[("start", None, "each"), ("each", None, "end")],
        data=[("start", "xs", "each", "iterated_x"), ("each", "collected_y", "end", "ys")],
    )


def node_document(kind: str, own: str, **fields: Any) -> Json:
    return {"component_type": kind, "id": own, "name": own, **fields}


def flow_document(
    *nodes: Json,
    control: Edges,
    data: Sequence[tuple[str, str, str, str]],
    name: str = "shape",
) -> Json:
    return {
        "component_type": "Flow", "agentspec_version": "26.1.0", "id": name, "name": name,
        "inputs": nodes[0]["inputs"], "outputs": nodes[-1]["outputs"],
        "start_node": _ref(nodes[0]["id"]), "nodes": [_ref(node["id"]) for node in nodes],
        "control_flow_connections": [
            {"component_type": "ControlFlowEdge", "name": f"c{number}", "from_node": _ref(source),
             "to_node": _ref(target), **({"from_branch": branch} if branch else {})}
            for number, (source, branch, target) in enumerate(control)
        ],
        "data_flow_connections": [
            {"component_type": "DataFlowEdge", "name": f"d{number}", "source_node": _ref(source),
             "source_output": output, "destination_node": _ref(target), "destination_input": into}
            for number, (source, output, target, into) in enumerate(data)
        ],
        "$referenced_components": {node["id"]: node for node in nodes},
    }  # fmt: skip


def _ref(name: str) -> dict[str, str]:
    return {"$component_ref": name}
