"""A flow as Mermaid text.

In: `FlowIR`.  Out: `flowchart TD …`: gates as hexagons with their step and risk class, branches as
diamonds, calls as boxes with a double side, nodes that run flows as frames around the nodes of
these flows (several flows each in a frame of its own), edges that go back to an earlier node
dashed.  Names are the author's.

    review gate, step 1, "approval"   ->   n_review{{"Review<br>step 1 · approval"}}:::gate
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oas_compiler.control.approval import derive_approval
from oas_compiler.control.gates import GateSpec
from oas_compiler.control.graph import link_level
from oas_compiler.control.risk_classes import sends
from oas_compiler.ir import (
    BranchingNode,
    FlowIR,
    FlowNode,
    InputMessageNode,
    Node,
    Path,
    Route,
    open_flows,
)
from oas_compiler.kinds.kind import Shape
from oas_compiler.kinds.registry import kind_of, type_of
from oas_compiler.text.safe_text import safe

MOST_EDGES = 500
MOST_TEXT = 50_000
"""Above these, Mermaid's own limits must be raised by whoever shows the text."""

_ENTITIES = {
    "&": "#amp;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;", "#": "#35;", "%": "#37;",
    "{": "#123;", "}": "#125;", ";": "#59;", "\\": "#92;", "|": "#124;",
}  # fmt: skip

_SHAPES: Mapping[Shape, tuple[str, str]] = {
    "start": ("([", "])"),
    "end": ("([", "])"),
    "gate": ("{{", "}}"),
    "branch": ("{", "}"),
    "call": ("[[", "]]"),
    "message": (">", "]"),
}
# Dark text on a light ground of its own: readable on a light page and on a dark one.
_CLASSES = {
    "gate": "fill:#fff1c2,stroke:#b7791f,stroke-width:2px,color:#4a3200",
    "branch": "fill:#e4eafc,stroke:#4c63b6,color:#1c2a63",
    "send": "fill:#ffe3e1,stroke:#c22727,stroke-width:3px,color:#5c0b0b",
}


def mermaid_text(flow: FlowIR) -> str:
    """Mermaid text of `flow` with all its subflows."""
    drawing = _Drawing(flow)
    body = list(drawing.body(flow, (), "  "))
    lines = ["flowchart TD", *body]
    lines.extend(
        f"  classDef {name} {style}" for name, style in _CLASSES.items() if name in drawing.used
    )
    return "\n".join(lines) + "\n"


class _Drawing:
    def __init__(self, flow: FlowIR) -> None:
        self._sends = sends(flow)
        self._gates: dict[Path, GateSpec] = {
            gate.path: gate for gate in derive_approval(flow).gates
        }
        self.used: set[str] = set()

    def body(self, flow: FlowIR, around: Path, pad: str) -> Iterator[str]:
        for node in flow.in_order():
            path = (*around, node.id)
            if node.subflows:
                yield from self._draw_container(node, path, pad)
                continue
            left, right = _SHAPES.get(kind_of(node).shape_of(node), ("[", "]"))
            yield f'{pad}{_make_node_id(path)}{left}"{self._format_label(node, path)}"{right}{self._format_class(path, node)}'
        back = _back_routes(flow)
        for route in flow.routes:
            shown = f'|"{_escape_label(route.branch)}"|' if _is_named(flow, route) else ""
            arrow = "-.->" if route in back else "-->"
            source, target = (
                _make_node_id((*around, route.source)),
                _make_node_id((*around, route.target)),
            )
            yield f"{pad}{source} {arrow}{shown} {target}"

    def _draw_container(self, node: Node, path: Path, pad: str) -> Iterator[str]:
        inner = pad + "  "
        yield f'{pad}subgraph {_make_node_id(path)}["{self._format_label(node, path)}"]'
        yield f"{inner}direction TB"
        for around, flow in open_flows(node, path):
            if around == path:
                yield from self.body(flow, path, inner)
                continue
            yield f'{inner}subgraph {_make_node_id(around)}["{_escape_label(flow.name or flow.id)}"]'
            yield f"{inner}  direction TB"
            yield from self.body(flow, around, inner + "  ")
            yield f"{inner}end"
        yield f"{pad}end"
        if path in self._sends:
            self.used.add("send")
            yield f"{pad}class {_make_node_id(path)} send"

    def _format_label(self, node: Node, path: Path) -> str:
        gate = self._gates.get(path)
        risk = gate.risk_class if gate is not None else node.risk_class
        facts = []
        if node.subflows and not isinstance(node, FlowNode):
            facts.append(type_of(node))
        if gate is not None:
            facts += [f"step {gate.step}", risk]
        if path in self._sends:
            facts.append(f"sends: {risk}")
        about = f"<br>{_escape_label(' · '.join(facts))}" if facts else ""
        name = gate.name if gate is not None else node.name
        return _escape_label(name or node.id) + about

    def _format_class(self, path: Path, node: Node) -> str:
        name = ""
        if path in self._sends:
            name = "send"
        elif isinstance(node, InputMessageNode):
            name = "gate"
        elif isinstance(node, BranchingNode):
            name = "branch"
        self.used.add(name)
        return f":::{name}" if name else ""


def _is_named(flow: FlowIR, route: Route) -> bool:
    """Whether a picture names the branch: not where it is the only way out, and nameless."""
    source = flow.by_id.get(route.source)
    return route.branch != "next" or (source is not None and len(source.branches) > 1)


def _back_routes(flow: FlowIR) -> frozenset[Route]:
    """The control edges that go back to a node on the way to them, walking from the start."""
    starts = (flow.start, *(node.id for node in flow.nodes))
    back = link_level(flow).find_back_links(starts)
    return frozenset(route for route in flow.routes if (route.source, route.target) in back)


def _make_node_id(path: Path) -> str:
    """A Mermaid id that no keyword and no other path can equal."""
    return "n_" + "__".join(
        "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in part)
        for part in path
    )


def _escape_label(name: str) -> str:
    """A label: what means something to Mermaid is an entity, so that no name can end its quotes,
    begin a directive (`%%{…}%%`, which is looked for in the whole text) or a statement.
    """
    return "".join(_ENTITIES.get(letter, letter) for letter in safe(name))
