"""Context slots: artifacts that an agent gets besides its inputs, chosen and pinned.

    slots.py        AgentContextSlot, read from metadata.cinatra.contextSlots
    declared.py     DeclaredSlots: the slots of a flow and of the packages inside it, agreements
    refs.py         ResolvedContextRef (three keys that pin one revision), ContextSelection (an answer)
    actor.py        the run's owner: organisation, teams, projects
    extensions.py   the installed artifact extensions, and the extensions that each satisfies (one hop)
    resolution.py   visible rows -> refs in order: scope, override, accumulate; preselected refs
    selection.py    a choice of a person or the agent, checked against the candidates; its key
    refusal.py      a refused choice, as the gate that asks again shows it
    selector.py     the screen on which a person chooses: groups, cap, badges; refuses at the gate
    errors.py       every error, with the platform's status and code

All modules are pure.  `cinatra_sdk.store.artifacts` holds the rows and the audit, and
`cinatra_sdk.host` uses these modules to answer a flow's calls.

Source: Cinatra's guide to context slots ("Agent Context Slots").
"""

from __future__ import annotations

from cinatra_sdk.context.actor import Actor
from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.context.extensions import ExtensionRegistry, InstalledExtensions, expanded
from cinatra_sdk.context.refs import ContextSelection, PinnedTriple, ResolvedContextRef
from cinatra_sdk.context.resolution import ContextResolution
from cinatra_sdk.context.slots import AgentContextSlot, read_slots, slot_named

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
