"""The ContextSelector: the screen on which a person chooses refs for a slot, and its rules.

In: the values of a gate whose screen is a context selector.  Out: a `Selector`; its `screen()` goes
into the gate's payload, its `check` refuses a choice that the platform would refuse later.

    values  {"candidates": [ref, ref, ref], "slotMeta": {"slotId": "voice", "maxItems": 2, …}, …}
    screen  {"groups": [{"scope": "team", "candidates": [0]}, {"scope": "workspace", "candidates": [1, 2]}],
             "limits": {"minItems": 0, "maxItems": 2, "chosen": 0, "atCap": false},
             "badges": ["readableOnly"]}

A wrong answer is refused here, while the gate is still open; the platform checks the same rules
again when the selection is finalized, against its own candidates.

Source: Cinatra's guide to context slots, "ContextSelector HITL renderer".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeGuard

from pydantic import JsonValue

from cinatra_sdk.context.artifact_refs import SCOPES, ContextSelection, PinnedTriple
from cinatra_sdk.context.candidates import REFUSED_KEY, ChoiceRules, check_choice
from cinatra_sdk.contract import ResolutionMode
from cinatra_sdk.light_imports.records import dataclass

RENDERER: Final = "@cinatra-ai/context-selection-agent:context-selector"
"""Id of the screen; its scope is the publisher of the selection agent."""
_KIND: Final = ":context-selector"
SCREEN_KEY: Final = "selector"
"""Key of the payload's value that holds `Selector.screen()`."""


