"""The two context routes: what may be chosen for a slot, and the record of what was.

    resolve(headers, body)    ->  {"candidates": […], "slotMeta": {…}, "selectedRefs": […], …}
    finalize(headers, body)   ->  {"contextSlotBindings": [{"slotId", "refs"}], "wrote": true}

Nothing that decides what is seen comes from the body: owner, organisation, package, slots and
the run's own project are the host's word.

A selection that is recorded stays.  A consumer that crashed after it was finalized asks again
with the same envelope, when the artifacts may have moved on: it gets the refs as they were
pinned, and nothing is written.  The record is looked at after the fresh candidates have refused,
so that another finalize that wrote just before the artifacts changed is seen too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.context.actor import Actor
from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.context.extensions import ExtensionRegistry
from cinatra_sdk.context.refs import ContextSelection, ResolvedContextRef
from cinatra_sdk.context.resolution import ContextResolution
from cinatra_sdk.context.selection import accepted
from cinatra_sdk.context.slots import AgentContextSlot, slot_named
from cinatra_sdk.platform.local.bodies import FinalizeBody, ResolveBody, read_body
from cinatra_sdk.platform.local.proof import check_bridge, check_node, check_run, signed_node
from cinatra_sdk.platform.local.runs import RunDirectory
from cinatra_sdk.store.artifacts import ArtifactStore, Choice

_OUTDATED: Final = frozenset(
    {
        "ref_not_in_candidates", "below_min_items", "above_max_items", "override_multi_select",
        "selection_incoherent",
    }
)  # fmt: skip
"""Codes that a choice gets which was right when it was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A request whose run, package, slot and owner are established."""

    run_id: str
    package_name: str
    slot: AgentContextSlot
    actor: Actor
    project_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRoutes:
    """Both routes over one store; safe to share between threads."""

    artifacts: ArtifactStore
    registry: ExtensionRegistry
    runs: RunDirectory
    bridge_token: str | None = field(default=None, repr=False)
    attestation_key: str | None = field(default=None, repr=False)

    def resolve(
        self, headers: Mapping[str, str], content: bytes, *, now: float
    ) -> dict[str, JsonValue]:
        """Raises: `ContextError`, `StoreError`."""
        check_bridge(headers, self.bridge_token)
        body = read_body(ResolveBody, content)
        return self._candidates(self._asked(headers, body, finalizes=False, now=now)).wire()

    def finalize(
        self, headers: Mapping[str, str], content: bytes, *, now: float
    ) -> dict[str, JsonValue]:
        """Raises: `ContextError`, `StoreError`; nothing was written then."""
        check_bridge(headers, self.bridge_token)
        body = read_body(FinalizeBody, content)
        asked = self._asked(headers, body, finalizes=True, now=now)
        selection = ContextSelection.parse(body.user_response)
        refs, wrote = self._settle(asked, body.selection_mode, selection)
        chosen: list[JsonValue] = [dict(ref.wire()) for ref in refs]
        return {
            "contextSlotBindings": [{"slotId": asked.slot.slot_id, "refs": chosen}],
            "wrote": wrote,
        }

    def _asked(
        self, headers: Mapping[str, str], body: ResolveBody, *, finalizes: bool, now: float
    ) -> _Asked:
        scope = self.runs.scope(body.parent_run_id)
        if scope is None:
            raise ContextError("run_missing", "there is no such run")
        check_run(headers, scope)
        node = signed_node(headers, self.attestation_key, now=now)
        if not scope.org_id:
            raise ContextError("run_unscoped", "the run belongs to no organisation")
        if not scope.package_name:
            raise ContextError("package_unresolved", "the run's package is not known")
        if scope.package_name != body.parent_package_name:
            raise ContextError("package_mismatch", "the run is not one of the package named")
        if scope.slots is None:
            raise ContextError("oas_missing", f"{scope.package_name} is not installed")
        slot = slot_named(scope.slots, body.slot_id)
        check_node(node, scope, slot, finalizes=finalizes)
        if scope.actor is None or scope.actor.org_id != scope.org_id:
            raise ContextError(
                "actor_unresolved", "the run's owner is not known in its organisation"
            )
        return _Asked(
            run_id=body.parent_run_id,
            package_name=scope.package_name,
            slot=slot,
            actor=scope.actor,
            project_id=scope.project_id.strip() or body.project_id,
        )

    def _candidates(self, asked: _Asked) -> ContextResolution:
        return self.artifacts.resolve(asked.actor, asked.slot, self.registry, asked.project_id)

    # --------------------------------------------------------------------- the record

    def _settle(
        self, asked: _Asked, mode: str, selection: ContextSelection
    ) -> tuple[tuple[ResolvedContextRef, ...], bool]:
        """The refs of the selection, and whether this call wrote them."""
        try:
            chosen = accepted(self._candidates(asked), mode, selection)
            wrote = self.artifacts.record(_choice(asked, chosen))
        except ContextError as error:
            pinned = self._pinned(asked, mode, selection) if error.code in _OUTDATED else None
            if pinned is None:
                raise
            return pinned, False
        if not wrote:
            chosen = self._pinned(asked, mode, selection) or chosen
        return chosen, wrote

    def _pinned(
        self, asked: _Asked, mode: str, selection: ContextSelection
    ) -> tuple[ResolvedContextRef, ...] | None:
        """The selection as it is recorded; `None` where exactly it is not there."""
        slot = asked.slot
        same = (slot.selection_mode, slot.slot_id, slot.resolution_mode)
        if (mode, selection.slot_id, selection.resolution_mode) != same:
            return None
        return self.artifacts.pinned(_choice(asked, ()), selection.triples)


def _choice(asked: _Asked, refs: tuple[ResolvedContextRef, ...]) -> Choice:
    return Choice(
        org_id=asked.actor.org_id,
        parent_run_id=asked.run_id,
        parent_package_name=asked.package_name,
        slot=asked.slot,
        refs=refs,
    )
