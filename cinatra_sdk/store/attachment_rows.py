"""The rows of attached files: one revision of a tenant, and its bytes.

    files.load("acme", "att_1", "rev_1")   -> {"mime": "application/pdf", "size": 3, …} or None
    files.read_pieces("acme", row)         -> b"abc", piece by piece

A file that is not there, is deleted, or is another tenant's is None alike: nobody learns which.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from cinatra_sdk.errors import FlowError, InputInvalid, StoreError
from cinatra_sdk.postgres.connection import Row, one
from cinatra_sdk.postgres.database import Database


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
