"""The control graph of a flow: the order of its nodes, with every subflow expanded.

    start → draft → mail(start → gate → send) → end
        graph = ControlGraph.of(flow)
        list(graph.always_before(("end",)))
            ->  ("mail", "end"), ("mail", "send"), ("mail", "gate"), ("mail", "start"), ("mail",), …
        ("mail", "send") in graph.reached(without=[("mail", "gate")])  ->  False

Nodes are named by their paths.  A node that runs a flow leads to the StartNode of that flow.  The
flow's EndNodes lead to the targets of the outer node's branches of the same name.  The record of a
kind says how control goes through its flows (`NodeKind.passage`).

Flows that run beside each other all begin behind their node, and the node is left when all of them
have ended:

    par(a → b, c → d) → e
        par → a → b,  par → c → d,  par → a' → b' → c' → d' → e

The copies a', b', c', d' say that all four have run before e, though no way leads from b to c.
Answers name the nodes only, never the copies.

For a node that runs a flow, its path is the point where control enters it; `done(path)` is the
point where it has run completely, by any branch.  There a FlowNode of a send class acts.

`link_level` is the graph of one flow alone, with ids as nodes: for questions within one flow, and
for flows that may have errors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from oas_compiler.control.digraph import Digraph
from oas_compiler.control.dominators import Dominators
from oas_compiler.ir import EndNode, FlowIR, Node, Path, open_flows
from oas_compiler.kinds.catch_exception import list_caught
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
    """Nodes, the points behind nodes that run flows, and copies, with what can run next."""
    containers: frozenset[Path]
    """The nodes that run flows."""
    _copies: Mapping[Path, tuple[Path, ...]] = field(repr=False)
    """Node inside flows that run beside each other → its copies."""

    @classmethod
    def of(cls, flow: FlowIR) -> ControlGraph:
        links = dict(_open_flow(flow, (), {}, mark=()))
        copies: dict[Path, tuple[Path, ...]] = {}
        for point in links:
            if _is_copy(point):
                copies[point[1:]] = (*copies.get(point[1:], ()), point)
        containers = frozenset(path[1:] for path in links if path[0] == _DONE)
        return cls(
            start=(flow.start,), digraph=Digraph(links), containers=containers, _copies=copies
        )

    def done(self, path: Path) -> Path:
        """The point at which a node has acted: after everything inside it, or the node itself."""
        return _make_done_path(path) if path in self.containers else path

    def reached(self, without: Collection[Path] = ()) -> Collection[Path]:
        """What control can come to when nothing gets past the nodes in `without`."""
        return self.digraph.reach_from([self.start], self._add_copies(without)).keys()

    def sometimes_before(self, *paths: Path) -> Collection[Path]:
        """The nodes from which control can come to one of `paths`, itself only around a loop."""
        before = [point for path in paths for point in self.digraph.preceding(path)]
        found = self.digraph.reverse.reach_from(before).keys()
        return frozenset(map(_name_node, found)) if self._copies else found

    def always_before(self, path: Path) -> Iterator[Path]:
        """The nodes on every way to `path`, nearest first; none if it is never reached."""
        return map(_name_node, self.dominators.find_above(path))

    def gather_above(self, own: Mapping[Path, int]) -> dict[Path, int]:
        """Each point that can be reached → the bits of all nodes on every way to it."""
        copied = {copy: bits for path, bits in own.items() for copy in self._copies.get(path, ())}
        return self.dominators.gather_above({**own, **copied})

    def repeats(self, path: Path, without: Collection[Path]) -> bool:
        """Whether a loop leads from a node back to it past none of the nodes in `without`."""
        places = (path, *self._copies.get(path, ()))
        following = [target for place in places for target in self.digraph.following(place)]
        return path in self.digraph.reach_from(following, self._add_copies(without))

    @cached_property
    def dominators(self) -> Dominators[Path]:
        """What stands on every way from the StartNode to each node."""
        return Dominators(self.digraph, self.start)

    def _add_copies(self, paths: Collection[Path]) -> Collection[Path]:
        if not self._copies:
            return paths
        return {place for path in paths for place in (path, *self._copies.get(path, ()))}


_DONE = "\0"
"""First part of the points behind nodes that run flows: no id in any file has this character."""
_COPY = "\0copy "
"""First part of the copies of nodes, before the number of parts that their container's path has."""
_ANY = "\0"
"""Stands for every branch."""

