"""What must hold for every drawing: nothing overlaps, lines touch the right boxes and no others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from oas_compiler.draw.arrangement import Arrangement, arrange
from oas_compiler.draw.grid import Arrow, Item
from oas_compiler.draw.picture import LABEL_HEIGHT, Picture, Placed

Rectangle = tuple[float, float, float, float]
"""Left, top, right, bottom."""
EDGE = 0.6


def rectangle(placed: Placed) -> Rectangle:
    return placed.x, placed.y, placed.x + placed.width, placed.y + placed.height


def overlap(one: Rectangle, other: Rectangle) -> bool:
    return (
        one[0] < other[2] - EDGE
        and other[0] < one[2] - EDGE
        and one[1] < other[3] - EDGE
        and other[1] < one[3] - EDGE
    )


def segments(points: Sequence[tuple[float, float]]) -> list[Rectangle]:
    return [
        (min(a, c), min(b, d), max(a, c), max(b, d))
        for (a, b), (c, d) in itertools.pairwise(points)
    ]


def passes_through(points: Sequence[tuple[float, float]], box: Rectangle) -> bool:
    """Whether a line enters the inside of a box (its edge does not count)."""
    left, top, right, bottom = box
    inside = (left + EDGE, top + EDGE, right - EDGE, bottom - EDGE)
    return any(
        part[0] <= inside[2] and inside[0] <= part[2] and part[1] <= inside[3] and inside[1] <= part[3]
        for part in segments(points)
    )  # fmt: skip


def upright(points: Sequence[tuple[float, float]]) -> bool:
    """Every piece runs across or down."""
    return all(abs(a - c) < EDGE or abs(b - d) < EDGE for (a, b), (c, d) in itertools.pairwise(points))  # fmt: skip


def check_level(
    boxes: Sequence[Rectangle],
    lines: Sequence[tuple[int, int, Sequence[tuple[float, float]]]],
    labels: Sequence[Rectangle],
) -> None:
    """One level of a drawing; lines are (source, target, points)."""
    things = [*boxes, *labels]
    for one, other in itertools.combinations(things, 2):
        assert not overlap(one, other), (one, other)
    for source, target, points in lines:
        assert upright(points), points
        start, goal = boxes[source], boxes[target]
        assert start[0] <= points[0][0] <= start[2], "a line leaves its source"
        assert (start[1] + start[3]) / 2 - EDGE <= points[0][1] <= start[3] + EDGE
        assert goal[0] <= points[-1][0] <= goal[2], "a line ends at its target"
        assert goal[1] - EDGE <= points[-1][1] <= (goal[1] + goal[3]) / 2 + EDGE
        for index, box in enumerate(boxes):
            if index not in {source, target}:
                assert not passes_through(points, box), (source, target, index)


def check_arrangement(items: Sequence[Item], links: Sequence[Arrow], made: Arrangement) -> None:
    boxes = [
        (x, y, x + item.width, y + item.height)
        for item, (x, y) in zip(items, made.places, strict=True)
    ]
    labels = [
        (x, y, x + link.label[0], y + link.label[1])
        for link, line in zip(links, made.lines, strict=True)
        if link.label is not None and line.label is not None
        for x, y in [line.label]
    ]
    assert len(labels) == sum(link.label is not None for link in links)
    lines = [
        (link.source, link.target, line.points)
        for link, line in zip(links, made.lines, strict=True)
    ]
    check_level(boxes, lines, labels)
    for left, top, right, bottom in [*boxes, *labels]:
        assert left >= -EDGE
        assert top >= -EDGE
        assert right <= made.width + EDGE
        assert bottom <= made.height + EDGE
    for line in made.lines:
        for x, y in line.points:
            assert -EDGE <= x <= made.width + EDGE
            assert -EDGE <= y <= made.height + EDGE


def check_picture(picture: Picture) -> None:
    """Every level of a whole picture, and that frames hold what is in them."""
    placed = {one.box.path: one for one in [*picture.boxes, *picture.frames]}
    for path, one in placed.items():
        if len(path) > 1:
            outer, inner = rectangle(placed[path[:-1]]), rectangle(one)
            assert outer[0] < inner[0]
            assert inner[2] < outer[2]
            assert outer[1] < inner[1]
            assert inner[3] < outer[3]
    for around in {path[:-1] for path in placed}:
        level = [path for path in placed if path[:-1] == around]
        wires = [wire for wire in picture.wires if wire.source[:-1] == around]
        check_level(
            [rectangle(placed[path]) for path in level],
            [(level.index(w.source), level.index(w.target), w.points) for w in wires],
            [
                (x, y, x + w.label_width, y + LABEL_HEIGHT)
                for w in wires
                if w.label_at is not None
                for x, y in [w.label_at]
            ],
        )


__all__ = ["Item", "Arrow", "arrange", "check_arrangement", "check_picture"]
