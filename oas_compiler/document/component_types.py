"""The component types that a file may name, and their fields.

    fields_of("EndNode")["branch_name"]    ->   Field("text", …)
    is_known("StartNod")                   ->   False: misspelt
    is_plugin_type("PluginVariableNode")   ->   True: foreign, not misspelt

Nodes are the kinds of `kinds/`; here stands what is no node.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from cinatra_sdk.data.ports import REFERENCE
from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.component_facts.component import (
    COMPONENT_FIELDS,
    PORT_FIELDS,
    Field,
    with_article,
)
from oas_compiler.component_facts.model_fields import (
    AGENT_FIELDS,
    AGENT_WORDS,
    MODEL_FIELDS,
    MODEL_WORDS,
    PROMPT_FIELDS,
    PROMPT_WORDS,
)
from oas_compiler.component_facts.requests import (
    CONFIRMATION,
    MCP_FIELDS,
    MCP_WORDS,
    REQUEST_FIELDS,
)
from oas_compiler.document.scope import DEFINITIONS, Document, Located
from oas_compiler.findings.finding import Edit
from oas_compiler.kinds.registry import AGENTS, NO_NODES, RUNNERS, all_kinds, find_kind
from oas_compiler.text.marks import child

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


# ----------------------------------------------------------------------------
# Which components can stand in `nodes`, by their types.


def can_be_node(located: Located) -> bool:
    """Whether this can stand in `nodes`; an unknown type was reported already and passes."""
    kind = located.component_type
    if is_plugin_type(kind) or find_kind(kind) is not None:
        return True
    return bool(kind) and fields_of(kind) is None and kind not in RUNNERS


def can_stand_alone(component_type: str) -> bool:
    """Whether a component of the type can be a document, as a flow of one node."""
    kind = find_kind(component_type)
    node = kind is not None and kind.runs and kind.shape not in {"start", "end"}
    return node or component_type in AGENTS


def is_misspelt(located: Located) -> bool:
    """Whether a component's type is misspelt; types of plugins are only unknown."""
    foreign = isinstance(located.value, dict) and "component_plugin_name" in located.value
    kind = located.component_type
    return not foreign and not is_plugin_type(kind) and not is_known(kind)


# ----------------------------------------------------------------------------
# The error for a component that stands where another type is wanted.
#
# a Flow among the edges   ->  OAS014 "an entry of data_flow_connections must be a DataFlowEdge, …"
# {"component_ref": "x"}   ->  OAS014, with the fix to `$component_ref`


_EDGE_LISTS: Final = {
    "ControlFlowEdge": "control_flow_connections",
    "DataFlowEdge": "data_flow_connections",
}


def report_wrong_type(
    document: Document, pointer: str, what: str, wanted: str, found: Located, *, edge: str = ""
) -> None:
    """Record the error at `pointer`; `edge`: the type of the list's edges, where it is such a list."""
    kind = found.component_type
    if kind and not is_plugin_type(kind) and not is_known(kind):
        return  # OAS026 says so
    slip = "" if edge or kind else _misspelt_reference(found)
    document.findings.error(
        "OAS014",
        f"{what} must be {wanted}, not {with_article(kind) if kind else 'a plain object'}",
        document.source.place(pointer),
        hint=_format_correction(found, edge),
        fix=(Edit(pointer=child(found.pointer, slip), key=REFERENCE),) if slip else (),
    )


def _format_correction(found: Located, edge: str) -> str:
    """How a component of the wrong kind, or none, is written rightly."""
    value = found.value if isinstance(found.value, dict) else {}
    if edge:
        fitting = _EDGE_LISTS.get(found.component_type)
        moved = f", or move it to {fitting}" if fitting else ""
        return f'write "component_type": "{edge}"{moved}'
    slip = _misspelt_reference(found)
    if slip:
        return f'write {{"$component_ref": "{str(value[slip])[:80]}"}}'
    if not found.component_type:
        return 'name a node: {"$component_ref": "…"}'
    return "refer to a component of that kind"


def _misspelt_reference(found: Located) -> str:
    """The only key of an object that is no component, where it was meant to be `$component_ref`."""
    value = found.value if isinstance(found.value, dict) else {}
    if found.component_type or len(value) != 1:
        return ""
    key, name = next(iter(value.items()))
    is_slip = isinstance(name, str) and (key == "$ref" or did_you_mean(key, [REFERENCE]))
    return key if is_slip else ""


def report_no_component(document: Document, root: Located) -> None:
    """The document itself is no component; it may be one of components for other documents."""
    message = "the document is not an Agent Spec component: it has no component_type"
    hint = 'a flow begins with "component_type": "Flow"'
    if isinstance(root.value, dict) and DEFINITIONS in root.value:
        message = "the document has components for other documents, and no component of its own"
        hint = "give it with the flow that refers to them: components=, --components FILE"
    document.findings.error("OAS020", message, document.source.place(root.pointer), hint=hint)


# ----------------------------------------------------------------------------
# Which component types a host lets a document use.
#
#     LoaderPolicy()                                                 all but StdioTransport
#     LoaderPolicy(blocked=("Tool",), allowed=("Component", "ServerTool"))   of tools, ServerTools only
#
# An entry means the type and all types below it; of two entries that fit, the nearer one decides, and
# of two equally near ones the one that blocks.
# Source: Agent Spec, loading of untrusted configurations.


