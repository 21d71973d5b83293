"""The approval policy that a flow implies, and which step governs which gate.

In: a checked `FlowIR`.  Out: `Approval`: the policy's steps, and one `GateSpec` per gate at any
depth.

    start → review_gate → send_flow(confirm_gate)
        -> steps 1 (review_gate) and 2 (send_flow), gates ("review_gate",) and ("send_flow", "confirm_gate")

Source of the numbering: Cinatra's compile rules.  Steps are the InputMessageNodes and FlowNodes of
the outermost flow, breadth first from 1; a FlowNode with `gateSteps` takes one number per entry;
step 0 exists where a person must fill in inputs before the run.  A gate inside a subflow is
governed by its FlowNode's step.

The entries of `gateSteps` belong to the gates that stand directly in the FlowNode's subflow
(`entry_gates`): each to the entry at its position, the last one also to any gates beyond.  They
override its name, screen and risk class.  A gate deeper down is shown as the FlowNode right around
it says, and a context selection as itself, for its answer has to fit its screen; both take the
number of the outermost FlowNode's first entry that asks, so that what an author waives is no gate
that the entry was not written for.

A step that stands before a node of a send class guards it: a policy must have an entry for it.
Control can come from a gate to a send along the control edges, into and out of FlowNodes, and
around a loop: also one around the FlowNode that both are in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from oas_compiler.ir import (
    ApiNode,
    FlowIR,
    FlowNode,
    GateStep,
    InputMessageNode,
    JsonValue,
    Node,
    Path,
    StartNode,
    ToolNode,
    walk,
)

SETUP_STEP = 0
_DIRECTLY = 2
"""Length of the path of a gate that stands directly in the subflow of an outermost FlowNode."""
FALLBACK_RENDERER = "@cinatra-ai/agent-builder:schema-field-fallback"
"""The host's screen for a gate whose author named none."""

_SEND_SUFFIXES = ("_send", "_publish", "_post", "_delete")
_SEND_CLASSES = frozenset({"send_external_message", "send", "publish", "post", "delete"})


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


@dataclass(frozen=True, kw_only=True)
class Approval:
    """Everything that the compiler knows about the human part of a flow."""

    steps: tuple[tuple[tuple[str, JsonValue], ...], ...]
    """The policy's entries, each as ordered (key, value) pairs."""
    gates: tuple[GateSpec, ...]
    """Every InputMessageNode at any depth, in the order of the steps."""
    guards: tuple[tuple[int, str, str], ...]
    """(step, gate, send): each step with a gate that can come before a node that acts on the world
    outside, with one such gate and node; a gate of a send class is its own send."""

    def policy(self) -> dict[str, JsonValue]:
        """`{"steps": […]}`, fresh."""
        steps: list[JsonValue] = [dict(step) for step in self.steps]
        return {"steps": steps}

    def gate(self, path: Path) -> GateSpec:
        """The gate at `path`; `KeyError` if there is none."""
        return self._by_path[path]

    @cached_property
    def _by_path(self) -> dict[Path, GateSpec]:
        return {gate.path: gate for gate in self.gates}


def is_send_class(risk_class: str) -> bool:
    """Whether a node of this risk class acts on the world outside and cannot be undone.

    The runtime decides by a rule of its own in cinatra_sdk/governed/policy.py; a test compares the two.
    """
    return risk_class in _SEND_CLASSES or risk_class.endswith(_SEND_SUFFIXES)


def is_selector(renderer: str) -> bool:
    """Whether the screen asks for a context selection, whoever publishes it.

    The runtime decides by a rule of its own in cinatra_sdk/context/selector.py; a test compares
    the two.
    """
    return renderer.endswith(":context-selector")


def waived_gates(flow: FlowIR) -> frozenset[Path]:
    """The gates that never ask: their `gateSteps` entry says `requiresApproval: false`."""
    nodes = [node for node in flow.nodes if isinstance(node, FlowNode)]
    if not any(step.requires_approval is False for node in nodes for step in node.gate_steps):
        return frozenset()
    steps, gates = _steps_and_gates(flow)
    waived = {step["stepNumber"] for step in steps if step["requiresApproval"] is False}
    return frozenset(gate.path for gate in gates if gate.step in waived)


