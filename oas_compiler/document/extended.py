"""Components of WayFlow that say nothing more than those of the language, as those of the language.

Before that, ports that nodes rename get the nodes' own names (`renaming.py`), and edges carry the
variables of flows (`variables.py`).

    {"component_type": "ExtendedToolNode", "raise_exceptions": true, …}    ->  {"component_type": "ToolNode", …}
    {"component_type": "ExtendedToolNode", "raise_exceptions": false, …}   stays as it is, and is refused

WayFlow writes its own types for most nodes and agents.  One is read as the type that it extends where
each of its further fields has the value that changes nothing; else its type stays, and a finding
says that it does not run.  Source: WayFlow's components for Agent Spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from oas_compiler.document.renaming import rename_ports
from oas_compiler.document.types import is_plugin_type
from oas_compiler.document.variables import read_variables, wire_variables
from oas_compiler.ir import JsonValue
from oas_compiler.kinds.extended import Extended, Same, is_any, is_empty
from oas_compiler.kinds.registry import BUILT_IN

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
