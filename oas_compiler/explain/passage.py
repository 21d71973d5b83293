"""What must have run before a node: control flow with every subflow opened up.

    start → draft → mail(start → gate → send) → end
        passage.before(("mail", "send"))  ->  (("mail", "gate"), ("mail", "start"), ("mail",), …)

One graph of paths: a FlowNode leads into its subflow's StartNode, and the EndNodes that leave by a
branch lead on to where that branch of the FlowNode leads.  What must have run before a node are
its dominators, found for all nodes at once (Cooper, Harvey and Kennedy's algorithm).

A FlowNode's own path is where control enters it; `done(path)` is where it has run whole, whatever
branch it leaves by.  That is when a FlowNode of a send class acts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from oas_compiler.ir import EndNode, FlowIR, FlowNode, Path, walk


@dataclass(frozen=True, kw_only=True, eq=False)
class Passage:
    """The ways through a flow."""

    start: Path
    following: Mapping[Path, tuple[Path, ...]]
    flow_nodes: frozenset[Path]
    """The FlowNodes."""

    @classmethod
    def of(cls, flow: FlowIR) -> Passage:
        flow_nodes = frozenset(path for path, node in walk(flow) if isinstance(node, FlowNode))
        return cls(start=(flow.start,), following=dict(_edges(flow)), flow_nodes=flow_nodes)

    def done(self, path: Path) -> Path:
        """Where a node has acted: of a FlowNode behind all that is inside it, else the node."""
        return _done(path) if path in self.flow_nodes else path

    def before(self, path: Path) -> Iterator[Path]:
        """The nodes that have run whenever `path` runs, nearest first; none if it is never reached."""
        while path in self._dominator and path != self.start:
            path = self._dominator[path]
            yield path

    def always_before(self, first: Path, second: Path) -> bool:
        """Whether `first` has run whenever `second` runs."""
        inner, outer = self._span.get(second), self._span.get(first)
        if inner is None or outer is None or first == second:
            return False
        return outer[0] <= inner[0] and inner[1] <= outer[1]

    def reached(self, without: Collection[Path] = ()) -> set[Path]:
        """What can be come to when nothing gets past the nodes in `without`."""
        return _closure([self.start], self.following, stops=without)

    def sources(self, path: Path) -> set[Path]:
        """The nodes from which control can come to `path`, itself only around a loop."""
        return _closure(self._sources.get(path, ()), self._sources)

    @cached_property
    def _sources(self) -> Mapping[Path, tuple[Path, ...]]:
        found: dict[Path, list[Path]] = {}
        for source, targets in self.following.items():
            for target in targets:
                found.setdefault(target, []).append(source)
        return {target: tuple(sources) for target, sources in found.items()}

    @cached_property
    def _order(self) -> list[Path]:
        """Every node that can be reached, in reverse postorder."""
        order: list[Path] = []
        seen = {self.start}
        stack = [(self.start, iter(self.following.get(self.start, ())))]
        while stack:
            current, targets = stack[-1]
            target = next((target for target in targets if target not in seen), None)
            if target is None:
                order.append(current)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(self.following.get(target, ()))))
        return order[::-1]

    @cached_property
    def _dominator(self) -> Mapping[Path, Path]:
        """Node → the nearest one that is on every way to it; the start has itself."""
        order = self._order
        number = {path: index for index, path in enumerate(order)}
        nearest = {self.start: self.start}
        changed = True
        while changed:
            changed = False
            for path in order[1:]:
                known = [one for one in self._sources.get(path, ()) if one in nearest]
                best = known[0]
                for other in known[1:]:
                    best = _meeting(best, other, nearest, number)
                if nearest.get(path) != best:
                    nearest[path] = best
                    changed = True
        return nearest

    @cached_property
    def _span(self) -> Mapping[Path, tuple[int, int]]:
        """Node → when a walk of the dominator tree comes to it and leaves it."""
        below: dict[Path, list[Path]] = {}
        for path, above in self._dominator.items():
            if path != above:
                below.setdefault(above, []).append(path)
        entered: dict[Path, int] = {}
        spans: dict[Path, tuple[int, int]] = {}
        clock = 0
        stack = [(self.start, False)]
        while stack:
            path, leaving = stack.pop()
            if leaving:
                spans[path] = (entered[path], clock)
                continue
            clock += 1
            entered[path] = clock
            stack.append((path, True))
            stack.extend((child, False) for child in below.get(path, ()))
        return spans


def _meeting(
    one: Path, other: Path, nearest: Mapping[Path, Path], number: Mapping[Path, int]
) -> Path:
    while one != other:
        while number[one] > number[other]:
            one = nearest[one]
        while number[other] > number[one]:
            other = nearest[other]
    return one


def _done(path: Path) -> Path:
    """A point of the graph that is no node: no id has this character in a file that anybody wrote."""
    return ("\0", *path)


def _closure(
    starts: Iterable[Path],
    following: Mapping[Path, tuple[Path, ...]],
    stops: Collection[Path] = (),
) -> set[Path]:
    seen = set(starts)
    stack = list(seen)
    while stack:
        current = stack.pop()
        if current in stops:
            continue
        for target in following.get(current, ()):
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return seen


def _edges(
    flow: FlowIR, around: Path = (), leaving: Mapping[str, Path] | None = None
) -> Iterator[tuple[Path, tuple[Path, ...]]]:
    """Every node with those that can run next; `leaving`: where the branches of this flow lead."""
    for node in flow.nodes:
        path = (*around, node.id)
        targets = {branch: (*around, target) for branch, target in flow.routes_of(node.id).items()}
        if isinstance(node, FlowNode):
            yield path, ((*path, node.subflow.start),)
            yield from _edges(node.subflow, path, targets)
        elif isinstance(node, EndNode):
            target = (leaving or {}).get(node.branch_name)
            next_node = (target,) if target is not None else ()
            yield path, (*next_node, _done(around)) if around else next_node
        else:
            yield path, tuple(dict.fromkeys(targets.values()))
