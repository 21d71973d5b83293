"""Gates and what they guard: which sends nothing reaches without passing them.

    start → gate → send        gate guards send;  send is guarded, always by gate
    start → check ─a→ gate → send, check ─b→ send
                               gate comes before send on some ways;  send is not guarded

A gate that the policy waives (`requiresApproval: false` in `gateSteps`) asks nobody and guards
nothing.  A gate is never a send: its risk class says what it guards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from oas_compiler.control.approval import (
    FALLBACK_RENDERER,
    Approval,
    GateSpec,
    is_send,
    waived_gates,
)
from oas_compiler.explain.passage import Passage
from oas_compiler.explain.records import GateFacts, Send
from oas_compiler.explain.wiring import Wiring
from oas_compiler.ir import FlowIR, InputMessageNode, Path, walk

MAX_GUARDS = 50
"""Gates that are named for one send; the nearest ones."""
MAX_WALKS = 200
"""Sends for which the gates on some ways are looked for; each is a walk over the flow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guarded:
    path: Path
    risk_class: str
    guarded: bool
    always: tuple[Path, ...]
    sometimes: tuple[Path, ...]


def sends_of(flow: FlowIR, passage: Passage, approval: Approval) -> tuple[_Guarded, ...]:
    """Every node of a send class, with the gates before it."""
    asking = {gate.path for gate in approval.gates} - waived_gates(flow)
    open_to_all = passage.reached(without=asking)
    reached = passage.reached()
    found: list[_Guarded] = []
    for path, node in walk(flow):
        if not is_send(node) or passage.done(path) not in reached:
            continue
        acts = passage.done(path)
        always = tuple(islice((one for one in passage.before(acts) if one in asking), MAX_GUARDS))
        before = passage.sources(acts) & asking if len(found) < MAX_WALKS else set()
        found.append(
            _Guarded(
                path=path,
                risk_class=node.risk_class,
                guarded=acts not in open_to_all,
                always=always,
                sometimes=tuple(sorted(before - {*always})[:MAX_GUARDS]),
            )
        )
    return tuple(found)


def send_records(found: Sequence[_Guarded]) -> tuple[Send, ...]:
    return tuple(
        Send(
            path="/".join(one.path),
            risk_class=one.risk_class,
            guarded=one.guarded,
            always=_names(one.always),
            sometimes=_names(one.sometimes),
        )
        for one in found
    )


def gate_records(
    flow: FlowIR, approval: Approval, wirings: dict[Path, Wiring], sends: Sequence[_Guarded]
) -> dict[Path, GateFacts]:
    """Every gate, by path, in the order of the policy's steps."""
    waived = waived_gates(flow)
    guards: dict[Path, list[Path]] = {}
    before: dict[Path, list[Path]] = {}
    for one in sends:
        for gate in one.always:
            guards.setdefault(gate, []).append(one.path)
        for gate in one.sometimes:
            before.setdefault(gate, []).append(one.path)
    facts = {}
    for spec in approval.gates:
        made = _gate(spec, wirings[spec.path[:-1]], asks=spec.path not in waived)
        facts[spec.path] = replace(
            made,
            guards=_names(guards.get(spec.path, ())),
            also_before=_names(before.get(spec.path, ())),
        )
    return facts


def _gate(spec: GateSpec, wiring: Wiring, *, asks: bool) -> GateFacts:
    node = wiring.flow.by_id[spec.node]
    assert isinstance(node, InputMessageNode)
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
        shows_after=wiring.shown_before(node),
        max_visits=node.max_visits,
    )


def wirings_of(flow: FlowIR, passage: Passage, around: Path = ()) -> Iterator[tuple[Path, Wiring]]:
    """The flow and every subflow, each at each of its places."""
    from oas_compiler.ir import FlowNode

    yield around, Wiring(flow=flow, around=around, passage=passage)
    for node in flow.nodes:
        if isinstance(node, FlowNode):
            yield from wirings_of(node.subflow, passage, (*around, node.id))


def _names(paths: Sequence[Path]) -> tuple[str, ...]:
    return tuple("/".join(path) for path in paths)
