"""The context slots that a stored flow declares: its own, those of embedded packages, agreements.

In: the bytes of a flow.  Out: `DeclaredSlots`.

    {"metadata": {"cinatra": {"packageName": "@x/writer", "contextSlots": [{"slotId": "voice", …}]}},
     … a FlowNode with packageName "@x/drafts", whose subflow declares "brand"}
        ->  package_name "@x/writer", slots {"@x/writer": (voice,), "@x/drafts": (brand,)}

Only flows that are run count, and a flow inside another one belongs to the package that it or its
FlowNode names, else to the one around it.  Only data is read here, of a flow that was compiled
before it was stored: nothing is compiled again.
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
"""Slot of one child → (package, slot) whose selection is handed on to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSlots:
    """What the bytes of one flow say about context slots."""

    package_name: str
    """Of the flow itself; empty where it does not say."""
    slots: Mapping[str, tuple[AgentContextSlot, ...]] = field(default_factory=dict)
    """Package → its slots; those of the flow itself under `package_name`, whatever it is."""
    agreed: Mapping[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """(child package, its slot) → (package, slot) whose selection is handed on to it."""


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
    """Both, where the same declaration counts once.

    Of two declarations with one id that say different things neither is usable, which whoever
    asks for the slot is told (`slot_ambiguous`): both stay.
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

    An agreement lets a gate be left out, so only the flow around a child may make it, and a child
    can make none for a flow that somebody else placed: with another copy of that flow inside
    itself it speaks for its copy only, which is not every one.  The root has nobody around it.
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
    """Child package → what a flow agrees on for it; of two that differ for one slot neither."""
    made: dict[str, _Agreements] = {}
    undecided: set[tuple[str, str]] = set()
    for own, child, theirs in flow.agreed():
        parent = flow.package, own
        if made.setdefault(child, {}).setdefault(theirs, parent) != parent:
            undecided.add((child, theirs))
    for child, theirs in undecided:
        del made[child][theirs]
    return made
