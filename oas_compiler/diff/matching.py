"""Pairs the nodes of two flows.  In: two flows.  Out: the pairs, and the unpaired nodes.

    first   start → review → send              second   start → check → sub(send)
        -> start = start; review renamed to check (same content, same place); send moved into sub

Nodes with the same path of ids match.  Of several flows in one node those with the same id match,
then the others in their order.  Among the remaining nodes of one flow, two nodes of one type
with the same content are one renamed node if they share a name or a neighbour.  Last, a remaining
node has moved if another one has its id and type, or if it is the only one with its content.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from oas_compiler.diff.content import likeness
from oas_compiler.ir import FlowIR, Node, Path, open_flows, walk

_MOST_ALIKE = 60
"""Largest number of remaining nodes with one content for which neighbours are compared."""


class Level(NamedTuple):
    """A matched pair of flows."""

    around: Path
    """What the paths of its nodes begin with in the first document, () the outermost."""
    first: FlowIR
    beside: Path
    """The same in the second."""
    second: FlowIR


@dataclass(slots=True)
class Matching:
    """The pairs of matched nodes."""

    first: FlowIR
    second: FlowIR
    to_second: dict[Path, Path] = field(default_factory=dict)
    to_first: dict[Path, Path] = field(default_factory=dict)
    flows: list[Level] = field(default_factory=list)
    nodes: tuple[dict[Path, Node], dict[Path, Node]] = field(default_factory=lambda: ({}, {}))

    def pair(self, one: Path, other: Path) -> None:
        self.to_second[one] = other
        self.to_first[other] = one

    def left(self) -> tuple[list[Path], list[Path]]:
        """The nodes without a counterpart."""
        first, second = self.nodes
        return (
            [path for path in first if path not in self.to_second],
            [path for path in second if path not in self.to_first],
        )


def match(first: FlowIR, second: FlowIR) -> Matching:
    """Match the nodes of two flows, at every depth."""
    made = Matching(first, second)
    for nodes, flow in zip(made.nodes, (first, second), strict=True):
        nodes.update(walk(flow))
    _match_flows(made, Level((), first, (), second))
    _match_moved(made)
    return made


def _match_flows(made: Matching, root: Level) -> None:
    """Match two flows, and the flows inside matched nodes."""
    waiting = [root]
    while waiting:
        level = waiting.pop()
        around, one, beside, other = level
        made.flows.append(level)
        pairs = [(node.id, node.id) for node in one.nodes if node.id in other.by_id]
        pairs = [pair for pair in pairs if _is_free(made, around, beside, pair)]
        for pair in pairs:
            made.pair((*around, pair[0]), (*beside, pair[1]))
        renamed = _match_renamed(made, level)
        for a, b in (*pairs, *renamed):
            old, new = (*around, a), (*beside, b)
            waiting.extend(pair_flows(one.by_id[a], old, other.by_id[b], new))


def pair_flows(one: Node, around: Path, other: Node, beside: Path) -> Iterator[Level]:
    """The flows of two matched nodes, with the paths `around` and `beside`, in pairs."""
    olds, news = open_flows(one, around), open_flows(other, beside)
    free = list(news)
    same: dict[Path, tuple[Path, FlowIR]] = {}
    for inside, old in olds:
        found = next((new for new in free if new[1].id == old.id), None)
        if found is not None:
            free.remove(found)
            same[inside] = found
    rest = iter(free)
    for inside, old in olds:
        found = same.get(inside) or next(rest, None)
        if found is not None:
            yield Level(inside, old, *found)


def _is_free(made: Matching, around: Path, beside: Path, pair: tuple[str, str]) -> bool:
    return (*around, pair[0]) not in made.to_second and (*beside, pair[1]) not in made.to_first


def _match_renamed(made: Matching, level: Level) -> Iterator[tuple[str, str]]:
    """Match renamed nodes of one flow; yields their pairs of ids."""
    around, one, beside, other = level
    olds = _group_alike(node for node in one.nodes if (*around, node.id) not in made.to_second)
    news = _group_alike(node for node in other.nodes if (*beside, node.id) not in made.to_first)
    for key, candidates in olds.items():
        others = news.get(key, [])
        if len(candidates) > _MOST_ALIKE or len(others) > _MOST_ALIKE:
            continue
        scored = sorted(
            (
                (
                    -_count_common_neighbours(made, level, old.id, new.id)
                    - 2 * (old.name == new.name),
                    i,
                    j,
                )
                for i, old in enumerate(candidates)
                for j, new in enumerate(others)
            )
        )
        for score, i, j in scored:
            a, b = candidates[i].id, others[j].id
            if score < 0 and _is_free(made, around, beside, (a, b)):
                made.pair((*around, a), (*beside, b))
                yield a, b


def _group_alike(nodes: Iterable[Node]) -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        found[likeness(node)].append(node)
    return found


def _count_common_neighbours(made: Matching, level: Level, old: str, new: str) -> int:
    """Number of common neighbours of two nodes along the control edges."""
    around, one, beside, other = level
    before = [(*around, source) for source in one.sources_of(old)]
    after = [(*around, target) for target in one.routes_of(old).values()]
    sources = {(*beside, source) for source in other.sources_of(new)}
    targets = {(*beside, target) for target in other.routes_of(new).values()}
    return sum(made.to_second.get(path) in sources for path in before) + sum(
        made.to_second.get(path) in targets for path in after
    )


def _match_moved(made: Matching) -> None:
    for by_id in (True, False):
        olds, news = (_select_unique(made.nodes[side], made.left()[side], by_id) for side in (0, 1))
        for key, old in olds.items():
            new = news.get(key)
            if new is None or old in made.to_second or new in made.to_first:
                continue
            made.pair(old, new)
            for level in pair_flows(made.nodes[0][old], old, made.nodes[1][new], new):
                _match_flows(made, level)


def _select_unique(nodes: dict[Path, Node], left: list[Path], by_id: bool) -> dict[str, Path]:
    """Key → the only remaining node with this key; keys of several nodes are left out."""
    found: dict[str, Path] = {}
    several: set[str] = set()
    for path in left:
        node = nodes[path]
        key = f"{type(node).__name__} {node.id}" if by_id else f"{node.name} {likeness(node)}"
        if key in found:
            several.add(key)
        found[key] = path
    return {key: path for key, path in found.items() if key not in several}
