"""Artifacts, how they are classified, and the record of what was chosen for a run.

    artifacts = ArtifactStore(Database.open())
    voice = artifacts.add(org_id="o1", owner_id="ann", visibility="org", content="Plain words.")
    artifacts.classify(voice, "@x/voice")
    artifacts.resolve(actor, slot, registry)          one statement; candidates in order
    artifacts.record(chosen)                          one transaction; a replay writes nothing
    artifacts.keep_plan(offered)                      a token, under which a choice holds

In a host with artifacts of its own, its store answers instead; the rules are in
`cinatra_sdk.context`, which this module only feeds with rows.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cinatra_sdk.context.actor import Actor
from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.context.extensions import ExtensionRegistry, expanded
from cinatra_sdk.context.refs import PinnedTriple, ResolvedContextRef
from cinatra_sdk.context.resolution import ContextResolution, narrow_first, source_scope
from cinatra_sdk.context.selection import selection_key
from cinatra_sdk.context.slots import AgentContextSlot
from cinatra_sdk.store import plans
from cinatra_sdk.store.chosen import ChosenContext, chosen
from cinatra_sdk.store.database import Database, Rows, every, one, run
from cinatra_sdk.store.loading import LoadedArtifact, load
from cinatra_sdk.store.plans import ContextPlan

ARTIFACT_TYPE = "@cinatra-ai/artifact:object"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is to be recorded: refs that the resolver gave, for one slot of one run."""

    org_id: str
    parent_run_id: str
    parent_package_name: str
    slot: AgentContextSlot
    refs: tuple[ResolvedContextRef, ...]
    handed_on: bool = False
    """The refs are what a parent's selection chose: an agent hands them on, nobody picks."""

    @property
    def key(self) -> str:
        return selection_key(
            parent_run_id=self.parent_run_id,
            parent_package_name=self.parent_package_name,
            slot_id=self.slot.slot_id,
            selection_mode=self.slot.selection_mode,
            triples=[ref.triple for ref in self.refs],
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


class ArtifactStore:
    """The artifact tables of one database; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # ------------------------------------------------------------------ loading

    def add(
        self,
        *,
        org_id: str | None,
        owner_id: str,
        visibility: str,
        owner_level: str = "user",
        name: str = "",
        content: str | None = "",
        artifact_id: str | None = None,
        kind: str = ARTIFACT_TYPE,
    ) -> str:
        """A new artifact with its first revision (none where `content` is None); its id."""
        made = artifact_id or f"art_{uuid.uuid4().hex}"
        with self._database.connection() as connection, connection.transaction():
            run(
                connection,
                "insert_object",
                {
                    "id": made, "org_id": org_id, "type": kind, "name": name,
                    "owner_id": owner_id, "owner_level": owner_level, "visibility": visibility,
                },
            )  # fmt: skip
            if content is not None and org_id is not None:
                _revise(connection, made, content, "text/plain")
        return made

    def revise(self, artifact_id: str, content: str, *, mime: str = "text/plain") -> str:
        """One more revision; the id of it.  Earlier ones stay."""
        with self._database.connection() as connection, connection.transaction():
            return _revise(connection, artifact_id, content, mime)

    def classify(
        self,
        artifact_id: str,
        extension: str,
        *,
        asserted_by: str = "user",
        eligibility: str = "eligible",
    ) -> str:
        """Say what an artifact is; the id of the assertion.

        Raises: `ContextError`: `context_unresolved` where there is no such artifact of an
        organisation, `selection_incoherent` where an active one exists for the extension.
        """
        made = f"sem_{uuid.uuid4().hex}"
        with self._database.connection() as connection, connection.transaction():
            found = one(connection, "lock_object", {"artifact_id": artifact_id})
            if found is None or found["org_id"] is None:
                raise ContextError(
                    "context_unresolved", f'there is no artifact "{artifact_id}" of an organisation'
                )
            row = one(
                connection,
                "insert_assertion",
                {
                    "id": made, "artifact_id": artifact_id, "extension": extension,
                    "asserted_by": asserted_by, "eligibility": eligibility,
                },
            )  # fmt: skip
        if row is None:
            raise ContextError(
                "selection_incoherent",
                f'"{artifact_id}" is classified as {extension} already',
                hint="archive that assertion first",
            )
        return made

    def archive(self, assertion_id: str) -> None:
        """Take a classification back; selections that pinned it keep it."""
        with self._database.connection() as connection:
            run(connection, "archive_assertion", {"id": assertion_id})

    def delete(self, artifact_id: str) -> None:
        """Take an artifact out of every later resolution; its revisions stay."""
        with self._database.connection() as connection:
            run(connection, "delete_object", {"id": artifact_id})

    def load(self, artifacts: Sequence[LoadedArtifact]) -> None:
        """Bring artifacts to what is declared, all of them or none; the same again does nothing.

        Raises: `ContextError` `context_unresolved` for an id that is somebody else's.
        """
        with self._database.connection() as connection, connection.transaction():
            load(connection, artifacts, kind=ARTIFACT_TYPE)

    # ------------------------------------------------------------------ resolving

    def resolve(
        self,
        actor: Actor,
        slot: AgentContextSlot,
        registry: ExtensionRegistry,
        project_id: str | None = None,
    ) -> ContextResolution:
        """What the slot may take, in order, and what it takes without a person: one statement.

        Fails closed: a project that is not one of the actor's gives nothing, without a statement.
        """
        project = (project_id or "").strip() or None
        if project is not None and project not in actor.project_ids:
            return ContextResolution.of(slot, ())
        extensions = expanded(slot.accepted_artifact_extensions, registry)
        with self._database.connection() as connection:
            rows = every(
                connection,
                "resolve_context",
                {
                    "org_id": actor.org_id,
                    "principal_id": actor.principal_id,
                    "team_ids": sorted(actor.team_ids),
                    "project_ids": sorted(actor.project_ids),
                    "is_platform_admin": actor.is_platform_admin,
                    "project_id": project,
                    "extensions": list(extensions),
                },
            )
        return ContextResolution.of(slot, [_ref(row) for row in rows])

    # ------------------------------------------------------------------ the record

    def record(self, choice: Choice) -> bool:
        """Keep a choice, all of it or nothing; False where no row of it is new.

        Raises: `ContextError` `selection_incoherent` when three keys do not belong together.
        """
        key = choice.key
        refs = sorted({ref.triple: ref for ref in choice.refs}.values(), key=lambda ref: ref.triple)
        with self._database.connection() as connection, connection.transaction():
            _check_coherence(connection, choice.org_id, refs)
            written = [
                one(connection, "insert_selection", _row(choice, ref, f"{key}:{place}"))
                for place, ref in enumerate(refs)
            ]
            if not refs:
                run(connection, "insert_empty_selection", {"id": key} | _about(choice))
        return any(row is not None for row in written)

    def pinned(
        self, choice: Choice, triples: Sequence[PinnedTriple]
    ) -> tuple[ResolvedContextRef, ...] | None:
        """The refs of exactly these `triples` as they are recorded, in the order given.

        Whose and for what is `choice`'s word; its own refs do not count.  `None` where no batch
        holds these triples and no other.  What has become of the artifacts since is no matter.
        """
        with self._database.connection() as connection:
            rows = every(
                connection,
                "list_pinned_refs",
                {
                    "org_id": choice.org_id,
                    "parent_run_id": choice.parent_run_id,
                    "parent_package_name": choice.parent_package_name,
                    "slot_id": choice.slot.slot_id,
                    "selection_mode": choice.slot.selection_mode,
                },
            )
        batches: dict[str, dict[PinnedTriple, ResolvedContextRef]] = {}
        for row in rows:
            ref = _pinned_ref(row)
            batches.setdefault(row["id"].rpartition(":")[0], {})[ref.triple] = ref
        for batch in batches.values():
            if batch.keys() == set(triples):
                return tuple(batch[triple] for triple in dict.fromkeys(triples))
        return None

    def latest(
        self, org_id: str, *, run_id: str, package_name: str, slot_id: str
    ) -> tuple[ResolvedContextRef, ...] | None:
        """The refs that were recorded last for a slot of a run, as pinned, from narrow to broad.

        Empty where nothing was chosen; `None` where nothing has been recorded.
        """
        with self._database.connection() as connection:
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
        return tuple(
            narrow_first(_pinned_ref(row) for row in rows if row["artifact_id"] is not None)
        )

    # ------------------------------------------------------------------------ plans

    def keep_plan(self, plan: ContextPlan) -> str:
        """Keep what was offered, once; its token."""
        with self._database.connection() as connection:
            plans.keep(connection, plan)
        return plan.token

    def plan(self, token: str) -> ContextPlan | None:
        """What was offered under `token`; `None` where nothing was."""
        with self._database.connection() as connection:
            return plans.load(connection, token)

    def offered_before(self, asking: ContextPlan) -> ContextPlan | None:
        """Everything that the run and slot of `asking` were ever offered, as one plan."""
        with self._database.connection() as connection:
            return plans.all_for(connection, asking)

    # -------------------------------------------------------------------- reading

    def selections(
        self, org_id: str, parent_run_id: str, slot_id: str | None = None
    ) -> list[RecordedSelection]:
        """What was chosen in a run, oldest first."""
        with self._database.connection() as connection:
            rows = every(
                connection,
                "list_selections",
                {"org_id": org_id, "parent_run_id": parent_run_id, "slot_id": slot_id},
            )
        return [_recorded(row) for row in rows]

    def chosen_in(self, run_id: str) -> list[ChosenContext]:
        """Every selection of a run, in words for people, the oldest first."""
        with self._database.connection() as connection:
            return chosen(connection, run_id)

    def names(self, ids: Sequence[str], org_id: str) -> dict[str, str]:
        """Id → name of those artifacts of an organisation that are there; a name may be empty."""
        with self._database.connection() as connection:
            rows = every(connection, "list_names", {"ids": list(ids), "org_id": org_id})
        return {row["id"]: row["name"] for row in rows}

    def content(self, revision_id: str) -> str | None:
        """The text of one exact revision; `None` where there is none."""
        with self._database.connection() as connection:
            row = one(connection, "load_representation", {"id": revision_id})
        return None if row is None else str(row["content"])


def _revise(connection: Rows, artifact_id: str, content: str, mime: str) -> str:
    made = f"rev_{uuid.uuid4().hex}"
    one(connection, "lock_object", {"artifact_id": artifact_id})
    row = one(
        connection,
        "insert_representation",
        {"id": made, "artifact_id": artifact_id, "content": content, "mime": mime},
    )
    if row is None:
        raise ContextError("context_unresolved", f'there is no artifact "{artifact_id}"')
    return made


def _ref(row: dict[str, Any]) -> ResolvedContextRef:
    return ResolvedContextRef(
        artifactId=row["artifact_id"],
        representationRevisionId=row["representation_revision_id"],
        semanticAssertionId=row["semantic_assertion_id"],
        extension=row["extension"],
        sourceScope=source_scope(row["visibility"], row["owner_level"]),
        ownerId=row["owner_id"],
    )


def _pinned_ref(row: dict[str, Any]) -> ResolvedContextRef:
    return ResolvedContextRef(
        artifactId=row["artifact_id"],
        representationRevisionId=row["representation_revision_id"],
        semanticAssertionId=row["semantic_assertion_id"],
        extension=row["extension"],
        sourceScope=row["source_scope"],
        ownerId=row["owner_id"],
    )


def _check_coherence(connection: Rows, org_id: str, refs: list[ResolvedContextRef]) -> None:
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


def _row(choice: Choice, ref: ResolvedContextRef, row_id: str) -> dict[str, Any]:
    return {
        "id": row_id,
        **_about(choice),
        **ref.triple._asdict(),
        "extension": ref.extension,
        "source_scope": ref.source_scope,
    }


def _about(choice: Choice) -> dict[str, Any]:
    """What all rows of a choice have in common."""
    mode = choice.slot.selection_mode
    alone = "agent" if choice.handed_on else "autonomous"
    return {
        "org_id": choice.org_id,
        "parent_run_id": choice.parent_run_id,
        "parent_package_name": choice.parent_package_name,
        "slot_id": choice.slot.slot_id,
        "selected_by": "user" if mode == "interactive" else alone,
        "selection_mode": mode,
    }


def _recorded(row: dict[str, Any]) -> RecordedSelection:
    kept = {name: row[name] for name in RecordedSelection.__dataclass_fields__ if name != "triple"}
    return RecordedSelection(
        triple=PinnedTriple(
            row["artifact_id"], row["representation_revision_id"], row["semantic_assertion_id"]
        ),
        **kept,
    )