USUALLY_BLOCKED: Final = ("StdioTransport",)
"""Starts a program of the file's choice on this machine."""
_BELOW: Final[Mapping[str, tuple[str, ...]]] = {
    "Component": (
        "ComponentWithIO", "ControlFlowEdge", "DataFlowEdge", "ToolBox", "Datastore",
        "OracleDatabaseConnectionConfig", "PostgresDatabaseConnectionConfig", "LlmConfig",
        "GeminiAuthConfig", "OciClientConfig", "AuthConfig", "OAuthClientConfig", "ClientTransport",
        "A2AConnectionConfig", "MessageTransform", "RetryPolicy", "PKCEPolicy", "PluginPromptTemplate",
    ),
    "ComponentWithIO": (
        "Node", "AgenticComponent", "Tool", "MCPToolSpec", "AgentSpecializationParameters",
    ),
    "AgenticComponent": (
        "Flow", "RemoteAgent", "Agent", "ExtendedAgent", "ManagerWorkers", "SpecializedAgent", "Swarm",
    ),
    "RemoteAgent": ("A2AAgent", "OciAgent", "OpenAiAgent"),
    "Tool": ("BuiltinTool", "ClientTool", "RemoteTool", "ServerTool", "MCPTool"),
    "ToolBox": ("MCPToolBox",),
    "Datastore": ("RelationalDatastore", "InMemoryCollectionDatastore"),
    "RelationalDatastore": ("OracleDatabaseDatastore", "PostgresDatabaseDatastore"),
    "OracleDatabaseConnectionConfig": ("TlsOracleDatabaseConnectionConfig",),
    "TlsOracleDatabaseConnectionConfig": ("MTlsOracleDatabaseConnectionConfig",),
    "PostgresDatabaseConnectionConfig": ("TlsPostgresDatabaseConnectionConfig",),
    "LlmConfig": (
        "DbmsVectorChainLlmConfig", "GeminiConfig", "OciGenAiConfig", "OpenAiCompatibleConfig",
        "OpenAiConfig",
    ),
    "OpenAiCompatibleConfig": ("OllamaConfig", "VllmConfig"),
    "GeminiAuthConfig": ("GeminiAIStudioAuthConfig", "GeminiVertexAIAuthConfig"),
    "OciClientConfig": (
        "OciClientConfigWithSecurityToken", "OciClientConfigWithInstancePrincipal",
        "OciClientConfigWithResourcePrincipal", "OciClientConfigWithApiKey",
    ),
    "AuthConfig": ("OAuthConfig",),
    "ClientTransport": ("StdioTransport", "RemoteTransport"),
    "RemoteTransport": ("SSETransport", "StreamableHTTPTransport"),
    "SSETransport": ("SSEmTLSTransport",),
    "StreamableHTTPTransport": ("StreamableHTTPmTLSTransport",),
    "MessageTransform": (
        "MessageSummarizationTransform", "ConversationSummarizationTransform",
        "PluginCoalesceSystemMessagesTransform", "PluginRemoveEmptyNonUserMessageTransform",
    ),
}  # fmt: skip
ABOVE: Final[Mapping[str, str]] = {
    below: above for above, types in _BELOW.items() for below in types
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderPolicy:
    """Types that may be used, and types that may not.

    Raises: `ValueError` for an empty name.
    """

    allowed: tuple[str, ...] | None = None
    """`None`: all that are not blocked."""
    blocked: tuple[str, ...] = USUALLY_BLOCKED

    def __post_init__(self) -> None:
        for name in (*(self.allowed or ()), *self.blocked):
            if not name:
                raise ValueError("a component type is named by a text that is not empty")

    @classmethod
    def of(
        cls, allowed: Collection[str] | None = None, blocked: Collection[str] | None = None
    ) -> LoaderPolicy:
        """The policy of a host; a type that is blocked as usual is let through by its own name.

        Raises: `TypeError` for a text in place of a list, `ValueError` as the class.
        """
        for given in (allowed, blocked):
            if isinstance(given, str):
                raise TypeError(
                    f"component types are given as a list, not as the text {given!r:.80}"
                )
        if blocked is None:
            named = set(allowed or ())
            blocked = [name for name in USUALLY_BLOCKED if name not in named]
        return cls(allowed=None if allowed is None else tuple(allowed), blocked=tuple(blocked))

    def find_problem(self, component_type: str) -> str:
        """Why components of the type may not be used; empty: they may."""
        blocked = _measure(component_type, self.blocked)
        allowed = _measure(component_type, self.allowed or ())
        if blocked is not None and (allowed is None or blocked <= allowed):
            return "is blocked"
        if self.allowed is not None and allowed is None:
            return "is not among the allowed types"
        return ""


def _measure(component_type: str, entries: Collection[str]) -> int | None:
    """How far the nearest entry that fits is above the type; `None`: none fits."""
    distance, above = 0, component_type
    while above:
        if above in entries:
            return distance
        distance += 1
        above = _find_above(above)
    return None


def _find_above(component_type: str) -> str:
    """The type above; empty for a `Component`, and for types that nobody knows."""
    if component_type in ABOVE or component_type == "Component":
        return ABOVE.get(component_type, "")
    if find_kind(component_type) is not None:
        return "Node"
    return "Component" if is_known(component_type) else ""


USUAL_POLICY: Final = LoaderPolicy()
