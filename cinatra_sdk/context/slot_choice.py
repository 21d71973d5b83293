"""Checks a choice for a slot against the candidates, and makes the key of the choice.

    accepted(resolution, "interactive", envelope)   ->  the trusted refs, in the order chosen
    selection_key(run, package, slot, mode, refs)   ->  "5f0c…"; its rows are "5f0c…:0", "5f0c…:1"

Only the three keys of a submitted ref count: the stored refs are the resolver's own.  The same
choice in another order has the same key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.context.artifact_refs import ContextSelection, PinnedTriple, ResolvedContextRef
from cinatra_sdk.context.candidates import ContextResolution
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.context.slot_declarations import AgentContextSlot
from cinatra_sdk.contract import ResolutionMode


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceRules:
    """The rules of a slot for a choice."""

    slot_id: str
    resolution_mode: ResolutionMode
    min_items: int = 0
    max_items: int | None = None
    """`None`: no bound of its own."""

    @classmethod
    def of(cls, slot: AgentContextSlot) -> ChoiceRules:
        return cls(
            slot_id=slot.slot_id,
            resolution_mode=slot.resolution_mode,
            min_items=slot.min_items,
            max_items=slot.max_items,
        )

    @property
    def cap(self) -> int | None:
        """The most refs that may be chosen: one where the narrowest wins."""
        return 1 if self.resolution_mode == "override" else self.max_items


def accepted(
    resolution: ContextResolution, selection_mode: str, selection: ContextSelection
) -> tuple[ResolvedContextRef, ...]:
    """The trusted refs that `selection` chooses from a fresh `resolution`.

    The declared slot decides the modes; the submitted modes must agree.

    Raises: `ContextError` (422) for the first rule that is broken.
    """
    slot = resolution.slot
    if selection_mode != slot.selection_mode:
        raise ContextError(
            "selection_mode_mismatch",
            f'the slot "{slot.slot_id}" is {slot.selection_mode}, not {selection_mode[:40]}',
        )
    trusted = {ref.triple: ref for ref in resolution.candidates}
    check_choice(ChoiceRules.of(slot), selection, trusted)
    return tuple(trusted[triple] for triple in selection.triples)


def check_choice(
    rules: ChoiceRules, selection: ContextSelection, candidates: Collection[PinnedTriple]
) -> None:
    """Raise `ContextError` (422) for the first rule that `selection` breaks."""
    slot_id = rules.slot_id
    if selection.slot_id != slot_id:
        raise ContextError(
            "slot_mismatch",
            f'the selection is for the slot "{selection.slot_id[:80]}", not "{slot_id}"',
        )
    if selection.resolution_mode != rules.resolution_mode:
        raise ContextError(
            "resolution_mode_mismatch",
            f'the slot "{slot_id}" resolves by {rules.resolution_mode}, '
            f"not by {selection.resolution_mode}",
        )
    for triple in selection.triples:
        if triple not in candidates:
            raise ContextError(
                "ref_not_in_candidates",
                f'"{triple.artifact_id[:80]}" in this revision and classification is no candidate '
                f'of the slot "{slot_id}"',
            )
    _check_number(rules, len(selection.triples), len(candidates))


def _check_number(rules: ChoiceRules, number: int, offered: int) -> None:
    if number < rules.min_items:
        raise ContextError(
            "below_min_items",
            f'the slot "{rules.slot_id}" needs at least {rules.min_items}, {number} were chosen '
            f"of {offered}",
        )
    if rules.max_items is not None and number > rules.max_items:
        raise ContextError(
            "above_max_items",
            f'the slot "{rules.slot_id}" takes at most {rules.max_items}, {number} were chosen',
        )
    if rules.resolution_mode == "override" and number > 1:
        raise ContextError(
            "override_multi_select",
            f'the slot "{rules.slot_id}" takes one ref, the narrowest; {number} were chosen',
        )


def selection_key(
    *,
    parent_run_id: str,
    parent_package_name: str,
    slot_id: str,
    selection_mode: str,
    triples: Iterable[PinnedTriple],
) -> str:
    """sha256, in hex, of run, slot and chosen refs; order and repetition do not count."""
    chosen = sorted(set(triples))
    value = {
        "parentRunId": parent_run_id,
        "parentPackageName": parent_package_name,
        "slotId": slot_id,
        "selectionMode": selection_mode,
        "triples": [list(triple) for triple in chosen],
    }
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# ----------------------------------------------------------------------------
# A choice that was valid when it was made, but cannot be recorded any more.
#
#     `refusal_of("ref_not_in_candidates", {"userResponse": "{…}"})`
#         ->  {"code": "ref_not_in_candidates", "selectedRefs": [{"artifactId": "a1", …}]}
#
# Between a person's decision and its finalize an artifact may be deleted, hidden or classified
# otherwise.  The slot is then resolved again, and its gate shows this beside the candidates.


OUTDATED: Final = frozenset(
    {"ref_not_in_candidates", "selection_incoherent", "inherited_selection_mismatch"}
)
"""Codes of a refused finalize that another resolve may cure."""
MOST_ASKED: Final = 25
"""How often in a row a person is asked again; Cinatra's own limit of visits of a gate."""
MOST_ALONE: Final = 3
"""How often in a row an autonomous slot is resolved again."""
REFUSED_KEY: Final = "refused"
"""Key of a gate's value that holds the result of `refusal_of`."""


def refusal_of(code: str, body: JsonValue) -> dict[str, JsonValue]:
    """The value that a gate shows about a finalize with this body that was refused with `code`."""
    text = body.get("userResponse") if isinstance(body, Mapping) else None
    chosen: tuple[PinnedTriple, ...] = ()
    with suppress(ContextError):  # a flow that makes up its own envelope: nothing can be shown
        chosen = ContextSelection.parse(text).triples
    return {"code": code, "selectedRefs": [triple.wire() for triple in chosen]}
