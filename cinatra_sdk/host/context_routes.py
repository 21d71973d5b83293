"""The two context routes: `resolve` offers refs for a slot, `finalize` records the chosen refs.

    resolve(headers, body)    ->  {"candidates": […], "slotMeta": {…}, "selectedRefs": […], …,
                                   "plannedRefs": […], "allocationToken": "9c1f…"}
    finalize(headers, body)   ->  {"contextSlotBindings": [{"slotId", "refs"}], "wrote": true}

The body decides nothing about visibility: the host supplies owner, organisation, package, slots and
the run's own project.

A recorded selection stays.  A consumer that crashed after its finalize sends the same envelope
again, perhaps after the artifacts have changed: it gets the refs as they were pinned, and nothing
is written.  The record is read after the fresh candidates have refused the choice, so that a
concurrent finalize that wrote just before the artifacts changed is found too.

A finalize with an `allocationToken` chooses from the plan of that resolve: the owner must still see
the artifacts and classifications, the revisions may be older.  Without a token, a finalize chooses
from the candidates of this moment.  A host with `holds_offers` lets it choose from the last offer
instead: flows without tokens then keep the refs that a person was shown, however long the gate
waited.

A slot that a parent's selection satisfies gets the parent's last recorded refs, as an autonomous
slot, and not its own candidates.  A slot in the mode that takes the narrowest ref gets the
narrowest of the parent's refs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from cinatra_sdk.context.artifact_refs import ContextSelection, ResolvedContextRef
from cinatra_sdk.context.candidates import Actor, ContextResolution, ExtensionRegistry, accepted
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.context.slot_declarations import AgentContextSlot, read_slots, slot_named
from cinatra_sdk.data import json_values
from cinatra_sdk.data.json_values import NotStrictJson
from cinatra_sdk.host.proof import (
    BearerIdentity,
    VerifyBearer,
    check_caller,
    check_node,
    check_run,
    scope_for,
    signed_node,
)
from cinatra_sdk.host.run_directory import ParentSelection, RunDirectory
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore, Choice
from cinatra_sdk.store.artifacts.selections import ContextPlan

# ----------------------------------------------------------------------------
# The bodies of the context routes, read strictly: an unknown key or another type is refused.
#
# `read_body(ResolveBody, b'{"parentRunId": "r1", "parentPackageName": "@x/a", "slotId": 3}')`
#     -> ContextError invalid_body: slotId: Input should be a valid string


_Id = Annotated[str, Field(min_length=1, max_length=1024, pattern=r"^[^\x00]+$")]
"""A text without NUL, which no database stores."""


class ResolveBody(BaseModel):
    """Names the slot to resolve, and its run."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    parent_run_id: _Id = Field(alias="parentRunId")
    parent_package_name: _Id = Field(alias="parentPackageName")
    slot_id: _Id = Field(alias="slotId")
    project_id: str | None = Field(default=None, alias="projectId", max_length=1024)
    """Empty, blank and absent mean the same."""


class FinalizeBody(ResolveBody):
    """The choice that was made for a slot."""

    selection_mode: str = Field(alias="selectionMode")
    """Only compared: the slot's own mode decides."""
    user_response: str = Field(alias="userResponse")
    """The JSON text of a `ContextSelection`."""
    allocation_token: str | None = Field(default=None, alias="allocationToken", max_length=1024)
    """The token from the answer of context-resolve.  Empty, blank and absent mean the same."""


Body = TypeVar("Body", bound=ResolveBody)


def read_body(model: type[Body], content: bytes) -> Body:
    """The body as `model`.

    Raises: `ContextError` `invalid_body`, which names the key and never quotes a value.
    """
    value = read_json(content)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part)[:80] for part in first["loc"]) or "the body"
    raise ContextError("invalid_body", f"{place}: {first['msg']}")


def read_json(content: bytes) -> JsonValue:
    """The JSON value of a body in UTF-8.

    Raises: `ContextError` `invalid_body` for anything else; the error quotes nothing.
    """
    problem = "it is not UTF-8"
    try:
        return json_values.read_json(content.decode("utf-8"), where="the body")
    except UnicodeDecodeError:
        pass
    except NotStrictJson as error:
        problem = str(error)
    # Raised here, not in the handler: the decoder's error holds the whole body.
    raise ContextError("invalid_body", f"the body is no strict JSON: {problem}")


