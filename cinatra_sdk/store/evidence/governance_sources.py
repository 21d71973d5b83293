"""What governed runs read from Postgres: packs, and evidence.

    packs = StoredPacks(store.database)
    packs.publish(pack, by="ann")               once per version, and never changed
    Governance(registry=packs, ports=GovernancePorts(evidence=stored_evidence(store.database)))

    attachment:att_1#sha256:2f9c…            a file of the run's tenant with these bytes
    context:artifact/revision/assertion      an artifact of the run's tenant, exactly this revision

A file of another tenant, a deleted file, and a file with other bytes are all missing: nobody learns why.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.governance.contracts.invocation import RunContext
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.packs.pack_registry import (
    EVERY_TENANT,
    Published,
    kind_of,
    not_found,
    owner_of,
    pick_newest,
    read_published,
    require_pinned,
    require_tenant,
)
from cinatra_sdk.governance.packs.rulebook import require_sound
from cinatra_sdk.governance.run.evidence import Evidence, EvidenceReader
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import every, one
from cinatra_sdk.store.arguments import read_actor
from cinatra_sdk.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class PackEntry:
    """A pack, or a catalog, in a list."""

    ref: str
    tenant: str
    sha256: str
    published_by: str
    published_at: datetime


class StoredPacks:
    """Implements `PackRegistry`; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def publish(self, published: Published, *, by: str) -> bool:
        """Keep a version of the pack's tenant for good; False where the very same is there already.

        Raises: `GovernanceRefused`: PACK_INVALID for one that contradicts itself, or where the tenant,
        or every tenant, has the version with another content; `AnswerInvalid` without a name.
        """
        require_pinned(published.ref)
        who = read_actor(by)
        if not who.strip():
            raise AnswerInvalid(
                "nobody says that they publish it", hint="name them: --as NAME", in_python="by=…"
            )
        require_sound(published)
        row = {
            "tenant": owner_of(published),
            "ref": published.ref,
            "content": json.dumps(published.to_json(), ensure_ascii=False),
            "sha256": published.content_hash,
            "published_by": who,
        }
        named = {"ref": published.ref, "tenant": row["tenant"]}
        with self._database.connection() as connection:
            known = one(connection, "load_pack", named)
            if known is None or known["tenant"] not in (row["tenant"], EVERY_TENANT):
                # The runs of the tenant that go on have no pack of this reference yet.
                if one(connection, "insert_pack", row) is not None:
                    return True
                known = one(connection, "load_pack", named)  # somebody was faster
        if known is not None and known["sha256"] == published.content_hash:
            return False
        raise GovernanceRefused(
            "PACK_INVALID",
            f"'{published.ref}' is published with another content",
            hint="publish it under the next version",
        )

    def load(self, ref: str, *, tenant: str) -> Published:
        require_pinned(ref)
        kind_of(ref)
        with self._database.connection() as connection:
            row = one(connection, "load_pack", {"ref": ref, "tenant": tenant})
        if row is None:
            raise not_found(ref)
        found = read_published(ref, row["content"])
        if found.content_hash != row["sha256"]:
            raise GovernanceRefused("PACK_INVALID", f"'{ref}' is not what was published")
        require_tenant(found, tenant)
        return found

    def find_newest(self, ref: str, *, tenant: str) -> str:
        return pick_newest(ref, (entry.ref for entry in self.list_entries(tenant=tenant)))

    def list_entries(self, *, tenant: str | None = None) -> list[PackEntry]:
        """In the order of their references; of a tenant with those that every tenant may use."""
        with self._database.connection() as connection:
            rows = every(connection, "list_packs", {"tenant": tenant})
        return [PackEntry(**row) for row in rows]


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
