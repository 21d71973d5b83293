"""The approval policy that a flow implies, and the step that governs each gate.

In: a checked `FlowIR`.  Out: `Approval`: the policy's steps, and one `GateSpec` per gate at any
depth.

    start → review_gate → send_flow(confirm_gate)
        -> steps 1 (review_gate) and 2 (send_flow), gates ("review_gate",) and ("send_flow", "confirm_gate")

Source of the numbering: Cinatra's compile rules.  Steps are the InputMessageNodes and FlowNodes of
the outermost flow, breadth first from 1; a FlowNode with `gateSteps` takes one number per entry;
step 0 exists where a person must fill in inputs before the run.  A gate inside a subflow is
governed by a step of its FlowNode: by the entry that is written for the gate (gates.py), or else by
the FlowNode's first entry that asks.  So an author's waiver applies only to the gate that its entry
was written for.

Cinatra knows no other node that runs flows.  Here each of them in the outermost flow (a map, flows
beside each other, a catch, an agent that is a flow) takes one number if a gate is inside it at any
depth, as a FlowNode without `gateSteps` does, and none otherwise:

    start → each(MapNode: review) → both(ParallelFlowNode: review, review) → log(MapNode) → end
        -> steps 1 (each, one gate) and 2 (both, two gates); gates ("each", "review"),
           ("both", "[0]", "review"), ("both", "[1]", "review")

A gate of a map is one gate, however many items ask by it.

A step in front of a node of a send class guards this node: a policy must have an entry
for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from cinatra_sdk.contract import FALLBACK_RENDERER, SETUP_STEP
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.control.gates import GateSpec, find_entries, show_gate, show_gates_in
from oas_compiler.control.graph import Digraph, link_level
from oas_compiler.control.risk_classes import is_send
from oas_compiler.ir import (
    ApiNode,
    ClientToolNode,
    FlowIR,
    FlowNode,
    GateStep,
    InputMessageNode,
    Json,
    JsonValue,
    McpToolNode,
    Node,
    Path,
    StartNode,
    ToolNode,
    open_flows,
    walk,
)
from oas_compiler.kinds.registry import passage_of

# ----------------------------------------------------------------------------
# One step of an approval policy, as a record; as JSON it has Cinatra's keys.
#
# `DerivedStep(number=1, node_id="review", name="Review", risk_class="approval", requires_approval=True)`
#     .to_json()  ->  {"stepNumber": 1, "nodeId": "review", "name": "Review",
#                      "riskClass": "approval", "requiresApproval": true, "hitlOwnedBy": "self"}


_ANY_ANSWER = Json.of({"type": "object"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedField:
    """What a host needs to show the step of an InputMessageNode."""

    name: str
    """The output that takes the answer."""
    schema: Json
    """JSON Schema of the answer."""

    @classmethod
    def of(cls, node: InputMessageNode) -> AskedField:
        """The field that `node` asks for; its answer may be any object where the author says nothing."""
        name = node.outputs[0].title if node.outputs else node.id
        return cls(name=name, schema=node.answer_schema or _ANY_ANSWER)


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedStep:
    """One entry of `approvalPolicy.steps`."""

    number: int
    """0 is the setup before the run; steps of the flow count from 1."""
    node_id: str
    """Id of a node of the outermost flow."""
    name: str
    risk_class: str
    requires_approval: bool
    hitl_owned_by: str = "self"
    renderer: str = ""
    """The screen that the author named; empty where none is named."""
    asked: AskedField | None = None
    """Of an InputMessageNode."""
    gate_count: int = 1
    """How many gates of a subflow the step stands for."""
    child_package: str = ""
    """npm name of the agent that the step runs; empty where it runs none."""

    def to_json(self) -> dict[str, JsonValue]:
        """The entry with Cinatra's keys, fresh; members that say nothing are left out."""
        entry: dict[str, JsonValue] = {
            "stepNumber": self.number,
            "nodeId": self.node_id,
            "name": self.name,
            "riskClass": self.risk_class,
            "requiresApproval": self.requires_approval,
            "hitlOwnedBy": self.hitl_owned_by,
        }
        if self.renderer:
            entry["xRenderer"] = self.renderer
        if self.number == SETUP_STEP:
            entry["skipLlm"] = True
        if self.asked is not None:
            entry |= {
                "nodeType": "input_message",
                "skipLlm": True,
                "field": self.asked.name,
                "schema": self.asked.schema.value(),
                "xRenderer": self.renderer or FALLBACK_RENDERER,
            }
        if self.gate_count != 1:
            entry["gateCount"] = self.gate_count
        if self.child_package:
            entry["childAgent"] = {"packageName": self.child_package}
        return entry


