"""Control edges and data edges that were added, removed or changed.

Edges are compared between matched nodes, so that a renamed node changes no edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oas_compiler.diff.difference import Change, Code
from oas_compiler.diff.matching import Level, Matching
from oas_compiler.ir import FlowIR, Path, Place


def control_edges(made: Matching, level: Level) -> Iterator[Change]:
    before = _routes(level.first, level.around, made.to_second)
    after = _routes(level.second, level.beside, None)
    for (source, branch), (target, place) in before.items():
        where = f"control edge {_named(source)}{_branch(branch)}"
        now = after.get((source, branch))
        if now is None:
            yield _edge(
                "control_edge_removed", f"{where} -> {_named(target)} is gone", level, place
            )
        elif now[0] != target:
            yield Change(
                sign="~",
                code="control_edge_changed",
                message=f"{where} leads to another node",
                flow=level.beside,
                node=source,
                before=_named(target),
                after=_named(now[0]),
                place=now[1],
            )
    for (source, branch), (target, place) in after.items():
        if (source, branch) not in before:
            message = f"control edge {_named(source)}{_branch(branch)} -> {_named(target)} is new"
            yield _edge("control_edge_added", message, level, place)


def _routes(
    flow: FlowIR, around: Path, names: Mapping[Path, Path] | None
) -> dict[tuple[Path, str], tuple[Path, Place]]:
    """(source, branch) → target and place, under the names of the second flow."""
    return {
        (_called_now((*around, route.source), names), route.branch): (
            _called_now((*around, route.target), names),
            route.place,
        )
        for route in flow.routes
    }


def _called_now(path: Path, names: Mapping[Path, Path] | None) -> Path:
    """The node's path in the second flow; what is gone can be no node of it."""
    return path if names is None else names.get(path, ("", *path))


def data_edges(made: Matching, level: Level) -> Iterator[Change]:
    before = _links(level.first, level.around, made.to_second)
    after = _links(level.second, level.beside, None)
    for link, place in before.items():
        if link not in after:
            yield _edge("data_edge_removed", f"data edge {_link(link)} is gone", level, place)
    for link, place in after.items():
        if link not in before:
            yield _edge("data_edge_added", f"data edge {_link(link)} is new", level, place)


_Link = tuple[Path, str, Path, str]


def _links(flow: FlowIR, around: Path, names: Mapping[Path, Path] | None) -> dict[_Link, Place]:
    return {
        (
            _called_now((*around, edge.source), names),
            edge.output,
            _called_now((*around, edge.target), names),
            edge.input,
        ): edge.place
        for edge in flow.data_edges
    }


def _link(link: _Link) -> str:
    source, output, target, into = link
    return f"{_named(source)}.{output} -> {_named(target)}.{into}"


def _named(path: Path) -> str:
    return path[-1] if path else ""


def _branch(branch: str) -> str:
    return "" if branch == "next" else f' by "{branch}"'


def _edge(code: Code, message: str, level: Level, place: Place) -> Change:
    gone = code.endswith("_removed")
    return Change(
        sign="-" if gone else "+",
        code=code,
        message=message,
        flow=level.beside,
        place=place,
        gone=gone,
    )
