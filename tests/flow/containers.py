"""Flows with MapNodes and ParallelFlowNodes, for tests."""

from __future__ import annotations

from typing import Any

from tests.flows import api, end, flow_of, gate, node, port, start

Json = dict[str, Any]
TEXTS: Json = {"items": {"type": "string"}}


def texts(title: str, **more: Any) -> Json:
    return port(title, "array", **TEXTS, **more)


def mapped(inner: Json, *, id_: str = "each", kind: str = "ParallelMapNode", **fields: Any) -> Json:
    """A node that runs `inner`, from the text `x` to the text `y`, for each of a list of texts."""
    both = [{"type": "string"}, {"type": "array", **TEXTS}]
    return node(
        kind,
        id_,
        subflow=inner,
        inputs=[port("iterated_x", None, anyOf=both)],
        outputs=[texts("collected_y")],
        **fields,
    )


def parallel(*flows: Json, id_: str = "both") -> Json:
    inputs = {one["title"]: one for flow in flows for one in flow["inputs"]}
    outputs = [one for flow in flows for one in flow["outputs"]]
    return node(
        "ParallelFlowNode",
        id_,
        subflows=list(flows),
        inputs=list(inputs.values()),
        outputs=outputs,
    )


def checked_item(*, gates: int = 1, id_: str = "item") -> Json:
    """For a text `x`: calls `draft` with it, asks as often as is wanted, calls `send`, gives `y`."""
    asked = [gate(f"ask{number}", inputs=[port("d")]) for number in range(gates)]
    return flow_of(
        start(port("x")),
        api("draft", data={"x": "{{ x }}"}, inputs=[port("x")], outputs=[port("d")]),
        *asked,
        api("send", data={"d": "{{ d }}"}, inputs=[port("d")], outputs=[port("sent")]),
        end(port("y")),
        id_=id_,
        edges=[
            ("start", "x", "draft", "x"),
            *(("draft", "d", one["id"], "d") for one in asked),
            ("draft", "d", "send", "d"),
            ("send", "sent", "end", "y"),
        ],
    )


def around(mapping: Json, *, items: int = 3) -> Json:
    """A flow with one node that goes through the texts "0", "1", …"""
    return flow_of(
        start(texts("xs", default=[str(number) for number in range(items)])),
        mapping,
        end(texts("ys")),
        edges=[("start", "xs", mapping["id"], "iterated_x"), (mapping["id"], "collected_y", "end", "ys")],
    )  # fmt: skip


def nested(*, gates: int = 1) -> Json:
    """A list of texts, each gone through again as two parallel flows, one of them a map of one."""
    inner = checked_item(gates=gates)
    side = flow_of(
        start(port("x")),
        gate("ask0", inputs=[port("x")]),
        end(port("z")),
        id_="side",
        edges=[("start", "x", "ask0", "x"), ("ask0", "userResponse", "end", "z")],
    )
    both = parallel(inner, side)
    item = flow_of(
        start(port("x")),
        both,
        end(port("y")),
        id_="outer-item",
        edges=[("start", "x", "both", "x"), ("both", "y", "end", "y")],
    )
    return around(mapped(item), items=2)
