"""The context slots that a stored flow declares: its own, those of embedded packages, agreements.

In: the bytes of a flow.  Out: `DeclaredSlots`.

    {"metadata": {"cinatra": {"packageName": "@x/writer", "contextSlots": [{"slotId": "voice", …}]}},
     "$referenced_components": {"drafts": {"component_type": "Flow", … "packageName": "@x/drafts"}}}
        ->  package_name "@x/writer", slots {"@x/writer": (voice,), "@x/drafts": (brand,)}

A flow inside another one belongs to the package that it names, else to the file's own.
Only data is read here, of a flow that was compiled before it was stored: nothing is compiled again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import yaml
from pydantic import JsonValue

from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.context.slots import AgentContextSlot, read_slots


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
    document = _decoded(source)
    if not isinstance(document, dict):
        raise ContextError("oas_missing", "the stored flow is no JSON or YAML document")
    own = _text(_about(document), "packageName")
    slots: dict[str, tuple[AgentContextSlot, ...]] = {own: ()}
    agreed: dict[tuple[str, str], tuple[str, str]] = {}
    for flow in _flows(document):
        about = _about(flow)
        package = _text(about, "packageName") or own
        found = read_slots(about.get("contextSlots"))
        # Two flows of one package may declare a slot each; of two with one id neither is usable,
        # which whoever asks for it is told.
        slots[package] = (*slots.get(package, ()), *found)
        agreed |= _agreements(about, package)
    return DeclaredSlots(package_name=own, slots=slots, agreed=agreed)


def _decoded(source: bytes) -> JsonValue:
    value: JsonValue = None
    try:
        text = source.decode("utf-8-sig")
        value = json.loads(text) if text.lstrip()[:1] == "{" else yaml.safe_load(text)
    except (ValueError, RecursionError, yaml.YAMLError):
        pass
    return value


def _flows(document: dict[str, JsonValue]) -> Iterator[dict[str, JsonValue]]:
    """The document itself and every flow at any depth inside it."""
    yield document
    open_: list[JsonValue] = list(document.values())
    while open_:
        value = open_.pop()
        if isinstance(value, list):
            open_.extend(value)
        elif isinstance(value, dict):
            if value.get("component_type") == "Flow":
                yield value
            open_.extend(value.values())


def _about(flow: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    metadata = flow.get("metadata")
    about = metadata.get("cinatra") if isinstance(metadata, dict) else None
    return about if isinstance(about, dict) else {}


def _text(about: Mapping[str, JsonValue], key: str) -> str:
    value = about.get(key)
    return value if isinstance(value, str) else ""


def _agreements(
    about: Mapping[str, JsonValue], package: str
) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """`parentSatisfiedContextSlots` of a flow; an entry that is no agreement is none."""
    listed = about.get("parentSatisfiedContextSlots")
    for entry in listed if isinstance(listed, list) else ():
        if not isinstance(entry, dict):
            continue
        own, child = _text(entry, "parentSlotId"), _text(entry, "childPackage")
        theirs = _text(entry, "childSlotId") or own
        if own and child:
            yield (child, theirs), (package, own)
