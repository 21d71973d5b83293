"""The layout of one level of a flow: boxes and links in, places and lines out.

    arrange((Item(100, 40), Item(100, 40)), (Arrow(0, 1),), 0)
        ->  places ((0, 0), (0, 74)), one line from (50, 40) to (50, 74)

grid.py gives each box its row, its order in the row and its horizontal place.  This module adds the
way of each line between the rows, the vertical place of each row, and the number of columns.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import pairwise

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.draw.grid import Arrow, ArrowWay, Cell, Item, Rows, arrange_rows, place_columns

# ----------------------------------------------------------------------------
# Cells with their columns in; out: where lines leave boxes, and their tracks between the rows.
#
# Lines run in the gaps between rows and never through a box.  Each gap has as many tracks as its
# sideways pieces need, so that no two of them lie on each other unless they go to the same box.
# A line that goes back up runs beside the rows, in a track of its own.


SIDE = 16.0
"""Distance between the tracks beside the rows."""
_PORT = 26.0
"""Distance between the places where two lines leave one box."""
_CORNER = 18.0
"""Part of a box's lower edge, on either side, where no line leaves it."""
SAME = 0.5
_CLOSE = 9.0
_MANY = 200
"""Lines beside the rows up to which each comes as near as it can."""
_FEW = 60
"""Lines in one gap up to which none may lie on a piece of another."""


@dataclass(slots=True, eq=False)
class Piece:
    """A sideways piece of a line in a gap."""

    start: float
    end: float
    group: int
    """Pieces of one group may lie on each other: they go to one place."""
    track: int = 0


@dataclass(slots=True, eq=False)
class WireTracks:
    """How the lines of `rows` run; row numbers name the gap above the row."""

    rows: Rows
    ports: dict[tuple[int, int], float] = field(default_factory=dict)
    """(upper cell, lower cell) → how far from the upper one's middle the line leaves it."""
    pieces: list[dict[tuple[int, int], Piece]] = field(default_factory=list)
    """Gap → (upper cell, lower cell), or (way, 0 leaving and 1 entering) → piece."""
    sides: dict[int, float] = field(default_factory=dict)
    """ArrowWay → x of its track beside the rows."""
    tracks: list[int] = field(default_factory=list)
    """Gap → number of its tracks."""

    def port(self, upper: Cell, lower: Cell) -> float:
        return self.ports.get((id(upper), id(lower)), 0.0)

    def piece(self, upper: Cell, lower: Cell) -> Piece | None:
        """`None` where the line runs straight down."""
        return self.pieces[lower.row].get((id(upper), id(lower)))


def wire(rows: Rows, width: float) -> WireTracks:
    """Wire `rows`, which are `width` wide."""
    wiring = WireTracks(rows, pieces=[{} for _ in range(len(rows.rows) + 1)])
    _spread_ports(wiring)
    _place_sides(wiring, width)
    _cut_into_pieces(wiring)
    wiring.tracks = [_assign_tracks(list(pieces.values())) for pieces in wiring.pieces]
    return wiring


def steps(way: ArrowWay) -> Iterator[tuple[Cell, Cell]]:
    """The pairs of cells, one row apart, between which the line runs down."""
    cells = way.cells if way.kind == "down" else way.cells[:-1]
    yield from pairwise(cells)


def span(way: ArrowWay) -> tuple[int, int]:
    """First and last row that the line passes beside."""
    last, target = way.cells[-2].row, way.cells[-1].row
    return min(last, target), max(last, target)


def entry(cell: Cell) -> float:
    """How far from the middle a line that comes from beside the rows enters a box."""
    return min(22.0, cell.width / 5)


def _spread_ports(wiring: WireTracks) -> None:
    leaving: dict[int, tuple[Cell, dict[int, float]]] = {}
    for way in wiring.rows.ways:
        source, second = way.cells[0], way.cells[1]
        beside = way.kind != "down" and way.label is None
        goals = leaving.setdefault(id(source), (source, {}))[1]
        goals[id(second)] = float("inf") if beside else second.x
    for source, goals in leaving.values():
        order = sorted(goals, key=goals.__getitem__)
        straight = [i for i, key in enumerate(order) if abs(goals[key] - source.x) < SAME]
        middle = float(straight[0]) if straight else (len(order) - 1) / 2
        most = max(middle, len(order) - 1 - middle) or 1.0
        step = min(_PORT, max(0.0, source.width / 2 - _CORNER) / most)
        for index, key in enumerate(order):
            wiring.ports[id(source), key] = (index - middle) * step


