"""The flows, tools and agents that a node runs, as far as its text says, whatever the node's type.

{"component_type": "ToolNode", "tool": {…, "requires_confirmation": true}}
    read_behind    ->  Behind(asks_person=True)
{"component_type": "MapNode", "subflow": {"$component_ref": "nobody"}}
    is_inside_unread   ->  True: what the node runs may hold a gate
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oas_compiler.document.node_types import is_misspelt
from oas_compiler.document.scope import Document, Located, read_cinatra
from oas_compiler.ir import NO_BEHIND, Behind, JsonValue
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.kinds.no_nodes import AGENTS
from oas_compiler.kinds.registry import find_kind
from oas_compiler.text.marks import child

USUAL_FLOW_FIELDS: Final = ("subflow", "agent", "subflows")
"""The fields that hold flows in Agent Spec's own nodes; those of other nodes are taken alike."""


def is_inside_unread(document: Document, node: Located) -> bool:
    """Whether something that the node runs could not be read, which an error says.

    A field that nodes of the kind do not have runs nothing (OAS024).
    """
    kind = find_kind(node.component_type)
    names: Sequence[str] = USUAL_FLOW_FIELDS
    if kind is not None and kind.fields is not None:
        names = kind.flows
        if any(_needs_flow(kind, name) and _find_member(node, name) is None for name in names):
            return True
    found = [document.locate(member) for member in list_members(node, names)]
    return any(target is None or is_misspelt(target) for target in found)


def _needs_flow(kind: NodeKind, name: str) -> bool:
    """Whether nodes of the kind have one flow, and nothing else, in this field."""
    assert kind.fields is not None
    field = kind.fields[name]
    return field.required and field.kind != "list" and name != kind.behind


def read_behind(document: Document, node: Located) -> Behind:
    """The facts about the tool or agent that a node runs; about an agent that is a document itself."""
    if node.component_type in AGENTS:
        return _read_agent_facts(node)
    tool = _find_member(node, "tool")
    member = tool or _find_member(node, "agent")
    found = document.locate(member) if member is not None else None
    if found is None and tool is not None:
        return Behind(asks_person=True)
    behind = (read_cinatra(found.value) if found is not None else None) or {}
    asks = _read(found, "requires_confirmation") is True
    if node.component_type in ("AgentNode", "ExtendedAgentNode"):
        own = read_cinatra(node.value) or {}
        asks = asks or own.get("requiresApproval", behind.get("requiresApproval")) is True
    risk = behind.get("riskClass")
    risk = risk if isinstance(risk, str) else ""
    return Behind(risk_class=risk, asks_person=asks) if risk or asks else NO_BEHIND


def _read_agent_facts(agent: Located) -> Behind:
    """The facts about an agent that is a document by itself."""
    own = read_cinatra(agent.value) or {}
    risk = own.get("riskClass")
    asks = own.get("requiresApproval") is True
    return Behind(risk_class=risk if isinstance(risk, str) else "", asks_person=asks)


def read_facts(tool: Located) -> Behind:
    """The facts about a tool of an agent."""
    risk = (read_cinatra(tool.value) or {}).get("riskClass")
    asks = _read(tool, "requires_confirmation") is True
    return Behind(risk_class=risk if isinstance(risk, str) else "", asks_person=asks)


def list_members(node: Located, names: Sequence[str]) -> list[Located]:
    """The components in some members of a node, each a component or a list of components."""
    found: list[Located] = []
    for name in names:
        value = _read(node, name)
        if isinstance(value, dict):
            found.append(Located(value, child(node.pointer, name), node.scope))
        elif isinstance(value, list):
            found += [
                Located(item, f"{node.pointer}/{name}/{index}", node.scope)
                for index, item in enumerate(value)
                if isinstance(item, dict)
            ]
    return found


def _find_member(node: Located, name: str) -> Located | None:
    value = _read(node, name)
    return (
        Located(value, child(node.pointer, name), node.scope) if isinstance(value, dict) else None
    )


def _read(located: Located | None, name: str) -> JsonValue:
    value = located.value if located is not None else None
    return value.get(name) if isinstance(value, dict) else None
