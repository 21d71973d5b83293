"""Components of WayFlow, read as the components of the language that they equal.

    {"component_type": "ExtendedToolNode", "raise_exceptions": true, …}    ->  {"component_type": "ToolNode", …}
    {"component_type": "ExtendedToolNode", "raise_exceptions": false, …}   stays as it is, and is refused

WayFlow writes types of its own for most nodes and agents.  Such a type is read as the type that it extends,
if each of its further fields has the value that changes nothing.  Otherwise its type stays, and a finding
says that it does not run.  First, ports that nodes rename get the nodes' own names, and edges carry the
variables of flows.  Source: WayFlow's components for Agent Spec.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from typing import Final, TypeAlias

from cinatra_sdk.data.ports import REFERENCE
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.document.component_types import is_plugin_type
from oas_compiler.document.scope import DEFINITIONS
from oas_compiler.ir import JsonValue
from oas_compiler.kinds.kind import Extended, Same, is_any, is_empty
from oas_compiler.kinds.plugin_variable import VARIABLE_NODE, list_needed, list_titles, name_carrier
from oas_compiler.kinds.registry import BUILT_IN

# ----------------------------------------------------------------------------
# The flows of a document as it was parsed, and what references in them mean.
#
#     for flow, definitions in iterate_flows(value):
#         resolve(flow["start_node"], definitions)   ->  the StartNode, or null
#
# For readers that work on plain values, before a `Document` checks and reports anything.


Definitions: TypeAlias = tuple[dict[str, JsonValue], ...]
"""The blocks of definitions that can be seen, the outermost first."""
_FLOWS: Final = frozenset({"Flow", "ExtendedFlow"})
_LONGEST_WAY: Final = 64
"""References that lead to one value, at most."""


def iterate_flows(
    value: JsonValue, around: Definitions = ()
) -> Iterator[tuple[dict[str, JsonValue], Definitions]]:
    """Every flow of the document, each with what it sees."""
    waiting: list[tuple[JsonValue, Definitions]] = [(value, around)]
    while waiting:
        one, seen = waiting.pop()
        if isinstance(one, list):
            waiting += [(part, seen) for part in one]
        if not isinstance(one, dict):
            continue
        block = one.get(DEFINITIONS)
        inside = (*seen, block) if isinstance(block, dict) else seen
        kind = one.get("component_type")
        if isinstance(kind, str) and kind in _FLOWS:
            yield one, inside
        waiting += [(part, inside) for part in one.values()]


def resolve(value: JsonValue, definitions: Definitions) -> JsonValue:
    """What a value means: itself, or what its reference leads to; null where that is nothing."""
    for _ in range(_LONGEST_WAY):
        if not isinstance(value, dict) or REFERENCE not in value:
            return value
        name = value[REFERENCE]
        found = [block[name] for block in definitions if isinstance(name, str) and name in block]
        if not found:
            return None
        value = found[-1]
    return None


# ----------------------------------------------------------------------------
# Nodes of WayFlow that rename their ports, with the names of their own; edges follow.
#
#     {"component_type": "PluginTemplateNode", "template": "{{ a }}", "inputs": [{"title": "alpha"}],
#      "input_mapping": {"a": "alpha"}}, and an edge into "alpha"
#         ->  the same with the input "a" and without the mapping, and an edge into "a"
#
# A mapping has the node's own name first.  Several of its inputs may get one value: the edge becomes
# several.  A node stays as it is, and is refused, where edges cannot follow: it stands in no flow, or in
# one that leaves its data edges out.


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


# ----------------------------------------------------------------------------
# Nodes of WayFlow that read and write the variables of their flow; data edges carry the values.
#
#     PluginWriteVariableNode "w" of "count"   ->  PluginVariableNode, input "count", and the further
#     PluginReadVariableNode "r" of "count"        output "variable count"
#                                              ->  PluginVariableNode, output "count", fed by the edge
#                                                  from "variable count" of "w"
#
# A variable needs no state: of several edges into one input the source that ran last counts, so each node
# gets the value that was written last, or the default of the variable.


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


_TIMES: Final[Mapping[str, Same]] = {"timeout": is_any, "sse_read_timeout": is_any}
_CERTIFICATES: Final = {"ssl_ca_cert": "ca_file"}
_NO_NODES: Final[Mapping[str, Extended]] = {
    "Flow": Extended("ExtendedFlow", {"context_providers": is_empty}),
    "Swarm": Extended("PluginSwarm"),
    "ManagerWorkers": Extended("PluginManagerWorkers"),
    "MCPTool": Extended("PluginMCPTool"),
    "MCPToolBox": Extended("PluginMCPToolBox"),
    "MCPToolSpec": Extended("PluginMCPToolSpec"),
    "StdioTransport": Extended(
        "PluginStdioTransport", {"encoding": is_any, "encoding_error_handler": is_any}
    ),
    "SSETransport": Extended("PluginSSETransport", _TIMES),
    "SSEmTLSTransport": Extended("PluginSSEmTLSTransport", _TIMES, _CERTIFICATES),
    "StreamableHTTPTransport": Extended("PluginStreamableHTTPTransport", _TIMES),
    "StreamableHTTPmTLSTransport": Extended(
        "PluginStreamableHTTPmTLSTransport", _TIMES, _CERTIFICATES
    ),
}
"""By the type that is extended; those of nodes stand with their kinds."""
_USER_INPUT: Final = "user_provided_input"
"""WayFlow's name of the output of a PluginInputMessageNode."""


