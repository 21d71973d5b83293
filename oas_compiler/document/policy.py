"""Which component types a host lets a document use.

    LoaderPolicy()                                                 all but StdioTransport
    LoaderPolicy(blocked=("Tool",), allowed=("Component", "ServerTool"))   of tools, ServerTools only

An entry means the type and all types below it; of two entries that fit, the nearer one decides, and
of two equally near ones the one that blocks.
Source: Agent Spec, loading of untrusted configurations.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from oas_compiler.document.types import is_known
from oas_compiler.kinds.registry import find_kind

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
