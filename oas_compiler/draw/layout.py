"""A flow in, a picture out: boxes, frames, lines and labels with their places.

    start → review → sub(start → call → end) → end
        ->  boxes of all nodes, one frame around those of `sub`, lines within each level

A subflow is laid out on its own and then is one large box of the flow around it, so no line ever
crosses the border of a frame.  Several flows of one node stand beside each other, each in a frame of
its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate

from oas_compiler.draw.arrange import Arrangement, Point, arrange
from oas_compiler.draw.boxes import (
    MARK_HEIGHT,
    NAME_LINE,
    SMALL_LINE,
    SMALL_SIZE,
    Box,
    Boxes,
)
from oas_compiler.draw.ranks import Arrow, Item
from oas_compiler.draw.words import width, wrap
from oas_compiler.ir import FlowIR, Node, Path, Route, open_flows
from oas_compiler.kinds.kind import Shape

FRAME_PADDING = 22.0
LABEL_HEIGHT = 18.0
_MOST_LABEL = 150.0
ASPECT = 1.5
TALLEST = 1100.0
"""Height of a whole drawing from which it is folded into columns."""
_TALLEST_INSIDE = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A box, or the frame around flows, and where it is."""

    box: Box
    x: float
    y: float
    width: float
    height: float
    depth: int
    """Frames around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A control edge as a line."""

    source: Path
    target: Path
    branch: str
    points: tuple[Point, ...]
    loop: bool
    """Whether it goes back to a node on the way to it."""
    label: str
    """The branch as it is shown; empty for the only way out of a node."""
    label_at: Point | None
    label_width: float


@dataclass(slots=True, kw_only=True)
class Picture:
    """Everything of a flow, placed; frames come before what is in them."""

    title: str
    subtitle: str
    width: float
    height: float
    boxes: list[Placed] = field(default_factory=list)
    frames: list[Placed] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    kinds: set[Shape] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Level:
    """One flow laid out, or several beside each other, not yet moved to its place."""

    around: Path
    arrangement: Arrangement
    boxes: tuple[Box, ...]
    inside: tuple[_Level | None, ...]
    routes: tuple[Route, ...]
    labels: tuple[str, ...]

    @property
    def width(self) -> float:
        return self.arrangement.width

    @property
    def height(self) -> float:
        return self.arrangement.height


def lay_out(flow: FlowIR) -> Picture:
    """Place everything of `flow`."""
    boxes = Boxes(flow)
    level = _lay_out_level(flow, (), boxes)
    picture = Picture(
        title=flow.name or flow.id,
        subtitle=_format_subtitle(flow, boxes),
        width=level.width,
        height=level.height,
    )
    for part in _place_parts(level, 0.0, 0.0, 0):
        if isinstance(part, Wire):
            picture.wires.append(part)
        else:
            target = picture.frames if part.box.kind == "subflow" else picture.boxes
            target.append(part)
            picture.kinds.add(part.box.kind)
    return picture


def _format_subtitle(flow: FlowIR, boxes: Boxes) -> str:
    gates, acting = len(boxes.approval.gates), len(boxes.sends)
    parts = [flow.package_name, _format_count(gates, "gate"), _format_count(acting, "sending node")]
    return " · ".join(part for part in parts if part)


def _format_count(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'s' if count != 1 else ''}"


def _lay_out_level(flow: FlowIR, around: Path, boxes: Boxes) -> _Level:
    made: list[Box] = []
    inside: list[_Level | None] = []
    nodes = list(flow.in_order())
    for node in nodes:
        path = (*around, node.id)
        box = boxes.box(node, path)
        inner = _lay_out_inside(node, path, boxes)
        made.append(_make_frame(box, inner) if inner is not None else box)
        inside.append(inner)
    index = {node.id: number for number, node in reversed(list(enumerate(nodes)))}
    routes = tuple(
        dict.fromkeys(
            route for route in flow.routes if {route.source, route.target} <= index.keys()
        )
    )
    labels = tuple(_format_label(flow, route) for route in routes)
    links = [
        Arrow(
            index[route.source],
            index[route.target],
            (width(label, SMALL_SIZE, bold=True) + 16, LABEL_HEIGHT) if label else None,
        )
        for route, label in zip(routes, labels, strict=True)
    ]
    arrangement = arrange(
        [Item(box.width, box.height, box.kind == "branch") for box in made],
        links,
        index.get(flow.start, 0),
        aspect=ASPECT,
        tallest=_TALLEST_INSIDE if around else TALLEST,
    )
    return _Level(around, arrangement, tuple(made), tuple(inside), routes, labels)


def _lay_out_inside(node: Node, path: Path, boxes: Boxes) -> _Level | None:
    """The flows that a node runs; `None` if it runs none."""
    flows = open_flows(node, path)
    levels = tuple(_lay_out_level(flow, around, boxes) for around, flow in flows)
    if len(levels) < 2:
        return levels[0] if levels else None
    frames = tuple(
        _make_frame(boxes.flow_box(flow, around), level)
        for (around, flow), level in zip(flows, levels, strict=True)
    )
    rights = list(accumulate(frame.width + FRAME_PADDING for frame in frames))
    row = Arrangement(
        places=tuple((left, 0.0) for left in (0.0, *rights[:-1])),
        lines=(),
        width=rights[-1] - FRAME_PADDING,
        height=max(frame.height for frame in frames),
    )
    return _Level(path, row, frames, levels, (), ())


def _format_label(flow: FlowIR, route: Route) -> str:
    """The branch, unless the node has only one way out and no name for it."""
    source = flow.by_id[route.source]
    if route.branch == "next" and len(source.branches) < 2:
        return ""
    return " ".join(wrap(route.branch, SMALL_SIZE, most=_MOST_LABEL, bold=True, lines=1))


def _measure_head(box: Box) -> float:
    marks = (MARK_HEIGHT + 6) * box.sends
    return NAME_LINE * len(box.lines) + SMALL_LINE * bool(box.caption) + marks + 10


def _make_frame(box: Box, inner: _Level) -> Box:
    """The head's box, grown to go around what is inside."""
    return replace(
        box,
        width=max(box.width, inner.width + 2 * FRAME_PADDING),
        height=_measure_head(box) + inner.height + 2 * FRAME_PADDING,
    )


def _place_parts(level: _Level, x: float, y: float, depth: int) -> Iterator[Placed | Wire]:
    for box, inner, (left, top) in zip(
        level.boxes, level.inside, level.arrangement.places, strict=True
    ):
        yield Placed(
            box=box,
            x=x + left,
            y=y + top,
            width=box.width,
            height=box.height,
            depth=depth,
        )
        if inner is not None:
            aside = (box.width - inner.width) / 2
            yield from _place_parts(
                inner, x + left + aside, y + top + _measure_head(box) + FRAME_PADDING, depth + 1
            )
    for route, label, line in zip(level.routes, level.labels, level.arrangement.lines, strict=True):
        at = line.label
        yield Wire(
            source=(*level.around, route.source),
            target=(*level.around, route.target),
            branch=route.branch,
            points=tuple((x + a, y + b) for a, b in line.points),
            loop=line.loop,
            label=label,
            label_at=(x + at[0], y + at[1]) if at is not None else None,
            label_width=width(label, SMALL_SIZE, bold=True) + 16 if label else 0.0,
        )
