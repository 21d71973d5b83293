"""A picture in, SVG text out.

Self-contained: no script, no link, no font, no `foreignObject`; readers that know only basic SVG
show it too (arrow heads are shapes, colours are plain classes).  Every node is a group
`<g class="oas-node" data-node="outer/inner" data-type="gate">`, every control edge a path with
`data-from`, `data-to` and `data-branch`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.draw.arrangement import Point
from oas_compiler.draw.picture import (
    LABEL_HEIGHT,
    MARK_HEIGHT,
    NAME_LINE,
    POINT,
    SMALL_LINE,
    SMALL_SIZE,
    Box,
    Mark,
    Picture,
    Placed,
    Wire,
    width,
    wrap,
)
from oas_compiler.kinds.kind import Shape
from oas_compiler.text.safe_text import safe

# ----------------------------------------------------------------------------
# Boxes, frames and lines as SVG elements.
#
# shape("gate", "oas-gate", 0, 0, 100, 40)  ->  <polygon class="oas-gate" points="0,20 14,0 …"/>


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


# ----------------------------------------------------------------------------
# The legend of a picture: one entry for each kind of shape and line in it.


ROW = 26.0
_SAMPLE = (30.0, 16.0)
_SPACE = 20.0

_WORDS: tuple[tuple[Shape, str], ...] = (
    ("start", "start or end"),
    ("gate", "gate: a person decides"),
    ("call", "call"),
    ("branch", "branch"),
    ("message", "message"),
    ("step", "computation"),
    ("subflow", "subflow"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A sample and what it means."""

    kind: Shape | None
    """`None` for lines."""
    style: str
    words: str

    @property
    def width(self) -> float:
        return _SAMPLE[0] + 8 + width(self.words, SMALL_SIZE) + _SPACE


def entries(picture: Picture) -> tuple[Entry, ...]:
    """The entries for what `picture` holds, in a fixed order."""
    found = [
        Entry(kind, "frame" if kind == "subflow" else kind, words)
        for kind, words in _WORDS
        if kind in picture.kinds or (kind == "start" and "end" in picture.kinds)
    ]
    if any(placed.box.sends for placed in (*picture.boxes, *picture.frames)):
        found.append(Entry("step", "send", "sends: acts on the world outside"))
    if any(wire.loop for wire in picture.wires):
        found.append(Entry(None, "loop", "back to an earlier node"))
    return tuple(found)


def rows(found: tuple[Entry, ...], wide: float) -> list[list[Entry]]:
    """The entries in rows no wider than `wide`."""
    made: list[list[Entry]] = [[]]
    room = wide
    for entry in found:
        if made[-1] and entry.width > room:
            made.append([])
            room = wide
        made[-1].append(entry)
        room -= entry.width
    return made


def legend(made: list[list[Entry]]) -> Iterator[str]:
    """The legend as SVG, its left upper corner at (0, 0)."""
    for index, row in enumerate(made):
        x, y = 0.0, index * ROW
        for entry in row:
            yield _draw_sample(entry, x, y)
            yield text(
                x + _SAMPLE[0] + 8, y + _SAMPLE[1] / 2 + 3.8, entry.words, "oas-left oas-small"
            )
            x += entry.width


def _draw_sample(entry: Entry, x: float, y: float) -> str:
    wide, high = _SAMPLE
    if entry.kind is None:
        middle = number(y + high / 2)
        return f'<path class="oas-{entry.style}" d="M{number(x)},{middle}H{number(x + wide)}"/>'
    return shape(entry.kind, f"oas-{entry.style}", x, y, _SAMPLE)


# ----------------------------------------------------------------------------
# The colours of pictures, light and dark, as CSS.
#
# In: a theme.  Out: a style sheet for SVG: classes `oas-…`, every rule without variables, because
# programs that draw SVG know none.  `auto` is light, and dark where the reader's screen is.


Theme = Literal["auto", "light", "dark"]
FONTS = (
    'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, '
    '"DejaVu Sans", sans-serif'
)

