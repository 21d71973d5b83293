"""Attached files on Postgres: their bytes, in and out, for one tenant at a time.

    attachments = AttachmentStore(Database.open())
    ref = attachments.add("acme", [b"%PDF…"], mime="application/pdf", filename="plan.pdf",
                          created_by="ann", max_bytes=32 * 1024 * 1024)
    attachments.tombstone("acme", ref.artifact_id)
    ports = attachments.ports("acme", {"openai": OpenAiFiles(api_key)})

Every statement names the tenant, so a ref of another tenant's file finds nothing here.  A file that is not
there, is deleted, or is another tenant's is missing alike: nobody learns which.  A host that stores
its artifacts elsewhere writes its ports itself (`cinatra_sdk.attachments.uploads`).
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, field
from datetime import datetime, timedelta
from typing import Any, Final

from cinatra_sdk.attachments.attachment_refs import AttachmentRef, OriginKind, read_ref
from cinatra_sdk.attachments.provider_capabilities import CapabilityRule
from cinatra_sdk.attachments.uploads import AttachmentPorts, CachedFile
from cinatra_sdk.data.text.person_texts import describe_fault
from cinatra_sdk.errors import FlowError, InputInvalid, StoreError
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.models.uploads import FileToUpload, ProviderFiles
from cinatra_sdk.postgres.connection import Row, Rows, every, one, run
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


# ----------------------------------------------------------------------------
# The resolver's ports over the store, for ONE tenant.
#
#     `ports = store.ports("acme", {"openai": OpenAiFiles(api_key)})`
#     `resolve_attachments(refs, "openai", "gpt-5", ports)`
#
# A ref is a caller's word.  It is compared with the row before any byte is read, and the row's type and size
# count.  The texts of the refusals reach a model's system prompt, so they name no
# tenant.


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantAttachmentPorts:
    """`AttachmentPorts` of one tenant; made by `AttachmentStore.ports`."""

    tenant: str
    files: AttachmentFiles = field(repr=False)
    uploads: AttachmentUploads = field(repr=False)
    providers: Mapping[str, ProviderFiles] = field(repr=False)

    def cache_get(self, ref: AttachmentRef, provider: str) -> CachedFile | None:
        return self.uploads.get(self.tenant, ref, provider)

    def provider_upload(
        self, ref: AttachmentRef, provider: str, capability: CapabilityRule
    ) -> CachedFile:
        """Raises: `AttachmentUnreadable`, before a byte is read where it can be known; what the
        provider's files raise.
        """
        row = self._find(ref, capability)
        lent = self.providers.get(provider)
        if lent is None:
            raise AttachmentUnreadable(f"this process uploads no files to {provider}")
        return lent.upload(
            FileToUpload(
                name=ref.file_name,
                mime=row["mime"],
                size=row["size"],
                # Counts its bytes, and gives no more than the size that was compared.
                chunks=self.files.read_pieces(self.tenant, row),
            )
        )

    def cache_put(
        self, ref: AttachmentRef, provider: str, file: CachedFile, ttl: timedelta
    ) -> None:
        self.uploads.put(self.tenant, ref, provider, file, ttl)

    def _find(self, ref: AttachmentRef, capability: CapabilityRule) -> Row:
        row = self._load(ref)
        if row is None:
            raise AttachmentUnreadable("there is no such file")
        if ref.digest.lower().removeprefix("sha256:") != row["sha256"]:
            raise AttachmentUnreadable("the digest is not that of the file")
        if row["size"] > capability.max_bytes:
            raise AttachmentUnreadable(
                f"the file has {row['size']} bytes, and {capability.max_bytes} may be at most"
            )
        if row["mime"] != ref.mime:
            raise AttachmentUnreadable("the type is not that of the file")
        return row

    def _load(self, ref: AttachmentRef) -> Row | None:
        with suppress(StoreError):
            return self.files.load(self.tenant, ref.artifact_id, ref.representation_revision_id)
        # Instead of the store's own error, whose text names the database.
        raise AttachmentUnreadable("the store of the files cannot be reached")


__all__ = ["AttachmentStore", "StoredParent"]

PIECE: Final = 1024 * 1024
"""Bytes of one piece, the last may have fewer."""
_MIME: Final = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+(?:\s*;[ -~]*)?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredParent:
    """What a file came with: an e-mail of a mailbox, say."""

    id: str
    type: str
    """`email` for an e-mail."""


class AttachmentStore:
    """The attached files of one database; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._files = AttachmentFiles(database)
        self.uploads = AttachmentUploads(database)
        """What providers have of the files."""

    def add(
        self,
        tenant: str,
        content: Iterable[bytes],
        *,
        mime: str,
        created_by: str,
        max_bytes: int,
        origin_kind: OriginKind = "upload",
        title: str | None = None,
        filename: str | None = None,
        artifact_id: str | None = None,
        parent: StoredParent | None = None,
    ) -> AttachmentRef:
        """Store a file as it comes; out: the ref that names exactly these bytes.

        content:     one part after another; it is read once, in one transaction, so a host that takes
                     bytes from a slow client has them all before.
        max_bytes:   what is longer is refused, and nothing of it is kept.
        origin_kind: `email_attachment` needs a `parent`.
        artifact_id: of a file that this is a new revision of; None: a new file.

        Raises: `InputInvalid`, which names the argument.
        """
        _refuse_unfit(
            {
                "media type": mime, "author of a file": created_by, "title of a file": title,
                "name of a file": filename, "id of a file": artifact_id,
            }
        )  # fmt: skip
        _check(tenant, mime, origin_kind, parent)
        key = {
            "tenant": tenant,
            "artifact_id": artifact_id or f"att_{uuid.uuid4().hex}",
            "revision_id": f"rev_{uuid.uuid4().hex}",
        }
        about = {
            "mime": mime, "origin_kind": origin_kind, "title": title, "filename": filename,
            "parent_id": parent.id if parent else None,
            "parent_type": parent.type if parent else None, "created_by": created_by,
        }  # fmt: skip
        with self._database.connection() as connection, connection.transaction():
            stored = _write_pieces(connection, key, content, max_bytes)
            run(connection, "lock_attachments", key)
            if one(connection, "insert_attachment", {**key, **about, **stored}) is None:
                raise InputInvalid(f'the file "{artifact_id}" was deleted', hint="add a new file")
        return _build_ref({**key, **about, **stored})

    def find(self, tenant: str, artifact_id: str, revision_id: str) -> AttachmentRef | None:
        """The ref of a revision as the store knows it; None where the tenant has none to read."""
        row = self._files.load(tenant, artifact_id, revision_id)
        return None if row is None else _build_ref(row)

    def read(self, tenant: str, ref: AttachmentRef) -> Iterator[bytes]:
        """The bytes of a revision, piece by piece; none where the tenant has no such file to read."""
        row = self._files.load(tenant, ref.artifact_id, ref.representation_revision_id)
        return iter(()) if row is None else self._files.read_pieces(tenant, row)

    def tombstone(self, tenant: str, artifact_id: str) -> bool:
        """Give nobody the bytes of any revision any more; whether there was one.

        What providers have of them is used no more either, and expires there.
        """
        check_tenant(tenant)
        key = {"tenant": tenant, "artifact_id": artifact_id}
        with self._database.connection() as connection, connection.transaction():
            # After whoever adds a revision right now, so that none is left over.
            run(connection, "lock_attachments", key)
            return bool(every(connection, "tombstone_attachment", key))

    def ports(
        self, tenant: str | None, providers: Mapping[str, ProviderFiles]
    ) -> AttachmentPorts | None:
        """What the resolver asks, for one tenant; None for a run that has none.

        tenant:    of the run's sealed identity, never of a request's body.
        providers: `openai`, `anthropic`, `gemini` → the files under this process's key.
        """
        if not tenant:
            return None
        return TenantAttachmentPorts(
            tenant=tenant, files=self._files, uploads=self.uploads, providers=providers
        )


