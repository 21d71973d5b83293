"""The plain changes between two matched flows: nodes, ports, control edges and data edges.

Edges are compared between matched nodes, so that a renamed node changes no edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Final, Literal

from cinatra_sdk.data.text.message_words import say_number
from oas_compiler.control.flow_control import FlowControl
from oas_compiler.diff.difference import (
    MISSING,
    MOST_LEAVES,
    Change,
    Code,
    Level,
    Matching,
    Sign,
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
            message = f"{where} -> {_read_node_name(target)} is gone"
            yield _make_change("control_edge_removed", message, level.beside, place)
        elif now[0] != target:
            names = _read_node_name(target), _read_node_name(now[0])
            message = f"{where} leads to another node"
            yield _make_change(
                "control_edge_changed", message, level.beside, now[1], source, values=names
            )
    for (source, branch), (target, place) in after.items():
        if (source, branch) not in before:
            message = f"control edge {_read_node_name(source)}{_format_branch(branch)} -> {_read_node_name(target)} is new"
            yield _make_change("control_edge_added", message, level.beside, place)


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
            message = f"data edge {_format_link(link)} is gone"
            yield _make_change("data_edge_removed", message, level.beside, place)
    for link, place in after.items():
        if link not in before:
            message = f"data edge {_format_link(link)} is new"
            yield _make_change("data_edge_added", message, level.beside, place)


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


_SIGNS: Final[Mapping[str, Sign]] = {"removed": "-", "added": "+"}


def _make_change(
    code: Code,
    message: str,
    flow: Path,
    place: Place,
    node: Path = (),
    *,
    values: tuple[str, str] = ("", ""),
    sign: Sign | None = None,
) -> Change:
    """values: before and after.  sign: without one, what the end of the code says."""
    sign = sign or _SIGNS.get(code.rpartition("_")[2], "~")
    before, after = values
    return Change(
        sign=sign, code=code, message=message, flow=flow, node=node, before=before, after=after,
        place=place, gone=sign == "-",
    )  # fmt: skip


_NEVER_SHOWN = frozenset({"headers", "query_params", "sensitive_headers"})
"""Fields whose values may be credentials."""


def plain_changes(made: Matching, old: FlowControl, new: FlowControl) -> Iterator[Change]:
    """Every change, flow by flow, outermost first."""
    left = made.left()
    removed, added = set(left[0]), set(left[1])
    steps = [{path: gate.step for path, gate in flow.gates.items()} for flow in (old, new)]
    for level in sorted(made.flows, key=lambda level: (len(level.beside), level.beside)):
        yield from _compare_flow(level)
        yield from _gone_and_new(level, removed, added)
        for node in level.second.nodes:
            path = (*level.beside, node.id)
            before = made.to_first.get(path)
            if before is not None:
                yield from _compare_identity(level, before, path, node)
                yield from _compare_node(made.nodes[0][before], node, path)
                yield from _compare_step(steps[0].get(before), steps[1].get(path), path, node)
                yield from _compare_inner_flows(made.nodes[0][before], before, node, path)
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
        place = _place_of(key, level.second.place)
        message = f"{at} of the flow changed"
        values = contrasted(one, other)
        yield _make_change("flow_changed", message, level.beside, place, values=values)
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
            message = f"{_name_node(path, node)} is gone{_format_inner_count(node)}"
            yield _make_change("node_removed", message, level.beside, node.place, path)
    for node in level.second.nodes:
        path = (*level.beside, node.id)
        if path in new:
            message = f"{_name_node(path, node)} is new{_format_inner_count(node)}"
            yield _make_change("node_added", message, level.beside, node.place, path)


def _format_inner_count(node: Node) -> str:
    return _format_count(node.subflows) if node.subflows else ""


def _format_count(flows: Iterable[FlowIR]) -> str:
    return f", with {say_number(sum(len(flow.nodes) for flow in flows), 'node')} inside"


def _compare_identity(level: Level, old_path: Path, path: Path, new: Node) -> Iterator[Change]:
    """Whether a matched node has another id, or stands in another flow."""
    if old_path[:-1] != level.around:
        yield _make_move_change(old_path, path, new)
    elif old_path[-1] != path[-1]:
        message = f'{_name_node(path, new)} was called "{old_path[-1]}"'
        names = old_path[-1], path[-1]
        yield _make_change("node_renamed", message, path[:-1], new.place, path, values=names)


def _make_move_change(old_path: Path, path: Path, new: Node) -> Change:
    message = f"{_name_node(path, new)} has moved"
    paths = "/".join(old_path), "/".join(path)
    return _make_change("node_moved", message, path[:-1], new.place, path, values=paths)


def _name_node(path: Path, node: Node) -> str:
    return f"{type(node).__name__} {called(path, node)}"


def _compare_node(old: Node, new: Node, path: Path) -> Iterator[Change]:
    around, place = path[:-1], new.place
    if type(old) is not type(new):
        message = f"{called(path, new)} has another type"
        types = type(old).__name__, type(new).__name__
        yield _make_change("node_changed", message, around, place, path, values=types)
    for at, one, other in islice(leaves(dict(content(old)), dict(content(new))), MOST_LEAVES):
        field = at.split("/")[0]
        hidden = field in _NEVER_SHOWN
        if field == "url":
            one, other = _strip_query(one), _strip_query(other)  # noqa: PLW2901 - without the secrets of a query
        message = f"{at} of {called(path, new)} changed"
        values = ("", "") if hidden else contrasted(one, other)
        yield _make_change("node_changed", message, around, place, path, values=values)
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
        message = f"the policy step of {called(path, node)} has another number"
        steps = str(before), str(after)
        yield _make_change("node_changed", message, path[:-1], node.place, path, values=steps)


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
        message = f"the flows of {called(path, new)} have another order"
        yield _make_change("flow_changed", message, path[:-1], new.place, path)


def _make_inner_flow_change(sign: Literal["-", "+"], flow: FlowIR, path: Path, of: Node) -> Change:
    what = "gone" if sign == "-" else "new"
    message = f'the flow "{flow.id}" of {called(path, of)} is {what}{_format_count([flow])}'
    return _make_change("flow_changed", message, path[:-1], flow.place, path, sign=sign)


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
            message = f'{side} "{title}" of {of} is gone'
            yield _make_change("port_removed", message, flow, port.place, path)
    for title, port in news.items():
        if title not in olds:
            message = f'{side} "{title}" of {of} is new: {shown(port.type)}'
            yield _make_change("port_added", message, flow, port.place, path)
            continue
        one, other = port_content(olds[title]), port_content(port)
        for at, was, now in islice(leaves(one, other), MOST_LEAVES):
            message = f'{at} of {side} "{title}" of {of} changed'
            values = contrasted(was, now)
            yield _make_change("port_changed", message, flow, port.place, path, values=values)
