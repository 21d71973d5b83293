"""The answers of people that reach a call of the bridge as an envelope of text and files.

    a gate `ask` with the output `note`, and a call `draft` of the bridge in a subflow `write`,
    {"user": "{{ note }}", "user_envelope": true}
        ->  (AnswerRule(gate="ask", output="note", call="write/draft"),)

An answer is followed along data edges, into subflows and out of them, but through no node that changes it.  `read_answer_rules` is the entry point `answer_rules` of the group `oasflow.flow_facts`: a host
calls it for the bytes of a stored flow, which was checked before it was stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from cinatra_sdk.attachments import AnswerRule, BridgeCall, find_answer_rules
from cinatra_sdk.gates.gate import label
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.protocol import BRIDGE_PATH
from oas_compiler.build import read_flow
from oas_compiler.ir import (
    ApiNode,
    EndNode,
    FlowIR,
    FlowNode,
    InputMessageNode,
    StartNode,
    open_flows,
    walk,
)
from oas_compiler.ir.flow import Path

_PLACE: Final = re.compile(r"\[\d+\]")
_Source: TypeAlias = "tuple[Path, str]"
"""Path of a node, and one of its outputs."""


def read_answer_rules(source: bytes) -> tuple[AnswerRule, ...]:
    """The rules of the bytes of a stored flow; none where it cannot be read."""
    flow = read_flow(source)
    return () if flow is None else collect_answer_rules(flow)


def collect_answer_rules(root: FlowIR) -> tuple[AnswerRule, ...]:
    """The rules of a flow and of all flows inside it; paths are as in the ids of gates."""
    nodes = dict(walk(root))
    gates = [
        (_join(path), port.title)
        for path, node in nodes.items()
        if isinstance(node, InputMessageNode)
        for port in node.outputs
    ]
    trace = _Trace(root)
    calls = [
        BridgeCall(
            node=_join(path),
            body=body,
            sources={
                port.title: [
                    (_join(place), output) for place, output in trace.find(path, port.title)
                ]
                for port in node.inputs
            },
        )
        for path, node in nodes.items()
        if isinstance(node, ApiNode) and node.url.rstrip("/").endswith(BRIDGE_PATH)
        if node.data is not None and isinstance(body := node.data.value(), dict)
    ]
    return find_answer_rules(calls, gates)


def _join(path: Path) -> str:
    """The path as in the id of a gate: `write/ask`, `par[0]/ask`."""
    parts: list[str] = []
    for one in path:
        if parts and _PLACE.fullmatch(one):
            parts[-1] += one
        else:
            parts.append(label(one, 1))
    return "/".join(parts)


class _Trace:
    """Where the value of an input comes from, unchanged."""

    def __init__(self, root: FlowIR) -> None:
        self._flows: dict[Path, _Placed] = {}
        self._list(root, (), None)

    def _list(self, flow: FlowIR, path: Path, around: Path | None) -> None:
        """path: what the paths of the flow's nodes begin with; around: that of the node that runs it."""
        self._flows[path] = _Placed(flow, around)
        for node in flow.nodes:
            own = (*path, node.id)
            for inside, subflow in open_flows(node, own):
                self._list(subflow, inside, own)

    def find(self, path: Path, title: str) -> list[_Source]:
        """Outputs of nodes that make the value of the input `title` of the node at `path`."""
        found: dict[_Source, None] = {}
        waiting, seen = [(path, title)], {(path, title)}
        while waiting:
            for source in self._step_back(*waiting.pop()):
                after = list(self._pass_on(*source))
                found |= {} if after else {source: None}
                for one in after:
                    if one not in seen:
                        seen.add(one)
                        waiting.append(one)
        return list(found)

    def _step_back(self, path: Path, title: str) -> Iterator[_Source]:
        """The outputs that data edges bring to an input."""
        around = path[:-1]
        for edge in self._flows[around].flow.feeds.get((path[-1], title), ()):
            yield (*around, edge.source), edge.output

    def _pass_on(self, path: Path, output: str) -> Iterator[_Source]:
        """The inputs of other nodes whose value the output is, unchanged; none where a node makes it."""
        placed = self._flows[path[:-1]]
        node = placed.flow.by_id.get(path[-1])
        if isinstance(node, StartNode) and placed.around is not None:
            yield placed.around, output
        if isinstance(node, FlowNode):
            for inside, subflow in open_flows(node, path):
                for end in subflow.nodes:
                    if isinstance(end, EndNode):
                        yield (*inside, end.id), output


@dataclass(frozen=True, slots=True)
class _Placed:
    flow: FlowIR
    around: Path | None
    """Path of the node that runs the flow; None for the root."""
