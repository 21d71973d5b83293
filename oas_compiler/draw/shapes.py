"""Boxes, frames and lines as SVG elements.

shape("gate", "oas-gate", 0, 0, 100, 40)  ->  <polygon class="oas-gate" points="0,20 14,0 …"/>
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from oas_compiler.draw.arrange import Point
from oas_compiler.draw.boxes import (
    MARK_HEIGHT,
    NAME_LINE,
    POINT,
    SMALL_LINE,
    Box,
    Mark,
)
from oas_compiler.draw.layout import LABEL_HEIGHT, Placed, Wire
from oas_compiler.kinds.kind import Shape
from oas_compiler.text.safe import safe

_CORNER = 7.0
_TIP = 8.0
_FOLD = 10.0
_SIDE = 5.0
_SPECIAL = re.compile("[&<>\"']")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}


def escape(text: str) -> str:
    """Text for XML and HTML, in elements and in attributes."""
    return _SPECIAL.sub(lambda match: _ENTITIES[match[0]], text)


def number(value: float) -> str:
    """At most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def text(x: float, y: float, words: str, classes: str) -> str:
    return f'<text class="{classes}" x="{number(x)}" y="{number(y)}">{escape(words)}</text>'


def rectangle(classes: str, x: float, y: float, size: Point, radius: float) -> str:
    wide, high = size
    return (
        f'<rect class="{classes}" x="{number(x)}" y="{number(y)}" width="{number(wide)}" '
        f'height="{number(high)}" rx="{number(radius)}"/>'
    )


def shape(kind: Shape, classes: str, x: float, y: float, size: Point) -> str:
    """The outline of a box."""
    wide, high = size
    right, low, middle = x + wide, y + high, y + high / 2
    match kind:
        case "start" | "end":
            return rectangle(classes, x, y, size, min(high / 2, 20))
        case "gate":
            tip = min(POINT, wide / 4)
            return _draw_polygon(
                classes,
                (x, middle), (x + tip, y), (right - tip, y),
                (right, middle), (right - tip, low), (x + tip, low),
            )  # fmt: skip
        case "branch":
            centre = x + wide / 2
            return _draw_polygon(classes, (x, middle), (centre, y), (right, middle), (centre, low))
        case "message":
            fold = min(_FOLD, wide / 4)
            corner = (right - fold, y), (right, y + fold)
            outline = _format_points((x, y), *corner, (right, low), (x, low))
            crease = _format_points(corner[0], (right - fold, y + fold), corner[1])
            return f'<path class="{classes}" d="M{outline}ZM{crease}"/>'
        case "call":
            side = min(_SIDE, wide / 6)
            bars = "".join(
                f"M{number(at)},{number(y)}V{number(low)}" for at in (x + side, right - side)
            )
            outline = _format_points((x, y), (right, y), (right, low), (x, low))
            return f'<path class="{classes}" d="M{outline}Z{bars}"/>'
        case _:
            return rectangle(classes, x, y, size, 5)


def _format_points(*points: Point) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


def _draw_polygon(classes: str, *points: Point) -> str:
    return f'<polygon class="{classes}" points="{_format_points(*points)}"/>'


# ---------------------------------------------------------------------------- nodes


def node(placed: Placed) -> Iterator[str]:
    """A box with all that is written in it."""
    box = placed.box
    style = "send" if box.sends else box.kind
    yield _open_group(box, "oas-node")
    yield shape(box.kind, f"oas-{style}", placed.x, placed.y, (placed.width, placed.height))
    written = (
        NAME_LINE * len(box.lines)
        + SMALL_LINE * bool(box.caption)
        + (MARK_HEIGHT + 6) * bool(box.marks)
    )
    middle, y = placed.x + placed.width / 2, placed.y + (placed.height - written) / 2
    yield from _draw_head(box, middle, y, style)
    if box.marks:
        yield from _draw_marks(box.marks, middle, y + written - MARK_HEIGHT)
    yield "</g>"


