"""Nodes of WayFlow that rename their ports, with the names of their own; edges follow.

    {"component_type": "PluginTemplateNode", "template": "{{ a }}", "inputs": [{"title": "alpha"}],
     "input_mapping": {"a": "alpha"}}, and an edge into "alpha"
        ->  the same with the input "a" and without the mapping, and an edge into "a"

A mapping has the node's own name first.  Several of its inputs may get one value: the edge becomes
several.  A node stays as it is, and is refused, where edges cannot follow: it stands in no flow, or in
one that leaves its data edges out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from oas_compiler.document.definitions import Definitions, iterate_flows, resolve
from oas_compiler.ir import JsonValue

_MAPPINGS: Final = ("input_mapping", "output_mapping")
_INPUT_MESSAGE: Final = "PluginInputMessageNode"
"""Its one output has the name that its author gives."""


def rename_ports(value: JsonValue) -> JsonValue:
    """The document with every mapping carried out that can be."""
    plan = _Plan()
    for flow, definitions in iterate_flows(value):
        plan.add_nodes(flow, definitions)
    if not plan.nodes:
        return value
    for flow, definitions in iterate_flows(value):
        plan.add_edges(flow, definitions)
    return plan.apply(value)


@dataclass(frozen=True, slots=True)
class _Names:
    """How one node renames its ports: the outer name, then those of the node."""

    inputs: Mapping[str, list[str]]
    outputs: Mapping[str, str]


@dataclass(slots=True)
class _Plan:
    """What changes in a document, by the identity of its objects."""

    nodes: dict[int, _Names] = field(default_factory=dict)
    _stuck: set[int] = field(default_factory=set)
    """Nodes whose edges cannot follow."""
    _edges: dict[int, dict[str, JsonValue]] = field(default_factory=dict)
    """Edge → what of it changes."""
    _more: dict[int, list[JsonValue]] = field(default_factory=dict)
    """Flow → further edges."""

    def add_nodes(self, flow: Mapping[str, JsonValue], definitions: Definitions) -> None:
        listed = flow.get("nodes")
        for entry in listed if isinstance(listed, list) else ():
            node = resolve(entry, definitions)
            names = _read_names(node) if isinstance(node, dict) else None
            if names is None:
                continue
            if not isinstance(flow.get("data_flow_connections"), list):
                self._stuck.add(id(node))
                self.nodes.pop(id(node), None)
            elif id(node) not in self._stuck:
                self.nodes[id(node)] = names

    def add_edges(self, flow: dict[str, JsonValue], definitions: Definitions) -> None:
        listed = flow.get("data_flow_connections")
        for entry in listed if isinstance(listed, list) else ():
            edge = resolve(entry, definitions)
            if not isinstance(edge, dict):
                continue
            changes: dict[str, JsonValue] = {}
            output, into = edge.get("source_output"), edge.get("destination_input")
            source = self.nodes.get(id(resolve(edge.get("source_node"), definitions)))
            target = self.nodes.get(id(resolve(edge.get("destination_node"), definitions)))
            if source is not None and isinstance(output, str):
                changes["source_output"] = source.outputs.get(output, output)
            if target is not None and isinstance(into, str):
                first, *others = target.inputs.get(into, [into])
                changes["destination_input"] = first
                about = {name: part for name, part in edge.items() if name != "id"}
                self._more.setdefault(id(flow), []).extend(
                    {**about, **changes, "destination_input": other} for other in others
                )
            self._edges[id(edge)] = changes

    def apply(self, value: JsonValue) -> JsonValue:
        if isinstance(value, list):
            return [self.apply(one) for one in value]
        if not isinstance(value, dict):
            return value
        made = {name: self.apply(member) for name, member in value.items()}
        names = self.nodes.get(id(value))
        if names is not None:
            made = {name: part for name, part in made.items() if name not in _MAPPINGS}
            if isinstance(value.get("inputs"), list):
                made["inputs"] = _rename_inputs(value["inputs"], names)
            if isinstance(value.get("outputs"), list):
                made["outputs"] = _rename_outputs(value["outputs"], names)
        made.update(self._edges.get(id(value), {}))
        more = self._more.get(id(value))
        if more:
            edges = made["data_flow_connections"]
            assert isinstance(edges, list)  # see `add_edges`
            made["data_flow_connections"] = [*edges, *more]
        return made


def _read_names(node: Mapping[str, JsonValue]) -> _Names | None:
    """How a node renames; `None` where it renames nothing, or not rightly."""
    kind = node.get("component_type")
    if not isinstance(kind, str) or not kind.startswith(("Plugin", "Extended")):
        return None
    into, out = (_read_mapping(node.get(name)) for name in _MAPPINGS)
    if kind == _INPUT_MESSAGE:
        out = {}
    if into is None or out is None or not (into or out):
        return None
    inputs: dict[str, list[str]] = {}
    for own, outer in into.items():
        inputs.setdefault(outer, []).append(own)
    return _Names(inputs, {outer: own for own, outer in out.items()})


def _read_mapping(value: JsonValue) -> dict[str, str] | None:
    """The names that differ; `None` for what is no mapping of names."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value.values()):
        return None
    return {own: str(outer) for own, outer in value.items() if own != outer}


def _rename_inputs(ports: JsonValue, names: _Names) -> JsonValue:
    """Further ports come last, so that the place of each other port stays."""
    assert isinstance(ports, list)
    made: list[JsonValue] = []
    more: list[JsonValue] = []
    for port in ports:
        title = port.get("title") if isinstance(port, dict) else None
        if not isinstance(port, dict) or not isinstance(title, str):
            made.append(port)
            continue
        first, *others = names.inputs.get(title, [title])
        made.append({**port, "title": first})
        more += [{**port, "title": other} for other in others]
    return [*made, *more]


def _rename_outputs(ports: JsonValue, names: _Names) -> JsonValue:
    assert isinstance(ports, list)
    return [
        {**port, "title": names.outputs.get(str(port["title"]), port["title"])}
        if isinstance(port, dict) and isinstance(port.get("title"), str)
        else port
        for port in ports
    ]