_OUTDATED: Final = frozenset(
    {
        "ref_not_in_candidates", "below_min_items", "above_max_items", "override_multi_select",
        "selection_incoherent", "inherited_selection_mismatch",
    }
)  # fmt: skip
"""Error codes of a choice that was valid when it was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A request after run, package, slot and owner were established."""

    run_id: str
    package_name: str
    slot: AgentContextSlot
    """An autonomous copy where a parent's selection satisfies the slot: no person is asked."""
    actor: Actor
    project_id: str | None
    parent: ParentSelection | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRoutes:
    """Both routes over one store; safe to share between threads."""

    artifacts: ArtifactStore
    registry: ExtensionRegistry
    runs: RunDirectory
    bridge_token: str | None = field(default=None, repr=False)
    verify_bearer: VerifyBearer | None = None
    attestation_key: str | None = field(default=None, repr=False)
    holds_offers: bool = False
    """A finalize without a token may choose from the slot's last offer in this run."""

    def resolve(
        self, headers: Mapping[str, str], content: bytes, *, now: float
    ) -> dict[str, JsonValue]:
        """Raises: `ContextError`, `StoreError`."""
        caller = check_caller(headers, self.bridge_token, self.verify_bearer)
        body = read_body(ResolveBody, content)
        asked = self._authorize_request(headers, body, caller, finalizes=False, now=now)
        offered = self._resolve_slot(asked)
        by_person = asked.slot.selection_mode == "interactive"
        planned = offered.candidates if by_person else offered.selected
        return {
            **offered.wire(),
            "plannedRefs": [dict(ref.wire()) for ref in planned],
            "allocationToken": self.artifacts.keep_plan(_build_context_plan(asked, planned)),
        }

    def finalize(
        self, headers: Mapping[str, str], content: bytes, *, now: float
    ) -> dict[str, JsonValue]:
        """Raises: `ContextError`, `StoreError`; then nothing was written."""
        caller = check_caller(headers, self.bridge_token, self.verify_bearer)
        body = read_body(FinalizeBody, content)
        asked = self._authorize_request(headers, body, caller, finalizes=True, now=now)
        selection = ContextSelection.parse(body.user_response)
        plan = self._plan_of(asked, (body.allocation_token or "").strip())
        refs, wrote = self._record_selection(asked, plan, body.selection_mode, selection)
        return {
            "contextSlotBindings": [
                {"slotId": asked.slot.slot_id, "refs": [dict(ref.pinned()) for ref in refs]}
            ],
            "wrote": wrote,
        }

    def _authorize_request(
        self,
        headers: Mapping[str, str],
        body: ResolveBody,
        caller: BearerIdentity | None,
        *,
        finalizes: bool,
        now: float,
    ) -> _Asked:
        scope = scope_for(caller, self.runs, body.parent_run_id)
        check_run(headers, scope)
        node = signed_node(headers, self.attestation_key, now=now)
        if not scope.org_id:
            raise ContextError("run_unscoped", "the run belongs to no organisation")
        package_name = body.parent_package_name
        slot = slot_named(scope.slots_of(package_name), body.slot_id)
        parent = scope.inherited.get((package_name, slot.slot_id))
        if parent is not None:
            slot = slot.model_copy(update={"selection_mode": "autonomous"})
        check_node(node, scope, slot, package_name=package_name, finalizes=finalizes)
        if scope.actor is None or scope.actor.org_id != scope.org_id:
            raise ContextError(
                "actor_unresolved", "the run's owner is not known in its organisation"
            )
        return _Asked(
            run_id=body.parent_run_id,
            package_name=package_name,
            slot=slot,
            actor=scope.actor,
            project_id=scope.project_id.strip() or body.project_id,
            parent=parent,
        )

    # ------------------------------------------------------------------- candidates

    def _resolve_slot(self, asked: _Asked) -> ContextResolution:
        """The candidates of the slot now."""
        if asked.parent is not None:
            refs = self._parents_choice(asked, asked.parent)
            return ContextResolution(slot=asked.slot, candidates=refs, selected=refs)
        return self.artifacts.resolve(asked.actor, asked.slot, self.registry, asked.project_id)

    def _parents_choice(
        self, asked: _Asked, parent: ParentSelection
    ) -> tuple[ResolvedContextRef, ...]:
        refs = self.artifacts.latest(
            asked.actor.org_id,
            run_id=parent.run_id,
            package_name=parent.package_name,
            slot_id=parent.slot_id,
        )
        if refs is None:
            raise ContextError(
                "inherited_selection_mismatch",
                f'the slot "{asked.slot.slot_id}" takes what {parent.package_name} selects for '
                f'its slot "{parent.slot_id}", and nothing is recorded for that yet',
                hint="let the parent finalize its selection before the child resolves",
            )
        # Collapsed like candidates, so that exactly the offered refs can be finalized. Never cut: a
        # shorter list would be a different choice from the parent's.
        return refs[:1] if asked.slot.resolution_mode == "override" else refs

    def _still_offered(self, asked: _Asked, plan: ContextPlan) -> ContextResolution:
        """The planned refs whose artifacts the slot still accepts, in any revision."""
        anyone = asked.slot.model_copy(update={"resolution_mode": "accumulate"})
        now = self.artifacts.resolve(asked.actor, anyone, self.registry, asked.project_id)
        # A withdrawn classification does not count, though the artifact may have another one.
        there = {(ref.artifact_id, ref.semantic_assertion_id) for ref in now.candidates}
        refs = tuple(
            ref for ref in plan.refs if (ref.artifact_id, ref.semantic_assertion_id) in there
        )
        return ContextResolution(slot=asked.slot, candidates=refs, selected=())

    def _plan_of(self, asked: _Asked, token: str) -> ContextPlan | None:
        """The plan that a finalize names; without a token, the last offer where the host holds
        offers.
        """
        if not token:
            return (
                self.artifacts.offered_before(_build_context_plan(asked, ()))
                if self.holds_offers
                else None
            )
        plan = self.artifacts.plan(token)
        # The same answer for an unknown token and another owner's token, so that callers cannot
        # probe for tokens.
        if plan is None or plan.owner != _build_context_plan(asked, ()).owner:
            raise ContextError(
                "selection_incoherent",
                f'the allocationToken is not one of this run for the slot "{asked.slot.slot_id}"',
                hint="send the token that resolving the slot in this run gave, or none",
            )
        return plan

    # --------------------------------------------------------------------- the record

    def _record_selection(
        self, asked: _Asked, plan: ContextPlan | None, mode: str, selection: ContextSelection
    ) -> tuple[tuple[ResolvedContextRef, ...], bool]:
        """The refs of the selection, and whether this call recorded them."""
        try:
            chosen = self._accept_selection(asked, plan, mode, selection)
            wrote = self.artifacts.record(_build_choice(asked, chosen))
        except ContextError as error:
            pinned = (
                self._find_recorded_refs(asked, mode, selection)
                if error.code in _OUTDATED
                else None
            )
            if pinned is None:
                raise
            self.artifacts.again(_build_choice(asked, pinned))
            return pinned, False
        if not wrote:
            chosen = self._find_recorded_refs(asked, mode, selection) or chosen
        return chosen, wrote

    def _accept_selection(
        self, asked: _Asked, plan: ContextPlan | None, mode: str, selection: ContextSelection
    ) -> tuple[ResolvedContextRef, ...]:
        """The candidates that a valid selection chooses, as the store knows them."""
        if asked.parent is None:
            offered = self._still_offered(asked, plan) if plan else self._resolve_slot(asked)
            return accepted(offered, mode, selection)
        offered = self._resolve_slot(asked)
        right = {ref.triple for ref in offered.selected}
        if _fits_slot(asked.slot, mode, selection) and set(selection.triples) != right:
            raise ContextError(
                "inherited_selection_mismatch",
                f'the slot "{asked.slot.slot_id}" takes exactly what {asked.parent.package_name} '
                f'selected for its slot "{asked.parent.slot_id}", {len(right)} in number',
            )
        return accepted(offered, mode, selection)

    def _find_recorded_refs(
        self, asked: _Asked, mode: str, selection: ContextSelection
    ) -> tuple[ResolvedContextRef, ...] | None:
        """The recorded refs of exactly this selection; `None` where it was never recorded."""
        if not _fits_slot(asked.slot, mode, selection):
            return None
        return self.artifacts.pinned(_build_choice(asked, ()), selection.triples)


