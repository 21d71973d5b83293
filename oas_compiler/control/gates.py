"""The gates of a flow, each as the policy shows it.

    FlowNode mail, gateSteps [{"name": "Confirm"}], around a gate "confirm_gate"
        -> GateSpec(path=("mail", "confirm_gate"), name="Confirm", …)

The entries of `gateSteps` belong to the gates that stand directly in the FlowNode's subflow
(`entry_gates`): each to the entry at its position, the last one also to any gates beyond.  They
override its name, screen and risk class.  A deeper gate is shown as the FlowNode right around it
says; a gate right inside another node that runs flows (a map, flows beside each other) is shown as
it is.  A context selection always has its own screen, because its answer must fit that screen.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import field, replace
from itertools import islice
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.control.graph import ControlGraph, reach_from
from oas_compiler.ir import (
    STRING,
    AgentModelNode,
    AgentNode,
    ApiNode,
    BranchingNode,
    ExtendedLlmNode,
    FlowIR,
    FlowNode,
    GateStep,
    InputMessageNode,
    Node,
    OutputMessageNode,
    Path,
    PluginTemplateNode,
    RemoteAgentNode,
    StartNode,
    open_flows,
)
from oas_compiler.kinds.plugin_chat_history import PluginGetChatHistoryNode
from oas_compiler.kinds.registry import kind_of, name_package_of
from oas_compiler.templates import find_printed_names


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSpec:
    """One gate of a flow, and the policy step that governs it."""

    path: Path
    step: int
    name: str
    renderer: str
    """Empty where neither the gate nor its step names a screen."""
    risk_class: str
    description: str = ""

    @property
    def id(self) -> str:
        """Id of the gate's first visit, `outer/inner`."""
        return "/".join(self.path)

    @property
    def node(self) -> str:
        """The original OAS node id."""
        return self.path[-1]

    @property
    def risk(self) -> str:
        """The risk class."""
        return self.risk_class


def is_selector(renderer: str) -> bool:
    """Whether the screen asks for a context selection, whoever publishes it.

    The runtime decides by a rule of its own in cinatra_sdk/context/selector.py; a test compares
    the two.
    """
    return renderer.endswith(":context-selector")


def show_gate(node: InputMessageNode, path: Path, step: int) -> GateSpec:
    """The gate as it shows itself."""
    return GateSpec(
        path=path,
        step=step,
        name=node.name,
        renderer=node.renderer,
        risk_class=node.risk_class or "read_only",
        description=node.description,
    )


def show_gates_in(node: Node, path: Path) -> Iterator[GateSpec]:
    """The gates in a node that runs flows, each as the `gateSteps` of a FlowNode right around it
    show it.
    """
    entries: dict[str, GateStep] = {}
    if isinstance(node, FlowNode):
        entries = {gate: node.gate_steps[entry] for gate, entry in find_entries(node).items()}
    for around, flow in open_flows(node, path):
        for inner in flow.in_order():
            place = (*around, inner.id)
            if isinstance(inner, InputMessageNode):
                gate = show_gate(inner, place, 0)
                yield _override_gate(gate, entries[inner.id]) if inner.id in entries else gate
            else:
                yield from show_gates_in(inner, place)


def find_entries(node: FlowNode) -> dict[str, int]:
    """Gate → index of the entry of `gateSteps` that is written for it; empty without entries."""
    gates = entry_gates(node) if node.gate_steps else []
    # No more than are needed: an author may write any gateCount.
    every_slot = (i for i, entry in enumerate(node.gate_steps) for _ in range(entry.gate_count))
    slots = list(islice(every_slot, len(gates)))
    return {gate.id: slots[min(i, len(slots) - 1)] for i, gate in enumerate(gates)}


def entry_gates(node: FlowNode) -> list[InputMessageNode]:
    """The gates that the entries of `gateSteps` are written for, in order.

    Without entries the FlowNode is one step, and all gates in it are shown as they are.
    """
    return [
        gate
        for gate in node.subflow.in_order()
        if isinstance(gate, InputMessageNode) and not is_selector(gate.renderer)
    ]


def _override_gate(gate: GateSpec, entry: GateStep) -> GateSpec:
    """The gate with the values of the parent's `gateSteps` entry, which override the gate's own."""
    return replace(
        gate,
        name=entry.name or gate.name,
        renderer=entry.renderer or gate.renderer,
        risk_class=entry.risk_class or gate.risk_class,
        description=entry.description or gate.description,
    )


# ----------------------------------------------------------------------------
# Whether a gate asks a question, or for an approval.
#
#     InputMessageNode "city", message "Where do you live?", its output feeds a node   ->  a question
#     the same with "metadata": {"cinatra": {"riskClass": …}}                          ->  an approval
#     the same, and no node reads its output                                           ->  an approval
#
# In the words of Agent Spec an InputMessageNode asks for the next thing that a person says.  Cinatra makes
# approvals of them, and says by `metadata.cinatra`, or by `gateSteps` of the FlowNode around, what is
# approved: there a yes without a text goes on as `[Approved by operator]`.  A question has no such answer.


def asks_question(flow: FlowIR, node: InputMessageNode, spec: GateSpec) -> bool:
    """Whether a yes is no answer: the text of the gate goes on, and its author made it no approval.

    flow: in which the gate stands.  spec: the gate as the policy shows it.
    """
    is_step = spec != show_gate(node, spec.path, spec.step)
    return takes_text(node) and not node.cinatra.mapping() and not is_step and is_read(flow, node)


