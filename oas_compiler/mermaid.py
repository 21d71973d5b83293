"""A flow as Mermaid text.

In: `FlowIR`.  Out: `flowchart TD …`: gates as hexagons, branches as diamonds, calls as boxes with
a double side, subflows as frames around their own nodes.  Names are the author's.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.approval import Path
from oas_compiler.ir import (
    ApiNode,
    BranchingNode,
    EndNode,
    FlowIR,
    FlowNode,
    InputMessageNode,
    Node,
    OutputMessageNode,
    StartNode,
    ToolNode,
)

_SHAPES: dict[type[Node], tuple[str, str]] = {
    StartNode: ("([", "])"),
    EndNode: ("([", "])"),
    InputMessageNode: ("{{", "}}"),
    BranchingNode: ("{", "}"),
    ApiNode: ("[[", "]]"),
    ToolNode: ("[[", "]]"),
    OutputMessageNode: (">", "]"),
}


def mermaid(flow: FlowIR) -> str:
    """Mermaid text of `flow` with all its subflows."""
    lines = ["flowchart TD", *_body(flow, (), "  ")]
    lines.append("  classDef gate fill:#fff3c4,stroke:#b7791f,color:#5c3d00")
    return "\n".join(lines) + "\n"


def _body(flow: FlowIR, around: Path, pad: str) -> Iterator[str]:
    for node in flow.in_order():
        path = (*around, node.id)
        if isinstance(node, FlowNode):
            yield f'{pad}subgraph {_key(path)}["{_text(node.name)}"]'
            yield f"{pad}  direction TB"
            yield from _body(node.subflow, path, pad + "  ")
            yield f"{pad}end"
            continue
        left, right = _SHAPES.get(type(node), ("[", "]"))
        mark = ":::gate" if isinstance(node, InputMessageNode) else ""
        yield f'{pad}{_key(path)}{left}"{_text(node.name)}"{right}{mark}'
    for route in flow.routes:
        shown = "" if route.branch == "next" else f'|"{_text(route.branch)}"|'
        source, target = _key((*around, route.source)), _key((*around, route.target))
        yield f"{pad}{source} -->{shown} {target}"


def _key(path: Path) -> str:
    """A Mermaid id that no keyword and no other path can equal."""
    return "n_" + "__".join(
        "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in part)
        for part in path
    )


def _text(name: str) -> str:
    """A label: Mermaid reads entities, so that no name can end its own quotes."""
    safe = name.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;")
    return safe.replace(">", "#gt;").replace("\n", " ").replace("`", "#96;")
