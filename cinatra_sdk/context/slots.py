"""A context slot as the agent's author declares it.

    read_slots([{"slotId": "voice", "acceptedArtifactExtensions": ["@x/voice"],
                 "selectionMode": "interactive", "resolutionMode": "accumulate"}])
        -> (AgentContextSlot(slot_id="voice", …, min_items=0, max_items=None),)

Strict: an unknown key, a wrong type or a duplicate `slotId` is refused wherever slots are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.contract import ResolutionMode, SelectionMode

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
