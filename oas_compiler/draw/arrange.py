"""Boxes and links in, places and lines out: the layout of one level of a flow.

    arrange((Item(100, 40), Item(100, 40)), (Arrow(0, 1),), 0)
        ->  places ((0, 0), (0, 74)), one line from (50, 40) to (50, 74)

ranks.py    which row and in what order        columns.py  how far to the right
wires.py    how the lines run between rows     folds.py    how far down, and in how many columns
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oas_compiler.draw.columns import place_columns
from oas_compiler.draw.folds import GAP, TRACK, Folded, fold
from oas_compiler.draw.ranks import Arrow, ArrowWay, Cell, Item, arrange_rows
from oas_compiler.draw.wires import SAME, Piece, WireTracks, entry, steps, wire

Point = tuple[float, float]
_MOST_LOWERED = 14.0
"""How far a box stands below the top of a taller row: its line from above stays short."""


@dataclass(frozen=True, slots=True)
class Line:
    """The line of one link."""

    points: tuple[Point, ...]
    loop: bool
    """Whether it goes back up."""
    label: Point | None
    """The left upper corner of its label."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Everything placed; the left upper corner is (0, 0)."""

    places: tuple[Point, ...]
    """The left upper corner of each item."""
    lines: tuple[Line, ...]
    """One for each link, in order."""
    width: float
    height: float


def arrange(
    items: Sequence[Item],
    links: Sequence[Arrow],
    start: int,
    *,
    aspect: float = 1.5,
    tallest: float = float("inf"),
) -> Arrangement:
    """Place `items` and draw `links`; fold what is taller than `tallest` to about `aspect`."""
    rows = arrange_rows(items, links, start)
    wiring = wire(rows, place_columns(rows))
    folded = fold(wiring, aspect=aspect, tallest=tallest)
    for row, cells in enumerate(rows.rows):
        high = max(cell.height for cell in cells)
        for cell in cells:
            cell.y = folded.tops[row] + min((high - cell.height) / 2, _MOST_LOWERED)
    lines = _Lines(wiring, folded)
    places = tuple(
        (cell.x - cell.width / 2 + folded.shifts[cell.row], cell.y)
        for cell in rows.cells[: len(items)]
    )
    drawn = tuple(lines.line(way) for way in sorted(rows.ways, key=lambda way: way.link))
    return Arrangement(places, drawn, folded.width, folded.height)


class _Lines:
    def __init__(self, wiring: WireTracks, folded: Folded) -> None:
        self._wiring = wiring
        self._folded = folded

    def line(self, way: ArrowWay) -> Line:
        source = way.cells[0]
        port = self._wiring.port(source, way.cells[1])
        points = [self._at(source.row, source.x + port, _measure_bottom(source, port))]
        for upper, lower in steps(way):
            points.extend(self._iterate_step_points(upper, lower))
        target = way.cells[-1]
        if way.kind == "down":
            points.append(self._at(target.row, target.x, target.y))
        else:
            points.extend(self._iterate_beside_points(way))
        label = way.label
        at = None
        if label is not None:
            at = self._at(label.row, label.x - label.width / 2, label.y)
        return Line(tuple(_select_bends(points)), way.kind == "up", at)

    def _iterate_step_points(self, upper: Cell, lower: Cell) -> Iterator[Point]:
        joint = self._folded.joints.get(lower.row)
        if joint is not None:
            one, other = joint
            start, _ = self._at(upper.row, upper.x + self._wiring.port(upper, lower), 0)
            goal, _ = self._at(lower.row, lower.x, 0)
            middle = (one.right + other.left) / 2
            low, high = one.bottom - GAP / 2, GAP / 2 - TRACK
            yield from ((start, low), (middle, low), (middle, high), (goal, high))
            return
        piece = self._wiring.piece(upper, lower)
        if piece is not None:
            y = self._measure_track_y(lower.row, piece)
            yield self._at(lower.row, piece.start, y)
            yield self._at(lower.row, piece.end, y)

    def _iterate_beside_points(self, way: ArrowWay) -> Iterator[Point]:
        last, target = way.cells[-2], way.cells[-1]
        leaving = self._wiring.pieces[last.row + 1][id(way), 0]
        entering = self._wiring.pieces[target.row][id(way), 1]
        for row, piece in ((last.row + 1, leaving), (target.row, entering)):
            y = self._measure_track_y(row, piece)
            yield self._at(row, piece.start, y)
            yield self._at(row, piece.end, y)
        y = target.y + _measure_rise(target, entry(target))
        yield self._at(target.row, entering.end, y)

    def _measure_track_y(self, row: int, piece: Piece) -> float:
        return self._folded.gaps[row] + GAP / 2 + piece.track * TRACK

    def _at(self, row: int, x: float, y: float) -> Point:
        return x + self._folded.shifts[row], y


def _measure_bottom(cell: Cell, port: float) -> float:
    return cell.y + cell.height - _measure_rise(cell, port)


def _measure_rise(cell: Cell, aside: float) -> float:
    """How far the edge of a diamond is from its tip, `aside` from its middle; 0 of other boxes."""
    return cell.height * abs(aside) / cell.width if cell.pointed else 0.0


def _select_bends(points: list[Point]) -> Iterator[Point]:
    """The points without repeats and without those in the middle of a straight piece."""
    kept: list[Point] = []
    for point in points:
        if kept and abs(kept[-1][0] - point[0]) < SAME and abs(kept[-1][1] - point[1]) < SAME:
            continue
        while len(kept) > 1 and _is_straight(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    yield from kept


def _is_straight(one: Point, other: Point, third: Point) -> bool:
    return any(
        abs(one[axis] - other[axis]) < SAME and abs(other[axis] - third[axis]) < SAME
        for axis in (0, 1)
    )