def _build_choice(asked: _Asked, refs: tuple[ResolvedContextRef, ...]) -> Choice:
    return Choice(
        org_id=asked.actor.org_id,
        parent_run_id=asked.run_id,
        parent_package_name=asked.package_name,
        slot=asked.slot,
        refs=refs,
        handed_on=asked.parent is not None,
    )


def _build_context_plan(asked: _Asked, refs: tuple[ResolvedContextRef, ...]) -> ContextPlan:
    return ContextPlan(
        org_id=asked.actor.org_id,
        parent_run_id=asked.run_id,
        parent_package_name=asked.package_name,
        slot_id=asked.slot.slot_id,
        refs=refs,
    )


def _fits_slot(slot: AgentContextSlot, mode: str, selection: ContextSelection) -> bool:
    """Whether a selection is for this slot, in its modes."""
    given = (mode, selection.slot_id, selection.resolution_mode)
    return given == (slot.selection_mode, slot.slot_id, slot.resolution_mode)


# ----------------------------------------------------------------------------
# `context_resolve`: resolves a slot from an agent's OAS document, outside of a run.
#
#     context_resolve(oas, "voice", artifacts=…, registry=…, actor=…)
#     -> {"slotId": "voice", "resolutionMode": "accumulate", "refs": [{"artifactId": …}, …]}
#
# The registry supplies the installed extensions and the host supplies the actor: a caller can set
# neither.  Nothing is recorded: only a run that finalizes records a selection.
#
# Source: Cinatra's guide to context slots, "context_resolve MCP primitive".


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
