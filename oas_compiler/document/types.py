"""The component types that a file may name, and their fields.

    fields_of("EndNode")["branch_name"]    ->   Field("text", …)
    is_known("StartNod")                   ->   False: misspelt
    is_plugin_type("PluginVariableNode")   ->   True: foreign, not misspelt

Nodes are the kinds of `kinds/`; here stands what is no node.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from oas_compiler.component.agent_fields import AGENT_FIELDS, AGENT_WORDS
from oas_compiler.component.fields import COMPONENT_FIELDS, PORT_FIELDS, Field
from oas_compiler.component.mcp import CONFIRMATION, MCP_FIELDS, MCP_WORDS
from oas_compiler.component.model_fields import MODEL_FIELDS, MODEL_WORDS
from oas_compiler.component.prompt_templates import PROMPT_FIELDS, PROMPT_WORDS
from oas_compiler.component.requests import REQUEST_FIELDS
from oas_compiler.kinds.no_nodes import NO_NODES
from oas_compiler.kinds.registry import all_kinds, find_kind

_OTHERS: Final[Mapping[str, Mapping[str, Field]]] = {
    "Flow": {
        **COMPONENT_FIELDS,
        **PORT_FIELDS,
        "id": Field("text", COMPONENT_FIELDS["id"].words, required=True),
        "start_node": Field("component", "The StartNode of this flow.", required=True),
        "nodes": Field("list", "Every node of the flow, mostly as references.", required=True),
        "control_flow_connections": Field(
            "list", "The control edges: what runs after what.", required=True
        ),
        "data_flow_connections": Field(
            "list", "The data edges; null connects all outputs and inputs of equal names."
        ),
        "state": Field("list", "Variables of the flow."),
    },
    "ControlFlowEdge": {
        **COMPONENT_FIELDS,
        "from_node": Field("component", "The node that is left.", required=True),
        "from_branch": Field("text", "The branch it is left by; null or absent is `next`."),
        "to_node": Field("component", "The node that runs next.", required=True),
    },
    "DataFlowEdge": {
        **COMPONENT_FIELDS,
        "source_node": Field("component", "The node whose output is taken.", required=True),
        "source_output": Field("text", "Title of that output.", required=True),
        "destination_node": Field("component", "The node that is fed.", required=True),
        "destination_input": Field("text", "Title of its input.", required=True),
    },
    "ServerTool": {
        **COMPONENT_FIELDS,
        **PORT_FIELDS,
        "name": Field(
            "text", "The name under which the host registers the function.", required=True
        ),
        "requires_confirmation": CONFIRMATION,
    },
    "ClientTool": {
        **COMPONENT_FIELDS,
        **PORT_FIELDS,
        "name": Field("text", "The name by which the caller knows the tool.", required=True),
        "requires_confirmation": CONFIRMATION,
    },
    "BuiltinTool": {
        **COMPONENT_FIELDS,
        **PORT_FIELDS,
        "tool_type": Field(
            "text", "The name under which the host registers the function.", required=True
        ),
        "configuration": Field("object", "Given to a function that has a parameter of this name."),
        "executor_name": Field("any", "Who has the tool: a name or a list.", is_read=False),
        "tool_version": Field("text", "Which version of the tool.", is_read=False),
        "requires_confirmation": CONFIRMATION,
    },
    "RemoteTool": {
        **COMPONENT_FIELDS,
        **PORT_FIELDS,
        "name": Field("text", "The name of the tool, for people.", required=True),
        **REQUEST_FIELDS,
        "requires_confirmation": CONFIRMATION,
    },
    **MODEL_FIELDS,
    **AGENT_FIELDS,
    **MCP_FIELDS,
    **PROMPT_FIELDS,
}
"""Fields of the components that are read and are no nodes."""
_WORDS: Final[Mapping[str, str]] = {
    "Flow": "A sequence of nodes with one StartNode: control edges say what runs next, data edges "
    "what feeds which input.",
    "ControlFlowEdge": "Leads from one branch of a node to the node that runs next.",
    "DataFlowEdge": "Feeds an output of a node into an input of another one.",
    "ServerTool": "A Python function that the host registers under this name.",
    **MODEL_WORDS,
    **AGENT_WORDS,
    **MCP_WORDS,
    **PROMPT_WORDS,
    "BuiltinTool": "A Python function that the host registers under its type.",
    "ClientTool": "A tool that the caller of the flow runs; the run waits for its result.",
    "RemoteTool": "One HTTP call; members of the answer become its outputs.",
}


def fields_of(component_type: str) -> Mapping[str, Field] | None:
    """The fields of a component type; `None` where they are not known."""
    if component_type in _OTHERS:
        return _OTHERS[component_type]
    kind = find_kind(component_type)
    return kind.fields if kind is not None else None


def all_fields() -> dict[str, Mapping[str, Field]]:
    """The fields of every component type whose fields are known."""
    nodes = {kind.component_type: kind.fields for kind in all_kinds() if kind.fields is not None}
    return {**_OTHERS, **nodes}


def words_of(component_type: str) -> str:
    """What a component of the type is, in a sentence; empty where nobody said it."""
    kind = find_kind(component_type)
    return kind.words if kind is not None else _WORDS.get(component_type, "")


def is_known(component_type: str) -> bool:
    """Whether it is a component type of Agent Spec or of an installed Python package."""
    return component_type in NO_NODES or find_kind(component_type) is not None


def known_types() -> frozenset[str]:
    """Every component type of Agent Spec and of installed Python packages."""
    return NO_NODES | node_types()


def node_types() -> frozenset[str]:
    return frozenset(kind.component_type for kind in all_kinds())


def is_plugin_type(component_type: str) -> bool:
    """Types that other runtimes add; they are known to be foreign, not misspelt."""
    return component_type.startswith(("Plugin", "Extended"))