# ----------------------------------------------------------------------------
# The gates from which control can reach a node that acts on the world outside.
#
#     start → review_gate → send_flow(confirm_gate → send)
#         `find_gates_before(flow, {("send_flow", "send")})`
#             ->  {("review_gate",): ("send_flow", "send"), ("send_flow", "confirm_gate"): (…, "send")}
#
# Control follows the control edges, into and out of nodes that run flows and around loops, also
# around a node that contains both.  Every node after one that runs flows counts as after each gate
# inside it, and a map comes back to its flow with the next item: a policy may get a step too many,
# but never one too few.  Of flows that run beside each other none comes after another.


def find_guards(
    flow: FlowIR, gates: Sequence[GateSpec], send_class: frozenset[Path]
) -> Iterator[tuple[int, str, str]]:
    """(step, gate, send): each step with a gate before a send, with one such gate and send.

    send_class: the nodes that act, and the gates of a send class, which are their own sends.
    """
    own = send_class & {gate.path for gate in gates}
    ahead = find_gates_before(flow, send_class - own)
    named: set[int] = set()
    for gate in gates:
        send = ahead.get(gate.path, gate.path if gate.path in own else None)
        if send is not None and gate.step not in named:
            named.add(gate.step)
            yield gate.step, "/".join(gate.path), "/".join(send)


def find_gates_before(flow: FlowIR, sends: frozenset[Path]) -> dict[Path, Path]:
    """Gate → one of `sends` that control can come to from it."""
    return find_targets_ahead(flow, sends, lambda _, node: isinstance(node, InputMessageNode))


def find_targets_ahead(
    flow: FlowIR, targets: frozenset[Path], asked: Callable[[Path, Node], bool]
) -> dict[Path, Path]:
    """Each node that is asked about → one of `targets` that control can come to from it."""
    under: dict[Path, Path] = {}  # node → itself or the first target inside it
    for target in sorted(targets):
        for depth in range(1, len(target) + 1):
            under.setdefault(target[:depth], target)
    found: dict[Path, Path] = {}
    # Last: a target that comes after the whole flow, or in a next visit of it.
    stack: list[tuple[FlowIR, Path, Path | None]] = [(flow, (), None)]
    while stack:
        inner, around, beyond = stack.pop()
        paths = {node.id: (*around, node.id) for node in inner.nodes}
        sending = {node_id: under[path] for node_id, path in paths.items() if path in under}
        ahead = _find_ahead(link_level(inner), sending)
        for node in inner.nodes:
            following = ahead.get(node.id, beyond)
            path = paths[node.id]
            # a container that is a target itself acts when all inside it has run
            again = passage_of(node) == "any" if node.subflows else False
            behind = under.get(path, following) if path in targets or again else following
            stack.extend((flow, inside, behind) for inside, flow in open_flows(node, path))
            if following is not None and asked(path, node):
                found[path] = following
    return found


def _find_ahead(level: Digraph[str], sending: Mapping[str, Path]) -> dict[str, Path]:
    """Node → the send of a nearest node in `sending` that comes after it."""
    ahead: dict[str, Path] = {}
    for current in level.reverse.reach_from(sending):
        send = sending[current] if current in sending else ahead[current]
        for source in level.preceding(current):
            ahead.setdefault(source, send)
    return ahead


_DIRECTLY = 2
"""Length of the path of a gate that stands directly in the subflow of an outermost FlowNode."""


@dataclass(frozen=True, kw_only=True)
class Approval:
    """The approval policy and the gates of a flow."""

    steps: tuple[DerivedStep, ...]
    """The policy's entries, in the order of their numbers."""
    gates: tuple[GateSpec, ...]
    """Every InputMessageNode at any depth, in the order of the steps."""
    guards: tuple[tuple[int, str, str], ...]
    """(step, gate, send): each step with a gate that can come before a node that acts on the world
    outside, with one such gate and node; a gate of a send class is its own send."""

    def policy(self) -> dict[str, JsonValue]:
        """`{"steps": […]}`, fresh."""
        return {"steps": [step.to_json() for step in self.steps]}

    def gate(self, path: Path) -> GateSpec:
        """The gate at `path`; `KeyError` if there is none."""
        return self._by_path[path]

    @cached_property
    def _by_path(self) -> dict[Path, GateSpec]:
        return {gate.path: gate for gate in self.gates}


def derive_approval(flow: FlowIR, *, send_class: frozenset[Path] | None = None) -> Approval:
    """The approval part of `flow`; `send_class` are the nodes that act on the world outside.

    See `list_acting` for the possible nodes.
    """
    steps, gates = _steps_and_gates(flow)
    return Approval(
        steps=tuple(steps),
        gates=tuple(gates),
        guards=tuple(find_guards(flow, gates, send_class or frozenset())),
    )


