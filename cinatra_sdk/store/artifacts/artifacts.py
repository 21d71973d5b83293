"""Artifacts, their classifications, and the record of a run's selections.

    artifacts = ArtifactStore(Database.open())
    voice = artifacts.add(org_id="o1", owner_id="ann", visibility="org", content="Plain words.")
    artifacts.classify(voice, "@x/voice")
    artifacts.resolve(actor, slot, registry)          one statement; candidates in order
    artifacts.record(chosen)                          one transaction; a replay writes nothing
    artifacts.keep_plan(offered)                      a token that keeps the offer valid

A host that stores its artifacts elsewhere uses a store of its own.  The rules are in `cinatra_sdk.context`;
this module only supplies rows.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from cinatra_sdk.context.artifact_refs import PinnedTriple, ResolvedContextRef
from cinatra_sdk.context.candidates import (
    Actor,
    ContextResolution,
    ExtensionRegistry,
    check_owner_level,
    expanded,
    source_scope,
)
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.context.slot_declarations import AgentContextSlot
from cinatra_sdk.data.text.person_texts import describe_fault
from cinatra_sdk.governed.secret_values import redact
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, Rows, every, one, run
from cinatra_sdk.store.artifacts import selections
from cinatra_sdk.store.artifacts.selections import (
    Choice,
    ChosenContext,
    ContextPlan,
    RecordedSelection,
    chosen,
    chosen_page,
)
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.pages import PAGE, Page, read_cursor, read_page, write_cursor

# ----------------------------------------------------------------------------
# Brings artifacts to their declared state, in one transaction.
#
#     load(connection, [LoadedArtifact(id="voice", org_id="o1", owner_id="bob", visibility="org",
#                                      extensions=("@x/voice",), content="Plain words.")])
#
# The first load adds the artifact; the same load again does nothing.  A changed content adds a
# revision, a further extension adds a classification; earlier ones stay.  Two processes that load the
# same artifact at the same time write it once: both lock the rows in the order of their ids.


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedArtifact:
    """One artifact as a host declares it."""

    id: str
    """Unique in all organisations, and among the artifacts of one load."""
    org_id: str
    owner_id: str
    owner_level: str = "user"
    name: str = ""
    visibility: str
    """private, org, workspace, admin, team:ID, project:ID."""
    extensions: tuple[str, ...]
    """Extensions to classify the artifact under, as a person's assertion."""
    content: str


def load(connection: Rows, artifacts: Sequence[LoadedArtifact], *, kind: str) -> None:
    """Load artifacts within the caller's transaction; the caller rolls back if this raises.

    Raises: `ContextError` `context_unresolved` for an id of another organisation, an invalid id,
    the id of a deleted artifact, or one that comes twice; `invalid_body` for an owner level that no
    artifact can have.
    """
    _refuse_unfit(artifacts)
    ordered = sorted(artifacts, key=lambda artifact: artifact.id)
    objects = {
        "ids": [one.id for one in ordered],
        "org_ids": [one.org_id for one in ordered],
        "names": [one.name for one in ordered],
        "owner_ids": [one.owner_id for one in ordered],
        "owner_levels": [one.owner_level for one in ordered],
        "visibilities": [one.visibility for one in ordered],
        "contents": [one.content for one in ordered],
        "type": kind,
    }
    run(connection, "load_objects", objects)
    there = {row["id"]: row for row in every(connection, "lock_objects", objects)}
    for artifact in ordered:
        _refuse_other(artifact, there[artifact.id], kind)
    run(connection, "update_objects", objects)
    run(connection, "load_representations", objects)
    pairs = sorted({(one.id, extension) for one in ordered for extension in one.extensions})
    claims = {"ids": [id_ for id_, _ in pairs], "extensions": [name for _, name in pairs]}
    # A draft classification would block the new classification.
    run(connection, "archive_drafts", claims)
    run(connection, "load_assertions", claims)


