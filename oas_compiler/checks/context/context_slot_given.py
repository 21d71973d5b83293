"""A selection gets the right slot and package as inputs.

    slotId "brand", start.brandSlotId (default "brnad") → context_brand.slotId             ->  OAS243
    start.brandParentPackageName (default "@x/other") → context_brand.parentPackageName    ->  OAS243

The platform finds the slot by these two names, and refuses unknown names.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.lookup.child_agents import own_names
from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import Slot
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import FlowIR, FlowNode, Port, StartNode
from oas_compiler.text.marks import child


@rule(
    code="OAS243",
    name="context-slot-given",
    severity="warning",
    summary="A selection is given another slot or another package than the one that it is for.",
    fix="Write the slotId of the slot and the name of the package as the defaults of the two inputs.",
    source="context slots, adoption checklist 8: data edges in",
    needs="cinatra",
    bad='"slotId": "brand", …, {"title": "brandSlotId", "default": "brnad"}',
    good='"slotId": "brand", …, {"title": "brandSlotId", "default": "brand"}',
)
def context_slot_given(subject: Subject, report: Report) -> None:
    for slot, what, wanted, port in wrong_defaults(subject):
        report(
            f'the selection for the context slot "{slot.id[:80]}" is given the {what} '
            f'"{str(port.default.value() if port.default else "")[:80]}"',
            subject.place(child(port.place.pointer, "default")),
            hint=f'write "{wanted[:120]}"',
        )


def wrong_defaults(subject: Subject) -> Iterator[tuple[Slot, str, str, Port]]:
    """(slot, actual default, right default, the input of the StartNode) of every wrong default."""
    names = own_names(subject)
    for found in subject.slot_flows:
        # inside a child flow the defaults name the child
        packages = names if found.flow is subject.flow else frozenset({found.flow.package_name})
        for slot in found.slots:
            if slot.node is not None and not slot.from_parent:
                for given in _find_wrong_start_defaults(found.flow, slot.node, slot, packages):
                    yield slot, *given


def _find_wrong_start_defaults(
    flow: FlowIR, node: FlowNode, slot: Slot, packages: frozenset[str]
) -> Iterator[tuple[str, str, Port]]:
    """The last three of `wrong_defaults`."""
    start = flow.by_id.get(flow.start)
    if not isinstance(start, StartNode):
        return
    ports = {port.title: port for port in start.inputs}
    for edge in flow.data_edges_into(node.id):
        port = ports.get(edge.output) if edge.source == flow.start else None
        value = port.default.value() if port is not None and port.default is not None else None
        if port is None or not isinstance(value, str) or not value:
            continue
        if edge.input == "slotId" and value != slot.id:
            yield "slotId", slot.id, port
        if edge.input == "parentPackageName" and packages - {""} and value not in packages:
            yield "package", min(packages - {""}), port