def visible_required(start: StartNode) -> tuple[str, ...]:
    """Inputs that a person is asked for before the run, in order."""
    return tuple(title for title in start.required if title not in start.hidden)


def list_acting(flow: FlowIR, gates: Iterable[GateSpec]) -> Iterator[tuple[Path, Node]]:
    """The nodes whose risk class matters: calls, sends, and gates.

    gates: those of the flow; each comes with the risk class that it has in this flow, because
    `gateSteps` may override its own.
    """
    risk = {gate.path: gate.risk_class for gate in gates}
    for path, node in walk(flow):
        if isinstance(node, InputMessageNode):
            yield path, replace(node, risk_class=risk[path])
        elif isinstance(node, (ApiNode, ToolNode, ClientToolNode, McpToolNode)) or is_send(node):
            yield path, node


def _steps_and_gates(flow: FlowIR) -> tuple[list[DerivedStep], list[GateSpec]]:
    steps: list[DerivedStep] = []
    gates: list[GateSpec] = []
    start = flow.start_node()
    if visible_required(start):
        steps.append(_setup_step(start))
    number = 1
    for node in flow.in_order():
        if isinstance(node, InputMessageNode):
            gates.append(show_gate(node, (node.id,), number))
            steps.append(_gate_step(node, gates[-1]))
            number += 1
        elif node.subflows:
            new_steps, new_gates = _container_steps(node, number)
            steps.extend(new_steps)
            gates.extend(new_gates)
            number += len(new_steps)
    return steps, gates


def _setup_step(start: StartNode) -> DerivedStep:
    return DerivedStep(
        number=SETUP_STEP,
        node_id=start.id,
        name=start.name or "Setup",
        risk_class="read_only",
        requires_approval=True,
    )


def _gate_step(node: InputMessageNode, gate: GateSpec) -> DerivedStep:
    return DerivedStep(
        number=gate.step,
        node_id=node.id,
        name=gate.name,
        risk_class=gate.risk_class,
        requires_approval=True,
        renderer=gate.renderer,
        asked=AskedField.of(node),
    )


def _container_steps(node: Node, number: int) -> tuple[list[DerivedStep], list[GateSpec]]:
    """The steps of a node that runs flows, and the gates that they govern.

    One step per entry of a FlowNode's `gateSteps`; else one, of other kinds than FlowNode only
    where there is a gate inside.
    """
    if isinstance(node, FlowNode) and node.gate_steps:
        return _flow_node_steps(node, number)
    gates = [replace(gate, step=number) for gate in show_gates_in(node, (node.id,))]
    if not gates and not isinstance(node, FlowNode):
        return [], []
    entry = GateStep(gate_count=max(1, len(gates)))
    first = gates[0] if gates else None
    return [_entry_step(node, entry, number, first, asks=bool(gates))], gates


def _flow_node_steps(node: FlowNode, number: int) -> tuple[list[DerivedStep], list[GateSpec]]:
    """The steps of a FlowNode with `gateSteps`, one per entry, and the gates that they govern."""
    own = find_entries(node)
    gates = list(_number_gates(node, number, own))
    # A step shows the first gate that its entry was written for, else the first of all.
    gates_of_entries = [g for g in gates if len(g.path) == _DIRECTLY and g.node in own]
    first_of = {gate.step: gate for gate in reversed([*gates_of_entries, *gates])}
    steps = [
        _entry_step(node, entry, number + offset, first_of.get(number + offset), asks=bool(gates))
        for offset, entry in enumerate(node.gate_steps)
    ]
    return steps, gates


def _number_gates(node: FlowNode, number: int, own: dict[str, int]) -> Iterator[GateSpec]:
    """The gates in a FlowNode with their steps; `own`: the entries that are written for gates."""
    asking = [i for i, entry in enumerate(node.gate_steps) if entry.requires_approval is not False]
    rest = asking[0] if asking else 0
    for gate in show_gates_in(node, (node.id,)):
        entry = own.get(gate.node, rest) if len(gate.path) == _DIRECTLY else rest
        yield replace(gate, step=number + entry)


def _entry_step(
    node: Node, entry: GateStep, number: int, first: GateSpec | None, *, asks: bool
) -> DerivedStep:
    """first: the gate that the step shows; asks: whether any gate is in the node."""
    first_risk = first.risk_class if first is not None else "read_only"
    return DerivedStep(
        number=number,
        node_id=node.id,
        name=entry.name or node.name,
        risk_class=entry.risk_class or node.risk_class or first_risk,
        requires_approval=asks if entry.requires_approval is None else entry.requires_approval,
        hitl_owned_by=entry.hitl_owned_by or "childAgent",
        renderer=first.renderer if first is not None else "",
        gate_count=entry.gate_count,
        child_package=node.package_name if isinstance(node, FlowNode) else "",
    )
