"""Every node can run, and every run can end.

    a node that no path from the StartNode meets   ->   OAS048 (warning)
    a node from which no EndNode can be reached    ->   OAS049

A branch that leads nowhere is `branches.py`'s finding; nodes that only run into it are not
reported again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import EndNode, FlowIR
from oas_compiler.unsupported import UnsupportedNode


def reach(flow: FlowIR, findings: Diagnostics) -> None:
    known = {node.id for node in flow.nodes}
    forward: dict[str, list[str]] = {}
    backward: dict[str, list[str]] = {}
    for route in flow.routes:
        if {route.source, route.target} <= known:
            forward.setdefault(route.source, []).append(route.target)
            backward.setdefault(route.target, []).append(route.source)
    if flow.start not in known:
        return
    reached = _closure([flow.start], forward)
    used = {(route.source, route.branch) for route in flow.routes}
    stops = [
        node.id
        for node in flow.nodes
        if isinstance(node, (EndNode, UnsupportedNode))
        or any((node.id, branch) not in used for branch in node.branches)
    ]
    ending = _closure(stops, backward)
    for node in flow.nodes:
        if node.id not in reached:
            findings.warning("OAS048", f'no path leads to "{node.id}": it never runs', node.place)
        elif node.id not in ending:
            findings.error(
                "OAS049",
                f'no EndNode can be reached from "{node.id}": a run would go on for ever',
                node.place,
                hint="let one branch of the loop lead to an EndNode",
            )


def _closure(start: Iterable[str], following: Mapping[str, list[str]]) -> set[str]:
    seen = set(start)
    waiting = list(seen)
    while waiting:
        for target in following.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen
