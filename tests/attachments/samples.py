"""Refs, ports and vectors for the tests of attachments."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from cinatra_sdk.attachments import AttachmentRef, CachedFile, CapabilityRule, read_ref

VECTORS = Path(__file__).parent / "vectors"
PDF: dict[str, Any] = {
    "artifactId": "a1",
    "representationRevisionId": "r1",
    "digest": "sha256:d1",
    "mime": "application/pdf",
    "originKind": "upload",
}


def vectors(area: str) -> list[Any]:
    """The rows of one area, as parameters of a test: each has a name of its own."""
    import pytest

    rows = json.loads((VECTORS / f"{area}.json").read_text("utf-8"))
    names = [row["name"] for row in rows]
    assert len(set(names)) == len(names), "two rows with one name"
    return [pytest.param(row, id=row["name"]) for row in rows]


def wire(**changes: Any) -> dict[str, Any]:
    """The JSON of a ref to a PDF; a change to None takes the member out."""
    return {key: value for key, value in (PDF | changes).items() if value is not None}


def ref(**changes: Any) -> AttachmentRef:
    return read_ref(wire(**changes))


def told(value: Any) -> Any:
    """What a vector lets a port say: a file, a bare id, nothing, or an error that is raised."""
    if isinstance(value, dict) and "raises" in value:
        raise RuntimeError(value["raises"])
    if isinstance(value, dict):
        return CachedFile(
            provider_file_id=value["id"], mime=value.get("mime"), size_bytes=value.get("size")
        )
    return value


@dataclass
class RecordingPorts:
    """Ports that answer by artifact id, and write down who asked for what."""

    cache: dict[str, Any] = field(default_factory=dict)
    uploads: dict[str, Any] = field(default_factory=dict)
    put_raises: bool = False
    calls: list[list[Any]] = field(default_factory=list)

    def cache_get(self, ref: AttachmentRef, provider: str) -> Any:
        self.calls.append(["get", ref.artifact_id, provider])
        return told(self.cache.get(ref.artifact_id))

    def provider_upload(self, ref: AttachmentRef, provider: str, capability: CapabilityRule) -> Any:
        self.calls.append(
            ["upload", ref.artifact_id, provider, capability.max_bytes, capability.native_kind]
        )
        return told(self.uploads.get(ref.artifact_id, {"id": f"file-{ref.artifact_id}"}))

    def cache_put(
        self, ref: AttachmentRef, provider: str, file: CachedFile, ttl: timedelta
    ) -> None:
        hours = ttl / timedelta(hours=1)
        self.calls.append(["put", ref.artifact_id, provider, file.provider_file_id, hours])
        if self.put_raises:
            raise RuntimeError("the cache is full")


class AwaitedPorts:
    """The same, to be awaited."""

    def __init__(self, inner: RecordingPorts) -> None:
        self.inner = inner

    async def cache_get(self, *asked: Any) -> Any:
        await asyncio.sleep(0)
        return self.inner.cache_get(*asked)

    async def provider_upload(self, *asked: Any) -> Any:
        await asyncio.sleep(0)
        return self.inner.provider_upload(*asked)

    async def cache_put(self, *asked: Any) -> None:
        await asyncio.sleep(0)
        self.inner.cache_put(*asked)