def read_extended(value: JsonValue) -> JsonValue:
    """The document with the types of the language where they say the same."""
    if not _names_any(value):
        return value
    value = wire_variables(rename_ports(read_variables(value)))
    return _read(value)


@cache
def _list_readings() -> dict[str, tuple[str, Extended]]:
    """By the type of WayFlow."""
    of_nodes = {
        kind.component_type: kind.extended for kind in BUILT_IN if kind.extended is not None
    }
    return {one.component_type: (base, one) for base, one in {**_NO_NODES, **of_nodes}.items()}


def list_extended() -> frozenset[str]:
    """The types of WayFlow that can be read as types of the language."""
    return frozenset(_list_readings())


def list_differences(component: Mapping[str, JsonValue]) -> list[str]:
    """The fields by which a component of WayFlow says more than the type that it extends."""
    kind = component.get("component_type")
    known = _list_readings().get(kind) if isinstance(kind, str) else None
    more = known[1].more if known is not None else {}
    return [name for name, same in more.items() if not same(component.get(name))]


def _names_any(value: JsonValue) -> bool:
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            kind = one.get("component_type")
            if isinstance(kind, str) and is_plugin_type(kind):
                return True
            stack += one.values()
        elif isinstance(one, list):
            stack += one
    return False


def _read(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_read(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {name: _read(member) for name, member in value.items()}
    kind = found.get("component_type")
    if kind == "PluginGetChatHistoryNode":
        return _read_history(found)
    known = _list_readings().get(kind) if isinstance(kind, str) else None
    if known is None:
        return found
    base, reading = known
    if not all(same(found.get(name)) for name, same in reading.more.items()):
        return found
    plain = {
        reading.renamed.get(name, name): member
        for name, member in found.items()
        if name not in reading.more
    }
    return _complete(found, {**plain, "component_type": base})


def _read_history(found: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """A node that reads the conversation: null says something there, and elsewhere nothing."""
    made = dict(found)
    if found.get("message_types", "") is None:
        made["message_types"] = []
    if found.get("output_template", "") is None and not found.get("outputs"):
        made["outputs"] = [{"title": "chat_history", "type": "array"}]
    return made


def _complete(found: Mapping[str, JsonValue], plain: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """What a type of WayFlow says by itself."""
    match found["component_type"]:
        case "PluginInputMessageNode":
            mapping = found.get("output_mapping")
            named = mapping.get(_USER_INPUT) if isinstance(mapping, dict) else None
            title = named if isinstance(named, str) else _USER_INPUT
            if not plain.get("outputs"):
                plain["outputs"] = [{"title": title, "type": "string"}]
    return plain
