"""A context slot is written exactly as the host reads it.

    {"slotId": "", "selectionmode": "auto"}     ->  OAS150, one finding for each flaw
    {"slotId": "brand", "acceptedArtifactExtensions": ["@x/brand-artifact"],
     "selectionMode": "autonomous", "resolutionMode": "override"}

The host's chat silently drops a slot that it cannot read; the host's loader refuses the whole flow.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from cinatra_sdk.contract import RESOLUTION_MODES, SELECTION_MODES
from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import KEY
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import child

_MODES = {
    "selectionMode": SELECTION_MODES,
    "resolutionMode": RESOLUTION_MODES,
}
_REQUIRED = ("slotId", "acceptedArtifactExtensions", *_MODES)
_KEYS = (*_REQUIRED, "minItems", "maxItems", "readableOnly")
_EXAMPLES = {
    "slotId": '"…", a name that no other slot of the flow has',
    "acceptedArtifactExtensions": '["@scope/package"], the artifacts that may be chosen',
    "selectionMode": '"interactive" or "autonomous"',
    "resolutionMode": '"override" or "accumulate"',
}
_BOUNDS = (("minItems", 0), ("maxItems", 1))
_MOST_KEYS = 50
"""Keys of a slot that are compared with the known ones; nobody reads more hints."""


@rule(
    code="OAS150",
    name="context-slot-shape",
    severity="error",
    summary="A context slot is not written as the host reads it.",
    fix="Write slotId, acceptedArtifactExtensions, selectionMode and resolutionMode, and no other keys than minItems, maxItems and readableOnly.",
    source="Cinatra, context-slot rules; context slots, slot schema",
    needs="cinatra",
    bad='"contextSlots": [{"slotId": "brand", "selectionMode": "auto"}]',
    good='"contextSlots": [{"slotId": "brand", "acceptedArtifactExtensions": ["@x/brand-artifact"], "selectionMode": "autonomous", "resolutionMode": "override"}]',
)
def context_slot_shape(subject: Subject, report: Report) -> None:
    for flow in subject.of_type("Flow"):
        slots = flow.cinatra.get(KEY)
        if slots is None:
            continue
        pointer = flow.at("metadata", "cinatra", KEY)
        if not isinstance(slots, list):
            hint = 'write [{"slotId": "…", …}]'
            report(f"{KEY} must be a list of slots", subject.place(pointer), hint=hint)
            continue
        for index, slot in enumerate(slots):
            _Look(subject, report, f"{pointer}/{index}").at_slot(slot)


class _Look:
    def __init__(self, subject: Subject, report: Report, pointer: str) -> None:
        self._subject = subject
        self._report = report
        self._pointer = pointer
        self._name = "a context slot"

    def at_slot(self, slot: JsonValue) -> None:
        if not isinstance(slot, dict):
            self._found("must be an object", hint='write {"slotId": "…", …}')
            return
        slot_id = slot.get("slotId")
        if isinstance(slot_id, str) and slot_id.strip():
            self._name = f'the context slot "{slot_id[:80]}"'
        self._keys(slot)
        if "slotId" in slot and not _is_name(slot_id):
            hint = "write a name that no other slot of the flow has"
            self._found("needs a slotId that is not empty", "slotId", hint=hint)
        if "acceptedArtifactExtensions" in slot:
            self._check_extensions(slot["acceptedArtifactExtensions"])
        for key, modes in _MODES.items():
            if key in slot and slot[key] not in modes:
                self._report_wrong_mode(key, slot[key], modes)
        self._bounds(slot)
        if not isinstance(slot.get("readableOnly", False), bool):
            hint = "write true or false without quotes"
            self._found("needs true or false for readableOnly", "readableOnly", hint=hint)

    def _keys(self, slot: dict[str, JsonValue]) -> None:
        lacking = [key for key in _KEYS if key not in slot]
        meant: set[str] = set()
        for key in slot:
            if key not in _KEYS:
                near = _find_nearest_key(key, lacking) if len(slot) <= _MOST_KEYS else ""
                hint = (
                    f'did you mean "{near}"?'
                    if near
                    else f"a slot has no keys but {', '.join(_KEYS)}"
                )
                meant.add(near)
                self._found(f'has an unknown key "{key[:80]}"', key, hint=hint)
        for key in _REQUIRED:
            # what a misspelt key means is not missing
            if key not in slot and key not in meant:
                self._found(f"has no {key}", hint=f'add "{key}": {_EXAMPLES[key]}')

    def _check_extensions(self, value: JsonValue) -> None:
        key = "acceptedArtifactExtensions"
        if not isinstance(value, list) or not value:
            hint = f"write {_EXAMPLES[key]}"
            self._found(f"needs a list with at least one package name for {key}", key, hint=hint)
            return
        for index, name in enumerate(value):
            if not _is_name(name):
                hint = "write the name of an artifact package, or remove the entry"
                self._found(f"needs package names in {key}", key, index, hint=hint)

    def _report_wrong_mode(self, key: str, value: JsonValue, modes: Collection[str]) -> None:
        hint = self._report.nearest(value, modes) if isinstance(value, str) else ""
        choice = " or ".join(f'"{mode}"' for mode in modes)
        self._found(f"needs {choice} for {key}", key, hint=hint or f"write {choice}")

    def _bounds(self, slot: dict[str, JsonValue]) -> None:
        counts: list[int] = []
        for key, least in _BOUNDS:
            value = slot.get(key, least)
            if isinstance(value, int) and not isinstance(value, bool) and value >= least:
                counts += [value] if key in slot else []
            else:
                hint = f"write a whole number without quotes, as in {max(least, 1)}"
                self._found(f"needs a whole number from {least} for {key}", key, hint=hint)
        if len(counts) == len(_BOUNDS) and counts[0] > counts[1]:
            hint = f"write a minItems of at most {counts[1]}"
            self._found("has a minItems above its maxItems", "minItems", hint=hint)

    def _found(self, problem: str, *keys: str | int, hint: str = "") -> None:
        pointer = self._pointer
        for key in keys:
            pointer = child(pointer, str(key))
        self._report(f"{self._name} {problem}", self._subject.place(pointer), hint=hint)


def _find_nearest_key(key: str, known: list[str]) -> str:
    close = get_close_matches(key.strip().casefold()[:80], [name.casefold() for name in known], n=1)
    return next((name for name in known if name.casefold() in close), "")


def _is_name(value: JsonValue) -> bool:
    return isinstance(value, str) and bool(value.strip())
