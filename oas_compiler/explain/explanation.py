"""The records of an explanation: frozen, and printable as JSON.

In: nothing.  Out: the types that `explain` fills.

    Read(input="draft", type="string", origin="edge", feeds=(Feed(node="write", output="draft"),))
    explanation.to_json()["nodes"][3]["reads"][0]["feeds"]  ->  [{"node": "write", "output": …}]

Nodes are named by their paths, `outer/inner`: the nodes around a node, then its own id.  A node that
runs several flows is followed by the place of the flow: `both/[0]/inner`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, fields, is_dataclass
from functools import cached_property
from typing import Final, Literal, cast

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler import ir
from oas_compiler.control.gates import shown_at
from oas_compiler.control.graph import ControlGraph
from oas_compiler.findings.finding import Finding
from oas_compiler.ir import NOTHING, DataEdge, FlowIR, Json, JsonValue, Node, Path, Port
from oas_compiler.ir.printout import shown
from oas_compiler.kinds.llm import name_model
from oas_compiler.kinds.registry import kind_of
from oas_compiler.templates import TemplateInvalid, placeholders, strings
from oas_compiler.text.safe_text import without_secrets

Role = Literal["asked", "caller", "optional", "host"]
"""The giver of a run's input: a person at setup, the caller, optional, or only the host."""
Origin = Literal["run", "parent", "edge", "default", "nothing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInput:
    """One input of the outermost flow."""

    title: str
    type: str
    role: Role
    hidden: bool
    """Whether people are never asked for it."""
    default: Json | None = None
    renderer: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """One output that feeds an input."""

    node: str
    """Id of a node of the same flow; for an input of a subflow's StartNode, the outer node."""
    output: str
    always: bool
    """Whether the output has a value whenever the reader runs."""
    is_start: bool = False
    """Whether the node is the flow's StartNode, which always runs before any other source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """The source of one input of a node."""

    input: str
    type: str
    origin: Origin
    """`edge`: from `feeds`, the source that ran last; `parent`: from the outer node."""
    feeds: tuple[Feed, ...] = ()
    """In the order of the nodes."""
    default: Json | None = None
    default_counts: bool = False
    """Whether on some way to the node no feed has a value, so that the default is taken."""
    templates: tuple[str, ...] = ()
    """The fields whose templates use the input, as `data/user`."""

    @property
    def base(self) -> Feed | None:
        """The source that counts until another source has run; `None` without such a source."""
        return next((feed for feed in self.feeds if feed.is_start), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """The readers of one output of a node."""

    output: str
    type: str
    readers: tuple[str, ...] = ()
    """`node.input` of the same flow."""
    leaves_as: str = ""
    """For an EndNode: `result`, or the output of the outer node, `outer.title`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way out of a node."""

    branch: str
    to: str
    """Id of the node that runs next; empty where the flow ends."""
    values: tuple[str, ...] = ()
    """For a BranchingNode: the values that choose this way; empty for `default`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The call of a node."""

    kind: Literal["http", "tool", "client", "mcp", "model", "a2a"]
    """`tool`: a Python function of the host; `client`: a tool of the caller; `mcp`: of a server;
    `model`: a question to a model; `a2a`: a message to an agent elsewhere.
    """
    method: str = ""
    url: str = ""
    """Without user, query and fragment."""
    tool: str = ""
    """Name of the function, tool or model, or the `tool` in the body of a call."""

    @property
    def target(self) -> str:
        """What is called where it is no request: `MCP tool search`, `model gpt-4o`."""
        return f"{TOOL_WORDS[self.kind]} {self.tool or self.url}".rstrip()


TOOL_WORDS: Final[Mapping[str, str]] = {
    "tool": "function",
    "client": "tool of the caller",
    "mcp": "MCP tool",
    "model": "model",
    "a2a": "agent",
}
"""What is called, by the kind of a call that is no request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFacts:
    """One gate."""

    path: str
    step: int
    """Number of the policy step that governs the gate."""
    name: str
    risk_class: str
    renderer: str
    """Id of the screen."""
    asks: bool
    """False where the step says `requiresApproval: false`."""
    answer: str
    """The output that carries the answer."""
    answer_schema: Json | None
    """`None`: an approval, or free text."""
    shows: tuple[str, ...]
    """The gate's own inputs …"""
    shows_inputs: tuple[str, ...]
    """… the visible inputs of its flow …"""
    shows_message: bool
    """… the author's message at the gate …"""
    shows_after: tuple[str, ...]
    """… and the outputs of that one of these nodes which ran last."""
    max_visits: int | None
    guards: tuple[str, ...] = ()
    """Sends that no way reaches without passing this gate."""
    also_before: tuple[str, ...] = ()
    """Sends that this gate precedes on some ways only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """One node that acts on the world outside."""

    path: str
    risk_class: str
    guarded: bool
    """Whether every way to the send passes a gate that asks."""
    always: tuple[str, ...]
    """Gates on every way to the send, nearest first."""
    sometimes: tuple[str, ...]
    """Gates on some ways to the send."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerFlow:
    """One of the flows that run beside each other in one node."""

    path: str
    """What the paths of its nodes begin with, `both/[0]`."""
    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """One node."""

    path: str
    id: str
    name: str
    type: str
    """The component type of the file."""
    description: str
    depth: int
    """Number of nodes around the node."""
    risk_class: str
    reached: bool
    """False where no control edge leads to the node."""
    reads: tuple[Read, ...]
    writes: tuple[Write, ...]
    ways: tuple[Way, ...]
    call: Call | None = None
    gate: GateFacts | None = None
    steps: tuple[int, ...] = ()
    """Policy steps that this node of the outermost flow makes."""
    package: str = ""
    """For a FlowNode: the child agent that it runs."""
    flows: tuple[InnerFlow, ...] = ()
    """Of a node that runs several flows these; in JSON left out where it is empty."""
    role: str = ""
    """Of a node in the flow of an agent: `asks the model`; in JSON left out where it is empty."""
    confirmed: bool = False
    """Whether a person confirms each call or each work of it; in JSON left out where it is false."""
    prompt: str = ""
    """The template that a model is asked with; in JSON left out where it is empty."""
    told: tuple[str, ...] = ()
    """What a model gets beside its prompt: `the files of "plans"`; in JSON left out where it is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholder:
    """One `{{NAME}}` that the environment fills in."""

    name: str
    count: int
    line: int
    """Line of the first use; 0 for a document without text."""
    given: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """The data that Cinatra's compiler would derive from the flow and its package, under Cinatra's
    names.
    """

    approval_policy: Json
    input_schema: Json
    output_schema: Json | None
    """Schema of the first EndNode's outputs; `None` when it has no outputs."""
    input_mapping: tuple[tuple[int, str, Json], ...]
    """(step, node id, input → template), for every step with inputs."""
    agent_dependencies: Json = NOTHING
    """Child agent → version range."""
    limits: Json | None = None
    """`limits`, `requiredConnections` and `defaults` of cinatra.json; `None` without that file."""
    trigger_mode: str = "full"
    gated_steps: tuple[int, ...] = ()
    """Steps that a trigger holds back until it is released."""
    produces_object_types: tuple[str, ...] | None = None
    """`None` when no output declares an object type."""

    def to_json(self) -> dict[str, JsonValue]:
        mapping: list[JsonValue] = [
            {"stepNumber": step, "nodeId": node, "inputMapping": inputs.value()}
            for step, node, inputs in self.input_mapping
        ]
        described: dict[str, JsonValue] = {
            "approvalPolicy": self.approval_policy.value(),
            "inputSchema": self.input_schema.value(),
            "outputSchema": self.output_schema.value() if self.output_schema else None,
            "inputMapping": mapping,
            "agentDependencies": self.agent_dependencies.value(),
            "triggerMode": self.trigger_mode,
            "gatedSteps": [*self.gated_steps],
            "compiledPlan": [],
        }
        if self.limits is not None:
            described.update(self.limits.mapping())
        if self.produces_object_types is not None:
            described["producesObjectTypes"] = [*self.produces_object_types]
        return described


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The explanation of a flow, before it runs."""

    id: str
    name: str
    description: str
    package: str
    version: str
    type: str
    """`metadata.cinatra.type`."""
    file: str
    digest: str
    """sha256 of the file's bytes, in hex."""
    inputs: tuple[RunInput, ...]
    outputs: tuple[Write, ...]
    """The declared results; `readers` are the EndNodes that give them."""
    nodes: tuple[NodeFacts, ...]
    """Nodes in the order of Cinatra's compiler; a node that runs flows before the nodes inside it."""
    gates: tuple[GateFacts, ...]
    sends: tuple[Send, ...]
    environment: tuple[Placeholder, ...]
    context_slots: tuple[str, ...]
    derived: Derived
    findings: tuple[Finding, ...] = field(default=())
    """Warnings."""

    def named(self, name: str) -> tuple[NodeFacts, ...]:
        """The nodes with this path, else all with this id."""
        exact = tuple(node for node in self.nodes if node.path == name)
        return exact or tuple(node for node in self.nodes if node.id == name)

    def to_json(self) -> dict[str, JsonValue]:
        """The explanation as JSON; keys are the fields' names, in `derived` Cinatra's names.

        Text that looks like a credential is starred.
        """
        described = _encode_json(self)
        assert isinstance(described, dict)
        described.pop("findings")
        described = _mask_secrets(described)
        assert isinstance(described, dict)
        described["warnings"] = len(self.findings)
        return described


_RARE: Final = ("flows", "role", "confirmed", "prompt", "told")
"""Facts that few nodes have."""


def _mask_secrets(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, list):
        return [_mask_secrets(entry) for entry in value]
    if isinstance(value, dict):
        return {without_secrets(key): _mask_secrets(entry) for key, entry in value.items()}
    return value


def _encode_json(value: object) -> JsonValue:
    if isinstance(value, Json):
        return value.value()
    if isinstance(value, Derived):
        return value.to_json()
    if is_dataclass(value):
        members = {one.name: getattr(value, one.name) for one in fields(value)}
        if members.get("default", value) is None:
            del members["default"]  # null would mean a default of null
        if isinstance(value, NodeFacts):
            members = {
                name: member for name, member in members.items() if member or name not in _RARE
            }
        return {name: _encode_json(member) for name, member in members.items()}
    if isinstance(value, tuple):
        return [_encode_json(item) for item in value]
    return cast("JsonValue", value)


# ----------------------------------------------------------------------------
# The sources of each node's inputs, the readers of its outputs, and its ways out.
#
# In: one flow of the IR and its place.  Out: `Read`, `Write`, `Way`, `Call`.
#
#     a DataEdge write.draft → review.draft
#         ->  review reads draft from write.draft;  write writes draft, read by review.draft
#
# If several edges feed one input, the source that ran last wins.  A StartNode always runs first, so
# its value counts until another source has run.


RESULT = "result"
"""The target of an EndNode of the outermost flow."""
_QUERY = re.compile("[?#]")


@dataclass(frozen=True, kw_only=True, eq=False)
class FlowWiring:
    """One flow at one place; a flow that two nodes run has two wirings."""

    flow: FlowIR
    around: Path
    """What the paths of the flow's nodes begin with."""
    outer: tuple[Node, ...]
    """The nodes around the flow, outermost first."""
    graph: ControlGraph

    def path(self, node_id: str) -> Path:
        return (*self.around, node_id)

    @cached_property
    def _position(self) -> Mapping[str, int]:
        return {node.id: index for index, node in enumerate(self.flow.in_order())}

    # ------------------------------------------------------------------ inputs

    def reads(self, node: Node) -> tuple[Read, ...]:
        used = _map_inputs_to_fields(node)
        return tuple(self._build_read(node, port, used.get(port.title, ())) for port in node.inputs)

    def _build_read(self, node: Node, port: Port, templates: tuple[str, ...]) -> Read:
        if isinstance(node, ir.StartNode):
            return self._build_parameter_read(port)
        given = self.flow.feeds.get((node.id, port.title), ())
        edges = sorted(given, key=lambda edge: self._position.get(edge.source, 0))
        feeds = tuple(dict.fromkeys(self._build_feed(edge, node) for edge in edges))
        certain = any(feed.always for feed in feeds)
        origin: Origin = "edge" if feeds else "default" if port.default is not None else "nothing"
        return Read(
            input=port.title,
            type=shown(port.type),
            origin=origin,
            feeds=feeds,
            default=port.default,
            default_counts=port.default is not None and not certain,
            templates=templates,
        )

    def _build_feed(self, edge: DataEdge, reader: Node) -> Feed:
        source = self.flow.by_id[edge.source]
        has_run = self.graph.dominators.is_above(self.path(source.id), self.path(reader.id))
        return Feed(
            node=edge.source,
            output=edge.output,
            always=has_run and (edge.output not in self._uncertain or source.id != self.flow.start),
            is_start=source.id == self.flow.start,
        )

    @cached_property
    def _uncertain(self) -> frozenset[str]:
        """Inputs of the outermost flow that may be missing when a run starts."""
        if self.around:
            return frozenset()
        start = self.flow.start_node()
        return frozenset(
            port.title
            for port in start.inputs
            if port.default is None and port.title not in start.required
        )

    def _build_parameter_read(self, port: Port) -> Read:
        """The source of a StartNode's input: the run's input, or the outer node's."""
        if not self.outer:
            return Read(input=port.title, type=shown(port.type), origin="run", default=port.default)
        outer = self.outer[-1]
        title = f"iterated_{port.title}" if isinstance(outer, ir.MapNode) else port.title
        if isinstance(outer, ir.ExtendedMapNode) and port.title in dict(outer.unpack):
            title = "iterated_input"
        feed = Feed(node=outer.id, output=title, always=True)
        return Read(input=port.title, type=shown(port.type), origin="parent", feeds=(feed,))

    # ------------------------------------------------------------------ outputs

    def writes(self, node: Node) -> tuple[Write, ...]:
        return tuple(self._build_write(node, port) for port in node.outputs)

    def _build_write(self, node: Node, port: Port) -> Write:
        readers = tuple(
            f"{edge.target}.{edge.input}"
            for edge in self.flow.readers.get((node.id, port.title), ())
        )
        return Write(
            output=port.title,
            type=shown(port.type),
            readers=tuple(dict.fromkeys(readers)),
            leaves_as=self._name_leaving(node, port),
        )

    def _name_leaving(self, node: Node, port: Port) -> str:
        """The output of the outer node that an EndNode's output becomes; empty where it is none."""
        if not isinstance(node, ir.EndNode) or port.title not in {
            result.title for result in self.flow.outputs
        }:
            return ""
        if not self.outer:
            return RESULT
        outer, title = self.outer[-1], port.title
        if isinstance(outer, ir.MapNode):
            title = f"collected_{title}"
            if title not in {result.title for result in outer.outputs}:
                return ""  # its reducers leave this output out
        return f"{outer.id}.{title}"

    # ------------------------------------------------------------------ control

    def ways(self, node: Node) -> tuple[Way, ...]:
        routes = self.flow.routes_of(node.id)
        values: dict[str, list[str]] = {}
        if isinstance(node, ir.BranchingNode):
            for value, branch in node.mapping:
                values.setdefault(branch, []).append(value)
        return tuple(
            Way(branch=branch, to=routes.get(branch, ""), values=tuple(values.get(branch, ())))
            for branch in node.branches
        )

    def shown_before(self, node: Node) -> tuple[str, ...]:
        """The nodes whose outputs a gate shows, in the order of the flow."""
        return tuple(sorted(shown_at(self.flow, node.id), key=lambda one: self._position[one]))


# ------------------------------------------------------------------------ calls and templates


def call_of(node: Node) -> Call | None:
    """The call of the node; `None` for a node without a call."""
    if isinstance(node, ir.ClientToolNode):
        return Call(kind="client", tool=node.tool_name)
    if isinstance(node, ir.McpToolNode):
        return Call(kind="mcp", tool=node.tool_name or "of the toolbox")
    if isinstance(node, ir.ToolNode):
        return Call(kind="tool", tool=node.tool_name)
    if isinstance(node, ir.RemoteAgentNode):
        return Call(kind="a2a", url=without_query(node.url))
    if _asks_model(node):
        return Call(kind="model", tool=name_model(node))
    if not isinstance(node, ir.ApiNode):
        return None
    body = node.data.value() if node.data is not None else None
    tool = body.get("tool") if isinstance(body, dict) else None
    if isinstance(node, ir.RemoteToolNode):
        tool = node.tool_name
    return Call(
        kind="http",
        method=node.method,
        url=without_query(node.url),
        tool=tool if isinstance(tool, str) else "",
    )


def _asks_model(node: Node) -> bool:
    inside = isinstance(node, ir.AgentModelNode | ir.AgentShortenNode)
    return inside or kind_of(node).behind == "llm_config"


def without_query(url: str) -> str:
    """An address without its parts that may be secret: user, query and fragment."""
    bare = _QUERY.split(url, maxsplit=1)[0]
    scheme, mark, rest = bare.partition("://")
    if not mark:
        scheme, rest = "", bare
    host, slash, path = rest.partition("/")
    return scheme + mark + host.rpartition("@")[2] + slash + path


def _map_inputs_to_fields(node: Node) -> Mapping[str, tuple[str, ...]]:
    """Input → the fields of the node whose templates use it."""
    found: dict[str, dict[str, None]] = {}
    for value, place in _list_templates(node):
        for text, pointer in strings(value, place):
            try:
                names = placeholders(text)
            except TemplateInvalid:
                continue  # an error of the flow; an explained flow has no errors
            for name in names:
                found.setdefault(name, {})[pointer] = None
    return {name: tuple(places) for name, places in found.items()}


def _list_templates(node: Node) -> Iterator[tuple[JsonValue, str]]:
    if isinstance(node, ir.ApiNode):
        pieces: tuple[tuple[Json | None, str], ...] = (
            (node.data, "data"), (node.headers, "headers"), (node.query, "query_params"),
            (node.sensitive_headers, "sensitive_headers"),
        )  # fmt: skip
        yield node.url, "url"
        yield node.method, "http_method"
        for piece, place in pieces:
            if piece is not None:
                yield piece.value(), place
    elif isinstance(node, (ir.InputMessageNode, ir.OutputMessageNode)):
        yield node.message, "message"
    elif isinstance(node, ir.PluginTemplateNode):
        yield node.template, "template"
