"""From the rows that an actor may see to the candidates of a slot, in order; and a choice among these.

    rows of scope team, project, project; slot with override   ->  the two of the project
    the same rows, accumulate, maxItems 2                      ->  project, project, team
                               …and autonomous: preselected    ->  project, project

Order: project, user, team, organization, workspace; ties by artifact id.  Then the mode.
`maxItems` limits the choice and not the offer: a person who only saw the narrowest refs could never
choose a broader one (Cinatra's guide to context slots: "enforced at SELECTION time").  For an
autonomous slot it limits the preselected refs.  `minItems` is enforced when a selection is
finalized.

    accepted(resolution, "interactive", envelope)   ->  the trusted refs, in the order chosen
    selection_key(run, package, slot, mode, refs)   ->  "5f0c…"; its rows are "5f0c…:0", "5f0c…:1"

Only the three keys of a submitted ref count: the stored refs are the resolver's own.  The same
choice in another order has the same key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Final, Protocol

from pydantic import JsonValue

from cinatra_sdk.context.artifact_refs import (
    SCOPES,
    ContextSelection,
    PinnedTriple,
    ResolvedContextRef,
    SourceScope,
)
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.context.slot_declarations import AgentContextSlot
from cinatra_sdk.contract import ResolutionMode
from cinatra_sdk.light_imports.records import dataclass

_WIDTH = {scope: width for width, scope in enumerate(SCOPES)}


def check_owner_level(artifact: str, owner_level: str) -> None:
    """Raise `ContextError` for the owner level "project"."""
    if owner_level == "project":
        raise ContextError(
            "invalid_body",
            f'the artifact "{artifact[:80]}" has the owner level "project", and no project owns one',
            hint="give it the visibility project:ID, and the level user, team, organization or "
            "workspace",
        )


def source_scope(visibility: str, owner_level: str) -> SourceScope:
    """The scope that owns an artifact, from the `visibility` and `owner_level` of its row.

    The visibility decides if it names a scope.  A private row belongs to its owner, and an unknown
    owner level counts as a user.  Only a visibility can name a project.
    """
    if visibility.startswith("project:"):
        return "project"
    if visibility.startswith("team:"):
        return "team"
    if visibility == "workspace":
        return "workspace"
    if visibility == "org":
        return "organization"
    for scope in SCOPES[1:]:
        if owner_level == scope:
            return scope
    return "user"


def narrow_first(refs: Iterable[ResolvedContextRef]) -> list[ResolvedContextRef]:
    """From the narrowest scope to the broadest; ties by artifact, then by classification."""
    return sorted(
        refs,
        key=lambda ref: (
            _WIDTH[ref.source_scope], ref.artifact_id, ref.extension, ref.semantic_assertion_id,
        ),
    )  # fmt: skip


def candidates_of(
    slot: AgentContextSlot, visible: Iterable[ResolvedContextRef]
) -> tuple[ResolvedContextRef, ...]:
    """The candidates of a slot among all visible and eligible refs."""
    ordered = narrow_first(visible)
    if slot.resolution_mode == "override" and ordered:
        narrowest = ordered[0].source_scope
        ordered = [ref for ref in ordered if ref.source_scope == narrowest]
    return tuple(ordered)


def preselected(
    slot: AgentContextSlot, candidates: tuple[ResolvedContextRef, ...]
) -> tuple[ResolvedContextRef, ...]:
    """The refs that are chosen without a person; empty for a slot that asks a person."""
    if slot.selection_mode == "interactive":
        return ()
    return candidates[: 1 if slot.resolution_mode == "override" else slot.max_items]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextResolution:
    """The answer to one `context-resolve`."""

    slot: AgentContextSlot
    candidates: tuple[ResolvedContextRef, ...]
    selected: tuple[ResolvedContextRef, ...]

    @classmethod
    def of(cls, slot: AgentContextSlot, visible: Iterable[ResolvedContextRef]) -> ContextResolution:
        candidates = candidates_of(slot, visible)
        return cls(slot=slot, candidates=candidates, selected=preselected(slot, candidates))

    @property
    def slot_meta(self) -> dict[str, JsonValue]:
        """The slot's data for a selection screen; `maxItems` is left out where there is no
        limit.
        """
        slot = self.slot
        meta: dict[str, JsonValue] = {
            "slotId": slot.slot_id,
            "selectionMode": slot.selection_mode,
            "resolutionMode": slot.resolution_mode,
            "minItems": slot.min_items,
            "readableOnly": slot.readable_only,
        }
        if slot.max_items is not None:
            meta["maxItems"] = slot.max_items
        return meta

    def wire(self) -> dict[str, JsonValue]:
        """The body of the platform's response."""
        return {
            "candidates": [dict(ref.wire()) for ref in self.candidates],
            "slotMeta": self.slot_meta,
            "selectedRefs": [dict(ref.wire()) for ref in self.selected],
            "selectionMode": self.slot.selection_mode,
            "resolutionMode": self.slot.resolution_mode,
        }


