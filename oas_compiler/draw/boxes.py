"""Makes the box of a node: its text and its size.

InputMessageNode "Review drafts", step 6, risk class "approval"
    ->  a hexagon with the name, and below it the marks "step 6" and "approval"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from oas_compiler.control.approval import Approval, derive_approval
from oas_compiler.control.risk import sends
from oas_compiler.draw.words import width, wrap
from oas_compiler.ir import ApiNode, FlowIR, InputMessageNode, Node, Path
from oas_compiler.kinds.api import format_address
from oas_compiler.kinds.kind import Shape
from oas_compiler.kinds.registry import kind_of
from oas_compiler.text.safe import safe

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
