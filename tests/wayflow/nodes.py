"""Nodes and flows as WayFlow writes them."""

from __future__ import annotations

import json
from typing import Any

from tests.flows import end, flow_of, node, plain, port, start

PLUGIN = {"component_plugin_name": "NodesPlugin", "component_plugin_version": "26.3.1"}
MODEL = {"component_type": "OpenAiConfig", "id": "gpt", "name": "gpt", "model_id": "gpt-5"}


def extended(kind: str, id_: str, **fields: Any) -> Any:
    return node(kind, id_, **PLUGIN, **fields)


def around(made: Any, inputs: list[Any], outputs: list[Any], **fields: Any) -> Any:
    """start → the node → end, with an edge for each port of these titles."""
    edges = [("start", one["title"], made["id"], one["title"]) for one in inputs]
    edges += [(made["id"], one["title"], "end", one["title"]) for one in outputs]
    return plain(flow_of(start(*inputs), made, end(*outputs), edges=edges, **fields))


def template(id_: str, text: str, **fields: Any) -> Any:
    return extended("PluginTemplateNode", id_, template=text, **fields)


def inner(made: Any, inputs: list[Any], outputs: list[Any], **fields: Any) -> Any:
    return rename_ends({**around(made, inputs, outputs), "id": "inner", **fields})


def rename_ends(flow: Any) -> Any:
    """The flow for the inside of another one: in a plain file each name is defined once."""
    text = json.dumps(flow).replace('"start"', '"inner start"').replace('"end"', '"inner end"')
    return json.loads(text)


def say_who() -> Any:
    """A flow for maps: "who" and "day" in, "output" out."""
    who = [port("who"), port("day")]
    return inner(template("tell", "{{ who }} on {{ day }}", inputs=who), who, [port("output")])