def visible_required(start: StartNode) -> tuple[str, ...]:
    """Inputs that a person is asked for before the run, in order."""
    return tuple(title for title in start.required if title not in start.hidden)


def derive_approval(flow: FlowIR, *, send_class: frozenset[Path] | None = None) -> Approval:
    """The approval part of `flow`; `send_class` are the nodes that act on the world outside.

    Which nodes can be among them, `acting_nodes` says.
    """
    steps, gates = _steps_and_gates(flow)
    return Approval(
        steps=tuple(tuple(step.items()) for step in steps),
        gates=tuple(gates),
        guards=tuple(_guards(flow, gates, send_class or frozenset())),
    )


def is_send(node: Node) -> bool:
    """Whether the node itself acts on the world outside: any node that its author says it of.

    A gate does not: its class says what it guards.  A FlowNode acts when its subflow has run.
    """
    return not isinstance(node, InputMessageNode) and is_send_class(node.risk_class)


def acting_nodes(flow: FlowIR) -> Iterator[tuple[Path, Node]]:
    """The nodes that a risk class matters for: calls, whatever is a send, and the gates.

    A gate comes with the risk class that it has in this flow: `gateSteps` may override its own.
    """
    _steps, gates = _steps_and_gates(flow)
    risk = {gate.path: gate.risk_class for gate in gates}
    for path, node in walk(flow):
        if isinstance(node, InputMessageNode):
            yield path, replace(node, risk_class=risk[path])
        elif isinstance(node, (ApiNode, ToolNode)) or is_send(node):
            yield path, node


def _steps_and_gates(flow: FlowIR) -> tuple[list[dict[str, JsonValue]], list[GateSpec]]:
    steps: list[dict[str, JsonValue]] = []
    gates: list[GateSpec] = []
    start = flow.start_node()
    if visible_required(start):
        setup = _step(SETUP_STEP, start, start.name or "Setup", "read_only", required=True)
        steps.append(setup | {"skipLlm": True})
    number = 1
    for node in flow.in_order():
        if isinstance(node, InputMessageNode):
            spec = _own_gate(node, (node.id,), number)
            gates.append(spec)
            step = _step(number, node, spec.name, spec.risk_class, required=True, spec=spec)
            steps.append(step | _screen(node, spec))
            number += 1
        elif isinstance(node, FlowNode):
            new_steps, new_gates = _flow_node_steps(node, number)
            steps.extend(new_steps)
            gates.extend(new_gates)
            number += len(new_steps)
    return steps, gates


def _own_gate(node: InputMessageNode, path: Path, step: int) -> GateSpec:
    return GateSpec(
        path=path,
        step=step,
        name=node.name,
        renderer=node.renderer,
        risk_class=node.risk_class or "read_only",
        description=node.description,
    )


def _screen(node: InputMessageNode, spec: GateSpec) -> dict[str, JsonValue]:
    """What a host needs to show the step: Cinatra's keys for an input message."""
    schema: JsonValue = {"type": "object"}
    if node.answer_schema is not None:
        schema = node.answer_schema.value()
    return {
        "nodeType": "input_message",
        "skipLlm": True,
        "field": node.outputs[0].title if node.outputs else node.id,
        "schema": schema,
        "xRenderer": spec.renderer or FALLBACK_RENDERER,
    }


def _flow_node_steps(
    node: FlowNode, number: int
) -> tuple[list[dict[str, JsonValue]], list[GateSpec]]:
    entries = node.gate_steps or (GateStep(gate_count=max(1, _count_gates(node))),)
    asking = [i for i, entry in enumerate(entries) if entry.requires_approval is not False]
    own = _entry_of(node)
    gates = []
    for gate in _shown_gates(node, (node.id,)):
        slot = own.get(gate.node) if len(gate.path) == _DIRECTLY else None
        if slot is None:
            slot = asking[0] if asking and node.gate_steps else 0
        gates.append(replace(gate, step=number + slot))
    # A step shows the first gate that its entry was written for, else the first of all.
    gates_of_entries = [g for g in gates if len(g.path) == _DIRECTLY and g.node in own]
    first_of = {gate.step: gate for gate in reversed([*gates_of_entries, *gates])}
    steps = []
    for offset, entry in enumerate(entries):
        first = first_of.get(number + offset)
        required = entry.requires_approval if entry.requires_approval is not None else bool(gates)
        risk = entry.risk_class or node.risk_class or (first.risk_class if first else "read_only")
        step = _step(
            number + offset, node, entry.name or node.name, risk, required=required, spec=first
        )
        step["hitlOwnedBy"] = entry.hitl_owned_by or "childAgent"
        if entry.gate_count != 1:
            step["gateCount"] = entry.gate_count
        if node.package_name:
            step["childAgent"] = {"packageName": node.package_name}
        steps.append(step)
    return steps, gates