def _refuse_unfit(texts: Mapping[str, object]) -> None:
    """Raises: `InputInvalid`."""
    lacking = frozenset({"title of a file", "name of a file", "id of a file"})
    problem = describe_fault(texts, may_lack=lacking)
    if problem:
        raise InputInvalid(problem)


def _check(tenant: str, mime: str, origin_kind: str, parent: StoredParent | None) -> None:
    check_tenant(tenant)
    if not _MIME.fullmatch(mime):
        raise InputInvalid("mime is no type of a file", hint="write it as application/pdf")
    if origin_kind == "email_attachment" and parent is None:
        raise InputInvalid(
            "an attachment of an e-mail has no parent", hint='give StoredParent(id=…, type="email")'
        )


def _write_pieces(
    connection: Rows, key: Mapping[str, str], content: Iterable[bytes], max_bytes: int
) -> dict[str, Any]:
    """Write the bytes; out: what is known of them at the end."""
    digest, size = hashlib.sha256(), 0
    for place, piece in enumerate(_cut(content)):
        size += len(piece)
        if size > max_bytes:
            raise InputInvalid(
                f"the file has more than {max_bytes} bytes", hint="attach a smaller file"
            )
        digest.update(piece)
        run(connection, "insert_attachment_piece", {**key, "place": place, "content": piece})
    return {"sha256": digest.hexdigest(), "size": size}


def _cut(content: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of one size."""
    waiting = bytearray()
    for part in content:
        waiting += part
        while len(waiting) >= PIECE:
            yield bytes(waiting[:PIECE])
            del waiting[:PIECE]
    if waiting:
        yield bytes(waiting)


def _build_ref(row: Row | Mapping[str, Any]) -> AttachmentRef:
    said = {
        "artifactId": row["artifact_id"],
        "representationRevisionId": row["revision_id"],
        "digest": f"sha256:{row['sha256']}",
        "mime": row["mime"],
        "originKind": row["origin_kind"],
        "title": row["title"],
        "filename": row["filename"],
        "size": row["size"],
    }
    return read_ref({name: value for name, value in said.items() if value is not None})
