"""The resolver's ports over the store, for ONE tenant.

    ports = store.ports("acme", {"openai": OpenAiFiles(api_key)})
    resolve_attachments(refs, "openai", "gpt-5", ports)

A ref is a caller's word.  What it says is compared with the row before any byte is read, and the row's
type and size are what counts.  The texts of the refusals reach a model's system prompt, so they name no
tenant.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from cinatra_sdk.attachments.capabilities import CapabilityRule
from cinatra_sdk.attachments.ports import CachedFile
from cinatra_sdk.attachments.refs import AttachmentRef
from cinatra_sdk.errors import StoreError
from cinatra_sdk.models.uploads.file import FileToUpload, ProviderFiles
from cinatra_sdk.postgres.connection import Row
from cinatra_sdk.store.attachment_rows import AttachmentFiles, AttachmentUnreadable
from cinatra_sdk.store.attachment_uploads import AttachmentUploads


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
