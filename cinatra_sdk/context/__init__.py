"""Context slots: artifacts that an agent gets besides its inputs, chosen and pinned.

slot_declarations.py  `AgentContextSlot`, as the author declares it; the slots of a whole flow
candidates.py         the rows that an actor may see -> the candidates of a slot; a choice among them, and its key
artifact_refs.py      `ResolvedContextRef`, an artifact pinned by three keys; `ContextSelection`
selector.py           the screen on which a person chooses, and its rules
selection_errors.py   every error, with the platform's status and code

All modules are pure.  `cinatra_sdk.store.artifacts.artifacts` holds the rows and the audit, and
`cinatra_sdk.host` uses these modules to answer a flow's calls.

Source: Cinatra's guide to context slots ("Agent Context Slots").
"""

from __future__ import annotations

from cinatra_sdk.context.artifact_refs import ContextSelection, PinnedTriple, ResolvedContextRef
from cinatra_sdk.context.candidates import (
    Actor,
    ContextResolution,
    ExtensionRegistry,
    InstalledExtensions,
    expanded,
)
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.context.slot_declarations import AgentContextSlot, read_slots, slot_named

__all__ = [
    "AgentContextSlot",
    "read_slots",
    "slot_named",
    "ResolvedContextRef",
    "PinnedTriple",
    "ContextSelection",
    "ContextResolution",
    "Actor",
    "ExtensionRegistry",
    "InstalledExtensions",
    "expanded",
    "ContextError",
]