def _refuse_unfit(artifacts: Sequence[LoadedArtifact]) -> None:
    seen: set[str] = set()
    for artifact in artifacts:
        refuse_unfit_texts(
            {
                "id of an artifact": artifact.id, "organisation of an artifact": artifact.org_id,
                "owner of an artifact": artifact.owner_id, "name of an artifact": artifact.name,
                "visibility of an artifact": artifact.visibility,
                "text of an artifact": artifact.content,
            }
        )  # fmt: skip
        if artifact.id in seen:
            raise ContextError(
                "context_unresolved",
                f'the artifact "{artifact.id}" is given twice',
                hint="give every artifact an id of its own",
            )
        seen.add(artifact.id)
        check_owner_level(artifact.id, artifact.owner_level)


def refuse_unfit_texts(
    texts: Mapping[str, object], *, may_lack: frozenset[str] = frozenset()
) -> None:
    """texts: by their names in `BOUNDS`.  Raises: `ContextError` `invalid_body`."""
    problem = describe_fault(texts, may_lack=may_lack)
    if problem:
        raise ContextError("invalid_body", problem)


def _refuse_other(artifact: LoadedArtifact, there: Row, kind: str) -> None:
    problem = ""
    if there["org_id"] != artifact.org_id:
        problem = "belongs to another organisation"
    elif there["type"] != kind:
        problem = "is there, and is no artifact"
    elif there["deleted_at"] is not None:
        problem = "was deleted"
    if problem:
        raise ContextError(
            "context_unresolved", f'the artifact "{artifact.id}" {problem}', hint="give another id"
        )


__all__ = ["ARTIFACT_TYPE", "ArtifactStore", "Choice", "RecordedSelection"]