def takes_text(node: InputMessageNode) -> bool:
    """Whether a yes without a text would be a text of its own: the gate has no schema of its answer."""
    return node.answer_schema is None and bool(node.outputs) and node.outputs[0].type == STRING


def is_read(flow: FlowIR, node: InputMessageNode) -> bool:
    """Whether anything of the flow reads what the gate puts out."""
    return any((node.id, port.title) in flow.readers for port in node.outputs)


def list_readers(flow: FlowIR, node: InputMessageNode) -> list[str]:
    """What reads the output of a gate: `node.input`, in the order of the edges.

    An input with a default counts: the default stands where no edge feeds it, not for an approval.
    """
    edges = [edge for port in node.outputs for edge in flow.readers.get((node.id, port.title), ())]
    return [f"{edge.target}.{edge.input}" for edge in edges]


# ----------------------------------------------------------------------------
# The nodes whose outputs a gate shows: the nodes right before it; and the values that it shows.
#
# write → check → gate, check a BranchingNode        shown_at(flow, "gate") -> ("write",)
# write ─text→ copy ("{{ text }}") ─output→ gate     values_at(flow, "gate") has ("write", "text")


_RENAMING: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
"""A whole template that puts out what it gets."""
_TAG: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


def shown_at(flow: FlowIR, gate: str) -> tuple[str, ...]:
    """Ids of the nodes right before a gate, nearest first.

    BranchingNodes have no outputs, so the nodes before them count; the values of the StartNode are
    shown at every gate.
    """

    def preceding(node_id: str) -> tuple[str, ...]:
        is_passed = node_id == gate or isinstance(flow.by_id[node_id], BranchingNode)
        return flow.sources_of(node_id) if is_passed else ()

    found = reach_from([gate], preceding)
    silent = (BranchingNode, StartNode)
    return tuple(n for n in found if n != gate and not isinstance(flow.by_id[n], silent))


def values_at(
    flow: FlowIR, gate: InputMessageNode, aside: Collection[str] = ()
) -> frozenset[tuple[str, str]]:
    """(node, output) of the values that a gate shows whole, each as it was made first.

    They are its own inputs, the rest of what the nodes right before it put out, what messages there
    print, and the flow's visible inputs.  A screen has each name once: an input of the gate, fed or
    not, hides an output of the same name, and either hides an input of the flow.

    aside: nodes of which it does not matter what they hide.
    """
    covered = {port.title for port in gate.inputs} | _list_message_names(gate.message)
    found = set(values_into(flow, gate.id))
    hiding: set[tuple[str, tuple[str, str]]] = set()
    for node in (flow.by_id[before] for before in shown_at(flow, gate.id)):
        put_out = {port.title: trace_origin(flow, node.id, port.title) for port in node.outputs}
        if isinstance(node, OutputMessageNode):
            # It stands in the conversation, whatever the screen hides.
            found.update(put_out.values())
            found.update(
                trace_origin(flow, edge.source, edge.output)
                for edge in flow.data_edges_into(node.id)
                if edge.input in find_printed_names(node.message)
            )
            said = _list_message_names(node.message) if gate.message is None else frozenset()
            put_out |= dict.fromkeys(said, (node.id, ""))
        found.update(origin for title, origin in put_out.items() if title not in covered)
        if node.id not in aside:
            hiding.update(put_out.items())
    for start in (node for node in flow.nodes if isinstance(node, StartNode)):
        for title in {port.title for port in start.outputs} - covered - {*start.hidden}:
            own = (start.id, title)
            if all(origin == own for name, origin in hiding if name == title):
                found.add(own)
    return frozenset(found)


def values_into(flow: FlowIR, node: str) -> frozenset[tuple[str, str]]:
    """(node, output) of the values that a node gets, each as it was made first."""
    return frozenset(
        trace_origin(flow, edge.source, edge.output) for edge in flow.data_edges_into(node)
    )


def trace_origin(flow: FlowIR, node: str, output: str) -> tuple[str, str]:
    """The node and output that made a value, before templates that put out what they get."""
    passed: set[str] = set()
    while node not in passed:
        passed.add(node)
        source = flow.by_id.get(node)
        written = isinstance(source, PluginTemplateNode) and _RENAMING.fullmatch(source.template)
        feeds = flow.feeds.get((node, written.group(1)), ()) if written else ()
        if len(feeds) != 1:
            break
        node, output = feeds[0].source, feeds[0].output
    return node, output


def _list_message_names(message: str | None) -> frozenset[str]:
    """The names under which a message may stand on a screen: `output`, or its members where it is
    written as a JSON object.
    """
    if message is None:
        return frozenset()
    written = _TAG.sub("", message)
    names = {"output"}
    for quoted in _QUOTED.findall(written) if written.lstrip().startswith("{") else ():
        with contextlib.suppress(ValueError):
            names.add(str(json.loads(quoted)))
    return frozenset(names)


# ----------------------------------------------------------------------------
# The gates whose answers a later node may hear in the conversation of the run.
#
#     ask → work (an Agent)            ->  {("ask",)}: the agent's model sees what a person said
#     ask → send (an ApiNode)          ->  nothing: a call reads its inputs alone
#     ask → apart (a worker's agent)   ->  nothing: a worker has a conversation of its own
#     ask → list (an ApiNode that names `agent_run_hitl_prompts_list`)   ->  {("ask",)}: that tool of the
#                                          platform lists what people answered in the whole run
#
# Where neither a data edge nor a node that hears takes what a person writes at an approval, a text there
# would do nothing but approve.


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