def frame(placed: Placed) -> Iterator[str]:
    """The frame of a subflow with its head; what is inside is drawn over it."""
    style = "frame-send" if placed.box.sends else "frame-odd" if placed.depth % 2 else "frame"
    yield _open_group(placed.box, "oas-subflow")
    yield rectangle(f"oas-{style}", placed.x, placed.y, (placed.width, placed.height), 10)
    box, middle, y = placed.box, placed.x + placed.width / 2, placed.y + 8
    yield from _draw_head(box, middle, y, style)
    if box.sends:
        below = y + NAME_LINE * len(box.lines) + SMALL_LINE * bool(box.caption) + 6
        yield from _draw_marks(
            tuple(mark for mark in box.marks if mark.kind == "send"), middle, below
        )
    yield "</g>"


def _open_group(box: Box, classes: str) -> str:
    path = escape(safe("/".join(box.path)))
    sends = ' data-sends="yes"' if box.sends else ""
    return (
        f'<g class="{classes}" data-node="{path}" data-type="{box.kind}"{sends}>'
        f"<title>{escape(box.about)}</title>"
    )


def _draw_head(box: Box, x: float, y: float, style: str) -> Iterator[str]:
    if box.caption:
        yield text(x, y + 10.5, box.caption, f"oas-caption oas-{style}-text")
        y += SMALL_LINE
    for line in box.lines:
        yield text(x, y + 13, line, f"oas-name oas-{style}-text")
        y += NAME_LINE


def _draw_marks(marks: tuple[Mark, ...], middle: float, y: float) -> Iterator[str]:
    x = middle - (sum(mark.width for mark in marks) + 6 * (len(marks) - 1)) / 2
    for mark in marks:
        yield from pill(mark.text, f"mark-{mark.kind}", (x, y), mark.width, MARK_HEIGHT)
        x += mark.width + 6


def pill(words: str, style: str, at: Point, wide: float, high: float) -> Iterator[str]:
    """A small label on a ground of its own."""
    x, y = at
    yield rectangle(f"oas-{style}", x, y, (wide, high), high / 2)
    yield text(x + wide / 2, y + high / 2 + 3.8, words, f"oas-bold oas-{style}-text")


# ---------------------------------------------------------------------------- lines


def wire(made: Wire) -> Iterator[str]:
    """The line of a control edge and its arrow head."""
    style = "loop" if made.loop else "line"
    ends = "".join(
        f' data-{name}="{escape(safe(value))}"'
        for name, value in (
            ("from", "/".join(made.source)),
            ("to", "/".join(made.target)),
            ("branch", made.branch),
        )
    )
    yield f'<path class="oas-{style}"{ends} d="{rounded(made.points)}"/>'
    (a, b), (x, y) = made.points[-2], made.points[-1]
    sign = 1.0 if y >= b else -1.0
    tip = "loop-tip" if made.loop else "tip"
    back = y - sign * _TIP
    yield _draw_polygon(f"oas-{tip}", (x, y), (x - _TIP / 2, back), (x + _TIP / 2, back))
    assert abs(a - x) < 1, "lines enter boxes from above"


def label(made: Wire) -> Iterator[str]:
    """The branch on its line; nothing where there is none."""
    if made.label_at is not None:
        style = "loop-label" if made.loop else "label"
        yield from pill(made.label, style, made.label_at, made.label_width, LABEL_HEIGHT)


def rounded(points: tuple[Point, ...]) -> str:
    """A path through `points` with round corners, ending where the arrow head begins."""
    last = (points[-1][0], points[-1][1] - _TIP + 1)
    line = (*points[:-1], last)
    parts = [f"M{_format_points(line[0])}"]
    for before, corner, after in zip(line, line[1:], line[2:], strict=False):
        enter, leave = _locate_curve_start(corner, before), _locate_curve_start(corner, after)
        parts.append(f"L{_format_points(enter)}Q{_format_points(corner, leave)}")
    parts.append(f"L{_format_points(last)}")
    return "".join(parts)


def _locate_curve_start(corner: Point, other: Point) -> Point:
    """The point on the way from `corner` to `other` where the corner's curve begins."""
    (x, y), (a, b) = corner, other
    far = abs(a - x) + abs(b - y)
    part = min(_CORNER, far / 2) / far if far else 0.0
    return x + (a - x) * part, y + (b - y) * part
