"""A directed graph in, its rows out: the row of each box, and the order within rows.

    links (0→1, 1→2, 2→1, 1→3)   ->   rows [0], [1], [2, 3]; 2→1 goes back up

Layered drawing after Sugiyama: links that close a loop are taken out, a row is the longest way from
a start, a link over several rows gets a lane (an empty cell) in each row between, and the cells of
a row are ordered so that few links cross.  Links to one box share its lane: they go to the same
place, so nothing is lost where they join.

A link with a label gets a row for it: no two labels, and no label and box, can ever overlap.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import pairwise
from statistics import median
from typing import Literal

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.control.graph import Digraph

MOST_STEPS = 100_000
"""Cells that all links together pass in lanes; links beyond that go around all the rows."""
_EXACT = 3_000
"""Segments up to which crossings are counted; beyond, the last order is taken."""
_SWEEPS = 8
LANE_WIDTH = 18.0

Path = Literal["down", "up", "around"]


@dataclass(frozen=True, slots=True)
class Item:
    """A box to place."""

    width: float
    height: float
    pointed: bool = False
    """A diamond: its lower edge rises to the sides."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow to draw, between items by their index."""

    source: int
    target: int
    label: tuple[float, float] | None = None
    """Width and height of its label."""


@dataclass(slots=True, eq=False)
class Cell:
    """Something that stands in a row: an item, a label or a lane."""

    width: float
    height: float
    row: int = 0
    at: int = 0
    """Position in the row."""
    item: int = -1
    """Index of the item; -1 for labels and lanes."""
    pointed: bool = False
    lane: bool = False
    x: float = 0.0
    """The middle."""
    y: float = 0.0
    """The top."""
    below: list[Cell] = field(default_factory=list)
    above: list[Cell] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class ArrowWay:
    """The cells that a link passes, from its source to its target."""

    link: int
    kind: Path
    cells: list[Cell]
    """Of an upward or surrounding way: source, label if there is one, target."""
    label: Cell | None = None


@dataclass(slots=True, eq=False)
class Rows:
    """All cells in their rows, and the way of every link."""

    cells: list[Cell]
    rows: list[list[Cell]]
    ways: list[ArrowWay]


def arrange_rows(items: Sequence[Item], links: Sequence[Arrow], start: int) -> Rows:
    """Rows of all `items`; `start` stands in the first."""
    backward = _find_links_back(len(items), links, start)
    row_of = _longest_ways(len(items), links, backward)
    cells = [
        Cell(item.width, item.height, row=row_of[index], item=index, pointed=item.pointed)
        for index, item in enumerate(items)
    ]
    ways = list(_build_ways(cells, links, backward))
    depth = 1 + max(cell.row for cell in cells)
    rows: list[list[Cell]] = [[] for _ in range(depth)]
    for cell in _depth_first(cells, start):
        cell.at = len(rows[cell.row])
        rows[cell.row].append(cell)
    _reduce_crossings(rows)
    return Rows(cells, rows, ways)


# ---------------------------------------------------------------------------- rows


def _find_links_back(count: int, links: Sequence[Arrow], start: int) -> set[int]:
    """Indexes of the links that go back to a box on the way to them, walking from `start`."""
    following: list[list[int]] = [[] for _ in range(count)]
    for link in links:
        following[link.source].append(link.target)
    back = Digraph(dict(enumerate(following))).find_back_links((start, *range(count)))
    return {index for index, link in enumerate(links) if (link.source, link.target) in back}


def _longest_ways(count: int, links: Sequence[Arrow], backward: set[int]) -> list[int]:
    """The row of each box: one below its lowest source, two where a label stands between.

    A label on a link that goes back up needs a row below its source as well; it is a leaf there.
    """
    leaving: list[list[Arrow]] = [[] for _ in range(count)]
    waiting = [0] * count
    for index, link in enumerate(links):
        if index not in backward:
            leaving[link.source].append(link)
            waiting[link.target] += 1
    rows = [0] * count
    ready = [index for index in range(count) if not waiting[index]]
    for node in ready:
        for link in leaving[node]:
            step = 1 if link.label is None else 2
            rows[link.target] = max(rows[link.target], rows[node] + step)
            waiting[link.target] -= 1
            if not waiting[link.target]:
                ready.append(link.target)
    return rows


