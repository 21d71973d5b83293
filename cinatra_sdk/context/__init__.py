"""Context slots: artifacts that an agent gets besides its inputs, chosen and pinned.

artifact_refs.py      ResolvedContextRef (three keys that pin one revision), ContextSelection (an
                      answer)
candidates.py         visible rows -> refs in order: scope, override, accumulate; preselected
                      refs; the installed artifact extensions, and the extensions that each
                      satisfies (one hop); the run's owner: organisation, teams, projects
selection_errors.py   every error, with the platform's status and code
selector.py           the screen on which a person chooses: groups, cap, badges; refuses at the
                      gate
slot_choice.py        a choice of a person or the agent, checked against the candidates; its key;
                      a refused choice, as the gate that asks again shows it
slot_declarations.py  AgentContextSlot, read from metadata.cinatra.contextSlots; DeclaredSlots:
                      the slots of a flow and of the packages inside it, agreements

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
