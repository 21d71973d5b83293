"""The component types of Agent Spec that are no nodes.

"Agent" in AGENT_TYPES    ->  an AgentNode may run it
"VllmConfig" in NO_NODES  ->  known, and no kind of node: no installed package is asked for it
"""

from __future__ import annotations

from typing import Final

AGENT_TYPES: Final = frozenset(
    {
        "A2AAgent",
        "Agent",
        "ExtendedAgent",
        "ManagerWorkers",
        "OciAgent",
        "OpenAiAgent",
        "RemoteAgent",
        "SpecializedAgent",
        "Swarm",
    }
)
"""What an AgentNode may run, besides a Flow."""

TOOLS: Final = frozenset({"BuiltinTool", "ServerTool", "RemoteTool", "ClientTool", "MCPTool"})
"""The tools that a ToolNode runs."""

AGENTS: Final = frozenset(
    {"A2AAgent", "Agent", "ExtendedAgent", "ManagerWorkers", "SpecializedAgent", "Swarm"}
)
"""The agents that run."""

RUNNERS: Final = AGENT_TYPES - AGENTS
"""Component types, other than nodes, that would act at run time, which is not implemented."""

REASONS: Final = {
    "OciAgent": "its service has no public description",
    "OpenAiAgent": "its service has no public description in Agent Spec",
    "RemoteAgent": "it is abstract: an A2AAgent runs",
}
"""Why a runner does not run."""

FOREIGN_REASONS: Final = (
    (
        "Plugin",
        "ContextProvider",
        "a value that is fetched whenever it is read; let a node give it",
    ),
    (
        "PluginDatastore",
        "Node",
        "datastores are not reached from here; call a tool that reaches one",
    ),
    ("Plugin", "OutputParser", "the text of a model is not parsed; let it give several outputs"),
    ("Plugin", "EmbeddingConfig", "there is no search here; call a tool that searches"),
    ("PluginSearch", "", "there is no search here; call a tool that searches"),
    ("PluginVector", "", "there is no search here; call a tool that searches"),
    ("Plugin", "Datastore", "datastores are not reached from here"),
    ("PluginToolFromToolBox", "", "a tool is taken from its server by an MCPTool"),
    ("PluginToolBox", "", "it is abstract: an MCPToolBox runs"),
    ("Plugin", "Transform", "messages reach the model as its provider takes them"),
)
"""(how a type of WayFlow begins, how it ends, why it does not run)."""

TRANSFORMS: Final = frozenset(
    {"ConversationSummarizationTransform", "MessageSummarizationTransform"}
)
"""What shortens the conversation for the model of an agent."""

_PARTS: Final = frozenset(
    {
        "A2AConnectionConfig",
        "AgentSpecializationParameters",
        "DbmsVectorChainLlmConfig",
        "GeminiAIStudioAuthConfig",
        "GeminiConfig",
        "GeminiVertexAIAuthConfig",
        "InMemoryCollectionDatastore",
        "LlmConfig",
        "MCPToolBox",
        "MCPToolSpec",
        "MTlsOracleDatabaseConnectionConfig",
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
        "PluginCoalesceSystemMessagesTransform",
        "PluginPromptTemplate",
        "PluginRemoveEmptyNonUserMessageTransform",
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
"""Known component types that only configure one of those above, or an LlmNode."""

NO_NODES: Final = (
    frozenset({"Flow", "ControlFlowEdge", "DataFlowEdge"})
    | TOOLS
    | AGENTS
    | RUNNERS
    | TRANSFORMS
    | _PARTS
)
"""All of them; the first three and the tools are read (document/types.py)."""
