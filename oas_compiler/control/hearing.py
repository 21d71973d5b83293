"""The gates whose answers a later node may hear in the conversation of the run.

    ask → work (an Agent)            ->  {("ask",)}: the agent's model sees what a person said
    ask → send (an ApiNode)          ->  nothing: a call reads its inputs alone
    ask → apart (a worker's agent)   ->  nothing: a worker has a conversation of its own

Where neither a data edge nor a node that hears takes what a person writes at an approval, a text there
would do nothing but approve.
"""

from __future__ import annotations

from oas_compiler.control.graph import ControlGraph
from oas_compiler.ir import (
    AgentModelNode,
    AgentNode,
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

_CONVERSATION = ("conversation", "")
"""Among the messages of an ExtendedLlmNode: all that was said."""


def find_heard_gates(flow: FlowIR) -> frozenset[Path]:
    """The paths of the gates; flow: the outermost one, without errors."""
    gates: dict[Path, Path] = {}
    hearing: dict[Path, Path] = {}
    _list_talk(flow, (), (), gates, hearing)
    if not gates or not hearing:
        return frozenset()
    graph = ControlGraph.of(flow)
    heard: set[Path] = set()
    for own in {*hearing.values()}:
        # Of one conversation alone: what is said in another one is not heard.
        hearers = [path for path, talk in hearing.items() if talk == own]
        before = graph.sometimes_before(*hearers)
        heard |= {gate for gate, talk in gates.items() if talk == own and gate in before}
    return frozenset(heard)


def _list_talk(
    flow: FlowIR, around: Path, talk: Path, gates: dict[Path, Path], hearing: dict[Path, Path]
) -> None:
    """Put in every gate, and every node that hears, with the path of the node whose conversation it
    has part in; empty for that of the run.
    """
    for node in flow.nodes:
        path = (*around, node.id)
        if isinstance(node, InputMessageNode):
            gates[path] = talk
        elif _hears(node):
            hearing[path] = talk
        is_apart = isinstance(node, AgentNode) and node.is_apart
        for place, inner in open_flows(node, path):
            _list_talk(inner, place, path if is_apart else talk, gates, hearing)


def _hears(node: Node) -> bool:
    if isinstance(node, ExtendedLlmNode):
        return _CONVERSATION in node.before
    if isinstance(node, (AgentModelNode, RemoteAgentNode, PluginGetChatHistoryNode)):
        return True
    # A package's own node may read any key of the state.
    return name_package_of(kind_of(node)) is not None
