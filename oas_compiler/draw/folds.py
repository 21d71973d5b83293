"""Heights of rows and gaps in, the place of every row out: under each other, or folded.

A tall drawing is folded where one single line passes between two rows: the rest stands beside the
first part, as the columns of a newspaper do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from oas_compiler.draw.wires import WireTracks, span, steps

GAP = 34.0
TRACK = 12.0
_COLUMN_GAP = 72.0
_MOST_COLUMNS = 80
_GAIN = 0.75
"""A folded drawing is at most this part of its height, or it stays as it is."""
_HEAD = GAP
"""Room above the columns for the lines that come from the left."""


@dataclass(slots=True)
class Column:
    """Rows that stand under each other."""

    first: int
    last: int
    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0


@dataclass(slots=True)
class Folded:
    """Where the rows are.  Lists have one entry per row, and one more for the gap below all."""

    tops: list[float]
    """y of each row."""
    gaps: list[float]
    """y of the gap above each row."""
    shifts: list[float]
    """What to add to every x in the row and in the gap above it."""
    joints: dict[int, tuple[Column, Column]]
    """First row of a column → the column that its one line comes from, and its own."""
    width: float
    height: float


def fold(wiring: WireTracks, *, aspect: float, tallest: float) -> Folded:
    """Stack the rows; what is taller than `tallest` is folded to about `aspect` (width : height)."""
    heights = [max(cell.height for cell in row) for row in wiring.rows.rows]
    tops, gaps = _stack_rows(heights, wiring.tracks)
    extents = _measure_extents(wiring)
    end = [top + height for top, height in zip(tops, heights, strict=False)]
    best = _make_columns([(0, len(heights) - 1)], tops, end, extents)
    best[0].bottom = tops[-1]
    if tops[-1] > tallest:
        cuts = _find_cuts(wiring)
        limits = [tops[-1] / parts * room for parts in range(2, _MOST_COLUMNS) for room in (1, 1.1)]
        for limit in limits:
            spans = _split_rows(cuts, tops, end, limit)
            tried = _make_columns(spans, tops, end, extents)
            lower = max(column.bottom for column in tried) < tops[-1] * _GAIN
            if lower and _score_columns(tried, aspect) < _score_columns(best, aspect) - 0.02:
                best = tried
    return _place_rows(best, tops, gaps, extents)


def _stack_rows(heights: list[float], tracks: list[int]) -> tuple[list[float], list[float]]:
    y, tops, gaps = 0.0, [], []
    for row, count in enumerate(tracks):
        gaps.append(y)
        inner = 0 < row < len(heights)
        y += GAP + TRACK * max(0, count - 1) if inner or count else 0.0
        tops.append(y)
        y += heights[row] if row < len(heights) else 0.0
    return tops, gaps


def _measure_extents(wiring: WireTracks) -> list[tuple[float, float]]:
    """How far left and right each row reaches, with the tracks beside it."""
    left = [min(cell.x - cell.width / 2 for cell in row) for row in wiring.rows.rows]
    right = [max(cell.x + cell.width / 2 for cell in row) for row in wiring.rows.rows]
    for way in wiring.rows.ways:
        if way.kind != "down":
            for row in span(way):
                right[row] = max(right[row], wiring.sides[id(way)])
    return list(zip(left, right, strict=True))


def _find_cuts(wiring: WireTracks) -> list[int]:
    """Rows above which exactly one line passes, and none beside them."""
    count = len(wiring.rows.rows)
    passing: list[set[tuple[int, int]]] = [set() for _ in range(count)]
    beside = [0] * (count + 2)
    for way in wiring.rows.ways:
        for upper, lower in steps(way):
            passing[lower.row].add((id(upper), id(lower)))
        if way.kind != "down":
            first, last = span(way)
            beside[first] += 1
            beside[last + 2] -= 1
    found, open_ = [], 0
    for row in range(count):
        open_ += beside[row]
        if row and not open_ and len(passing[row]) == 1:
            found.append(row)
    return found


def _split_rows(
    cuts: list[int], tops: list[float], end: list[float], limit: float
) -> list[tuple[int, int]]:
    """Spans of rows no taller than `limit`, as far as the cuts allow."""
    spans = []
    first, allowed = 0, 0
    for cut in [*cuts, len(end)]:
        if end[cut - 1] - tops[first] > limit and allowed > first:
            spans.append((first, allowed - 1))
            first = allowed
        allowed = cut
    return [*spans, (first, len(end) - 1)]


def _make_columns(
    spans: list[tuple[int, int]],
    tops: list[float],
    end: list[float],
    extents: list[tuple[float, float]],
) -> list[Column]:
    columns, x = [], 0.0
    for first, last in spans:
        rows = extents[first : last + 1]
        wide = max(right for _, right in rows) - min(left for left, _ in rows)
        column = Column(first, last, left=x, right=x + wide)
        column.bottom = end[last] - tops[first]
        column.bottom += _measure_headroom(first, tops) + GAP if len(spans) > 1 else 0.0
        columns.append(column)
        x = column.right + _COLUMN_GAP
    return columns


def _measure_headroom(first: int, tops: list[float]) -> float:
    """Room above a column; above the first row of all there may be lines back to it as well."""
    return _HEAD if first else max(_HEAD, tops[0])


def _score_columns(columns: list[Column], aspect: float) -> float:
    """How far the whole is from the wanted aspect; each column is one more jump for the eye."""
    wide, high = columns[-1].right, max(column.bottom for column in columns)
    short = len(columns) > 1 and columns[-1].bottom < high / 3
    return abs(math.log(max(wide, 1) / max(high, 1) / aspect)) + 0.03 * len(columns) + 0.1 * short


def _place_rows(
    columns: list[Column],
    tops: list[float],
    gaps: list[float],
    extents: list[tuple[float, float]],
) -> Folded:
    alone = len(columns) == 1
    shifts = [0.0] * len(tops)
    for column in columns:
        down = 0.0 if alone else _measure_headroom(column.first, tops) - tops[column.first]
        left = min(low for low, _ in extents[column.first : column.last + 1])
        last = len(tops) if column is columns[-1] else column.last + 1
        for row in range(column.first, last):
            tops[row] += down
            gaps[row] += down
            shifts[row] = 0.0 if alone else column.left - left
    return Folded(
        tops=tops,
        gaps=gaps,
        shifts=shifts,
        joints={other.first: (one, other) for one, other in pairwise(columns)},
        width=columns[-1].right,
        height=max(*(column.bottom for column in columns), tops[-1]),
    )
