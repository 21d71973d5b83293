"""`context_resolve`: resolves a slot from an agent's OAS document, outside of a run.

    context_resolve(oas, "voice", artifacts=…, registry=…, actor=…)
    -> {"slotId": "voice", "resolutionMode": "accumulate", "refs": [{"artifactId": …}, …]}

The registry supplies the installed extensions and the host supplies the actor: a caller can set
neither.  Nothing is recorded: only a run that finalizes records a selection.

Source: Cinatra's guide to context slots, "context_resolve MCP primitive".
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from cinatra_sdk.context.actor import Actor
from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.context.extensions import ExtensionRegistry
from cinatra_sdk.context.slots import read_slots, slot_named
from cinatra_sdk.store.artifacts import ArtifactStore


def context_resolve(
    parent_agent_oas: Mapping[str, object],
    slot_id: str,
    project_id: str | None = None,
    *,
    artifacts: ArtifactStore,
    registry: ExtensionRegistry,
    actor: Actor,
) -> dict[str, JsonValue]:
    """The refs that the slot may take, in order.

    Raises: `ContextError`: `oas_missing` when the document declares slots that cannot be read,
    `slot_missing`, `slot_ambiguous` when two slots have one id.
    """
    metadata = parent_agent_oas.get("metadata")
    cinatra = metadata.get("cinatra") if isinstance(metadata, Mapping) else None
    if not isinstance(cinatra, Mapping):
        raise ContextError("oas_missing", "the document has no metadata.cinatra")
    slot = slot_named(read_slots(cinatra.get("contextSlots")), slot_id)
    resolution = artifacts.resolve(actor, slot, registry, project_id)
    return {
        "slotId": slot.slot_id,
        "resolutionMode": slot.resolution_mode,
        "refs": [dict(ref.wire()) for ref in resolution.candidates],
    }
