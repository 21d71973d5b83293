"""What providers have of attached files, until they forget it.

    uploads.get("acme", ref, "openai")                       -> CachedFile(…) or None
    uploads.put("acme", ref, "openai", file, ttl)
    uploads.expired("acme", "openai")                        -> [ExpiredUpload(…)]
    uploads.evict(expired)                                   -> True, unless it was renewed meanwhile

The key is tenant, artifact, revision, digest and provider.  Times are the database's.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from cinatra_sdk.attachments.ports import CachedFile
from cinatra_sdk.attachments.refs import AttachmentRef
from cinatra_sdk.postgres.connection import every, one, run
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.store.attachment_rows import check_tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredUpload:
    """An upload that is used no more, as it was seen."""

    tenant: str
    artifact_id: str
    revision_id: str
    digest: str
    provider: str
    provider_file_id: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class AttachmentUploads:
    """The uploads of a database."""

    database: Database

    def get(self, tenant: str, ref: AttachmentRef, provider: str) -> CachedFile | None:
        """The upload that may be used again: not expired, and of a file that may still be read."""
        with self.database.connection() as connection:
            row = one(connection, "load_attachment_upload", _build_key(tenant, ref, provider))
        if row is None:
            return None
        return CachedFile(
            provider_file_id=row["provider_file_id"], mime=row["mime"], size_bytes=row["size"]
        )

    def put(
        self, tenant: str, ref: AttachmentRef, provider: str, file: CachedFile, ttl: timedelta
    ) -> None:
        """Keep an upload for `ttl` from now; the latest upload of a key counts."""
        with self.database.connection() as connection:
            run(
                connection,
                "save_attachment_upload",
                {
                    **_build_key(tenant, ref, provider),
                    "provider_file_id": file.provider_file_id,
                    "mime": file.mime,
                    "size": file.size_bytes,
                    "seconds": ttl.total_seconds(),
                },
            )

    def expired(self, tenant: str, provider: str, *, limit: int = 100) -> list[ExpiredUpload]:
        """What a provider holds for a tenant and nobody uses any more, the oldest first."""
        check_tenant(tenant)
        asked = {"tenant": tenant, "provider": provider, "limit": limit}
        with self.database.connection() as connection:
            rows = every(connection, "list_expired_uploads", asked)
        return [ExpiredUpload(tenant=tenant, **row) for row in rows]

    def evict(self, upload: ExpiredUpload) -> bool:
        """Forget an upload as it was seen; False where somebody renewed it meanwhile."""
        with self.database.connection() as connection:
            return one(connection, "delete_expired_upload", asdict(upload)) is not None


def _build_key(tenant: str, ref: AttachmentRef, provider: str) -> dict[str, Any]:
    check_tenant(tenant)
    return {
        "tenant": tenant,
        "artifact_id": ref.artifact_id,
        "revision_id": ref.representation_revision_id,
        "digest": ref.digest,
        "provider": provider,
    }
