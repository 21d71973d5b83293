"""The selection for a context slot runs before the nodes that use it, on every path.

start → write → context_brand                                  ->  OAS158 at the FlowNode
check ─yes→ context_brand → write, check ─no→ write            ->  OAS158: around it
start → context_brand → write
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import Slot
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import FlowIR


@rule(
    code="OAS158",
    name="context-slot-order",
    severity="error",
    summary="A consumer of a context slot can run before the slot's FlowNode.",
    fix="Lead every control path through the FlowNode before the consumer.",
    source="context slots, adoption checklist 8: control edge into the consumer",
    needs="cinatra",
    bad=("from_node: {$component_ref: write}\nto_node: {$component_ref: context_brand}"),
    good=("from_node: {$component_ref: context_brand}\nto_node: {$component_ref: write}"),
)
def context_slot_order(subject: Subject, report: Report) -> None:
    for found in subject.slot_flows:
        following: dict[str, list[str]] = {}
        for route in found.flow.routes:
            following.setdefault(route.source, []).append(route.target)
        for slot in found.slots:
            early = _find_early_consumer(found.flow, slot, following)
            if early and slot.node is not None:
                report(
                    f'"{early[:80]}" uses the context slot "{slot.id[:80]}" and can run before '
                    f'"{slot.node.id[:90]}", which selects for it',
                    slot.node.place,
                    hint=f'lead every path to "{early[:80]}" through "{slot.node.id[:90]}"',
                )


def _find_early_consumer(flow: FlowIR, slot: Slot, following: dict[str, list[str]]) -> str:
    """A consumer that a run can reach without the slot's FlowNode; empty if there is none."""
    if slot.node is None or not slot.bindings:
        return ""
    consumers = {edge.target for edge in slot.bindings}
    seen = {flow.start, slot.node.id}
    waiting = [flow.start]
    for current in waiting:
        if current in consumers:
            return current
        for target in following.get(current, ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return ""