# ----------------------------------------------------------------------------
# The installed artifact extensions, and the expansion of a slot's list of extensions.
#
#     installed: voice, house-voice (satisfies voice), loud-voice (satisfies house-voice)
#     expanded(["voice"], installed)   ->   {"voice", "house-voice"}          one hop, no closure
#
# The list comes from the host's registry; a caller never supplies it.


class ExtensionRegistry(Protocol):
    """The host's knowledge of installed artifact extensions."""

    def installed(self) -> Mapping[str, Collection[str]]:
        """Package name → package names that it satisfies."""
        ...


@dataclass(frozen=True, slots=True)
class InstalledExtensions:
    """A registry with a fixed content, for a standalone host and for tests."""

    extensions: Mapping[str, Collection[str]] = field(default_factory=dict)

    def installed(self) -> Mapping[str, Collection[str]]:
        return self.extensions


def expanded(accepted: Iterable[str], registry: ExtensionRegistry) -> tuple[str, ...]:
    """The accepted extensions and every installed one that satisfies one of them, sorted.

    Only the directly accepted names are expanded: an added extension adds no further ones, in any
    order of the registry.
    """
    direct = frozenset(accepted)
    added = {
        name for name, satisfies in registry.installed().items() if direct.intersection(satisfies)
    }
    return tuple(sorted(direct | added))


# ----------------------------------------------------------------------------
# The person for whom a slot is resolved: the owner of the run, never a name in a request.
#
# `Actor(org_id="o1", principal_id="ann", team_ids=frozenset({"t1"}), project_ids=frozenset({"p1"}))`


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The run's owner, with all memberships that decide which artifacts the owner may see."""

    org_id: str
    """Organisation; an empty one cannot resolve anything (fails closed)."""
    principal_id: str
    """The person or service; the owner of private artifacts."""
    team_ids: frozenset[str] = field(default_factory=frozenset)
    project_ids: frozenset[str] = field(default_factory=frozenset)
    is_platform_admin: bool = False
    """Whether the actor sees `admin` artifacts, and `workspace` artifacts of the organisation."""

    def __post_init__(self) -> None:
        if not self.org_id or not self.principal_id:
            raise ContextError("actor_unresolved", "the run's owner or organisation is not known")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceRules:
    """The rules of a slot for a choice."""

    slot_id: str
    resolution_mode: ResolutionMode
    min_items: int = 0
    max_items: int | None = None
    """`None`: no bound of its own."""

    @classmethod
    def of(cls, slot: AgentContextSlot) -> ChoiceRules:
        return cls(
            slot_id=slot.slot_id,
            resolution_mode=slot.resolution_mode,
            min_items=slot.min_items,
            max_items=slot.max_items,
        )

    @property
    def cap(self) -> int | None:
        """The most refs that may be chosen: one where the narrowest wins."""
        return 1 if self.resolution_mode == "override" else self.max_items


