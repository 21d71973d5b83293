"""The context slots that a stored flow declares: its own, those of embedded packages, agreements.

In: the bytes of a flow.  Out: `DeclaredSlots`.

    {"metadata": {"cinatra": {"packageName": "@x/writer", "contextSlots": [{"slotId": "voice", …}]}},
     … a FlowNode with packageName "@x/drafts", whose subflow declares "brand"}
        ->  package_name "@x/writer", slots {"@x/writer": (voice,), "@x/drafts": (brand,)}

Only flows that are run count.  A flow inside another flow belongs to the package that the flow or
its FlowNode names, else to the package of the outer flow.  This module only reads data of a flow
that was compiled before it was stored: nothing is compiled again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pydantic import JsonValue

from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.context.slots import AgentContextSlot, read_slots
from cinatra_sdk.host.placements import Placement, about, placements
from cinatra_sdk.text.documents import DocumentRefused, decoded

_Agreements: TypeAlias = dict[str, tuple[str, str]]
"""Slot of one child → the (package, slot) whose selection the child receives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSlots:
    """The declarations of one flow about context slots."""

    package_name: str
    """Package of the flow itself; empty where the flow does not name it."""
    slots: Mapping[str, tuple[AgentContextSlot, ...]] = field(default_factory=dict)
    """Package → its slots; the flow's own slots stand under `package_name`, also where it is
    empty.
    """
    agreed: Mapping[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """(child package, its slot) → the (package, slot) whose selection the child receives."""


def read_declared(source: bytes) -> DeclaredSlots:
    """Raises: `ContextError` `oas_missing`, `slot_ambiguous` where the slots cannot be read."""
    document = _decode_document(source)
    if not isinstance(document, dict):
        raise ContextError("oas_missing", "the stored flow is no JSON or YAML document")
    placed = tuple(placements(document))
    own = placed[0].package if placed else ""
    slots: dict[str, tuple[AgentContextSlot, ...]] = {own: ()}
    # a flow that is run in many places is read once
    flows = {(one.package, id(one.flow)): one.flow for one in placed}
    for (package, _), flow in flows.items():
        found = read_slots(about(flow).get("contextSlots"))
        slots[package] = together(slots.get(package, ()), found)
    return DeclaredSlots(
        package_name=own, slots=slots, agreed=_collect_held_agreements(placed, own)
    )


def together(
    slots: Iterable[AgentContextSlot], more: Iterable[AgentContextSlot]
) -> tuple[AgentContextSlot, ...]:
    """Both lists of slots; the same declaration counts once.

    Two different declarations with one id both stay, and neither is usable: a caller that asks for
    the slot gets `slot_ambiguous`.
    """
    return tuple(dict.fromkeys((*slots, *more)))


def _decode_document(source: bytes) -> JsonValue:
    try:
        return decoded(source)
    except DocumentRefused:
        return None


def _collect_held_agreements(
    placed: Iterable[Placement], own: str
) -> dict[tuple[str, str], tuple[str, str]]:
    """The agreements that hold wherever the child is run.

    An agreement removes a gate, so only the flow around a child may make it.  Where several flows
    run the same child, an agreement holds only if all of them make it: no flow speaks for another
    flow's copy of the child.  The root has no flow around it.
    """
    made: dict[tuple[str, int], dict[str, _Agreements]] = {}
    found: dict[str, _Agreements] = {}
    for one in placed:
        around = one.around
        if around is None or not one.is_child or one.package == own:
            continue
        key = around.package, id(around.flow)
        if key not in made:
            made[key] = _collect_flow_agreements(around)
        here = made[key].get(one.package, {})
        found[one.package] = dict(found.get(one.package, here).items() & here.items())
    return {
        (child, theirs): parent
        for child, agreements in found.items()
        for theirs, parent in agreements.items()
    }


def _collect_flow_agreements(flow: Placement) -> dict[str, _Agreements]:
    """Child package → the agreements of a flow for it; two different agreements for one slot cancel
    each other.
    """
    made: dict[str, _Agreements] = {}
    undecided: set[tuple[str, str]] = set()
    for own, child, theirs in flow.agreed():
        parent = flow.package, own
        if made.setdefault(child, {}).setdefault(theirs, parent) != parent:
            undecided.add((child, theirs))
    for child, theirs in undecided:
        del made[child][theirs]
    return made
