"""The wire model: what Agent Spec and Cinatra allow in a file, and a flow with its references resolved.

In: nothing.  `FIELDS` says for each supported component type which fields it has and of which
kind; `load.py` checks a file against it and makes `Flow`, which `build.py` reads.

    FIELDS["EndNode"]["branch_name"]   ->   Field("text")
    component.text("url")              ->   "https://…"   (its kind has been checked)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from oas_compiler.ir import Gap, JsonValue

Kind = Literal["text", "flag", "list", "object", "any", "component"]
"""`component` is a component or a reference to one; `list` may hold either."""

SHAPES: Mapping[Kind, tuple[type, str]] = {
    "text": (str, "a string"),
    "flag": (bool, "true or false"),
    "list": (list, "a list"),
    "object": (dict, "an object"),
    "component": (dict, "a component or a $component_ref"),
}
"""What a value of each kind is, and how messages call it; `any` is anything."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a component type; null counts as absent unless the kind is `any`."""

    kind: Kind
    required: bool = False


_COMMON = {
    "component_type": Field("text", required=True),
    "id": Field("text"),
    "name": Field("text"),
    "description": Field("text"),
    "metadata": Field("object"),
    "agentspec_version": Field("any"),  # survey.py checks it
    "component_plugin_name": Field("text"),
    "component_plugin_version": Field("text"),
    "$referenced_components": Field("object"),
}
_PORTS = {"inputs": Field("list"), "outputs": Field("list")}
_NODE = _COMMON | _PORTS | {"id": Field("text", required=True), "branches": Field("list")}
_EDGE = _COMMON
_MAP = _NODE | {"subflow": Field("component", required=True), "reducers": Field("object")}
_PLUGIN = _NODE | {"input_mapping": Field("object"), "output_mapping": Field("object")}

FIELDS: Mapping[str, Mapping[str, Field]] = {
    "Flow": _COMMON
    | _PORTS
    | {
        "id": Field("text", required=True),
        "start_node": Field("component", required=True),
        "nodes": Field("list", required=True),
        "control_flow_connections": Field("list", required=True),
        "data_flow_connections": Field("list"),
        "state": Field("list"),
    },
    "ControlFlowEdge": _EDGE
    | {
        "from_node": Field("component", required=True),
        "from_branch": Field("text"),
        "to_node": Field("component", required=True),
    },
    "DataFlowEdge": _EDGE
    | {
        "source_node": Field("component", required=True),
        "source_output": Field("text", required=True),
        "destination_node": Field("component", required=True),
        "destination_input": Field("text", required=True),
    },
    "StartNode": _NODE,
    "EndNode": _NODE | {"branch_name": Field("text")},
    "ApiNode": _NODE
    | {
        "url": Field("text", required=True),
        "http_method": Field("text", required=True),
        "api_spec_uri": Field("text"),
        "data": Field("any"),
        "query_params": Field("object"),
        "headers": Field("object"),
        "sensitive_headers": Field("object"),
        "retry_policy": Field("any"),
        "url_allow_list": Field("any"),
        "json_spec_filter": Field("any"),
    },
    "InputMessageNode": _NODE | {"message": Field("text")},
    "OutputMessageNode": _NODE | {"message": Field("text", required=True)},
    "BranchingNode": _NODE | {"mapping": Field("object", required=True)},
    "FlowNode": _NODE | {"subflow": Field("component", required=True)},
    "ToolNode": _NODE | {"tool": Field("component", required=True)},
    "ServerTool": _COMMON
    | _PORTS
    | {"name": Field("text", required=True), "requires_confirmation": Field("flag")},
    "PluginRegexNode": _PLUGIN
    | {
        "regex_pattern": Field("text", required=True),
        "return_first_match_only": Field("flag"),
    },
    "PluginTemplateNode": _PLUGIN | {"template": Field("text", required=True)},
    "LlmNode": _NODE
    | {
        "llm_config": Field("component", required=True),
        "prompt_template": Field("text", required=True),
    },
    "AgentNode": _NODE | {"agent": Field("component", required=True)},
    "MapNode": _MAP,
    "ParallelMapNode": _MAP,
    "ParallelFlowNode": _NODE | {"subflows": Field("list", required=True)},
    "CatchExceptionNode": _NODE | {"subflow": Field("component", required=True)},
}
"""Fields of every component type that can be built; nodes of the last six do not run yet."""

NODE_TYPES = frozenset(
    {
        "StartNode",
        "EndNode",
        "ApiNode",
        "InputMessageNode",
        "OutputMessageNode",
        "BranchingNode",
        "FlowNode",
        "ToolNode",
        "PluginRegexNode",
        "PluginTemplateNode",
    }
)

UNSUPPORTED_NODES = frozenset(
    {
        "AgentNode",
        "CatchExceptionNode",
        "LlmNode",
        "MapNode",
        "ParallelFlowNode",
        "ParallelMapNode",
        "TriggerWaitNode",
    }
)

