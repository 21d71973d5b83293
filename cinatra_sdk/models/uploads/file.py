"""A file on its way to a provider, and the one method that takes it.

files.upload(FileToUpload(name="plan.pdf", mime="application/pdf", size=3, chunks=[b"abc"]))
    -> CachedFile(provider_file_id="file-1", mime="application/pdf", size_bytes=3)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from cinatra_sdk.attachments.ports import CachedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class FileToUpload:
    """The bytes of one revision, under the type that the store knows it by."""

    name: str
    """As a person or the store calls it; see `cinatra_sdk.attachments.file_names`."""
    mime: str
    size: int
    """Exactly the bytes that `chunks` gives."""
    chunks: Iterable[bytes] = field(repr=False)
    """Read once, from the first byte to the last; what it raises ends the upload."""


class ProviderFiles(Protocol):
    """The files that one provider keeps for one key."""

    def upload(self, file: FileToUpload) -> CachedFile:
        """Upload the file, and wait until a request can name it.

        Raises: `UploadFailed`, whose text is safe to show.
        """
