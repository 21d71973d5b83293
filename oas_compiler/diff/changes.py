"""The plain changes between two matched flows: nodes, ports, control edges and data edges.

Edges are compared between matched nodes, so that a renamed node changes no edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Literal

from cinatra_sdk.data.text.message_words import say_number
from oas_compiler.control.approval import derive_approval
from oas_compiler.diff.difference import (
    MISSING,
    MOST_LEAVES,
    Change,
    Code,
    Level,
    Matching,
    content,
    contrasted,
    flow_content,
    leaves,
    pair_flows,
    port_content,
)
from oas_compiler.explain.explanation import without_query
from oas_compiler.ir import FlowIR, Node, Path, Place, Port, StartNode, open_flows
from oas_compiler.ir.printout import shown
from oas_compiler.text.marks import child

# ----------------------------------------------------------------------------
# Control edges and data edges that were added, removed or changed.
#
# Edges are compared between matched nodes, so that a renamed node changes no edge.


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


_NEVER_SHOWN = frozenset({"headers", "query_params", "sensitive_headers"})
"""Fields whose values may be credentials."""


def plain_changes(made: Matching) -> Iterator[Change]:
    """Every change, flow by flow, outermost first."""
    left = made.left()
    gone, new = set(left[0]), set(left[1])
    steps = [
        {gate.path: gate.step for gate in derive_approval(flow).gates}
        for flow in (made.first, made.second)
    ]
    for level in sorted(made.flows, key=lambda level: (len(level.beside), level.beside)):
        yield from _compare_flow(level)
        yield from _gone_and_new(level, gone, new)
        for node in level.second.nodes:
            path = (*level.beside, node.id)
            old = made.to_first.get(path)
            if old is not None:
                yield from _compare_identity(level, old, path, node)
                yield from _compare_node(made.nodes[0][old], node, path)
                yield from _compare_step(steps[0].get(old), steps[1].get(path), path, node)
                yield from _compare_inner_flows(made.nodes[0][old], old, node, path)
        yield from control_edges(made, level)
        yield from data_edges(made, level)
    yield from _moved_into_new_flows(made)


def _moved_into_new_flows(made: Matching) -> Iterator[Change]:
    known = {level.beside for level in made.flows}
    for path, old in made.to_first.items():
        if path[:-1] not in known:
            node = made.nodes[1][path]
            yield _make_move_change(old, path, node)
            yield from _compare_node(made.nodes[0][old], node, path)


def called(path: Path, node: Node) -> str:
    """A node's name in messages: its path, and its OAS name where it differs."""
    named = "/".join(path)
    return f'"{named}"' if node.name in {"", node.id} else f'"{named}" ({node.name})'


# ---------------------------------------------------------------------------- flows and nodes


def _compare_flow(level: Level) -> Iterator[Change]:
    before, after = flow_content(level.first), flow_content(level.second)
    differing = (
        (key, *leaf)
        for key in {**before, **after}
        for leaf in leaves(before.get(key, MISSING), after.get(key, MISSING), key)
    )
    for key, at, one, other in islice(differing, MOST_LEAVES):
        before_text, after_text = contrasted(one, other)
        yield Change(
            sign="~",
            code="flow_changed",
            message=f"{at} of the flow changed",
            flow=level.beside,
            before=before_text,
            after=after_text,
            place=_place_of(key, level.second.place),
        )
    yield from _compare_ports(
        level.first.outputs, level.second.outputs, "output", level.beside, None
    )


def _place_of(key: str, flow: Place) -> Place:
    """The place of a flow's field, with the line of the flow: the field's own line is unknown
    here.
    """
    group = "metadata.cinatra."
    around = f"{flow.pointer}/metadata/cinatra" if key.startswith(group) else flow.pointer
    return replace(flow, pointer=child(around, key.removeprefix(group)))


def _gone_and_new(level: Level, gone: set[Path], new: set[Path]) -> Iterator[Change]:
    for node in level.first.nodes:
        path = (*level.around, node.id)
        if path in gone:
            yield Change(
                sign="-",
                code="node_removed",
                message=f"{type(node).__name__} {called(path, node)} is gone{_format_inner_count(node)}",
                flow=level.beside,
                node=path,
                place=node.place,
                gone=True,
            )
    for node in level.second.nodes:
        path = (*level.beside, node.id)
        if path in new:
            yield Change(
                sign="+",
                code="node_added",
                message=f"{type(node).__name__} {called(path, node)} is new{_format_inner_count(node)}",
                flow=level.beside,
                node=path,
                place=node.place,
            )


def _format_inner_count(node: Node) -> str:
    return _format_count(node.subflows) if node.subflows else ""


def _format_count(flows: Iterable[FlowIR]) -> str:
    return f", with {say_number(sum(len(flow.nodes) for flow in flows), 'node')} inside"


def _compare_identity(level: Level, old_path: Path, path: Path, new: Node) -> Iterator[Change]:
    """Whether a matched node has another id, or stands in another flow."""
    if old_path[:-1] != level.around:
        yield _make_move_change(old_path, path, new)
    elif old_path[-1] != path[-1]:
        yield Change(
            sign="~",
            code="node_renamed",
            message=f'{type(new).__name__} {called(path, new)} was called "{old_path[-1]}"',
            flow=path[:-1],
            node=path,
            before=old_path[-1],
            after=path[-1],
            place=new.place,
        )


def _make_move_change(old_path: Path, path: Path, new: Node) -> Change:
    return Change(
        sign="~",
        code="node_moved",
        message=f"{type(new).__name__} {called(path, new)} has moved",
        flow=path[:-1],
        node=path,
        before="/".join(old_path),
        after="/".join(path),
        place=new.place,
    )


