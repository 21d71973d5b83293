"""A context slot as the agent's author declares it.

    read_slots([{"slotId": "voice", "acceptedArtifactExtensions": ["@x/voice"],
                 "selectionMode": "interactive", "resolutionMode": "accumulate"}])
        -> (AgentContextSlot(slot_id="voice", …, min_items=0, max_items=None),)

Strict: an unknown key, a wrong type or a duplicate `slotId` is refused wherever slots are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.contract import ResolutionMode, SelectionMode
from cinatra_sdk.light_imports.records import dataclass

_Text = Annotated[str, Field(min_length=1)]


class AgentContextSlot(BaseModel):
    """One entry of `metadata.cinatra.contextSlots`; read and written under its camelCase keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    slot_id: _Text = Field(alias="slotId")
    """Unique per agent."""
    accepted_artifact_extensions: tuple[_Text, ...] = Field(
        alias="acceptedArtifactExtensions", min_length=1, strict=False
    )
    """Package names of artifact extensions; the resolver adds those that satisfy one of them."""
    selection_mode: SelectionMode = Field(alias="selectionMode")
    resolution_mode: ResolutionMode = Field(alias="resolutionMode")
    min_items: int = Field(default=0, alias="minItems", ge=0)
    """Enforced when a selection is finalized; the resolver itself returns all candidates."""
    max_items: int | None = Field(default=None, alias="maxItems", ge=1)
    """`None`: no bound."""
    readable_only: bool = Field(default=False, alias="readableOnly")
    """Shown as a badge; the candidates are not filtered by it (deferred in Cinatra's guide)."""

    @model_validator(mode="after")
    def _check_item_bounds(self) -> AgentContextSlot:
        if self.max_items is not None and self.min_items > self.max_items:
            raise ValueError(f"minItems {self.min_items} is more than maxItems {self.max_items}")
        return self


def read_slots(value: object) -> tuple[AgentContextSlot, ...]:
    """The slots that an agent declares; absent (`None`) means none.

    Raises: `ContextError` `oas_missing` naming slot and key when the list cannot be used,
    `slot_ambiguous` when two slots have one id.
    """
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise ContextError("oas_missing", "contextSlots is not a list")
    slots = tuple(_read_slot(entry, index) for index, entry in enumerate(value))
    seen: set[str] = set()
    for slot in slots:
        if slot.slot_id in seen:
            raise ContextError("slot_ambiguous", f'two context slots have the id "{slot.slot_id}"')
        seen.add(slot.slot_id)
    return slots


def slot_named(slots: Sequence[AgentContextSlot], slot_id: str) -> AgentContextSlot:
    """The slot with this id.

    Raises: `ContextError` `slot_missing`, `slot_ambiguous`.
    """
    found = [slot for slot in slots if slot.slot_id == slot_id]
    if len(found) > 1:
        raise ContextError("slot_ambiguous", f'two context slots have the id "{slot_id}"')
    if not found:
        has = ", ".join(f'"{slot.slot_id}"' for slot in slots) or "none"
        raise ContextError("slot_missing", f'the agent declares no slot "{slot_id}", it has {has}')
    return found[0]


def _read_slot(entry: object, index: int) -> AgentContextSlot:
    try:
        return AgentContextSlot.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        where = f"contextSlots[{index}]{f'.{place}' if place else ''}"
        raise ContextError("oas_missing", f"{where}: {first['msg']}") from None


# ----------------------------------------------------------------------------
# The context slots that a flow declares: its own, those of embedded packages, agreements.
#
#     DeclaredSlots(package_name="@x/writer",
#                   `slots={"@x/writer": (voice,), "@x/drafts": (brand,)},`
#                   agreed={("@x/drafts", "brand"): ("@x/writer", "voice")})
#
# The compiler that knows the flow's language finds them; see `cinatra_sdk.store.flows.flow_protocol`.


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