def _count_gates(node: FlowNode) -> int:
    return sum(isinstance(inner, InputMessageNode) for _path, inner in walk(node.subflow))


def _shown_gates(node: FlowNode, around: Path) -> Iterator[GateSpec]:
    """The gates in the FlowNode, each as the `gateSteps` of the FlowNode right around it show it."""
    own = _entry_of(node)
    for inner in node.subflow.in_order():
        path = (*around, inner.id)
        if isinstance(inner, FlowNode):
            yield from _shown_gates(inner, path)
        elif isinstance(inner, InputMessageNode):
            gate = _own_gate(inner, path, 0)
            slot = own.get(inner.id)
            yield gate if slot is None else _overridden(gate, node.gate_steps[slot])


def _entry_of(node: FlowNode) -> dict[str, int]:
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


def _overridden(gate: GateSpec, entry: GateStep) -> GateSpec:
    """The parent's `gateSteps` entry wins over what the subflow's gate says of itself."""
    return replace(
        gate,
        name=entry.name or gate.name,
        renderer=entry.renderer or gate.renderer,
        risk_class=entry.risk_class or gate.risk_class,
        description=entry.description or gate.description,
    )


def _step(
    number: int,
    node: Node,
    name: str,
    risk_class: str,
    *,
    required: bool,
    spec: GateSpec | None = None,
) -> dict[str, JsonValue]:
    step: dict[str, JsonValue] = {
        "stepNumber": number,
        "nodeId": node.id,
        "name": name,
        "riskClass": risk_class,
        "requiresApproval": required,
        "hitlOwnedBy": "self",
    }
    if spec is not None and spec.renderer:
        step["xRenderer"] = spec.renderer
    return step


def _guards(
    flow: FlowIR, gates: Sequence[GateSpec], send_class: frozenset[Path]
) -> Iterator[tuple[int, str, str]]:
    own = send_class & {gate.path for gate in gates}
    ahead = gates_before(flow, frozenset(send_class - own))
    named: set[int] = set()
    for gate in gates:
        send = ahead.get(gate.path, gate.path if gate.path in own else None)
        if send is not None and gate.step not in named:
            named.add(gate.step)
            yield gate.step, "/".join(gate.path), "/".join(send)


def gates_before(flow: FlowIR, sends: frozenset[Path]) -> dict[Path, Path]:
    """Gate → one of `sends` that control can come to from it."""
    return coming_to(flow, sends, lambda _, node: isinstance(node, InputMessageNode))


def coming_to(
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
        ahead = _ahead(inner, sending)
        for node in inner.nodes:
            following = ahead.get(node.id, beyond)
            if isinstance(node, FlowNode):
                # a FlowNode that is a target itself acts when all inside it has run
                own = paths[node.id] if paths[node.id] in targets else following
                stack.append((node.subflow, paths[node.id], own))
            if following is not None and asked(paths[node.id], node):
                found[paths[node.id]] = following
    return found


def _ahead(flow: FlowIR, sending: Mapping[str, Path]) -> dict[str, Path]:
    """Node → the send of a node in `sending` that comes after it, at least one edge further.

    One closure backwards from all of them at once: each node is visited once.
    """
    ahead: dict[str, Path] = {}
    queue = deque(sending)
    while queue:
        current = queue.popleft()
        send = sending[current] if current in sending else ahead[current]
        for source in flow.sources_of(current):
            if source not in ahead:
                ahead[source] = send
                if source not in sending:
                    queue.append(source)
    return ahead
