"""Brings artifacts to their declared state, in one transaction.

    load(connection, [LoadedArtifact(id="voice", org_id="o1", owner_id="bob", visibility="org",
                                     extensions=("@x/voice",), content="Plain words.")])

The first load adds the artifact; the same load again does nothing.  A changed content adds a
revision, a further extension adds a classification; earlier ones stay.  Two processes that load the
same artifact at the same time write it once: both lock the rows in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.context.resolution import check_owner_level
from cinatra_sdk.postgres.connection import Row, Rows, every, run
from cinatra_sdk.text.bounds import describe_fault


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
