"""A context selection without a checklist: artifacts named by their ids on a command line.

In: the `Selector` of a gate and the ids of `--select`.  Out: the `userResponse` envelope.

    chosen_by_id(selector, ["a1f", "b2"])  ->  {"slotId": "brand", …, "selectedRefs": [ref, ref]}
    options_for(selector)                  ->  ["--select", "a1f09c"]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from oas_compiler.cli.checklist import MAX_CELL, CannotTick
from oas_compiler.cli.safe import clean, cut

if TYPE_CHECKING:
    from cinatra_sdk.context.selector import Candidate, Selector
    from cinatra_sdk.gates.forms.form import AnswerForm

_ON_THE_SCREEN: Final = frozenset(
    {
        "candidates", "plannedRefs", "selectedRefs", "slotMeta", "selector", "allocationToken",
        "refused",
    }
)  # fmt: skip
"""Values of a gate that the checklist shows, or that are not for people."""
_TOLD: Final = 10
MAX_ID: Final = 200
"""Characters of an id in a command for copying."""


def chosen_by_id(selector: Selector, ids: Sequence[str]) -> dict[str, Any]:
    """The envelope that chooses the artifacts with these ids, or with ids that begin with them.

    Raises: `CannotTick`, which names the candidates.
    """
    return selector.envelope(dict.fromkeys(_by_id(selector, id_).triple for id_ in ids))


def options_for(selector: Selector) -> list[str] | None:
    """Options of `oasflow answer` for an example that fits; None where ids cannot express the
    choice.
    """
    offered = [candidate.triple.artifact_id for candidate in selector.candidates]
    if not offered or selector.is_full(0):
        return ["--select-none"]
    times = Counter(offered)
    # A shortened or escaped id would no longer be the id.
    alone = [id_ for id_ in offered if times[id_] == 1 and cut(clean(id_), MAX_ID) == id_]
    number = max(1, selector.rules.min_items)
    chosen = [word for id_ in alone[:number] for word in ("--select", id_)]
    return chosen if len(alone) >= number else None


def options_of_form(form: AnswerForm) -> list[str] | None:
    """The same for the form of a gate; None also for a form that asks for no selection."""
    from cinatra_sdk.gates.forms.selection import SelectionForm

    return options_for(form.selector) if isinstance(form, SelectionForm) else None


def is_envelope(value: Any) -> bool:
    """Whether a value is a `userResponse` envelope, as an object or as its text."""
    return slot_chosen(value) is not None


def slot_chosen(value: Any) -> str | None:
    """The slot that a `userResponse` envelope, an object or its text, chooses for; else None."""
    from oas_compiler.cli.inputs import decoded

    found = decoded(value) if isinstance(value, str) else value
    is_one = isinstance(found, Mapping) and {"slotId", "selectedRefs"} <= found.keys()
    return str(found["slotId"]) if is_one else None


def other_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a gate besides its candidates."""
    return {name: value for name, value in values.items() if name not in _ON_THE_SCREEN}


def offered_in(message: Any) -> Selector | None:
    """The candidates in a message that is only the payload of a selection gate."""
    from cinatra_sdk.context.selector import read_selector
    from oas_compiler.cli.inputs import decoded

    payload = decoded(message) if isinstance(message, str) and '"slotMeta"' in message else None
    if not isinstance(payload, Mapping) or not payload.keys() <= _ON_THE_SCREEN:
        return None
    return read_selector(payload)


def _by_id(selector: Selector, id_: str) -> Candidate:
    offered = selector.candidates
    exact = [one for one in offered if one.triple.artifact_id == id_]
    found = exact or [one for one in offered if id_ and one.triple.artifact_id.startswith(id_)]
    if len({one.triple for one in found}) == 1:
        return found[0]
    slot = f'the slot "{clean(selector.slot_id)}"'
    given = f'"{cut(clean(id_), MAX_CELL)}"'
    if not found:
        there = f"there are {_format_candidates(offered)}" if offered else "there are none"
        raise CannotTick(f"{given} is no candidate of {slot}; {there}")
    clear = "give the envelope with --value" if exact else "write more of the id"
    raise CannotTick(
        f"{given} is {len(found)} candidates of {slot}, {_format_candidates(found)}: {clear}"
    )


def _format_candidates(candidates: Sequence[Candidate]) -> str:
    told = [
        f"{cut(clean(one.triple.artifact_id), MAX_CELL)} ({cut(clean(one.extension), MAX_CELL)})"
        for one in candidates[:_TOLD]
    ]
    more = len(candidates) - _TOLD
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")
