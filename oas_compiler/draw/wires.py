"""Cells with their columns in; out: where lines leave boxes, and their tracks between the rows.

Lines run in the gaps between rows and never through a box.  Each gap has as many tracks as its
sideways pieces need, so that no two of them lie on each other unless they go to the same box.
A line that goes back up runs beside the rows, in a track of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from oas_compiler.draw.ranks import ArrowWay, Cell, Rows

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
