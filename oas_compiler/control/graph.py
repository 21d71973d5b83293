"""The control graph of a flow: the order of its nodes, with every subflow expanded.

    start → draft → mail(start → gate → send) → end
        graph = ControlGraph.of(flow)
        list(graph.always_before(("end",)))
            ->  ("mail", "end"), ("mail", "send"), ("mail", "gate"), ("mail", "start"), ("mail",), …
        ("mail", "send") in graph.reached(without=[("mail", "gate")])  ->  False

Nodes are named by their paths.  A node that runs a flow leads to the StartNode of that flow.  The
flow's EndNodes lead to the targets of the outer node's branches of the same name.

For a node that runs a flow, its path is the point where control enters it; `done(path)` is the
point where it has run completely, by any branch.  There a FlowNode of a send class acts.

`link_level` is the graph of one flow alone, with ids as nodes: for questions within one flow, and
for flows that may have errors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from oas_compiler.control.digraph import Digraph
from oas_compiler.control.dominators import Dominators
from oas_compiler.ir import EndNode, FlowIR, Node, Path
from oas_compiler.kinds.registry import passage_of


def link_level(flow: FlowIR) -> Digraph[str]:
    """The control edges of one flow as the author wrote them, subflows left closed."""
    links: dict[str, list[str]] = {}
    for route in flow.routes:
        links.setdefault(route.source, []).append(route.target)
    return Digraph(links)


@dataclass(frozen=True, kw_only=True, eq=False)
class ControlGraph:
    """The ways through a flow that has no errors."""

    start: Path
    digraph: Digraph[Path]
    """Nodes and the points behind nodes that run flows, with what can run next."""
    containers: frozenset[Path]
    """The nodes that run flows."""

    @classmethod
    def of(cls, flow: FlowIR) -> ControlGraph:
        links: dict[Path, tuple[Path, ...]] = {}
        for path, following in _open_flow(flow, (), {}):
            # flows that run beside each other may have nodes of the same path
            links[path] = tuple(dict.fromkeys((*links.get(path, ()), *following)))
        containers = frozenset(path[1:] for path in links if path[0] == _DONE)
        return cls(start=(flow.start,), digraph=Digraph(links), containers=containers)

    def done(self, path: Path) -> Path:
        """The point at which a node has acted: after everything inside it, or the node itself."""
        return _make_done_path(path) if path in self.containers else path

    def reached(self, without: Collection[Path] = ()) -> Collection[Path]:
        """What control can come to when nothing gets past the nodes in `without`."""
        return self.digraph.reach_from([self.start], without).keys()

    def sometimes_before(self, path: Path) -> Collection[Path]:
        """The nodes from which control can come to `path`, itself only around a loop."""
        return self.digraph.find_before(path)

    def always_before(self, path: Path) -> Iterator[Path]:
        """The nodes on every way to `path`, nearest first; none if it is never reached."""
        return self.dominators.find_above(path)

    def repeats(self, path: Path, without: Collection[Path]) -> bool:
        """Whether a loop leads from a node back to it past none of the nodes in `without`."""
        return path in self.digraph.find_after(path, without)

    @cached_property
    def dominators(self) -> Dominators[Path]:
        """What stands on every way from the StartNode to each node."""
        return Dominators(self.digraph, self.start)


_DONE = "\0"
"""First part of the points that are no nodes: no id in any file has this character."""


_ANY = "\0"
"""Stands for every branch."""


def _make_done_path(path: Path) -> Path:
    return (_DONE, *path)


def _open_flow(
    flow: FlowIR, around: Path, leaving: Mapping[str, tuple[Path, ...]]
) -> Iterator[tuple[Path, tuple[Path, ...]]]:
    """Every node with those that can run next; `leaving`: where each branch of the flow leads."""
    for node in flow.nodes:
        path = (*around, node.id)
        targets = {branch: (*around, target) for branch, target in flow.routes_of(node.id).items()}
        if node.subflows:
            yield from _open_container(node, path, targets)
        elif isinstance(node, EndNode):
            following = leaving.get(node.branch_name, leaving.get(_ANY, ()))
            yield path, (*following, _make_done_path(around)) if around else ()
        else:
            yield path, tuple(targets.values())


def _open_container(
    node: Node, path: Path, targets: Mapping[str, Path]
) -> Iterator[tuple[Path, tuple[Path, ...]]]:
    """A node that runs flows, and all that is inside it.

    Unless it is left by the branches of its flow alone, the worst case is assumed: the node may run none of its flows (a map
    over an empty list), and control may leave it by every branch from any node inside.
    """
    entries = tuple((*path, subflow.start) for subflow in node.subflows)
    leaving: dict[str, tuple[Path, ...]] = {branch: (to,) for branch, to in targets.items()}
    if passage_of(node) != "flow":
        entries += (*targets.values(), _make_done_path(path))
        leaving = {_ANY: tuple(targets.values())}
    yield path, entries
    yield _make_done_path(path), ()
    for subflow in node.subflows:
        yield from _open_flow(subflow, path, leaving)
