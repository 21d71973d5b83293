"""The context slots that a flow declares: its own, those of embedded packages, agreements.

    DeclaredSlots(package_name="@x/writer",
                  slots={"@x/writer": (voice,), "@x/drafts": (brand,)},
                  agreed={("@x/drafts", "brand"): ("@x/writer", "voice")})

The compiler that knows the flow's language finds them; see `cinatra_sdk.store.flows`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.context.slots import AgentContextSlot, read_slots


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


def write_declared(declared: DeclaredSlots) -> dict[str, JsonValue]:
    """The declarations as JSON, for flows that are no files."""
    return {
        "package": declared.package_name,
        "slots": {
            package: [slot.model_dump(by_alias=True, mode="json") for slot in slots]
            for package, slots in declared.slots.items()
        },
        "agreed": [[*child, *parent] for child, parent in declared.agreed.items()],
    }


def read_declared(written: JsonValue) -> DeclaredSlots:
    """What `write_declared` wrote.

    Raises: `ContextError` `oas_missing`, `slot_ambiguous` where it cannot be read.
    """
    fields = written if isinstance(written, dict) else {}
    package, listed, agreed = fields.get("package"), fields.get("slots"), fields.get("agreed")
    if not (isinstance(package, str) and isinstance(listed, dict) and isinstance(agreed, list)):
        raise ContextError("oas_missing", "the context slots of the flow cannot be read")
    pairs = [tuple(map(str, one)) for one in agreed if isinstance(one, list)]
    return DeclaredSlots(
        package_name=package,
        slots={name: read_slots(slots) for name, slots in listed.items()},
        agreed={(one[0], one[1]): (one[2], one[3]) for one in pairs if len(one) == 4},
    )


def together(
    slots: Iterable[AgentContextSlot], more: Iterable[AgentContextSlot]
) -> tuple[AgentContextSlot, ...]:
    """Both lists of slots; the same declaration counts once.

    Two different declarations with one id both stay, and neither is usable: a caller that asks for
    the slot gets `slot_ambiguous`.
    """
    return tuple(dict.fromkeys((*slots, *more)))
