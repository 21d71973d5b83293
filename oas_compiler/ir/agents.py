"""The nodes of agents, and of the tools of MCP servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cinatra_sdk.data.author_json import NOTHING, NOTHING_SEALED, Json, SealedJson
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.ir.flow import NO_BEHIND, Behind, Node
from oas_compiler.ir.port import Port

if TYPE_CHECKING:
    from oas_compiler.ir.flow import FlowIR


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTool:
    """A tool as its description for a model, and the node of the agent's flow that runs the tool."""

    name: str
    description: str = ""
    node: str
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    hands_over: bool = False
    """Whether the node asks the model of another agent, which then works in place of this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentToolbox:
    """Tools that are known when the agent runs."""

    lists: str
    """The node that lists them."""
    calls: str
    """The node that calls them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentNode(Node):
    """An agent, or a flow in its place.

    An agent is a flow, too: its model, its calls, and one node for each of its tools.
    """

    subflow: FlowIR
    is_apart: bool = False
    """Whether it has a conversation of its own: a flow in place of an agent, and a worker."""
    behind: Behind = NO_BEHIND

    @property
    def subflows(self) -> tuple[FlowIR, ...]:
        return (self.subflow,)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentModelNode(Node):
    """One step of an agent: its model is asked, with the conversation and the tools."""

    system_prompt: str
    llm_config: Json = NOTHING
    """As of an LlmNode."""
    tools: tuple[AgentTool, ...] = ()
    toolboxes: tuple[AgentToolbox, ...] = ()
    results: tuple[Port, ...] = ()
    """What the agent has to give before it ends."""
    message: str = ""
    """The input with what the caller says; empty: there is none."""
    greeting: str = ""
    """What the agent asks a person where nobody has spoken; empty: its model speaks first."""
    shortened_by: tuple[str, ...] = ()
    """Ids of the nodes that make summaries of the conversation, in their order."""
    first_turn: tuple[str, str] | None = None
    attached: str = ""
    """Both as of an LlmNode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCallsNode(Node):
    """Goes through the calls that the model asked for, one after the other, then back to the model."""

    model: str
    """Id of the node that asks the model."""
    tools: tuple[AgentTool, ...] = ()
    toolboxes: tuple[AgentToolbox, ...] = ()
    results: tuple[Port, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentShortenNode(Node):
    """A transform of an agent: makes summaries of what its model would see."""

    instructions: str
    template: str
    """Of the text in place of what is summarized, with the placeholder `summary`."""
    llm_config: Json = NOTHING
    """As of an LlmNode."""
    most_size: int | None = None
    """Characters of one message; `None`: the conversation is shortened."""
    most_messages: int | None = None
    most_characters: int | None = None
    keep: int = 10
    """Messages at the end that stay as they are."""
    shortened_by: tuple[str, ...] = ()
    """The nodes before it that make summaries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteAgentNode(Node):
    """Speaks to an A2AAgent; of its branches `ask` is for a question of the agent."""

    url: str
    settings: Json = NOTHING
    """Fields of the agent and its `connection_config`, but for the headers."""
    headers: SealedJson = NOTHING_SEALED
    results: tuple[Port, ...] = ()
    message: str = ""
    """As of an AgentModelNode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTransport:
    """A ClientTransport: the way to an MCP server."""

    transport: str
    """Its component type."""
    settings: Json = NOTHING
    """Its fields, but for those with secrets."""
    sensitive: SealedJson = NOTHING_SEALED
    """Headers and variables that nobody shows."""
    login: SealedJson = NOTHING_SEALED
    """Its login by OAuth, with the fields of the client below `client`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpToolNode(Node):
    """A ToolNode over an MCPTool, or the calls of an agent to the tools of an MCPToolBox."""

    tool_name: str
    """Empty: the input `tool` names the tool, and `arguments` has its arguments."""
    server: McpTransport
    retry: CallRetryPolicy | None = None
    effect: str = ""
    """As of an ApiNode."""
    behind: Behind = NO_BEHIND


@dataclass(frozen=True, slots=True, kw_only=True)
class McpListNode(Node):
    """Lists the tools of an MCPToolBox, for an agent."""

    server: McpTransport
    retry: CallRetryPolicy | None = None
    names: tuple[str, ...] | None = None
    """The tools that are offered; `None`: all."""
    signatures: tuple[AgentTool, ...] = ()
    """Tools that the file describes, which have nodes of their own."""
