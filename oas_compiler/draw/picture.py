"""A flow in, a picture out: boxes, frames, lines and labels with their places.

    start → review → sub(start → call → end) → end
        ->  boxes of all nodes, one frame around those of `sub`, lines within each level

A subflow is laid out on its own and then is one large box of the flow around it, so no line ever
crosses the border of a frame.  Several flows of one node stand beside each other, each in a frame of
its own.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.control.approval import Approval, derive_approval
from oas_compiler.control.risk_classes import sends
from oas_compiler.draw.arrangement import Arrangement, Point, arrange
from oas_compiler.draw.grid import Arrow, Item
from oas_compiler.ir import ApiNode, FlowIR, InputMessageNode, Node, Path, Route, open_flows
from oas_compiler.kinds.api import format_address
from oas_compiler.kinds.kind import Shape
from oas_compiler.kinds.registry import kind_of
from oas_compiler.text.safe_text import safe

# ----------------------------------------------------------------------------
# Text in pictures: measured, and broken into lines.
#
# In: names as authors wrote them.  Out: text that any XML reader and any screen takes, its width in
# pixels, and its lines.
#
#     wrap("Choose contact source", 13, most=90) -> ("Choose contact", "source")
#
# Widths are those of DejaVu Sans, the widest of the usual sans serif fonts: text that fits in it fits
# in whatever font the reader's machine has.


_BREAKS = frozenset(" -_/.:,")
_MOST_READ = 600
"""Characters of a name that are looked at; no picture shows more."""

# Advance widths of U+0020 to U+007E in hundredths of the font size.
_PLAIN = bytes.fromhex(
    "20282e54405f4e1b272732542024202240404040404040404040222254545435"
    "644445464d3f3a4d4b1d1d4238564b4f3c4f453f3d494463453d452722275432"
    "323d3f373f3e233f3f1c1c3a1c613f3d3f3f2934273f3b523b3b3440224054"
)
_BOLD = bytes.fromhex(
    "232e34544664571f2e2e3454262a26254646464646464646464628285454543a"
    "644d4c49534444525425254d4064545549554d4844514d6e4d48492e252e5432"
    "3243483b48442c4847222243226847454848313c3047415c41413a47254754"
)


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Pixels that `text` takes at most."""
    return sum(_measure_character(character, bold) for character in text) * size / 100


@lru_cache(maxsize=4096)
def _measure_character(character: str, bold: bool) -> int:
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return (_BOLD if bold else _PLAIN)[code - 0x20]
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    if unicodedata.east_asian_width(character) in "WF":
        return 130 if code >= 0x1F000 else 105
    return 90 if code >= 0x0590 else 80


def wrap(
    text: str, size: float, *, most: float, bold: bool = False, lines: int = 3
) -> tuple[str, ...]:
    """Lines no wider than `most` pixels; the last ends in `…` where something is missing."""
    rest = " ".join(safe(text[:_MOST_READ]).split())
    found: list[str] = []
    while rest and len(found) < lines:
        cut = _count_fitting(rest, size, most, bold)
        if cut < len(rest):
            cut = _at_a_break(rest, cut)
        found.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    if (rest or len(text) > _MOST_READ) and found:
        last = found[-1]
        while last and width(last + "…", size, bold=bold) > most:
            last = last[:-1]
        found[-1] = last.rstrip() + "…"
    return tuple(found)


def _count_fitting(text: str, size: float, most: float, bold: bool) -> int:
    """How many characters fit, at least one."""
    left = most * 100 / size
    for index, character in enumerate(text):
        left -= _measure_character(character, bold)
        if left < 0:
            return max(1, index)
    return len(text)


