"""Control edges and data edges that were added, removed or changed.

Edges are compared between matched nodes, so that a renamed node changes no edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oas_compiler.diff.difference import Change, Code
from oas_compiler.diff.matching import Level, Matching
from oas_compiler.ir import FlowIR, Path, Place


def control_edges(made: Matching, level: Level) -> Iterator[Change]:
    before = _map_routes(level.first, level.around, made.to_second)
    after = _map_routes(level.second, level.beside, None)
    for (source, branch), (target, place) in before.items():
        where = f"control edge {_read_node_name(source)}{_format_branch(branch)}"
        now = after.get((source, branch))
        if now is None:
            yield _make_edge_change(
                "control_edge_removed",
                f"{where} -> {_read_node_name(target)} is gone",
                level,
                place,
            )
        elif now[0] != target:
            yield Change(
                sign="~",
                code="control_edge_changed",
                message=f"{where} leads to another node",
                flow=level.beside,
                node=source,
                before=_read_node_name(target),
                after=_read_node_name(now[0]),
                place=now[1],
            )
    for (source, branch), (target, place) in after.items():
        if (source, branch) not in before:
            message = f"control edge {_read_node_name(source)}{_format_branch(branch)} -> {_read_node_name(target)} is new"
            yield _make_edge_change("control_edge_added", message, level, place)


def _map_routes(
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
    """The node's path in the second flow; for a removed node, a mark that no node of it has."""
    return path if names is None else names.get(path, ("", *path))


def data_edges(made: Matching, level: Level) -> Iterator[Change]:
    before = _map_links(level.first, level.around, made.to_second)
    after = _map_links(level.second, level.beside, None)
    for link, place in before.items():
        if link not in after:
            yield _make_edge_change(
                "data_edge_removed", f"data edge {_format_link(link)} is gone", level, place
            )
    for link, place in after.items():
        if link not in before:
            yield _make_edge_change(
                "data_edge_added", f"data edge {_format_link(link)} is new", level, place
            )


_Link = tuple[Path, str, Path, str]


def _map_links(flow: FlowIR, around: Path, names: Mapping[Path, Path] | None) -> dict[_Link, Place]:
    return {
        (
            _called_now((*around, edge.source), names),
            edge.output,
            _called_now((*around, edge.target), names),
            edge.input,
        ): edge.place
        for edge in flow.data_edges
    }


def _format_link(link: _Link) -> str:
    source, output, target, into = link
    return f"{_read_node_name(source)}.{output} -> {_read_node_name(target)}.{into}"


def _read_node_name(path: Path) -> str:
    return path[-1] if path else ""


def _format_branch(branch: str) -> str:
    return "" if branch == "next" else f' by "{branch}"'


def _make_edge_change(code: Code, message: str, level: Level, place: Place) -> Change:
    gone = code.endswith("_removed")
    return Change(
        sign="-" if gone else "+",
        code=code,
        message=message,
        flow=level.beside,
        place=place,
        gone=gone,
    )