UNSUPPORTED_RUNNERS = UNSUPPORTED_NODES | frozenset(
    {
        "A2AAgent",
        "Agent",
        "BuiltinTool",
        "ClientTool",
        "MCPTool",
        "MCPToolBox",
        "ManagerWorkers",
        "OciAgent",
        "RemoteAgent",
        "RemoteTool",
        "SpecializedAgent",
        "Swarm",
    }
)
"""Known component types that would do something at run time, which is not implemented."""

AGENT_TYPES = frozenset(
    {
        "A2AAgent",
        "Agent",
        "ManagerWorkers",
        "OciAgent",
        "RemoteAgent",
        "SpecializedAgent",
        "Swarm",
    }
)
"""What an AgentNode may run, besides a Flow."""

UNSUPPORTED_PARTS = frozenset(
    {
        "A2AConnectionConfig",
        "AgentSpecializationParameters",
        "ConversationSummarizationTransform",
        "DbmsVectorChainLlmConfig",
        "GeminiAIStudioAuthConfig",
        "GeminiConfig",
        "GeminiVertexAIAuthConfig",
        "InMemoryCollectionDatastore",
        "LlmConfig",
        "MCPToolSpec",
        "MTlsOracleDatabaseConnectionConfig",
        "MessageSummarizationTransform",
        "OAuthClientConfig",
        "OAuthConfig",
        "OciClientConfigWithApiKey",
        "OciClientConfigWithInstancePrincipal",
        "OciClientConfigWithResourcePrincipal",
        "OciClientConfigWithSecurityToken",
        "OciGenAiConfig",
        "OllamaConfig",
        "OpenAiCompatibleConfig",
        "OpenAiConfig",
        "OracleDatabaseDatastore",
        "PKCEPolicy",
        "PostgresDatabaseDatastore",
        "RemoteTransport",
        "RetryPolicy",
        "SSETransport",
        "SSEmTLSTransport",
        "StdioTransport",
        "StreamableHTTPTransport",
        "StreamableHTTPmTLSTransport",
        "TlsOracleDatabaseConnectionConfig",
        "TlsPostgresDatabaseConnectionConfig",
        "VllmConfig",
    }
)
"""Known component types that only configure one of the runners above."""

_VOWELS = ("A", "E", "I", "O", "Llm", "MCP", "MTls", "SSE")
"""How names of types begin that are spoken with a vowel."""

KNOWN_TYPES = frozenset(FIELDS) | UNSUPPORTED_RUNNERS | UNSUPPORTED_PARTS


def with_article(component_type: str) -> str:
    """`an ApiNode`, `a FlowNode`: as the name is spoken."""
    return f"{'an' if component_type.startswith(_VOWELS) else 'a'} {component_type}"


def is_plugin_type(component_type: str) -> bool:
    """Types that other runtimes add; they are known to be foreign, not misspelt."""
    return component_type.startswith(("Plugin", "Extended"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Component:
    """One component of the file; its fields have the kinds that `FIELDS` declares.

    A field of the wrong kind was reported and is absent here, so the accessors never fail.
    """

    type: str
    id: str
    name: str
    pointer: str
    """Where the component is defined; two references to one component share it."""
    fields: Mapping[str, JsonValue]
    """References are resolved in the field itself, not inside its value."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Pointer of a field's value where it stands behind a reference."""
    unread: frozenset[str] = frozenset()
    """Fields that an error is about: missing, misspelt, of the wrong kind, a reference to nothing."""

    def has(self, name: str) -> bool:
        """Whether the field is there and is not null."""
        return self.fields.get(name) is not None

    def at(self, name: str) -> str:
        """Pointer of a field."""
        return self.places.get(name, f"{self.pointer}/{name}")

    def text(self, name: str, default: str = "") -> str:
        value = self.fields.get(name)
        return value if isinstance(value, str) else default

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.fields.get(name)
        return value if isinstance(value, bool) else default

    def mapping(self, name: str) -> dict[str, JsonValue]:
        value = self.fields.get(name)
        return value if isinstance(value, dict) else {}

    def items(self, name: str) -> list[JsonValue] | None:
        """The list, or `None` when the field is absent or null."""
        value = self.fields.get(name)
        return value if isinstance(value, list) else None

    @property
    def cinatra(self) -> dict[str, JsonValue]:
        """`metadata.cinatra`; empty where there is none."""
        value = self.mapping("metadata").get("cinatra")
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlEdge:
    source: str
    """Id of a node."""
    branch: str
    target: str
    pointer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DataLink:
    source: str
    output: str
    target: str
    input: str
    pointer: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flow:
    """A Flow component with its nodes and edges; references to other flows are followed."""

    component: Component
    start: Component | None
    """`start_node`; `None` when it is missing or wrong, which was reported."""
    nodes: tuple[Component, ...]
    control: tuple[ControlEdge, ...]
    data: tuple[DataLink, ...] | None
    """`None`: outputs feed inputs of the same name (Agent Spec's null)."""
    subflows: Mapping[str, tuple[Flow, ...]]
    """By the id of a node that runs flows, all of which could be loaded."""
    tools: Mapping[str, Component]
    """By the id of a ToolNode in `nodes`."""
    agents: Mapping[str, Component]
    """By the id of an AgentNode in `nodes`: what it runs, if that is no flow."""
    gaps: tuple[Gap, ...]
    """Nodes and edges that could not be read."""
