"""The gates whose answers a later node may hear in the conversation of the run.

    ask → work (an Agent)            ->  {("ask",)}: the agent's model sees what a person said
    ask → send (an ApiNode)          ->  nothing: a call reads its inputs alone
    ask → apart (a worker's agent)   ->  nothing: a worker has a conversation of its own
    ask → list (an ApiNode that names `agent_run_hitl_prompts_list`)   ->  {("ask",)}: that tool of the
                                         platform lists what people answered in the whole run

Where neither a data edge nor a node that hears takes what a person writes at an approval, a text there
would do nothing but approve.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from oas_compiler.control.graph import ControlGraph
from oas_compiler.ir import (
    AgentModelNode,
    AgentNode,
    ApiNode,
    ExtendedLlmNode,
    FlowIR,
    InputMessageNode,
    Node,
    Path,
    RemoteAgentNode,
    open_flows,
)
from oas_compiler.kinds.plugin_chat_history import PluginGetChatHistoryNode
from oas_compiler.kinds.registry import kind_of, name_package_of

_PROMPTS_TOOL: Final = "agent_run_hitl_prompts_list"
"""The platform's tool by its name, in the body of a call or in the prompt of a model with tools."""
_CONVERSATION = ("conversation", "")
"""Among the messages of an ExtendedLlmNode: all that was said."""


@dataclass(slots=True)
class _Talk:
    """Gates and nodes that hear, each with the path of the node whose conversation it has part in;
    empty for that of the run.
    """

    gates: dict[Path, Path] = field(default_factory=dict)
    hearing: dict[Path, Path] = field(default_factory=dict)
    listing: set[Path] = field(default_factory=set)
    """Nodes that name the platform's tool, which lists the answers of the whole run."""


def find_heard_gates(flow: FlowIR) -> frozenset[Path]:
    """The paths of the gates; flow: the outermost one, without errors."""
    found = _Talk()
    _list_talk(flow, (), (), found)
    if not found.gates or not (found.hearing or found.listing):
        return frozenset()
    graph = ControlGraph.of(flow)
    heard: set[Path] = set()
    for own in {*found.hearing.values()}:
        # Of one conversation alone: what is said in another one is not heard.
        hearers = [path for path, talk in found.hearing.items() if talk == own]
        before = graph.sometimes_before(*hearers)
        heard |= {gate for gate, talk in found.gates.items() if talk == own and gate in before}
    before = graph.sometimes_before(*found.listing)
    return frozenset(heard | {gate for gate in found.gates if gate in before})


def _list_talk(flow: FlowIR, around: Path, talk: Path, found: _Talk) -> None:
    for node in flow.nodes:
        path = (*around, node.id)
        if isinstance(node, InputMessageNode):
            found.gates[path] = talk
        elif _hears(node):
            found.hearing[path] = talk
        elif _names_prompts_tool(node):
            found.listing.add(path)
        is_apart = isinstance(node, AgentNode) and node.is_apart
        for place, inner in open_flows(node, path):
            _list_talk(inner, place, path if is_apart else talk, found)


def _names_prompts_tool(node: Node) -> bool:
    if not isinstance(node, ApiNode) or node.data is None:
        return False
    return _PROMPTS_TOOL in str(node.data.value())


def _hears(node: Node) -> bool:
    if isinstance(node, ExtendedLlmNode):
        return _CONVERSATION in node.before
    if isinstance(node, (AgentModelNode, RemoteAgentNode, PluginGetChatHistoryNode)):
        return True
    # A package's own node may read any key of the state.
    return name_package_of(kind_of(node)) is not None