class _Lanes:
    """The cells between rows, shared by the links to one box."""

    def __init__(self, cells: list[Cell]) -> None:
        self._cells = cells
        self._lanes: dict[tuple[int, int], Cell] = {}
        self._joined: set[tuple[int, int]] = set()
        self._steps = 0

    def add(self, cell: Cell) -> Cell:
        self._cells.append(cell)
        return cell

    def join(self, upper: Cell, lower: Cell) -> None:
        if (id(upper), id(lower)) not in self._joined:
            self._joined.add((id(upper), id(lower)))
            upper.below.append(lower)
            lower.above.append(upper)

    def between(self, above: Cell, target: Cell) -> list[Cell] | None:
        """The lane to `target`, one cell per row; `None` where that would be too many cells."""
        keys = [(target.item, row) for row in range(above.row + 1, target.row)]
        self._steps += len(keys)
        if self._steps > MOST_STEPS:
            self._steps -= len(keys)
            return None
        for key in keys:
            if key not in self._lanes:
                self._lanes[key] = self.add(Cell(LANE_WIDTH, 0, row=key[1], lane=True))
        return [self._lanes[key] for key in keys]


def _build_ways(
    cells: list[Cell], links: Sequence[Arrow], backward: set[int]
) -> Iterator[ArrowWay]:
    """Arrow by arrow; labels and lanes join `cells`."""
    lanes = _Lanes(cells)
    # Those that go back last: their labels then stand on the side where they go up.
    for index in sorted(range(len(links)), key=lambda index: (index in backward, index)):
        link = links[index]
        source, target = cells[link.source], cells[link.target]
        path = [source]
        label = None
        if link.label is not None:
            label = lanes.add(Cell(*link.label, row=source.row + 1))
            lanes.join(source, label)
            path.append(label)
        between = lanes.between(path[-1], target) if index not in backward else None
        if between is None:
            yield ArrowWay(index, "up" if index in backward else "around", [*path, target], label)
            continue
        path += [*between, target]
        for upper, lower in pairwise(path):
            lanes.join(upper, lower)
        yield ArrowWay(index, "down", path, label)


# ---------------------------------------------------------------------------- order


def _depth_first(cells: list[Cell], start: int) -> Iterator[Cell]:
    """Every cell once; what belongs to one branch stays together."""
    seen: set[int] = set()
    for root in (cells[start], *cells):
        stack = [root]
        while stack:
            cell = stack.pop()
            if id(cell) in seen:
                continue
            seen.add(id(cell))
            yield cell
            stack.extend(reversed(cell.below))


def _reduce_crossings(rows: list[list[Cell]]) -> None:
    """Sort each row by the middle of its neighbours, down and up, and keep the best order seen."""
    segments = sum(len(cell.below) for row in rows for cell in row)
    exact = segments <= _EXACT
    best = _count_crossings(rows) if exact else 1
    kept = [list(row) for row in rows]
    for sweep in range(_SWEEPS):
        if not best:
            break
        downwards = sweep % 2 == 0
        for row in rows if downwards else reversed(rows):
            _sort_row(row, downwards=downwards)
        if exact:
            crossings = _count_crossings(rows)
            if crossings < best:
                best, kept = crossings, [list(row) for row in rows]
    if exact:
        for row, order in zip(rows, kept, strict=True):
            _set_row(row, order)


def _sort_row(row: list[Cell], *, downwards: bool) -> None:
    def middle(cell: Cell) -> float:
        near = cell.above if downwards else cell.below
        return sum(other.at for other in near) / len(near) if near else float(cell.at)

    _set_row(row, sorted(row, key=middle))


def _set_row(row: list[Cell], order: list[Cell]) -> None:
    row[:] = order
    for at, cell in enumerate(row):
        cell.at = at


def _count_crossings(rows: list[list[Cell]]) -> int:
    """How many pairs of segments cross."""
    total = 0
    for row in rows:
        passed: list[int] = []
        for cell in row:
            ends = sorted(other.at for other in cell.below)
            total += sum(len(passed) - bisect_right(passed, end) for end in ends)
            for end in ends:
                insort(passed, end)
    return total


# ----------------------------------------------------------------------------
# Rows in, the horizontal middle of every cell out: lanes and main lines straight, nothing overlaps.
#
# Cells that a straight line should pass become one block (after Brandes and Köpf): a lane through
# several rows first, then the longest way through the graph.  Blocks never cross, so "left of" has no
# circle among them.  They begin as far left as they can, then each moves towards the middle of its
# neighbours as far as its own neighbours in the rows let it.


GAP = 34.0
_LANE_GAP = 12.0
_COLUMN_SWEEPS = 6


@dataclass(slots=True, eq=False)
class _Block:
    """Cells under each other, on one straight line."""

    cells: list[Cell] = field(default_factory=list)
    x: float = 0.0
    left: dict[int, tuple[_Block, float]] = field(default_factory=dict)
    """Block that stands to the left somewhere → (it, the least distance of the middles)."""
    right: dict[int, tuple[_Block, float]] = field(default_factory=dict)
    near: list[_Block] = field(default_factory=list)
    """Blocks at the other ends of its segments, once for each segment."""


