"""What was chosen for a slot, checked against what may be chosen, and the key of the choice.

    accepted(resolution, "interactive", envelope)   ->  the trusted refs, in the order chosen
    selection_key(run, package, slot, mode, refs)   ->  "5f0c…"; its rows are "5f0c…:0", "5f0c…:1"

What comes back is never believed beyond its three keys: the refs that are kept are the
resolver's own.  The same choice has the same key, whatever the order it was given in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.context.refs import ContextSelection, PinnedTriple, ResolvedContextRef
from cinatra_sdk.context.resolution import ContextResolution


def accepted(
    resolution: ContextResolution, selection_mode: str, selection: ContextSelection
) -> tuple[ResolvedContextRef, ...]:
    """The trusted refs that `selection` chooses from a fresh `resolution`.

    Modes come from the slot as declared; what was submitted has to agree with them.

    Raises: `ContextError` (422) for the first rule that is broken.
    """
    slot = resolution.slot
    if selection_mode != slot.selection_mode:
        raise ContextError(
            "selection_mode_mismatch",
            f'the slot "{slot.slot_id}" is {slot.selection_mode}, not {selection_mode[:40]}',
        )
    if selection.slot_id != slot.slot_id:
        raise ContextError(
            "slot_mismatch",
            f'the selection is for the slot "{selection.slot_id[:80]}", not "{slot.slot_id}"',
        )
    if selection.resolution_mode != slot.resolution_mode:
        raise ContextError(
            "resolution_mode_mismatch",
            f'the slot "{slot.slot_id}" resolves by {slot.resolution_mode}, '
            f"not by {selection.resolution_mode}",
        )
    trusted = {ref.triple: ref for ref in resolution.candidates}
    for triple in selection.triples:
        if triple not in trusted:
            raise ContextError(
                "ref_not_in_candidates",
                f'"{triple.artifact_id[:80]}" in this revision and classification is no candidate '
                f'of the slot "{slot.slot_id}"',
            )
    chosen = tuple(trusted[triple] for triple in selection.triples)
    _check_number(resolution, len(chosen))
    return chosen


def _check_number(resolution: ContextResolution, number: int) -> None:
    slot = resolution.slot
    if number < slot.min_items:
        raise ContextError(
            "below_min_items",
            f'the slot "{slot.slot_id}" needs at least {slot.min_items}, {number} were chosen '
            f"of {len(resolution.candidates)}",
        )
    if slot.max_items is not None and number > slot.max_items:
        raise ContextError(
            "above_max_items",
            f'the slot "{slot.slot_id}" takes at most {slot.max_items}, {number} were chosen',
        )
    if slot.resolution_mode == "override" and number > 1:
        raise ContextError(
            "override_multi_select",
            f'the slot "{slot.slot_id}" takes one ref, the narrowest; {number} were chosen',
        )


def selection_key(
    *,
    parent_run_id: str,
    parent_package_name: str,
    slot_id: str,
    selection_mode: str,
    triples: Iterable[PinnedTriple],
) -> str:
    """sha256, in hex, of who chose what for which slot; order and repetition do not count."""
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
