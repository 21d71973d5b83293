"""Files and artifacts of the database as evidence: the run's tenant's, as they are, or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest

from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.run.evidence import Evidence, resolve_evidence
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.artifacts.attachment_store import AttachmentStore
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.evidence.governance_sources import stored_evidence
from tests.governance.packs import admit_example
from tests.lower.context_shelf import ORG, STYLE, Shelf


@pytest.fixture
def database(fresh_database: str) -> Iterator[Database]:
    opened = Database.open(fresh_database)
    yield opened
    opened.close()


def resolve(database: Database, ref: str, tenant: str) -> list[Evidence]:
    run = admit_example().run.model_copy(update={"tenant_id": tenant})
    return resolve_evidence([ref], run, stored_evidence(database), {})


def require_refused(database: Database, ref: str, tenant: str, code: str) -> None:
    with pytest.raises(GovernanceRefused) as refused:
        resolve(database, ref, tenant)
    assert refused.value.code == code


def test_a_file_of_the_tenant_with_these_bytes(database: Database) -> None:
    files = AttachmentStore(database)
    ref = files.add(
        "acme", [b"paid"], mime="text/plain", created_by="ann", max_bytes=4, filename="bill.txt"
    )
    digest = hashlib.sha256(b"paid").hexdigest()
    name = f"attachment:{ref.artifact_id}#sha256:{digest}"
    assert resolve(database, name, "acme") == [
        Evidence(name, f"sha256:{digest}", "acme", text="bill.txt")
    ]
    require_refused(database, name, "beta", "ATTACHMENT_FORBIDDEN")
    other = hashlib.sha256(b"not paid").hexdigest()
    for wrong in (f"attachment:{ref.artifact_id}#sha256:{other}", "attachment:x", "attachment:"):
        require_refused(database, wrong, "acme", "ATTACHMENT_FORBIDDEN")
    files.tombstone("acme", ref.artifact_id)
    require_refused(database, name, "acme", "ATTACHMENT_FORBIDDEN")


def name_artifact(ref: dict[str, Any]) -> str:
    members = ("artifactId", "representationRevisionId", "semanticAssertionId")
    return "context:" + "/".join(ref[one] for one in members)


def test_an_artifact_of_the_tenant_at_this_revision(database: Database) -> None:
    store = ArtifactStore(database)
    refs = Shelf(store).fill(STYLE, STYLE).refs
    name = name_artifact(refs["brief"])
    (found,) = resolve(database, name, ORG)
    assert (found.ref, found.tenant) == (name, ORG)
    assert found.sha256 == "sha256:" + hashlib.sha256(b"brief").hexdigest()
    store.revise("brief", "another text")
    assert resolve(database, name, ORG) == [found], "the revision is pinned"
    mixed = name_artifact({**refs["brief"], "representationRevisionId": "nothing"})
    crossed = name_artifact(
        {**refs["brief"], "semanticAssertionId": refs["team"]["semanticAssertionId"]}
    )
    for wrong in (mixed, crossed, "context:brief", name_artifact(refs["x-deleted"])):
        require_refused(database, wrong, ORG, "EVIDENCE_MISSING")
    require_refused(database, name, "o2", "EVIDENCE_MISSING")
    store.delete("brief")
    require_refused(database, name, ORG, "EVIDENCE_MISSING")
