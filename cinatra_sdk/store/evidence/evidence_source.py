"""Evidence that the database has: attached files and pinned artifacts of context slots.

    GovernancePorts(evidence=stored_evidence(store.database))

    attachment:att_1#sha256:2f9c…            a file of the run's tenant with these bytes
    context:artifact/revision/assertion      an artifact of the run's tenant, exactly this revision

A file of another tenant, a deleted file, and a file with other bytes are all missing: nobody learns why.
"""

from __future__ import annotations

from collections.abc import Mapping

from cinatra_sdk.governance.contracts.invocation import RunContext
from cinatra_sdk.governance.run.evidence import Evidence, EvidenceReader
from cinatra_sdk.postgres.connection import one
from cinatra_sdk.store.database import Database


def stored_evidence(database: Database) -> Mapping[str, EvidenceReader]:
    """Readers by the kind of reference."""

    def read_attachment(ref: str, run: RunContext) -> Evidence | None:
        artifact, _, digest = ref.removeprefix("attachment:").partition("#sha256:")
        asked = {"tenant": run.tenant_id, "artifact_id": artifact, "sha256": digest}
        with database.connection() as connection:
            found = one(connection, "find_attachment_of_content", asked)
        if found is None:
            return None
        return Evidence(ref, f"sha256:{digest}", run.tenant_id, text=found["title"] or artifact)

    def read_artifact(ref: str, run: RunContext) -> Evidence | None:
        parts = ref.removeprefix("context:").split("/")
        if len(parts) != 3:
            return None
        names = ("artifact_id", "revision_id", "assertion_id")
        asked = {"tenant": run.tenant_id, **dict(zip(names, parts, strict=True))}
        with database.connection() as connection:
            found = one(connection, "find_pinned_artifact", asked)
        if found is None:
            return None
        return Evidence(ref, f"sha256:{found['sha256']}", run.tenant_id, text=found["name"])

    return {"attachment": read_attachment, "context": read_artifact}