ARTIFACT_TYPE = "@cinatra-ai/artifact:object"
MAX_DISPLAY_NAME = 200
"""Characters of an artifact's name in an offer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedArtifact:
    """An artifact in a list."""

    id: str
    name: str
    """May be empty."""
    owner_id: str
    owner_level: str
    visibility: str
    created_at: datetime


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
        """Add an artifact with its first revision (no revision if `content` is None); returns its
        id.

        Raises: `ContextError` `invalid_body` for the owner level "project", and for a text that is
        missing or too long.
        """
        made = artifact_id or f"art_{uuid.uuid4().hex}"
        refuse_unfit_texts(
            {
                "id of an artifact": made, "organisation of an artifact": org_id,
                "owner of an artifact": owner_id, "level of an owner": owner_level,
                "visibility of an artifact": visibility, "name of an artifact": name,
                "text of an artifact": content, "kind of an artifact": kind,
            },
            may_lack=frozenset({"organisation of an artifact", "text of an artifact"}),
        )  # fmt: skip
        check_owner_level(made, owner_level)
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
                _insert_revision(connection, made, content, "text/plain")
        return made

    def revise(self, artifact_id: str, content: str, *, mime: str = "text/plain") -> str:
        """Add a revision; returns its id.  Earlier revisions stay.

        Raises: `ContextError`: `context_unresolved`, `invalid_body`.
        """
        refuse_unfit_texts(
            {"id of an artifact": artifact_id, "text of an artifact": content, "media type": mime}
        )
        with self._database.connection() as connection, connection.transaction():
            return _insert_revision(connection, artifact_id, content, mime)

    def classify(
        self,
        artifact_id: str,
        extension: str,
        *,
        asserted_by: str = "user",
        eligibility: str = "eligible",
    ) -> str:
        """Classify an artifact; returns the id of the assertion.

        Raises: `ContextError`: `context_unresolved` where no organisation has such an artifact,
        `selection_incoherent` where the artifact has an active classification for the extension.
        """
        refuse_unfit_texts(
            {
                "id of an artifact": artifact_id, "extension of a classification": extension,
                "author of a classification": asserted_by,
                "eligibility of a classification": eligibility,
            }
        )  # fmt: skip
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
        """Withdraw a classification; selections that pinned the classification keep it."""
        with self._database.connection() as connection:
            run(connection, "archive_assertion", {"id": assertion_id})

    def delete(self, artifact_id: str) -> None:
        """Remove an artifact from every later resolution; its revisions stay."""
        with self._database.connection() as connection:
            run(connection, "delete_object", {"id": artifact_id})

    def load(self, artifacts: Sequence[LoadedArtifact]) -> None:
        """Bring artifacts to their declared state, all or none; the same declaration again does
        nothing.

        Raises: `ContextError` `context_unresolved` for an id of another organisation, or one that
        comes twice; `invalid_body` for the owner level "project".
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
        """The candidates of the slot, in order, and the refs it takes without a person: one
        statement.

        Fails closed: a project outside the actor's projects yields nothing, without a statement.
        """
        project = (project_id or "").strip() or None
        if project is not None and project not in actor.project_ids:
            return ContextResolution.of(slot, ())
        extensions = expanded(slot.accepted_artifact_extensions, registry)
        with self._database.connection() as connection:
            rows = every(
                connection,
                "resolve_context",
                _build_actor_params(actor)
                | {"project_id": project, "extensions": list(extensions)},
            )
        return ContextResolution.of(slot, [_build_context_ref(row) for row in rows])

    def withdrawn(
        self, actor: Actor, run_id: str, triples: Sequence[PinnedTriple]
    ) -> tuple[str, ...]:
        """The artifacts of `triples` that the run was offered and `actor`, its owner, cannot choose now.

        Deleted, hidden, moved into a project or out of one, or no longer classified as they were;
        a newer revision withdraws nothing.  What the run was never offered is not judged, nor what
        it has chosen before: the same choice again is taken as it was pinned.
        """
        with self._database.connection() as connection:
            rows = every(
                connection,
                "list_withdrawn",
                _build_actor_params(actor)
                | {
                    "run_id": run_id,
                    "artifact_ids": [triple.artifact_id for triple in triples],
                    "assertion_ids": [triple.semantic_assertion_id for triple in triples],
                },
            )
        return tuple(row["artifact_id"] for row in rows)

    # ------------------------------------------------------------------ the record

    def record(self, choice: Choice) -> bool:
        """Record a choice, all rows or none; returns False where no row is new.

        It becomes the latest choice of its slot, also when it was recorded before.

        Raises: `ContextError` `selection_incoherent` when three keys do not belong together.
        """
        with self._database.connection() as connection, connection.transaction():
            return selections.record(connection, choice)

    def again(self, choice: Choice) -> None:
        """Make a recorded choice the latest choice of its slot again; its artifacts may be gone."""
        with self._database.connection() as connection, connection.transaction():
            selections.again(connection, choice)

    def pinned(
        self, choice: Choice, triples: Sequence[PinnedTriple]
    ) -> tuple[ResolvedContextRef, ...] | None:
        """The refs of exactly these `triples` as they are recorded, in the order given.

        Whose and for what is `choice`'s word; its own refs do not count.  `None` where no batch
        holds these triples and no other.  What has become of the artifacts since is no matter.
        """
        with self._database.connection() as connection:
            return selections.pinned(connection, choice, triples)

    def latest(
        self, org_id: str, *, run_id: str, package_name: str, slot_id: str
    ) -> tuple[ResolvedContextRef, ...] | None:
        """The refs of the latest choice for a slot of a run, as pinned, from narrow to broad.

        Empty where the choice was to take no ref; `None` where no choice is recorded.
        """
        with self._database.connection() as connection:
            return selections.latest(
                connection, org_id, run_id=run_id, package_name=package_name, slot_id=slot_id
            )

    # ------------------------------------------------------------------------ plans

    def keep_plan(self, plan: ContextPlan) -> str:
        """Store an offer once; returns its token."""
        with self._database.connection() as connection:
            selections.keep(connection, plan)
        return plan.token

    def plan(self, token: str) -> ContextPlan | None:
        """The offer with this token; `None` for an unknown token."""
        with self._database.connection() as connection:
            return selections.load(connection, token)

    def offered_before(self, asking: ContextPlan) -> ContextPlan | None:
        """The last offer to the run and slot of `asking`."""
        with self._database.connection() as connection:
            return selections.last_for(connection, asking)

    def forget_plans(self, *, before: datetime) -> int:
        """Delete offers that were last made before `before`; returns their number.

        A gate that waits with a deleted offer loses it: a finalize with the offer's token is
        refused with 409, and a finalize without a token chooses from the candidates of that moment.
        Selections stay.
        """
        with self._database.connection() as connection:
            return selections.forget(connection, before)

    # -------------------------------------------------------------------- reading

    def selections(
        self, org_id: str, parent_run_id: str, slot_id: str | None = None
    ) -> list[RecordedSelection]:
        """The selections of a run, oldest first."""
        with self._database.connection() as connection:
            return selections.recorded(connection, org_id, parent_run_id, slot_id)

    def selections_page(
        self,
        org_id: str,
        parent_run_id: str,
        slot_id: str | None = None,
        *,
        limit: int = PAGE,
        after: str = "",
    ) -> Page[RecordedSelection]:
        """As `selections`, a page of at most `limit`; raises `InputInvalid` for another cursor."""
        with self._database.connection() as connection:
            return selections.recorded_page(
                connection, org_id, parent_run_id, slot_id, limit=limit, after=after
            )

    def chosen_in(self, run_id: str) -> list[ChosenContext]:
        """Every selection of a run, in words for people, the oldest first."""
        with self._database.connection() as connection:
            return chosen(connection, run_id)

    def chosen_page(
        self, run_id: str, *, limit: int = PAGE, after: str = ""
    ) -> Page[ChosenContext]:
        """As `chosen_in`, a page of at most `limit`; raises `InputInvalid` for another cursor."""
        with self._database.connection() as connection:
            return chosen_page(connection, run_id, limit=limit, after=after)

    def page(self, actor: Actor, *, limit: int = PAGE, after: str = "") -> Page[ListedArtifact]:
        """The artifacts that `actor` may see, in the order in which they were added.

        Raises: `InputInvalid` for another list's cursor.
        """
        at, (artifact_id,) = read_cursor(after, names=1)
        asked = {**_build_actor_params(actor), "after_at": at, "after_id": artifact_id}
        with self._database.connection() as connection:
            rows, following = read_page(
                lambda most: every(connection, "list_artifacts", {**asked, "limit": most}),
                limit,
                lambda row: write_cursor(row["created_at"], row["id"]),
            )
        return Page(items=[ListedArtifact(**row) for row in rows], next=following)

    def names(self, ids: Sequence[str], actor: Actor) -> dict[str, str]:
        """Id → name, for the artifacts that `actor` may see; a name may be empty."""
        with self._database.connection() as connection:
            rows = every(connection, "list_names", {"ids": list(ids)} | _build_actor_params(actor))
        return {row["id"]: row["name"] for row in rows}

    def content(self, revision_id: str) -> str | None:
        """The text of one exact revision; `None` where it does not exist."""
        with self._database.connection() as connection:
            row = one(connection, "load_representation", {"id": revision_id})
        return None if row is None else str(row["content"])


def _build_actor_params(actor: Actor) -> dict[str, Any]:
    """The actor as SQL parameters, the same for every statement about visible artifacts."""
    return {
        "org_id": actor.org_id,
        "principal_id": actor.principal_id,
        "team_ids": sorted(actor.team_ids),
        "project_ids": sorted(actor.project_ids),
        "is_platform_admin": actor.is_platform_admin,
    }


def _insert_revision(connection: Rows, artifact_id: str, content: str, mime: str) -> str:
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


def _build_context_ref(row: dict[str, Any]) -> ResolvedContextRef:
    return ResolvedContextRef(
        artifactId=row["artifact_id"],
        representationRevisionId=row["representation_revision_id"],
        semanticAssertionId=row["semantic_assertion_id"],
        extension=row["extension"],
        sourceScope=source_scope(row["visibility"], row["owner_level"]),
        ownerId=row["owner_id"],
        # A gate refuses to show text that looks like a credential, and any person may have chosen
        # the name.
        displayName=redact(row["name"])[:MAX_DISPLAY_NAME],
    )
