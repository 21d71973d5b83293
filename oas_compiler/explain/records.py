"""The records of an explanation: frozen, and printable as JSON.

In: nothing.  Out: the types that `explain` fills.

    Read(input="draft", type="string", origin="edge", feeds=(Feed(node="write", output="draft"),))
    explanation.to_json()["nodes"][3]["reads"][0]["feeds"]  ->  [{"node": "write", "output": …}]

Nodes are named by their paths, `outer/inner`: the nodes around a node, then its own id.  A node that
runs several flows is followed by the place of the flow: `both/[0]/inner`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Final, Literal, cast

from oas_compiler.findings.finding import Finding
from oas_compiler.ir import NOTHING, Json, JsonValue
from oas_compiler.text.secrets import without_secrets

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
