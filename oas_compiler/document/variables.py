"""Nodes of WayFlow that read and write the variables of their flow; data edges carry the values.

    PluginWriteVariableNode "w" of "count"   ->  PluginVariableNode, input "count", and the further
    PluginReadVariableNode "r" of "count"        output "variable count"
                                             ->  PluginVariableNode, output "count", fed by the edge
                                                 from "variable count" of "w"

A variable is no state of its own: of several edges into one input the source that ran last counts, and
so each node gets what was written last, or the default of the variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from oas_compiler.document.definitions import Definitions, iterate_flows, resolve
from oas_compiler.ir import JsonValue
from oas_compiler.kinds.plugin_variable import (
    VARIABLE_NODE,
    list_needed,
    list_titles,
    name_carrier,
)

_READ: Final = "PluginReadVariableNode"
_WRITE: Final = "PluginWriteVariableNode"
_VALUE: Final = "value"
"""What these two call the variable."""


def read_variables(value: JsonValue) -> JsonValue:
    """The document with one type of node for variables."""
    if isinstance(value, list):
        return [read_variables(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {name: read_variables(member) for name, member in value.items()}
    return _read_single(made) if made.get("component_type") in (_READ, _WRITE) else made


def _read_single(node: dict[str, JsonValue]) -> dict[str, JsonValue]:
    variable = node.get("variable")
    title = variable.get("title") if isinstance(variable, dict) else None
    if not isinstance(title, str):
        return node  # it is refused as it stands
    reads = node["component_type"] == _READ
    mapping = "output_mapping" if reads else "input_mapping"
    named = node.get(mapping)
    outer = named.get(_VALUE, _VALUE) if isinstance(named, dict) else _VALUE
    rest = {name: part for name, part in node.items() if name not in ("variable", "operation")}
    made: dict[str, JsonValue] = {**rest, "component_type": VARIABLE_NODE, mapping: {title: outer}}
    if reads:
        made["read_variables"] = [variable]
    else:
        made["write_variables"] = [variable]
        made["write_operations"] = {title: node.get("operation") or "overwrite"}
    return made


def wire_variables(value: JsonValue) -> JsonValue:
    """The document with the edges that carry the variables, in every flow that lists its edges."""
    more = {
        id(flow): list(_list_edges(flow, definitions)) for flow, definitions in iterate_flows(value)
    }
    return _add_edges(value, more) if any(more.values()) else value


def _list_edges(
    flow: Mapping[str, JsonValue], definitions: Definitions
) -> Iterator[dict[str, JsonValue]]:
    if not isinstance(flow.get("data_flow_connections"), list):
        return  # equal names are connected
    listed = flow.get("nodes")
    nodes: list[tuple[JsonValue, dict[str, JsonValue]]] = []
    for entry in listed if isinstance(listed, list) else ():
        node = resolve(entry, definitions)
        if isinstance(node, dict) and node.get("component_type") == VARIABLE_NODE:
            nodes.append((entry, node))
    for source, writer in nodes:
        for title in list_titles(writer.get("write_variables")):
            for target, other in nodes:
                if title in list_needed(other):
                    yield {
                        "component_type": "DataFlowEdge",
                        "name": f"variable {title}",
                        "source_node": source,
                        "source_output": name_carrier(title),
                        "destination_node": target,
                        "destination_input": name_carrier(title),
                    }


def _add_edges(value: JsonValue, more: Mapping[int, list[dict[str, JsonValue]]]) -> JsonValue:
    if isinstance(value, list):
        return [_add_edges(one, more) for one in value]
    if not isinstance(value, dict):
        return value
    made = {name: _add_edges(member, more) for name, member in value.items()}
    edges, added = made.get("data_flow_connections"), more.get(id(value))
    if added and isinstance(edges, list):
        made["data_flow_connections"] = [*edges, *added]
    return made
