"""One flow as the calls of `FlowGraph` that build it.

write_flows(plan, Records(names), FlowVariables())
    ->  'news = FlowGraph("news", …)', 'news.add_node("start", Start(), …)', …
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Final

from cinatra_sdk.flow.nodes.start_and_end import End, Start
from cinatra_sdk.flow.plan.plan import FlowPlan, NodePlan, PlannedRoute
from oas_compiler.emit.expressions import (
    CallText,
    DictText,
    EmitRefused,
    Expression,
    ListText,
    Records,
    write,
)
from oas_compiler.lower.node_functions import PackageWork

_NO_NAME: Final = re.compile(r"[^A-Za-z0-9]+")
_NEXT: Final = "next"
_TAKEN: Final = frozenset({"flow", "host", "make_graph", "port", "written_flow", *dir(builtins)})
"""Names that the module has already."""


class FlowVariables:
    """The variables of one module: a flow that stands in several places has one."""

    def __init__(self) -> None:
        self.known: list[tuple[FlowPlan, str]] = []
        self.by_identity: dict[int, str] = {}
        self._names: set[str] = set(_TAKEN)

    def find(self, plan: FlowPlan) -> str:
        """The variable of an equal flow; empty: there is none yet."""
        name = next((name for known, name in self.known if known == plan), "")
        if name:
            self.by_identity[id(plan)] = name
        return name

    def add(self, plan: FlowPlan) -> str:
        name = self._make_name(plan)
        self.known.append((plan, name))
        self.by_identity[id(plan)] = name
        return name

    def _make_name(self, plan: FlowPlan) -> str:
        base = _NO_NAME.sub("_", plan.id).strip("_").lower() or "inner"
        if base[0].isdigit() or keyword.iskeyword(base):
            base = f"flow_{base}"
        name, number = base, 1
        while name in self._names:
            number += 1
            name = f"{base}_{number}"
        self._names.add(name)
        return name


def write_flows(plan: FlowPlan, records: Records, variables: FlowVariables) -> Iterator[str]:
    """The text of the flows inside, then of the flow itself; each ends with a line feed.

    Raises: `EmitRefused`.
    """
    for node in plan.nodes:
        for inner in node.work.subflows:
            if not variables.find(inner):
                yield from write_flows(inner, records, variables)
    name = variables.add(plan)
    made = [("", plan.id), *_name_if_other(plan.name, plan.id)]
    if plan.outputs:
        made.append(("outputs", records.write_ports(plan.outputs)))
    function = records.take("FlowGraph")
    lines = [_assign(name, CallText(function, made)), ""]
    flows = variables.by_identity
    lines += [write(_add_node(plan, node, name, records, flows)) for node in plan.nodes]
    lines += ["", *(write(call) for call in _add_edges(plan, name))]
    yield "\n".join(lines) + "\n"


def _assign(name: str, call: CallText) -> str:
    return f"{name} = " + write(call, before=len(name) + 3)


def _name_if_other(name: str, node_id: str) -> list[tuple[str, Expression]]:
    return [("name", name)] if name and name != node_id else []


def _add_node(
    plan: FlowPlan, node: NodePlan, name: str, records: Records, flows: Mapping[int, str]
) -> CallText:
    if isinstance(node.work, PackageWork):
        raise EmitRefused(
            f"node '{node.id}' is a {node.work.component.component_type}, a kind that an installed "
            "package adds: its function needs the file"
        )
    arguments: list[tuple[str, Expression]] = [
        ("", node.id),
        ("", records.write_record(node.work, node.id, flows)),
    ]
    arguments += [("name", node.name)] if node.name else []
    arguments += [("shown", node.shown)] if node.shown else []
    arguments += [("inputs", records.write_ports(node.inputs))] if node.inputs else []
    feeds = _list_feeds(plan, node)
    arguments += [("feeds", DictText(feeds))] if feeds else []
    if node.outputs and not _has_outputs_of_inputs(node):
        arguments.append(("outputs", records.write_ports(node.outputs)))
    if node.branches != _list_usual_branches(plan, node):
        arguments.append(("branches", ListText(node.branches)))
    arguments += [("risk", node.risk)] if node.risk else []
    arguments += [("once", True)] if node.once else []
    arguments += [("after", ListText(node.after))] if node.after else []
    return CallText(f"{name}.add_node", arguments)


def _has_outputs_of_inputs(node: NodePlan) -> bool:
    return isinstance(node.work, (Start, End)) and node.outputs == node.inputs


def _list_feeds(plan: FlowPlan, node: NodePlan) -> list[tuple[Expression, Expression]]:
    found: list[tuple[Expression, Expression]] = []
    for one in node.inputs:
        sources = [_write_source(feed.source, feed.output) for feed in plan.feeds_of(node.id, one.title)]  # fmt: skip
        if sources:
            found.append((one.title, sources[0] if len(sources) == 1 else ListText(sources)))
    return found


def _write_source(node: str, output: str) -> Expression:
    return ListText([node, output], "()") if "." in output else f"{node}.{output}"


def _list_usual_branches(plan: FlowPlan, node: NodePlan) -> tuple[str, ...]:
    if isinstance(node.work, End):
        return ()
    return tuple(route.branch for route in plan.routes if route.source == node.id)


def _add_edges(plan: FlowPlan, name: str) -> Iterator[CallText]:
    yield CallText(f"{name}.set_entry_point", [("", plan.start)])
    routes: dict[str, list[PlannedRoute]] = {}
    for route in plan.routes:
        routes.setdefault(route.source, []).append(route)
    for source, ways in routes.items():
        if len(ways) == 1:
            branch = [] if ways[0].branch == _NEXT else [("branch", ways[0].branch)]
            yield CallText(f"{name}.add_edge", [("", source), ("", ways[0].target), *branch])
        else:
            targets = DictText([(way.branch, way.target) for way in ways])
            yield CallText(f"{name}.add_branches", [("", source), ("", targets)])
