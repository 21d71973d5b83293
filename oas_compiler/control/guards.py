"""The gates from which control can reach a node that acts on the world outside.

    start → review_gate → send_flow(confirm_gate → send)
        find_gates_before(flow, {("send_flow", "send")})
            ->  {("review_gate",): ("send_flow", "send"), ("send_flow", "confirm_gate"): (…, "send")}

Control follows the control edges, into and out of nodes that run flows and around loops, also
around a node that contains both.  Every node after one that runs flows counts as after each gate
inside it, and a map comes back to its flow with the next item: a policy may get a step too many,
but never one too few.  Of flows that run beside each other none comes after another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from oas_compiler.control.digraph import Digraph
from oas_compiler.control.gates import GateSpec
from oas_compiler.control.graph import link_level
from oas_compiler.ir import FlowIR, InputMessageNode, Node, Path, open_flows
from oas_compiler.kinds.registry import passage_of


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
