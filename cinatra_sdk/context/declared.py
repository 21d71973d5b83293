"""The context slots that a flow declares: its own, those of embedded packages, agreements.

    DeclaredSlots(package_name="@x/writer",
                  slots={"@x/writer": (voice,), "@x/drafts": (brand,)},
                  agreed={("@x/drafts", "brand"): ("@x/writer", "voice")})

The compiler that knows the flow's language finds them; see `cinatra_sdk.store.flows`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cinatra_sdk.context.slots import AgentContextSlot


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


def together(
    slots: Iterable[AgentContextSlot], more: Iterable[AgentContextSlot]
) -> tuple[AgentContextSlot, ...]:
    """Both lists of slots; the same declaration counts once.

    Two different declarations with one id both stay, and neither is usable: a caller that asks for
    the slot gets `slot_ambiguous`.
    """
    return tuple(dict.fromkeys((*slots, *more)))