def _place_sides(wiring: WireTracks, width: float) -> None:
    """The shortest lines stand nearest to the rows."""
    ways = [way for way in wiring.rows.ways if way.kind != "down"]
    ways.sort(key=lambda way: (span(way)[1] - span(way)[0], way.link))
    if len(ways) > _MANY:
        for index, way in enumerate(ways):
            wiring.sides[id(way)] = width + SIDE + index * SIDE / 4
        return
    reach = [max(cell.x + cell.width / 2 for cell in row) for row in wiring.rows.rows]
    placed: list[tuple[int, int, float]] = []
    for way in ways:
        first, last = span(way)
        x = max(reach[first : last + 1]) + SIDE + 6
        for low, high, taken in placed:
            if low <= last + 1 and first <= high + 1:
                x = max(x, taken + SIDE)
        placed.append((first, last, x))
        wiring.sides[id(way)] = x


def _cut_into_pieces(wiring: WireTracks) -> None:
    for way in wiring.rows.ways:
        for upper, lower in steps(way):
            start = upper.x + wiring.port(upper, lower)
            if abs(start - lower.x) >= SAME:
                piece = Piece(start, lower.x, id(lower))
                wiring.pieces[lower.row].setdefault((id(upper), id(lower)), piece)
        if way.kind == "down":
            continue
        last, target = way.cells[-2], way.cells[-1]
        x = wiring.sides[id(way)]
        leaving = Piece(last.x + wiring.port(last, target), x, id(way))
        entering = Piece(x, target.x + entry(target), id(way) + 1)
        wiring.pieces[last.row + 1][id(way), 0] = leaving
        wiring.pieces[target.row][id(way), 1] = entering


def _assign_tracks(pieces: list[Piece]) -> int:
    """Give each piece of a gap its track, 0 the upmost; the number of tracks comes back."""
    groups: dict[int, list[Piece]] = defaultdict(list)
    for piece in pieces:
        groups[piece.group].append(piece)
    order = sorted(groups.values(), key=_make_sort_key)
    few = len(order) <= _FEW
    if few:
        order = _above_what_they_meet(order)
    tracks: list[list[tuple[float, float]]] = []
    lowest: dict[int, int] = {}
    for group in order:
        low = min(min(piece.start, piece.end) for piece in group) - _CLOSE
        high = max(max(piece.start, piece.end) for piece in group) + _CLOSE
        track = _first_free(tracks, low, high, lowest.get(id(group), 0))
        for piece in group:
            piece.track = track
        for other in order if few else ():
            if other is not group and _must_be_above(group, other):
                lowest[id(other)] = max(lowest.get(id(other), 0), track + 1)
    return len(tracks)


def _first_free(
    tracks: list[list[tuple[float, float]]], low: float, high: float, track: int
) -> int:
    """The first track from `track` on with room from `low` to `high`, which is taken."""
    while track < len(tracks) and any(low < end and start < high for start, end in tracks[track]):
        track += 1
    while track >= len(tracks):
        tracks.append([])
    tracks[track].append((low, high))
    return track


def _make_sort_key(group: list[Piece]) -> tuple[bool, float]:
    """Of lines that go right the one that starts rightmost is upmost; they cross less so."""
    first = max(group, key=lambda piece: abs(piece.end - piece.start))
    rightwards = first.end > first.start
    return rightwards, -first.start if rightwards else first.start


def _must_be_above(one: list[Piece], other: list[Piece]) -> bool:
    """Whether `one` comes down where `other` goes on down, so that they would lie on each other."""
    return any(abs(a.start - b.end) < _CLOSE for a in one for b in other)


def _above_what_they_meet(groups: list[list[Piece]]) -> list[list[Piece]]:
    """The same groups, each after those that must be above it; a circle stays as it is."""
    rest = list(groups)
    order: list[list[Piece]] = []
    while rest:
        free = next(
            (g for g in rest if not any(_must_be_above(o, g) for o in rest if o is not g)), rest[0]
        )
        rest.remove(free)
        order.append(free)
    return order


# ----------------------------------------------------------------------------
# Heights of rows and gaps in, the place of every row out: under each other, or folded.
#
# A tall drawing is folded where one single line passes between two rows: the rest stands beside the
# first part, as the columns of a newspaper do.


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
