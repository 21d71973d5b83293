"""Context slots: what an agent may be given besides its inputs, who chose it, and pinned how.

    slots.py        AgentContextSlot, read from metadata.cinatra.contextSlots
    refs.py         ResolvedContextRef (three keys that pin one revision), ContextSelection (an answer)
    actor.py        on whose behalf: organisation, teams, projects
    extensions.py   which artifact extensions are installed, and what each satisfies (one hop)
    resolution.py   visible rows in, refs in order out: scope, override, accumulate; what is preselected
    selection.py    what a person or the agent chose, checked against the candidates; its key
    refusal.py      a choice that can be recorded no more, as the gate that asks again shows it
    selector.py     the screen on which a person chooses: groups, cap, badges; refuses at the gate
    errors.py       every way it fails, with the platform's status and code

All of it is pure.  `cinatra_sdk.store.artifacts` holds the rows and the audit, and
`cinatra_sdk.host` answers a flow's calls with it.

Source: seed 000 (Agent Context Slots) and Cinatra's contracts, section 6.
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