def _compare_node(old: Node, new: Node, path: Path) -> Iterator[Change]:
    around, place = path[:-1], new.place
    if type(old) is not type(new):
        yield Change(
            sign="~",
            code="node_changed",
            message=f"{called(path, new)} has another type",
            flow=around,
            node=path,
            before=type(old).__name__,
            after=type(new).__name__,
            place=place,
        )
    for at, one, other in islice(leaves(dict(content(old)), dict(content(new))), MOST_LEAVES):
        field = at.split("/")[0]
        hidden = field in _NEVER_SHOWN
        if field == "url":
            one, other = _strip_query(one), _strip_query(other)  # noqa: PLW2901 - without the secrets of a query
        before, after = ("", "") if hidden else contrasted(one, other)
        yield Change(
            sign="~",
            code="node_changed",
            message=f"{at} of {called(path, new)} changed",
            flow=around,
            node=path,
            before=before,
            after=after,
            place=place,
        )
    if _has_subflow_ports(old, new):
        return
    yield from _compare_ports(old.inputs, new.inputs, "input", around, (path, new))
    if not isinstance(new, StartNode):  # its outputs are its inputs
        yield from _compare_ports(old.outputs, new.outputs, "output", around, (path, new))


def _strip_query(url: object) -> object:
    """A URL without user, query and fragment; a mark shows that there was a query."""
    if not isinstance(url, str):
        return url
    bare = without_query(url)
    return bare if "?" not in url else f"{bare}?…"


def _compare_step(
    before: int | None, after: int | None, path: Path, node: Node
) -> Iterator[Change]:
    """Report a gate's new step number: policies name steps by number and must change too."""
    if before is not None and after is not None and before != after:
        yield Change(
            sign="~",
            code="node_changed",
            message=f"the policy step of {called(path, node)} has another number",
            flow=path[:-1],
            node=path,
            before=str(before),
            after=str(after),
            place=node.place,
        )


# ---------------------------------------------------------------------------- flows of one node


def _compare_inner_flows(old: Node, old_path: Path, new: Node, path: Path) -> Iterator[Change]:
    """Flows that a node no longer runs, or runs now, and another order of those that stay."""
    pairs = list(pair_flows(old, old_path, new, path))
    olds, news = {level.around for level in pairs}, {level.beside for level in pairs}
    for around, flow in open_flows(old, old_path):
        if around not in olds:
            yield _make_inner_flow_change("-", flow, path, new)
    for beside, flow in open_flows(new, path):
        if beside not in news:
            yield _make_inner_flow_change("+", flow, path, new)
    order = [level.beside for level in pairs]
    if order != sorted(order, key=[inside for inside, _ in open_flows(new, path)].index):
        yield Change(
            sign="~",
            code="flow_changed",
            message=f"the flows of {called(path, new)} have another order",
            flow=path[:-1],
            node=path,
            place=new.place,
        )


def _make_inner_flow_change(sign: Literal["-", "+"], flow: FlowIR, path: Path, of: Node) -> Change:
    what = "gone" if sign == "-" else "new"
    return Change(
        sign=sign,
        code="flow_changed",
        message=f'the flow "{flow.id}" of {called(path, of)} is {what}{_format_count([flow])}',
        flow=path[:-1],
        node=path,
        place=flow.place,
        gone=sign == "-",
    )


# ---------------------------------------------------------------------------- ports


def _has_subflow_ports(*nodes: Node) -> bool:
    """Whether the nodes take their ports from their flows, where the ports are compared."""
    return all(
        node.subflows
        and _list_port_keys([node.inputs]) == _list_port_keys([f.inputs for f in node.subflows])
        and _list_port_keys([node.outputs]) == _list_port_keys([f.outputs for f in node.subflows])
        for node in nodes
    )


def _list_port_keys(several: Iterable[tuple[Port, ...]]) -> list[tuple[str, str, str]]:
    """The different ports: flows that run beside each other share their inputs."""
    return list(dict.fromkeys(_make_port_key(port) for ports in several for port in ports))


def _make_port_key(port: Port) -> tuple[str, str, str]:
    default = port.default.text if port.default is not None else ""
    return port.title, port.schema.text, default


def _compare_ports(
    before: tuple[Port, ...],
    after: tuple[Port, ...],
    side: str,
    flow: Path,
    node: tuple[Path, Node] | None,
) -> Iterator[Change]:
    of = called(*node) if node is not None else "the flow"
    path = node[0] if node is not None else ()
    olds = {port.title: port for port in before}
    news = {port.title: port for port in after}
    for title, port in olds.items():
        if title not in news:
            yield _make_port_change(
                "port_removed", f'{side} "{title}" of {of} is gone', port, flow, path
            )
    for title, port in news.items():
        if title not in olds:
            message = f'{side} "{title}" of {of} is new: {shown(port.type)}'
            yield _make_port_change("port_added", message, port, flow, path)
            continue
        one, other = port_content(olds[title]), port_content(port)
        for at, was, now in islice(leaves(one, other), MOST_LEAVES):
            was_text, now_text = contrasted(was, now)
            yield Change(
                sign="~",
                code="port_changed",
                message=f'{at} of {side} "{title}" of {of} changed',
                flow=flow,
                node=path,
                before=was_text,
                after=now_text,
                place=port.place,
            )


def _make_port_change(code: Code, message: str, port: Port, flow: Path, node: Path) -> Change:
    gone = code == "port_removed"
    return Change(
        sign="-" if gone else "+",
        code=code,
        message=message,
        flow=flow,
        node=node,
        place=port.place,
        gone=gone,
    )