def is_selector(renderer: str) -> bool:
    """Whether a gate with this screen asks for a context selection."""
    return renderer.endswith(_KIND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One ref that may be chosen, as the platform offers it."""

    triple: PinnedTriple
    scope: str
    """The owning scope: one of `SCOPES`, or a name of a newer platform."""
    extension: str = ""
    owner_id: str = ""
    display_name: str = ""
    """The platform's name for it; empty where the platform gives no name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """One question of the form "which of these for this slot?"."""

    rules: ChoiceRules
    candidates: tuple[Candidate, ...]
    """In the platform's order, narrow to broad."""
    preselected: tuple[PinnedTriple, ...] = ()
    readable_only: bool = False
    refused: tuple[PinnedTriple, ...] = ()
    """The refused choice that was made at this gate before: the gate asks again."""

    @property
    def slot_id(self) -> str:
        return self.rules.slot_id

    @property
    def groups(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """(scope, positions of its candidates), from the narrowest scope to the broadest."""
        found: dict[str, list[int]] = {scope: [] for scope in SCOPES}
        for position, candidate in enumerate(self.candidates):
            found.setdefault(candidate.scope, []).append(position)
        return tuple((scope, tuple(positions)) for scope, positions in found.items() if positions)

    def is_full(self, chosen: int) -> bool:
        """Whether `chosen` ticked refs reach the limit, so that no more may be ticked."""
        cap = self.rules.cap
        return cap is not None and chosen >= cap

    def screen(self) -> dict[str, JsonValue]:
        """The values of the screen besides candidates and slotMeta; positions count from 0."""
        chosen = len(self.preselected)
        return {
            "groups": [
                {"scope": scope, "candidates": list(positions)} for scope, positions in self.groups
            ],
            "limits": {
                "minItems": self.rules.min_items,
                "maxItems": self.rules.cap,
                "chosen": chosen,
                "atCap": self.is_full(chosen),
            },
            "badges": ["readableOnly"] if self.readable_only else [],
        }

    def envelope(self, chosen: Iterable[PinnedTriple]) -> dict[str, JsonValue]:
        """The `userResponse` that chooses these refs, as JSON; its text is the gate's output."""
        return {
            "slotId": self.rules.slot_id,
            "resolutionMode": self.rules.resolution_mode,
            "selectedRefs": [triple.wire() for triple in chosen],
        }

    def unasked(self) -> str:
        """The envelope's text for a skipped gate: the refs that the platform preselected."""
        return json.dumps(self.envelope(self.preselected))

    def example(self) -> dict[str, JsonValue]:
        """A valid envelope with the fewest refs allowed, but at least one."""
        number = max(1, self.rules.min_items)
        first = [candidate.triple for candidate in self.candidates[:number]]
        return self.envelope(self.preselected or first)

    def check(self, text: object) -> None:
        """Raise `ContextError` (422) where the envelope `text` breaks a rule of the slot."""
        selection = ContextSelection.parse(text)
        check_choice(self.rules, selection, {candidate.triple for candidate in self.candidates})

    def schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the envelope, for a client that shows a form."""
        pinned: list[JsonValue] = ["artifactId", "representationRevisionId", "semanticAssertionId"]
        refs: dict[str, JsonValue] = {
            "type": "array",
            "minItems": self.rules.min_items,
            "items": {"type": "object", "required": pinned},
        }
        if self.rules.cap is not None:
            refs["maxItems"] = self.rules.cap
        return {
            "type": "object",
            "properties": {
                "slotId": {"const": self.rules.slot_id},
                "resolutionMode": {"const": self.rules.resolution_mode},
                "selectedRefs": refs,
            },
            "required": ["slotId", "resolutionMode", "selectedRefs"],
        }

    def answer_schema(self) -> dict[str, JsonValue]:
        """JSON Schema of an answer: an approval alone chooses nothing, so the envelope is required.

        As an object in `value`, or as JSON text in `userResponse`.
        """
        envelope = self.schema()
        text: JsonValue = {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": envelope,
        }
        return {
            "type": "object",
            "properties": {
                "approved": {"type": "boolean"},
                "value": envelope,
                "userResponse": text,
                "reason": {"type": "string"},
                "by": {"type": "string"},
            },
            "required": ["approved"],
            "if": {"properties": {"approved": {"const": True}}},
            "then": {"anyOf": [{"required": ["value"]}, {"required": ["userResponse"]}]},
        }


def read_selector(values: Mapping[str, Any]) -> Selector | None:
    """The selector that a gate's values describe; `None` where the values describe no selection.

    Unknown members of refs are ignored, and made-up refs of a simulation are accepted.  Values that
    cannot be offered do not make the gate fail: it is then an ordinary gate.
    """
    meta, offered = values.get("slotMeta"), values.get("candidates", values.get("plannedRefs"))
    rules = _read_choice_rules(meta) if isinstance(meta, Mapping) else None
    if rules is None or not isinstance(meta, Mapping) or not isinstance(offered, list):
        return None
    candidates = [_read_candidate(entry) for entry in offered]
    known = tuple(candidate for candidate in candidates if candidate is not None)
    if len(known) < len(candidates):
        return None
    before = values.get("selectedRefs")
    chosen = {_read_triple(entry) for entry in before} if isinstance(before, list) else set()
    return Selector(
        rules=rules,
        candidates=known,
        preselected=tuple(one.triple for one in known if one.triple in chosen),
        refused=_read_refused_refs(values.get(REFUSED_KEY)),
        readable_only=meta.get("readableOnly") is True,
    )


def _read_refused_refs(value: object) -> tuple[PinnedTriple, ...]:
    listed = value.get("selectedRefs") if isinstance(value, Mapping) else None
    triples = map(_read_triple, listed if isinstance(listed, list) else ())
    return tuple(triple for triple in triples if triple is not None)


def _read_choice_rules(meta: Mapping[str, Any]) -> ChoiceRules | None:
    slot_id, at_least, at_most = meta.get("slotId"), meta.get("minItems", 0), meta.get("maxItems")
    mode = _read_resolution_mode(meta.get("resolutionMode"))
    if not isinstance(slot_id, str) or not slot_id or mode is None:
        return None
    if not _is_number(at_least) or not (at_most is None or _is_number(at_most)):
        return None
    return ChoiceRules(slot_id=slot_id, resolution_mode=mode, min_items=at_least, max_items=at_most)


def _read_resolution_mode(value: object) -> ResolutionMode | None:
    if value == "override":
        return "override"
    return "accumulate" if value == "accumulate" else None


def _read_candidate(entry: object) -> Candidate | None:
    triple = _read_triple(entry)
    if triple is None or not isinstance(entry, Mapping):
        return None
    return Candidate(
        triple=triple,
        scope=_read_text(entry, "sourceScope") or "user",
        extension=_read_text(entry, "extension"),
        owner_id=_read_text(entry, "ownerId"),
        display_name=_read_text(entry, "displayName"),
    )


def _read_triple(entry: object) -> PinnedTriple | None:
    if not isinstance(entry, Mapping):
        return None
    keys = ("artifactId", "representationRevisionId", "semanticAssertionId")
    parts = [_read_text(entry, key) for key in keys]
    return PinnedTriple(*parts) if all(parts) else None


def _read_text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