def accepted(
    resolution: ContextResolution, selection_mode: str, selection: ContextSelection
) -> tuple[ResolvedContextRef, ...]:
    """The trusted refs that `selection` chooses from a fresh `resolution`.

    The declared slot decides the modes; the submitted modes must agree.

    Raises: `ContextError` (422) for the first rule that is broken.
    """
    slot = resolution.slot
    if selection_mode != slot.selection_mode:
        raise ContextError(
            "selection_mode_mismatch",
            f'the slot "{slot.slot_id}" is {slot.selection_mode}, not {selection_mode[:40]}',
        )
    trusted = {ref.triple: ref for ref in resolution.candidates}
    check_choice(ChoiceRules.of(slot), selection, trusted)
    return tuple(trusted[triple] for triple in selection.triples)


def check_choice(
    rules: ChoiceRules, selection: ContextSelection, candidates: Collection[PinnedTriple]
) -> None:
    """Raise `ContextError` (422) for the first rule that `selection` breaks."""
    slot_id = rules.slot_id
    if selection.slot_id != slot_id:
        raise ContextError(
            "slot_mismatch",
            f'the selection is for the slot "{selection.slot_id[:80]}", not "{slot_id}"',
        )
    if selection.resolution_mode != rules.resolution_mode:
        raise ContextError(
            "resolution_mode_mismatch",
            f'the slot "{slot_id}" resolves by {rules.resolution_mode}, '
            f"not by {selection.resolution_mode}",
        )
    for triple in selection.triples:
        if triple not in candidates:
            raise ContextError(
                "ref_not_in_candidates",
                f'"{triple.artifact_id[:80]}" in this revision and classification is no candidate '
                f'of the slot "{slot_id}"',
            )
    _check_number(rules, len(selection.triples), len(candidates))


def _check_number(rules: ChoiceRules, number: int, offered: int) -> None:
    if number < rules.min_items:
        raise ContextError(
            "below_min_items",
            f'the slot "{rules.slot_id}" needs at least {rules.min_items}, {number} were chosen '
            f"of {offered}",
        )
    if rules.max_items is not None and number > rules.max_items:
        raise ContextError(
            "above_max_items",
            f'the slot "{rules.slot_id}" takes at most {rules.max_items}, {number} were chosen',
        )
    if rules.resolution_mode == "override" and number > 1:
        raise ContextError(
            "override_multi_select",
            f'the slot "{rules.slot_id}" takes one ref, the narrowest; {number} were chosen',
        )


def selection_key(
    *,
    parent_run_id: str,
    parent_package_name: str,
    slot_id: str,
    selection_mode: str,
    triples: Iterable[PinnedTriple],
) -> str:
    """sha256, in hex, of run, slot and chosen refs; order and repetition do not count."""
    chosen = sorted(set(triples))
    value = {
        "parentRunId": parent_run_id,
        "parentPackageName": parent_package_name,
        "slotId": slot_id,
        "selectionMode": selection_mode,
        "triples": [list(triple) for triple in chosen],
    }
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# ----------------------------------------------------------------------------
# A choice that was valid when it was made, but cannot be recorded any more.
#
#     `refusal_of("ref_not_in_candidates", {"userResponse": "{…}"})`
#         ->  {"code": "ref_not_in_candidates", "selectedRefs": [{"artifactId": "a1", …}]}
#
# Between a person's decision and its finalize an artifact may be deleted, hidden or classified
# otherwise.  The slot is then resolved again, and its gate shows this beside the candidates.


OUTDATED: Final = frozenset(
    {"ref_not_in_candidates", "selection_incoherent", "inherited_selection_mismatch"}
)
"""Codes of a refused finalize that another resolve may cure."""
MOST_ASKED: Final = 25
"""How often in a row a person is asked again; Cinatra's own limit of visits of a gate."""
MOST_ALONE: Final = 3
"""How often in a row an autonomous slot is resolved again."""
REFUSED_KEY: Final = "refused"
"""Key of a gate's value that holds the result of `refusal_of`."""


def refusal_of(code: str, body: JsonValue) -> dict[str, JsonValue]:
    """The value that a gate shows about a finalize with this body that was refused with `code`."""
    text = body.get("userResponse") if isinstance(body, Mapping) else None
    chosen: tuple[PinnedTriple, ...] = ()
    with suppress(ContextError):  # a flow that makes up its own envelope: nothing can be shown
        chosen = ContextSelection.parse(text).triples
    return {"code": code, "selectedRefs": [triple.wire() for triple in chosen]}