def _at_a_break(text: str, cut: int) -> int:
    """The last place up to `cut` where a line may end; `cut` where there is none near."""
    for at in range(cut, max(0, cut // 3), -1):
        if text[at - 1] in _BREAKS or text[at] == " ":
            return at
    return cut


# ----------------------------------------------------------------------------
# Makes the box of a node: its text and its size.
#
# InputMessageNode "Review drafts", step 6, risk class "approval"
#     ->  a hexagon with the name, and below it the marks "step 6" and "approval"


NAME_SIZE, SMALL_SIZE = 13.0, 10.5
NAME_LINE, SMALL_LINE = 17.0, 15.0
MARK_HEIGHT = 17.0
PADDING = 14.0
POINT = 14.0
"""Width of a hexagon's tip."""
_MOST_NAME = 210.0
_MOST_BRANCH_NAME = 150.0
_MOST_CAPTION = 250.0
_MOST_MARK = 150.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A small label in a box."""

    text: str
    kind: Literal["plain", "gate", "send"]

    @property
    def width(self) -> float:
        return width(self.text, SMALL_SIZE, bold=True) + 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A node as it is drawn."""

    path: Path
    kind: Shape
    sends: bool
    """Whether it acts on the world outside."""
    name: str
    """The author's name, in full."""
    lines: tuple[str, ...]
    """The name as it is shown."""
    caption: str
    """The kind of the node, or the target of its call."""
    marks: tuple[Mark, ...]
    about: str
    """Text that has no room in the box, shown when a reader points at it."""
    width: float
    height: float


class Boxes:
    """The boxes of one flow and all its subflows."""

    def __init__(self, flow: FlowIR) -> None:
        self.flow = flow
        self.sends = sends(flow)
        self.approval: Approval = derive_approval(flow, send_class=self.sends)
        self._gates = {gate.path: gate for gate in self.approval.gates}

    def box(self, node: Node, path: Path) -> Box:
        """The box of a node; of one that runs flows, the head of its frame."""
        kind: Shape = "subflow" if node.subflows else kind_of(node).shape_of(node)
        narrow = _MOST_BRANCH_NAME if kind == "branch" else _MOST_NAME
        name = self.name(node, path)
        lines = wrap(name, NAME_SIZE, most=narrow, bold=True) or ("?",)
        caption = " ".join(wrap(_choose_caption(node), SMALL_SIZE, most=_MOST_CAPTION, lines=1))
        marks = tuple(self._list_marks(node, path))
        wide, high = _measure_box(kind, lines, caption, marks)
        return Box(
            path=path,
            kind=kind,
            sends=path in self.sends,
            name=safe(name),
            lines=lines,
            caption=caption,
            marks=marks,
            about=self._describe_node(node, path),
            width=wide,
            height=high,
        )

    def flow_box(self, flow: FlowIR, path: Path) -> Box:
        """The head of the frame around one of several flows of a node."""
        name = flow.name or flow.id
        lines = wrap(name, NAME_SIZE, most=_MOST_NAME, bold=True) or ("?",)
        facts = [safe(name), f"flow: {safe('/'.join(path))}"]
        if flow.description:
            facts.append(f"description: {safe(flow.description)}")
        wide, high = _measure_box("subflow", lines, "", ())
        return Box(
            path=path,
            kind="subflow",
            sends=False,
            name=safe(name),
            lines=lines,
            caption="",
            marks=(),
            about="\n".join(facts),
            width=wide,
            height=high,
        )

    def name(self, node: Node, path: Path) -> str:
        """The node's name for people; for a gate the name that its flow gives."""
        gate = self._gates.get(path)
        return (gate.name if gate is not None else node.name) or node.id

    def risk(self, node: Node, path: Path) -> str:
        """The risk class that counts; for a gate the class that its flow gives."""
        gate = self._gates.get(path)
        return gate.risk_class if gate is not None else node.risk_class

    def _list_marks(self, node: Node, path: Path) -> list[Mark]:
        gate = self._gates.get(path)
        risk = " ".join(
            wrap(self.risk(node, path), SMALL_SIZE, most=_MOST_MARK, bold=True, lines=1)
        )
        marks = []
        if gate is not None:
            marks.append(Mark(text=f"step {gate.step}", kind="gate"))
        if path in self.sends:
            marks.append(Mark(text=f"sends: {risk}", kind="send"))
        elif risk:
            marks.append(Mark(text=risk, kind="plain"))
        if isinstance(node, InputMessageNode) and node.max_visits is not None:
            marks.append(Mark(text=f"at most {node.max_visits} visits", kind="plain"))
        return marks

    def _describe_node(self, node: Node, path: Path) -> str:
        facts = {
            "": safe(self.name(node, path)),
            "node": safe("/".join(path)),
            "type": type(node).__name__,
        }
        if isinstance(node, ApiNode):
            facts["calls"] = safe(format_address(node.method, node.url))
        risk = self.risk(node, path)
        if risk:
            facts["risk class"] = safe(risk)
        gate = self._gates.get(path)
        if gate is not None:
            facts["step"] = f"{gate.step} {safe(gate.name)}"
            facts["renderer"] = safe(gate.renderer) or "the field fallback"
        if node.description:
            facts["description"] = safe(node.description)
        return "\n".join(f"{key}: {text}" if key else text for key, text in facts.items() if text)


def _choose_caption(node: Node) -> str:
    """The kind of the node; empty where its shape shows the kind."""
    caption = kind_of(node).caption
    if caption is None:
        return type(node).__name__
    return caption if isinstance(caption, str) else caption(node)


def _measure_box(
    kind: Shape, lines: tuple[str, ...], caption: str, marks: tuple[Mark, ...]
) -> tuple[float, float]:
    name = max(width(line, NAME_SIZE, bold=True) for line in lines)
    row = sum(mark.width for mark in marks) + 6 * max(0, len(marks) - 1)
    wide = max(name, width(caption, SMALL_SIZE), row)
    high = NAME_LINE * len(lines) + SMALL_LINE * bool(caption) + (MARK_HEIGHT + 6) * bool(marks)
    if kind == "branch":
        # A text of 2a by 2b fits in a diamond of 2w by 2h where a/w + b/h = 1.
        tall = high / (0.26 + 0.07 * len(lines))
        return max(90.0, (wide + 12) / (1 - high / tall)), tall
    if kind == "gate":
        wide += 2 * POINT
    if kind == "call":
        wide += 10
    if kind in {"start", "end"}:
        wide += 10
    return max(96.0, wide + 2 * PADDING), high + 2 * 9


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
