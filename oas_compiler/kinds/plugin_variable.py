"""PluginVariableNode: writes variables of its flow, then reads some.

write_operations: {"seen": "insert"}, read_variables: ["seen"]
    ->  input "seen" (an element), output "seen" (the list), and "variable seen" on both sides

What the variable holds comes in by "variable seen", and goes out by it to the other nodes with that
variable; `document/wayflow_nodes.py` makes the edges.  Source: WayFlow's `PluginVariableNode`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from cinatra_sdk.data.ports import (
    VARIABLE_INSERT,
    VARIABLE_MERGE,
    VARIABLE_OVERWRITE,
    VARIABLE_PORT,
)
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.component_facts.component import PLUGIN_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import next_only, specialised
from oas_compiler.findings.finding import nearest
from oas_compiler.ir import ANY, NOTHING, ArrayType, Json, JsonValue, Node, ObjectType, Port
from oas_compiler.kinds.kind import NodeKind

VARIABLE_NODE: Final = "PluginVariableNode"
_OPERATIONS: Final = (VARIABLE_OVERWRITE, VARIABLE_MERGE, VARIABLE_INSERT)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginVariableNode(Node):
    """In the IR: how each variable is written, and which are read afterwards."""

    writes: tuple[tuple[str, str], ...] = ()
    """(variable, `overwrite`, `merge` or `insert`)."""
    reads: tuple[str, ...] = ()


def name_carrier(variable: str) -> str:
    """The port by which a variable goes from node to node; no author can give it."""
    return f"{VARIABLE_PORT}{variable}"


def is_carrier(title: str) -> bool:
    """Whether a port carries a variable."""
    return title.startswith(VARIABLE_PORT)


def list_titles(properties: JsonValue) -> tuple[str, ...]:
    """The names of variables, as a node lists them."""
    listed = properties if isinstance(properties, list) else []
    titles = (one.get("title") for one in listed if isinstance(one, dict))
    return tuple(title for title in titles if isinstance(title, str))


def list_needed(node: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """The variables whose value the node needs: all but those that it only writes anew."""
    operations = node.get("write_operations")
    operations = operations if isinstance(operations, dict) else {}
    written = list_titles(node.get("write_variables"))
    read = list_titles(node.get("read_variables"))
    needed = [title for title in written if operations.get(title) != VARIABLE_OVERWRITE]
    needed += [title for title in read if title not in written]
    return tuple(dict.fromkeys(needed))


def build_variable(site: Site) -> Node:
    component = site.component
    written = _read_ports(site, "write_variables")
    read = _read_ports(site, "read_variables")
    operations = _read_operations(site, written)
    values = tuple(_make_value_port(port, operations[port.title]) for port in written)
    known = {port.title: port for port in (*read, *written)}
    needed = (known[title] for title in list_needed(component.fields) if title in known)
    inputs = specialised(site, "inputs", values, "variables")
    outputs = specialised(site, "outputs", read, "variables")
    return PluginVariableNode(
        **common(site),
        inputs=(*inputs, *(replace(one, title=name_carrier(one.title)) for one in needed)),
        outputs=(*outputs, *(replace(one, title=name_carrier(one.title)) for one in written)),
        branches=next_only(site),
        writes=tuple(operations.items()),
        reads=tuple(port.title for port in read),
    )


def _read_ports(site: Site, field: str) -> tuple[Port, ...]:
    items = site.component.items(field) or ()
    return site.reader.ports(items, site.component.at(field))


def _read_operations(site: Site, written: tuple[Port, ...]) -> dict[str, str]:
    """How each variable is written; another word is reported, and taken as `overwrite`."""
    given = site.component.mapping("write_operations")
    for title in given.keys() - {port.title for port in written}:
        message = f'{site.label} writes "{title[:80]}", which is none of its write_variables'
        site.error("OAS022", message, "write_operations")
    operations: dict[str, str] = {}
    for port in written:
        word = given.get(port.title)
        if word not in _OPERATIONS:
            hint = nearest(word, _OPERATIONS, site.findings) if isinstance(word, str) else ""
            site.error(
                "OAS022",
                f'{site.label} does not say how "{port.title}" is written',
                "write_operations",
                hint=hint or f"one of {', '.join(_OPERATIONS)}",
            )
        elif not _can_be(str(word), port):
            message = (
                f'{site.label} has the operation "{word}" for "{port.title}", which is no list'
            )
            hint = "only lists take elements; lists and objects can be merged"
            site.error("OAS022", message, "write_operations", hint=hint)
        operations[port.title] = str(word) if word in _OPERATIONS else VARIABLE_OVERWRITE
    return operations


def _can_be(operation: str, port: Port) -> bool:
    if operation == VARIABLE_OVERWRITE or port.type == ANY:
        return True
    kinds = (ArrayType,) if operation == VARIABLE_INSERT else (ArrayType, ObjectType)
    return isinstance(port.type, kinds)


def _make_value_port(port: Port, operation: str) -> Port:
    """The input by which a value is written; of an element of a list, the type of the elements."""
    bare = replace(port, default=None)
    if operation != VARIABLE_INSERT or not isinstance(port.type, ArrayType):
        return bare
    items = port.schema.mapping().get("items")
    schema = Json.of(items) if isinstance(items, dict) else NOTHING
    return replace(bare, type=port.type.items, schema=schema)


PLUGIN_VARIABLE = NodeKind(
    component_type=VARIABLE_NODE,
    node=PluginVariableNode,
    build=build_variable,
    words="Writes variables of the flow, then reads some.",
    fields={
        **PLUGIN_FIELDS,
        "write_variables": Field("list", "The variables that are written, as properties."),
        "read_variables": Field("list", "The variables that are read afterwards, as properties."),
        "write_operations": Field(
            "object", "Variable → `overwrite`, `merge` (lists, objects) or `insert` (an element)."
        ),
    },
    acts=False,
    caption="variables",
    lowering="oas_compiler.lower.plain_nodes:lower_variable",
)
