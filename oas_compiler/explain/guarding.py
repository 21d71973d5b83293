"""Records of gates and of the sends that they guard: no way reaches a guarded send without its
gate.

start → gate → send        gate guards send;  send is guarded, always by gate
start → check ─a→ gate → send, check ─b→ send
                           gate comes before send on some ways;  send is not guarded
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from cinatra_sdk.contract import FALLBACK_RENDERER
from oas_compiler.control.gates import GateSpec
from oas_compiler.control.graph import ControlGraph
from oas_compiler.control.guarding import Guarding
from oas_compiler.explain.records import GateFacts, Send
from oas_compiler.explain.wiring import FlowWiring
from oas_compiler.ir import FlowIR, InputMessageNode, Node, Path, open_flows, walk

MAX_GUARDS = 50
"""The nearest gates that are named for one send."""
MAX_WALKS = 200
"""Sends for which gates on only some ways are searched; each search walks the whole flow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guarded:
    path: Path
    risk_class: str
    guarded: bool
    always: tuple[Path, ...]
    sometimes: tuple[Path, ...]


def sends_of(guarding: Guarding) -> tuple[_Guarded, ...]:
    """Every node of a send class, with the gates before it."""
    graph, asking = guarding.graph, guarding.asking
    found: list[_Guarded] = []
    for path, node in walk(guarding.flow):
        if path not in guarding.sends or not guarding.acts(path):
            continue
        acts = graph.done(path)
        gates = (above for above in graph.always_before(acts) if above in asking)
        always = tuple(islice(gates, MAX_GUARDS))
        before = asking.intersection(graph.sometimes_before(acts)) if len(found) < MAX_WALKS else ()
        found.append(
            _Guarded(
                path=path,
                risk_class=node.risk_class,
                guarded=not guarding.is_open(path),
                always=always,
                sometimes=tuple(sorted({*before} - {*always})[:MAX_GUARDS]),
            )
        )
    return tuple(found)


def send_records(found: Sequence[_Guarded]) -> tuple[Send, ...]:
    return tuple(
        Send(
            path="/".join(one.path),
            risk_class=one.risk_class,
            guarded=one.guarded,
            always=_join_paths(one.always),
            sometimes=_join_paths(one.sometimes),
        )
        for one in found
    )


def gate_records(
    guarding: Guarding, wirings: dict[Path, FlowWiring], sends: Sequence[_Guarded]
) -> dict[Path, GateFacts]:
    """Every gate, by path, in the order of the policy's steps."""
    guards: dict[Path, list[Path]] = {}
    before: dict[Path, list[Path]] = {}
    for one in sends:
        for gate in one.always:
            guards.setdefault(gate, []).append(one.path)
        for gate in one.sometimes:
            before.setdefault(gate, []).append(one.path)
    facts = {}
    for spec in guarding.gates.values():
        made = _build_gate_facts(spec, wirings[spec.path[:-1]], asks=spec.path in guarding.asking)
        facts[spec.path] = replace(
            made,
            guards=_join_paths(guards.get(spec.path, ())),
            also_before=_join_paths(before.get(spec.path, ())),
        )
    return facts


def _build_gate_facts(spec: GateSpec, wiring: FlowWiring, *, asks: bool) -> GateFacts:
    node = wiring.flow.by_id[spec.node]
    assert isinstance(node, InputMessageNode)
    start = wiring.flow.start_node()
    return GateFacts(
        path="/".join(spec.path),
        step=spec.step,
        name=spec.name,
        risk_class=spec.risk_class,
        renderer=spec.renderer or FALLBACK_RENDERER,
        asks=asks,
        answer=node.outputs[0].title,
        answer_schema=node.answer_schema,
        shows=tuple(port.title for port in node.inputs),
        shows_inputs=tuple(port.title for port in start.outputs if port.title not in start.hidden),
        shows_message=bool(node.message),
        shows_after=wiring.shown_before(node),
        max_visits=node.max_visits,
    )


def wirings_of(
    flow: FlowIR, graph: ControlGraph, around: Path = (), outer: tuple[Node, ...] = ()
) -> Iterator[tuple[Path, FlowWiring]]:
    """The flow and every subflow, each at each of its places; `outer`: the nodes around the flow."""
    yield around, FlowWiring(flow=flow, around=around, outer=outer, graph=graph)
    for node in flow.nodes:
        for inside, subflow in open_flows(node, (*around, node.id)):
            yield from wirings_of(subflow, graph, inside, (*outer, node))


def _join_paths(paths: Sequence[Path]) -> tuple[str, ...]:
    return tuple("/".join(path) for path in paths)
