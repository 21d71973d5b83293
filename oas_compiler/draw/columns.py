"""Rows in, the horizontal middle of every cell out: lanes and main lines straight, nothing overlaps.

Cells that a straight line should pass become one block (after Brandes and Köpf): a lane through
several rows first, then the longest way through the graph.  Blocks never cross, so "left of" has no
circle among them.  They begin as far left as they can, then each moves towards the middle of its
neighbours as far as its own neighbours in the rows let it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from oas_compiler.draw.ranks import Cell, Rows

GAP = 34.0
_LANE_GAP = 12.0
_SWEEPS = 6


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
    for _ in range(_SWEEPS):
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