def place_columns(rows: Rows) -> float:
    """Give every cell its `x`; the width of all comes back."""
    blocks, block_of = _build_blocks(rows)
    _link_neighbours(rows, block_of)
    order = _left_to_right(blocks)
    for block in order:
        block.x = max(
            (other.x + far for other, far in block.left.values()),
            default=_measure_half_width(block),
        )
    for _ in range(_COLUMN_SWEEPS):
        for block in order:
            _move_block(block)
        for block in reversed(order):
            _move_block(block)
    for block in blocks:
        for cell in block.cells:
            cell.x = block.x
    left = min(cell.x - cell.width / 2 for cell in rows.cells)
    for cell in rows.cells:
        cell.x -= left
    return max(cell.x + cell.width / 2 for cell in rows.cells)


def _measure_half_width(block: _Block) -> float:
    return max(cell.width for cell in block.cells) / 2


def _build_blocks(rows: Rows) -> tuple[list[_Block], dict[int, _Block]]:
    down = _line_lengths(rows, downwards=True)
    up = _line_lengths(rows, downwards=False)
    follows: dict[int, Cell] = {}
    led: set[int] = set()
    for row in rows.rows:
        segments = [(cell, other) for cell in row for other in cell.below]
        segments.sort(
            key=lambda pair: (
                not (pair[0].lane and pair[1].lane),
                -(down[id(pair[1])] + up[id(pair[0])]),
                pair[0].at,
            )
        )
        taken: list[tuple[int, int]] = []
        for upper, lower in segments:
            if (
                id(upper) in follows
                or id(lower) in led
                or not _fits_segment(taken, upper.at, lower.at)
            ):
                continue
            follows[id(upper)] = lower
            led.add(id(lower))
    blocks = []
    block_of: dict[int, _Block] = {}
    for row in rows.rows:
        for cell in row:
            if id(cell) in block_of:
                continue
            block = _Block()
            blocks.append(block)
            current: Cell | None = cell
            while current is not None:
                block.cells.append(current)
                block_of[id(current)] = block
                current = follows.get(id(current))
    return blocks, block_of


def _fits_segment(taken: list[tuple[int, int]], upper: int, lower: int) -> bool:
    """Whether the segment crosses none of those taken, which stay sorted; takes it if so."""
    at = bisect_left(taken, (upper, lower))
    if at and taken[at - 1][1] >= lower:
        return False
    if at < len(taken) and taken[at][1] <= lower:
        return False
    taken.insert(at, (upper, lower))
    return True


def _line_lengths(rows: Rows, *, downwards: bool) -> dict[int, int]:
    """Cell → boxes on the longest way from it down to an end, or up to a start."""
    found: dict[int, int] = {}
    for row in reversed(rows.rows) if downwards else rows.rows:
        for cell in row:
            near = cell.below if downwards else cell.above
            longest = max((found[id(other)] for other in near), default=0)
            found[id(cell)] = longest + (not cell.lane)
    return found


def _link_neighbours(rows: Rows, block_of: dict[int, _Block]) -> None:
    for row in rows.rows:
        for one, other in pairwise(row):
            gap = _LANE_GAP if one.lane or other.lane else GAP
            far = (one.width + other.width) / 2 + gap
            left, right = block_of[id(one)], block_of[id(other)]
            known = right.left.get(id(left))
            if known is None or known[1] < far:
                right.left[id(left)] = (left, far)
                left.right[id(right)] = (right, far)
        for cell in row:
            for below in cell.below:
                upper, lower = block_of[id(cell)], block_of[id(below)]
                if upper is not lower:
                    upper.near.append(lower)
                    lower.near.append(upper)


def _left_to_right(blocks: list[_Block]) -> list[_Block]:
    waiting = {id(block): len(block.left) for block in blocks}
    ready = deque(block for block in blocks if not block.left)
    order = []
    while ready:
        block = ready.popleft()
        order.append(block)
        for other, _ in block.right.values():
            waiting[id(other)] -= 1
            if not waiting[id(other)]:
                ready.append(other)
    assert len(order) == len(blocks), "blocks cross"
    return order


def _move_block(block: _Block) -> None:
    if not block.near:
        return
    wanted = median(other.x for other in block.near)
    lowest = max(_list_limits(block.left, 1), default=None)
    highest = min(_list_limits(block.right, -1), default=None)
    if highest is not None:
        wanted = min(wanted, highest)
    if lowest is not None:
        wanted = max(wanted, lowest)
    block.x = wanted


def _list_limits(sides: dict[int, tuple[_Block, float]], sign: int) -> Iterator[float]:
    return (other.x + sign * far for other, far in sides.values())