# class → (fill, line, text): empty where it has none
_LIGHT: Mapping[str, tuple[str, str, str]] = {
    "page": ("#ffffff", "", ""),
    "title": ("", "", "#16202b"),
    "small": ("", "", "#52606d"),
    "line": ("", "#66747f", ""),
    "tip": ("#66747f", "", ""),
    "loop": ("", "#8a2be2", ""),
    "loop-tip": ("#8a2be2", "", ""),
    "label": ("#ffffff", "#9aa5b1", "#243b53"),
    "loop-label": ("#f6ecff", "#8a2be2", "#5b1a99"),
    "frame": ("#f5f7fa", "#8696a7", "#243b53"),
    "frame-odd": ("#e9eef4", "#8696a7", "#243b53"),
    "frame-send": ("#f5f7fa", "#c22727", "#243b53"),
    "start": ("#e3f5e6", "#3a8a4a", "#123d1b"),
    "end": ("#e3f5e6", "#3a8a4a", "#123d1b"),
    "gate": ("#fff1c2", "#b7791f", "#4a3200"),
    "branch": ("#e4eafc", "#4c63b6", "#1c2a63"),
    "call": ("#ffffff", "#52606d", "#16202b"),
    "message": ("#def4f5", "#2c8a90", "#0d4347"),
    "step": ("#ffffff", "#9aa5b1", "#16202b"),
    "send": ("#ffe3e1", "#c22727", "#5c0b0b"),
    "mark-plain": ("#ffffff", "#9aa5b1", "#3e4c59"),
    "mark-gate": ("#8f5a0a", "", "#ffffff"),
    "mark-send": ("#b91c1c", "", "#ffffff"),
}
_DARK: Mapping[str, tuple[str, str, str]] = {
    "page": ("#10161d", "", ""),
    "title": ("", "", "#eef2f6"),
    "small": ("", "", "#a9b6c3"),
    "line": ("", "#93a1ae", ""),
    "tip": ("#93a1ae", "", ""),
    "loop": ("", "#c792ff", ""),
    "loop-tip": ("#c792ff", "", ""),
    "label": ("#10161d", "#5b6977", "#d9e2ec"),
    "loop-label": ("#2b1740", "#c792ff", "#e9d5ff"),
    "frame": ("#18212b", "#56677a", "#d9e2ec"),
    "frame-odd": ("#212d3a", "#56677a", "#d9e2ec"),
    "frame-send": ("#18212b", "#ff7b72", "#d9e2ec"),
    "start": ("#12301a", "#57b36a", "#c9f2d1"),
    "end": ("#12301a", "#57b36a", "#c9f2d1"),
    "gate": ("#3f2f06", "#f0b429", "#ffe9ad"),
    "branch": ("#1d2750", "#8ea2ff", "#dbe2ff"),
    "call": ("#1c2733", "#93a1ae", "#eef2f6"),
    "message": ("#0d3336", "#4cc3cb", "#c9f3f5"),
    "step": ("#1c2733", "#5b6977", "#eef2f6"),
    "send": ("#4a1313", "#ff7b72", "#ffdad7"),
    "mark-plain": ("#10161d", "#5b6977", "#d9e2ec"),
    "mark-gate": ("#f0b429", "", "#2b1d00"),
    "mark-send": ("#ff7b72", "", "#330404"),
}
_SHAPES = """\
.oas text{font-family:FONTS;font-size:10.5px;text-anchor:middle;stroke:none}
.oas .oas-name{font-size:13px;font-weight:600}
.oas .oas-title{font-size:20px;font-weight:600;text-anchor:start}
.oas .oas-left{text-anchor:start}
.oas .oas-bold{font-weight:600}
.oas .oas-line,.oas .oas-loop{fill:none;stroke-width:1.6}
.oas .oas-loop{stroke-dasharray:6 4}
.oas .oas-gate,.oas .oas-send,.oas .oas-frame-send{stroke-width:2}
"""


def style_sheet(theme: Theme, *, fonts: str = FONTS) -> str:
    """CSS for a picture; `fonts` is a CSS font-family."""
    shapes = _SHAPES.replace("FONTS", fonts)
    if theme == "auto":
        return f"{shapes}{_format_rules(_LIGHT)}@media (prefers-color-scheme:dark){{\n{_format_rules(_DARK)}}}\n"
    return shapes + _format_rules(_DARK if theme == "dark" else _LIGHT)


def _format_rules(colours: Mapping[str, tuple[str, str, str]]) -> str:
    lines = []
    for name, (fill, line, text) in colours.items():
        if fill or line:
            shape = f"fill:{fill};" * bool(fill) + f"stroke:{line};" * bool(line)
            lines.append(f".oas .oas-{name}{{{shape.rstrip(';')}}}\n")
        if text:
            own = f"text.oas-{name}" if not (fill or line) else f".oas-{name}-text"
            lines.append(f".oas {own}{{fill:{text}}}\n")
    return "".join(lines)


MARGIN = 28.0
_TITLE_SIZE = 20.0
_TITLE_LINE = 26.0
_NARROWEST = 440.0


def svg_text(picture: Picture, *, theme: Theme = "auto", fonts: str = FONTS) -> str:
    """The whole picture as an SVG document, without an XML declaration.

    fonts: a CSS font-family, tried in order.
    """
    inner = max(picture.width, _NARROWEST)
    titles = wrap(picture.title, _TITLE_SIZE, most=inner, bold=True, lines=2)
    explained = rows(entries(picture), inner)
    top = MARGIN + _TITLE_LINE * len(titles) + 34
    bottom = top + picture.height + 30
    wide, high = inner + 2 * MARGIN, bottom + ROW * len(explained) + MARGIN - 10
    left = MARGIN + (inner - picture.width) / 2
    size = f'width="{number(wide)}" height="{number(high)}"'
    box = f'viewBox="0 0 {number(wide)} {number(high)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="oas" role="img" {size} {box}>',
        f"<title>{escape(safe(picture.title))}</title>",
        f"<style>\n{style_sheet(theme, fonts=fonts)}</style>",
        f'<rect class="oas-page" {size}/>',
        *_draw_titles(titles, picture.subtitle),
        f'<g transform="translate({number(left)} {number(top)})">',
        *_draw_parts(picture),
        "</g>",
        f'<g class="oas-legend" transform="translate({number(MARGIN)} {number(bottom)})">',
        *legend(explained),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _draw_titles(titles: tuple[str, ...], subtitle: str) -> Iterator[str]:
    y = MARGIN + 16
    for title in titles:
        yield text(MARGIN, y, title, "oas-title")
        y += _TITLE_LINE
    yield text(MARGIN, y - 4, safe(subtitle), "oas-left oas-small")


def _draw_parts(picture: Picture) -> Iterator[str]:
    for placed in picture.frames:
        yield from frame(placed)
    for made in picture.wires:
        yield from wire(made)
    for placed in picture.boxes:
        yield from node(placed)
    for made in picture.wires:
        yield from label(made)
