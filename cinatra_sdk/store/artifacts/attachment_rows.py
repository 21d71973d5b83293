"""The rows of attached files: one revision of a tenant, and its bytes.

    files.load("acme", "att_1", "rev_1")   -> {"mime": "application/pdf", "size": 3, …} or None
    files.read_pieces("acme", row)         -> b"abc", piece by piece

A file that is not there, is deleted, or is another tenant's is None alike: nobody learns which.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from cinatra_sdk.attachments.attachment_refs import AttachmentRef
from cinatra_sdk.attachments.uploads import CachedFile
from cinatra_sdk.errors import FlowError, InputInvalid, StoreError
from cinatra_sdk.postgres.connection import Row, every, one, run
from cinatra_sdk.store.database import Database


class AttachmentUnreadable(FlowError):
    """The bytes of a file cannot be given; the text is safe to show to a model."""

    code = "attachment_unreadable"


@dataclass(frozen=True, slots=True)
class AttachmentFiles:
    """The files of a database."""

    database: Database

    def load(self, tenant: str, artifact_id: str, revision_id: str) -> Row | None:
        """One revision, while it may be read."""
        check_tenant(tenant)
        key = {"tenant": tenant, "artifact_id": artifact_id, "revision_id": revision_id}
        if any("\x00" in part for part in key.values()):
            return None  # no database holds it
        with self.database.connection() as connection:
            return one(connection, "load_attachment", key)

    def read_pieces(self, tenant: str, row: Row) -> Iterator[bytes]:
        """The bytes of a loaded revision, counted and hashed on the way.

        Raises: `AttachmentUnreadable` where the file is deleted meanwhile, or is not what its row says.
        """
        key = {
            "tenant": tenant, "artifact_id": row["artifact_id"], "revision_id": row["revision_id"]
        }  # fmt: skip
        digest, left, place = hashlib.sha256(), int(row["size"]), 0
        while left > 0:
            piece = self._load_piece({**key, "place": place})
            if piece is None:
                raise AttachmentUnreadable("the file was deleted while it was read")
            content = bytes(piece["content"])
            left, place = left - len(content), place + 1
            digest.update(content)
            if left < 0 or (left == 0 and digest.hexdigest() != row["sha256"]):
                raise AttachmentUnreadable("the bytes of the file are not those that were stored")
            yield content

    def _load_piece(self, key: Mapping[str, Any]) -> Row | None:
        with suppress(StoreError), self.database.connection() as connection:
            return one(connection, "load_attachment_piece", key)
        # Instead of the store's own error, whose text names the database.
        raise AttachmentUnreadable("the store of the files cannot be reached")


def check_tenant(tenant: str) -> None:
    """Raises: `InputInvalid` for no tenant: no file belongs to nobody."""
    if not tenant:
        raise InputInvalid("tenant is empty", hint="name the tenant whose file this is")


# ----------------------------------------------------------------------------
# What providers have of attached files, until they forget it.
#
#     uploads.get("acme", ref, "openai")                       -> CachedFile(…) or None
#     `uploads.put("acme", ref, "openai", file, ttl)`
#     uploads.expired("acme", "openai")                        -> [ExpiredUpload(…)]
#     uploads.evict(expired)                                   -> True, unless it was renewed meanwhile
#
# The key is tenant, artifact, revision, digest and provider.  Times are the database's.


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
