"""Each agent selects its own context: a selection is not passed to several child agents.

    context_brand.contextSlotBindings → drafts_flow (@x/drafts) and → posts_flow (@x/posts)   ->  OAS161
    … → drafts_flow alone, and posts_flow selects inside itself

Subflows without a packageName belong to the parent and may share its selection; so may children that
`parentSatisfiedContextSlots` lists.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import Slot, SlotFlow, handed_on, package_of
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import DataEdge, FlowNode


@rule(
    code="OAS161",
    name="context-selection-shared",
    severity="error",
    summary="One selection of a context slot is handed out to several child agents.",
    fix="Let each child agent declare the slot and select for itself.",
    source="context slots: child-local only",
    needs="cinatra",
    bad=(
        "source_node: {$component_ref: context_brand}\n"
        "source_output: contextSlotBindings\n"
        "destination_node: {$component_ref: drafts_flow}\n"
        "destination_input: contextSlotBindings\n"
        "---\n"
        "source_node: {$component_ref: context_brand}\n"
        "source_output: contextSlotBindings\n"
        "destination_node: {$component_ref: posts_flow}\n"
        "destination_input: contextSlotBindings"
    ),
    good=(
        "# posts_flow declares the slot and selects for itself\n"
        "source_node: {$component_ref: context_brand}\n"
        "source_output: contextSlotBindings\n"
        "destination_node: {$component_ref: drafts_flow}\n"
        "destination_input: contextSlotBindings"
    ),
)
def context_selection_shared(subject: Subject, report: Report) -> None:
    for found in subject.slot_flows:
        handed = handed_on(found.flow)
        for slot in found.slots:
            agreed = {package for own, package, _ in handed if own == slot.id}
            children = _list_child_agents(found, slot, agreed)
            first, *others = children or [("", None)]
            for package, edge in others:
                if edge is not None and slot.node is not None:
                    report(
                        f'"{slot.node.id[:90]}" selects for "{first[0][:80]}" and for '
                        f'"{package[:80]}" too: a selection belongs to one agent',
                        edge.place,
                        hint=f'let "{package[:80]}" declare the slot and select for itself',
                    )


def _list_child_agents(
    found: SlotFlow, slot: Slot, agreed: set[str]
) -> list[tuple[str, DataEdge | None]]:
    """The child agents that receive the selection, each with its first edge."""
    children: dict[str, tuple[str, DataEdge | None]] = {}
    for edge in slot.bindings:
        node = found.flow.by_id[edge.target]
        if isinstance(node, FlowNode):
            package = package_of(node)
            if package and package != found.flow.package_name and package not in agreed:
                # one agent may run at several places
                children.setdefault(package, (package, edge))
    return list(children.values())