_Links: TypeAlias = Iterator[tuple[Path, tuple[Path, ...]]]
"""Points with those that control can come to next."""
_Leaving: TypeAlias = Mapping[str, tuple[Path, ...]]
"""Branch → the points to which it leads out of a flow."""


def _make_done_path(path: Path) -> Path:
    return (_DONE, *path)


def _is_copy(point: Path) -> bool:
    return point[0].startswith(_COPY)


def _name_node(point: Path) -> Path:
    """The node of a copy; any other point itself."""
    return point[1:] if _is_copy(point) else point


def _open_flow(
    flow: FlowIR, around: Path, leaving: _Leaving, *, mark: Path, container: Path = ()
) -> _Links:
    """Every node of a flow, and what is inside them.

    leaving: where each branch of the flow leads.
    mark: the first part of copies; empty for the nodes themselves.
    container: the path of the node that runs the flow.
    """
    for node in flow.nodes:
        path = (*around, node.id)
        routes = flow.routes_of(node.id)
        targets = {branch: (*mark, *around, target) for branch, target in routes.items()}
        if node.subflows:
            yield from _open_container(node, path, targets, mark)
        elif isinstance(node, EndNode):
            following = leaving.get(node.branch_name, leaving.get(_ANY, ()))
            done = (_make_done_path(container),) if container and not mark else ()
            yield (*mark, *path), (*following, *done)
        else:
            yield (*mark, *path), tuple(targets.values())


def _open_container(node: Node, path: Path, targets: Mapping[str, Path], mark: Path) -> _Links:
    """A node that runs flows, and all that is inside it."""
    flows = open_flows(node, path)
    entries = tuple((*mark, *around, flow.start) for around, flow in flows)
    passage = passage_of(node)
    out = tuple(targets.values())
    leaving: dict[str, tuple[Path, ...]] = {_ANY: out}
    if passage == "any":
        # it may run none of its flows (a map over an empty list), or run them again
        leaving = {_ANY: (*out, *entries)}
        entries += (*out, *(() if mark else (_make_done_path(path),)))
    elif passage == "all" and len(flows) > 1:
        yield from _open_all(node, path, out, mark)
        return
    elif passage in {"flow", "caught"}:
        # an exception may come at any time
        names = list_caught(node) if passage == "caught" else frozenset()
        caught = tuple(to for branch, to in targets.items() if branch in names)
        leaving = {branch: (to, *caught) for branch, to in targets.items()}
        entries += caught
    yield (*mark, *path), entries
    if not mark:
        yield _make_done_path(path), ()
    for around, flow in flows:
        yield from _open_flow(flow, around, leaving, mark=mark, container=path)


def _open_all(node: Node, path: Path, out: tuple[Path, ...], mark: Path) -> _Links:
    """A node whose flows run beside each other: once each for itself, once all in a row."""
    flows = open_flows(node, path)
    row = mark or (f"{_COPY}{len(path)}",)
    starts = [(*row, *around, flow.start) for around, flow in flows]
    entries = [starts[0]]
    if not mark:
        entries.extend((*around, flow.start) for around, flow in flows)
        yield _make_done_path(path), ()
        for around, flow in flows:
            yield from _open_flow(flow, around, {}, mark=(), container=path)
    yield (*mark, *path), tuple(entries)
    for (around, flow), following in zip(
        flows, (*((one,) for one in starts[1:]), out), strict=True
    ):
        yield from _open_flow(flow, around, {_ANY: following}, mark=row, container=path)
