"""What the resolver asks of its host: a cache of uploads, and the upload itself.

    class Ports:                                   # built for ONE tenant, of a run that is proved
        def cache_get(self, ref, provider):                   ...   # CachedFile, id, or None
        def provider_upload(self, ref, provider, capability): ...   # CachedFile, or it raises
        def cache_put(self, ref, provider, file, ttl):        ...

A ref names no tenant.  So ports are bound to a tenant when they are made, and a run without one gets no
ports.  Each method may be a coroutine function: then `aresolve_attachments` awaits it.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from cinatra_sdk.attachments.capabilities import CapabilityRule
from cinatra_sdk.attachments.refs import AttachmentRef


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedFile:
    """A file as the provider has it."""

    provider_file_id: str
    """What a request names: OpenAI's and Anthropic's file id, Gemini's URI (never `files/…`)."""
    mime: str | None = None
    """The type under which it was uploaded; None: not known, nothing is compared."""
    size_bytes: int | None = None
    """The bytes that were uploaded; None: not known, nothing is compared."""


class AttachmentPorts(Protocol):
    """What a host lends to one run, without `await`."""

    def cache_get(self, ref: AttachmentRef, provider: str) -> CachedFile | str | None:
        """The upload that may be used again; a bare id says nothing about type and size.

        None where there is none, or it has expired.  What it raises counts as None.
        """

    def provider_upload(
        self, ref: AttachmentRef, provider: str, capability: CapabilityRule
    ) -> CachedFile | str:
        """Upload the bytes of the ref's revision, and say what the provider has now.

        Refuses, before the bytes are opened, what is larger than `capability.max_bytes` or of another
        type than the ref says; counts the bytes while they go out.  What it raises stands, redacted, in
        the model's system prompt as the reason: no secrets.
        """

    def cache_put(
        self, ref: AttachmentRef, provider: str, file: CachedFile, ttl: timedelta
    ) -> None:
        """Keep an upload for `ttl`.  What it raises changes nothing: the upload serves this turn."""


class AsyncAttachmentPorts(Protocol):
    """As `AttachmentPorts`, for an event loop."""

    def cache_get(
        self, ref: AttachmentRef, provider: str
    ) -> Awaitable[CachedFile | str | None]: ...

    def provider_upload(
        self, ref: AttachmentRef, provider: str, capability: CapabilityRule
    ) -> Awaitable[CachedFile | str]: ...

    def cache_put(
        self, ref: AttachmentRef, provider: str, file: CachedFile, ttl: timedelta
    ) -> Awaitable[None]: ...
