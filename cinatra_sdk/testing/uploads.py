"""A double of a provider's files: takes every file, and remembers what it was given.

    uploads = RememberedUploads()
    parts = HostParts(models={"*": model}, attachments_for=lambda run, config: uploads)
    …
    [ref.artifact_id for ref in uploads.uploaded]     ["att_1"]

It knows a ref and no bytes, so the files need not exist; whether a model reads such a file at all is
decided as for real ones.
"""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

from cinatra_sdk.attachments import AttachmentRef, CachedFile, CapabilityRule


class RememberedUploads:
    """`AttachmentPorts` that upload nothing; safe to share between threads."""

    def __init__(self) -> None:
        self.uploaded: list[AttachmentRef] = []
        """The refs that were uploaded, in order."""
        self._kept: dict[tuple[Any, ...], CachedFile] = {}
        self._lock = threading.Lock()

    def cache_get(self, ref: AttachmentRef, provider: str) -> CachedFile | None:
        return self._kept.get(_key(ref, provider))

    def provider_upload(
        self, ref: AttachmentRef, provider: str, capability: CapabilityRule
    ) -> CachedFile:
        del capability
        with self._lock:
            self.uploaded.append(ref)
            number = len(self.uploaded)
        # Gemini names a file by an address, and nothing else.
        id_ = f"https://files.example/{number}" if provider == "gemini" else f"file-{number}"
        return CachedFile(provider_file_id=id_, mime=ref.mime, size_bytes=ref.size)

    def cache_put(
        self, ref: AttachmentRef, provider: str, file: CachedFile, ttl: timedelta
    ) -> None:
        del ttl  # a test is over before
        self._kept[_key(ref, provider)] = file


def _key(ref: AttachmentRef, provider: str) -> tuple[str, str, str, str]:
    return ref.artifact_id, ref.representation_revision_id, ref.digest, provider
