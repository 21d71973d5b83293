"""The record of the choices for the slots of a run.

    record(connection, choice)      within a transaction; False where every row exists already
    again(connection, choice)       makes a recorded choice the latest choice again
    pinned(connection, choice, triples)  the refs as they were recorded
    latest(connection, …)           the refs that a child of the run inherits
    recorded(connection, …)         the rows, oldest first;  recorded_page(…)  a page of them

A choice has a row in `run_context_selections` for each ref, all with one key.  `context_finalizes`
keeps the order of the choices: A, B and A again are three entries there, though the third choice
adds no row to `run_context_selections`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from psycopg.types.json import Json
from pydantic import JsonValue

from cinatra_sdk.context.artifact_refs import PinnedTriple, ResolvedContextRef
from cinatra_sdk.context.candidates import narrow_first, selection_key
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.context.slot_declarations import AgentContextSlot
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, Rows, every, one, run
from cinatra_sdk.store.pages import Page, read_cursor, read_numbers, read_page, write_cursor


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A choice to record: refs that the resolver gave, for one slot of one run."""

    org_id: str
    parent_run_id: str
    parent_package_name: str
    slot: AgentContextSlot
    refs: tuple[ResolvedContextRef, ...]
    handed_on: bool = False
    """The refs come from a parent's selection: an agent passes them on, no person chooses."""

    @property
    def key(self) -> str:
        return self.key_of([ref.triple for ref in self.refs])

    def key_of(self, triples: Sequence[PinnedTriple]) -> str:
        """The key of a choice of these triples for the same slot of the same run."""
        return selection_key(
            parent_run_id=self.parent_run_id,
            parent_package_name=self.parent_package_name,
            slot_id=self.slot.slot_id,
            selection_mode=self.slot.selection_mode,
            triples=triples,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSelection:
    """One row of `run_context_selections`."""

    id: str
    parent_run_id: str
    parent_package_name: str
    slot_id: str
    triple: PinnedTriple
    extension: str
    source_scope: str
    selected_by: str
    selection_mode: str
    selected_at: datetime


def record(connection: Rows, choice: Choice) -> bool:
    """Record a choice within the caller's transaction; the caller rolls back if this raises.

    Raises: `ContextError` `selection_incoherent` when three keys do not belong together.
    """
    refs = sorted({ref.triple: ref for ref in choice.refs}.values(), key=lambda ref: ref.triple)
    # A concurrent delete of an artifact waits for these row locks, or has committed before the
    # check.
    every(connection, "share_objects", {"ids": [ref.artifact_id for ref in refs]})
    _check_coherence(connection, choice.org_id, refs)
    written = [
        one(
            connection,
            "insert_selection",
            _build_selection_row(choice, ref, f"{choice.key}:{place}"),
        )
        for place, ref in enumerate(refs)
    ]
    _insert_finalize(connection, choice)
    return any(row is not None for row in written)


def again(connection: Rows, choice: Choice) -> None:
    """Within a transaction: make a recorded choice the latest; does nothing for an unrecorded
    choice.
    """
    if (
        one(connection, "find_finalize", _build_choice_params(choice) | {"key": choice.key})
        is not None
    ):
        _insert_finalize(connection, choice)


def _insert_finalize(connection: Rows, choice: Choice) -> None:
    """Add this choice to `context_finalizes`, unless it is the latest entry already.

    The lock is held until the commit, so that the order of the rows is the order of the commits.
    It is taken after every other lock that the transaction may wait for.
    """
    about = _build_choice_params(choice) | {"key": choice.key}
    run(connection, "lock_finalizes", about)
    run(connection, "insert_finalize", about)


def pinned(
    connection: Rows, choice: Choice, triples: Sequence[PinnedTriple]
) -> tuple[ResolvedContextRef, ...] | None:
    """The refs of exactly these `triples` as they are recorded, in the order given.

    `None` where no choice of exactly these triples is recorded.
    """
    key = choice.key_of(triples)
    about = _build_choice_params(choice) | {"key": key}
    if one(connection, "find_finalize", about) is None:
        return None
    refs = [_pinned_ref(row) for row in every(connection, "list_pinned_refs", about)]
    batch = {ref.triple: ref for ref in refs}
    return tuple(batch[triple] for triple in dict.fromkeys(triples))


def latest(
    connection: Rows, org_id: str, *, run_id: str, package_name: str, slot_id: str
) -> tuple[ResolvedContextRef, ...] | None:
    """The refs of the latest choice, from narrow to broad; `None` where no choice is recorded."""
    rows = every(
        connection,
        "latest_selection",
        {
            "org_id": org_id,
            "parent_run_id": run_id,
            "parent_package_name": package_name,
            "slot_id": slot_id,
        },
    )
    if not rows:
        return None
    return tuple(narrow_first(_pinned_ref(row) for row in rows if row["artifact_id"] is not None))


def recorded(
    connection: Rows, org_id: str, parent_run_id: str, slot_id: str | None
) -> list[RecordedSelection]:
    """The rows of a run, in the order of the choices."""
    asked = {"org_id": org_id, "parent_run_id": parent_run_id, "slot_id": slot_id}
    rows = every(connection, "list_selections", {**asked, "after_id": "", "limit": None})
    return [_read_recorded_row(row) for row in rows]


def recorded_page(
    connection: Rows,
    org_id: str,
    parent_run_id: str,
    slot_id: str | None,
    *,
    limit: int,
    after: str,
) -> Page[RecordedSelection]:
    """As `recorded`, a page; raises `InputInvalid` for another list's cursor."""
    _, (after_id,) = read_cursor(after, names=1)
    asked = {"org_id": org_id, "parent_run_id": parent_run_id, "slot_id": slot_id}
    rows, following = read_page(
        lambda most: every(
            connection, "list_selections", {**asked, "after_id": after_id, "limit": most}
        ),
        limit,
        lambda row: write_cursor(row["selected_at"], row["id"]),
    )
    return Page(items=[_read_recorded_row(row) for row in rows], next=following)


def _check_coherence(connection: Rows, org_id: str, refs: Sequence[ResolvedContextRef]) -> None:
    broken = every(
        connection,
        "incoherent_selections",
        {
            "org_id": org_id,
            "artifact_ids": [ref.artifact_id for ref in refs],
            "revision_ids": [ref.representation_revision_id for ref in refs],
            "assertion_ids": [ref.semantic_assertion_id for ref in refs],
            "extensions": [ref.extension for ref in refs],
        },
    )
    if broken:
        names = ", ".join(f'"{row["artifact_id"]}"' for row in broken)
        raise ContextError(
            "selection_incoherent",
            f"revision and classification do not belong to a live artifact: {names}",
            hint="resolve the slot again",
        )


def _build_selection_row(choice: Choice, ref: ResolvedContextRef, row_id: str) -> dict[str, Any]:
    alone = "agent" if choice.handed_on else "autonomous"
    return {
        "id": row_id,
        **_build_choice_params(choice),
        **ref.triple._asdict(),
        "extension": ref.extension,
        "source_scope": ref.source_scope,
        "selected_by": "user" if choice.slot.selection_mode == "interactive" else alone,
    }


def _build_choice_params(choice: Choice) -> dict[str, Any]:
    """The columns that all rows of a choice share."""
    return {
        "org_id": choice.org_id,
        "parent_run_id": choice.parent_run_id,
        "parent_package_name": choice.parent_package_name,
        "slot_id": choice.slot.slot_id,
        "selection_mode": choice.slot.selection_mode,
    }


def _pinned_ref(row: Row) -> ResolvedContextRef:
    return ResolvedContextRef(
        artifactId=row["artifact_id"],
        representationRevisionId=row["representation_revision_id"],
        semanticAssertionId=row["semantic_assertion_id"],
        extension=row["extension"],
        sourceScope=row["source_scope"],
        ownerId=row["owner_id"],
    )


def _read_recorded_row(row: Row) -> RecordedSelection:
    kept = {name: row[name] for name in RecordedSelection.__dataclass_fields__ if name != "triple"}
    return RecordedSelection(
        triple=PinnedTriple(
            row["artifact_id"], row["representation_revision_id"], row["semantic_assertion_id"]
        ),
        **kept,
    )


# ----------------------------------------------------------------------------
# The selections of a run, with the names that people know the artifacts by.
#
# `chosen(connection, "r1")`
#     -> [ChosenContext(slot_id="voice", artifact_id="house-voice", name="House voice", revision=2, …)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenContext:
    """One ref of a selection; without an artifact where the selection chose no ref."""

    package_name: str
    slot_id: str
    artifact_id: str | None
    name: str
    """The artifact's name today; empty where it has no name."""
    revision: int | None
    """The number of the revision that was pinned, from 1."""
    revision_id: str | None
    assertion_id: str | None
    extension: str | None
    source_scope: str | None
    selected_by: str | None
    """user, agent, autonomous; `None` where the selection chose no ref."""
    selection_mode: str
    selected_at: datetime


def chosen(connection: Rows, run_id: str) -> list[ChosenContext]:
    """Every selection of a run, the oldest first, each from narrow to broad.

    A selection that a run returned to comes again, at the time of that return.
    """
    asked = {"run_id": run_id, "after_seq": 0, "after_place": 0, "limit": None}
    return [_read_chosen_row(row) for row in every(connection, "list_chosen", asked)]


def chosen_page(connection: Rows, run_id: str, *, limit: int, after: str) -> Page[ChosenContext]:
    """As `chosen`, a page; raises `InputInvalid` for another list's cursor."""
    seq, place = read_numbers(after, names=2)
    asked = {"run_id": run_id, "after_seq": seq, "after_place": place}
    rows, following = read_page(
        lambda most: every(connection, "list_chosen", {**asked, "limit": most}),
        limit,
        lambda row: write_cursor(row["selected_at"], str(row["seq"]), str(row["place"])),
    )
    return Page(items=[_read_chosen_row(row) for row in rows], next=following)


def _read_chosen_row(row: Row) -> ChosenContext:
    return ChosenContext(**{name: row[name] for name in ChosenContext.__dataclass_fields__})


# ----------------------------------------------------------------------------
# Plans: the refs that a slot was offered, kept so that a choice from them holds when artifacts
# change.
#
#     plan = ContextPlan(org_id="o1", parent_run_id="r1", …, refs=resolution.candidates)
#     plan.token                  "9c1f…"; the same offer has the same token
#     keep(connection, plan)      stores the plan; storing it again only renews its time
#     load(connection, token)     the plan; None for an unknown token
#     last_for(connection, plan)  the last offer to the owner of `plan`
#     forget(connection, moment)  deletes plans that were last offered before then: they are no evidence
#
# A token is a name and not a secret: the caller must compare the plan's owner with the asker.


_TOKEN: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPlan:
    """The refs that one slot of one run was offered, as they were at that time."""

    org_id: str
    parent_run_id: str
    parent_package_name: str
    slot_id: str
    refs: tuple[ResolvedContextRef, ...]

    @property
    def token(self) -> str:
        """sha256, in hex, of everything in the plan."""
        value = [*self.owner, self.wire()]
        return hashlib.sha256(json.dumps(value, separators=(",", ":")).encode()).hexdigest()

    @property
    def owner(self) -> tuple[str, str, str, str]:
        """Organisation, run, package and slot of the plan."""
        return self.org_id, self.parent_run_id, self.parent_package_name, self.slot_id

    def wire(self) -> list[JsonValue]:
        """The refs under their camelCase keys, without names: renaming an artifact does not change
        the offer.
        """
        return [dict(ref.pinned()) for ref in self.refs]


def keep(connection: Rows, plan: ContextPlan) -> None:
    run(
        connection,
        "insert_plan",
        {
            "token": plan.token,
            "org_id": plan.org_id,
            "parent_run_id": plan.parent_run_id,
            "parent_package_name": plan.parent_package_name,
            "slot_id": plan.slot_id,
            "refs": Json(plan.wire()),
        },
    )


def load(connection: Rows, token: str) -> ContextPlan | None:
    """The plan of `token`; `None` for an unknown or malformed token."""
    if _TOKEN.fullmatch(token) is None:
        return None
    return _read_plan_row(one(connection, "load_plan", {"token": token}))


def last_for(connection: Rows, asking: ContextPlan) -> ContextPlan | None:
    """The last plan for the owner of `asking`; `None` where there is no plan."""
    keys = ("org_id", "parent_run_id", "parent_package_name", "slot_id")
    return _read_plan_row(one(connection, "last_plan", dict(zip(keys, asking.owner, strict=True))))


def _read_plan_row(row: Row | None) -> ContextPlan | None:
    if row is None:
        return None
    refs = tuple(ResolvedContextRef.model_validate(ref) for ref in row.pop("refs"))
    return ContextPlan(refs=refs, **row)


def forget(connection: Rows, before: datetime) -> int:
    """Delete plans that were last offered before a moment; returns their number."""
    if before.tzinfo is None:
        raise ValueError("plans are forgotten before a moment with a time zone; this one has none")
    return len(every(connection, "delete_plans", {"before": before}))
