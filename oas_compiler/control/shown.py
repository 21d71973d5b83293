"""The nodes whose outputs a gate shows: the nodes right before it; and the values that it shows.

write → check → gate, check a BranchingNode        shown_at(flow, "gate") -> ("write",)
write ─text→ copy ("{{ text }}") ─output→ gate     values_at(flow, "gate") has ("write", "text")
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from oas_compiler.control.digraph import reach_from
from oas_compiler.ir import (
    BranchingNode,
    FlowIR,
    OutputMessageNode,
    PluginTemplateNode,
    StartNode,
)

_RENAMING: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
"""A whole template that puts out what it gets."""


def shown_at(flow: FlowIR, gate: str) -> tuple[str, ...]:
    """Ids of the nodes right before a gate, nearest first.

    BranchingNodes have no outputs, so the nodes before them count; the values of the StartNode are
    shown at every gate.
    """

    def preceding(node_id: str) -> tuple[str, ...]:
        is_passed = node_id == gate or isinstance(flow.by_id[node_id], BranchingNode)
        return flow.sources_of(node_id) if is_passed else ()

    found = reach_from([gate], preceding)
    silent = (BranchingNode, StartNode)
    return tuple(n for n in found if n != gate and not isinstance(flow.by_id[n], silent))


def values_at(flow: FlowIR, gate: str) -> frozenset[tuple[str, str]]:
    """(node, output) of the values that a gate shows, each as it was made first.

    They are its own inputs, what the nodes right before it put out, and what messages there say.
    """
    return frozenset(trace_origin(flow, *value) for value in _list_values(flow, gate))


def values_into(flow: FlowIR, node: str) -> frozenset[tuple[str, str]]:
    """(node, output) of the values that a node gets, each as it was made first."""
    return frozenset(
        trace_origin(flow, edge.source, edge.output) for edge in flow.data_edges_into(node)
    )


def trace_origin(flow: FlowIR, node: str, output: str) -> tuple[str, str]:
    """The node and output that made a value, before templates that put out what they get."""
    passed: set[str] = set()
    while node not in passed:
        passed.add(node)
        source = flow.by_id.get(node)
        written = isinstance(source, PluginTemplateNode) and _RENAMING.fullmatch(source.template)
        feeds = flow.feeds.get((node, written.group(1)), ()) if written else ()
        if len(feeds) != 1:
            break
        node, output = feeds[0].source, feeds[0].output
    return node, output


def _list_values(flow: FlowIR, gate: str) -> Iterator[tuple[str, str]]:
    before = shown_at(flow, gate)
    for node in before:
        yield from ((node, port.title) for port in flow.by_id[node].outputs)
    said = (node for node in before if isinstance(flow.by_id[node], OutputMessageNode))
    for node in (gate, *said):
        yield from ((edge.source, edge.output) for edge in flow.data_edges_into(node))
