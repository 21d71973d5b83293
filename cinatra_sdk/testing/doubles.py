"""The calls of a driven run, of the platform and of tools, in order."""

from __future__ import annotations

import copy
import functools
import inspect
import json
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from langgraph.errors import GraphBubbleUp
from pydantic import JsonValue

from cinatra_sdk.attachments import AttachmentRef, CachedFile, CapabilityRule
from cinatra_sdk.governed.secret_values import redact
from cinatra_sdk.outside.effects.door import current_effect
from cinatra_sdk.outside.http_calls.protocol import (
    Platform,
    PlatformCall,
    PlatformError,
    WrappedPlatform,
)
from cinatra_sdk.outside.http_calls.simulation import RecordedCall, recorded_call


class Recorder(WrappedPlatform):
    """A platform that records every call, and wraps tools so that their calls are recorded too."""

    def __init__(self, inner: Platform) -> None:
        super().__init__(inner)
        self.calls: list[RecordedCall] = []

    def call(self, call: PlatformCall) -> JsonValue:
        try:
            answer = super().call(call)
        except PlatformError as error:
            self.calls.append(_failed_call(call, error))
            raise
        self.calls.append(recorded_call(call, answer=answer))
        return answer

    async def acall(self, call: PlatformCall) -> JsonValue:
        try:
            answer = await super().acall(call)
        except PlatformError as error:
            self.calls.append(_failed_call(call, error))
            raise
        self.calls.append(recorded_call(call, answer=answer))
        return answer

    def tool(self, name: str, tool: Callable[..., Any]) -> Callable[..., Any]:
        """`tool`, wrapped so that each call is recorded when it ends."""
        if inspect.iscoroutinefunction(tool):

            @functools.wraps(tool)
            async def arecorded(**values: Any) -> Any:
                call = _tool_call(name, values)
                return await self._record_awaited(call, tool(**values))

            return arecorded

        @functools.wraps(tool, updated=())
        def recorded(**values: Any) -> Any:
            call = _tool_call(name, values)
            try:
                result = tool(**values)
            except Exception as error:
                self._record_call(call, raised=error)
                raise
            if inspect.isawaitable(result):
                return self._record_awaited(call, result)
            self._record_call(call, result)
            return result

        return recorded

    async def _record_awaited(self, call: RecordedCall, pending: Awaitable[Any]) -> Any:
        try:
            result = await pending
        except Exception as error:
            self._record_call(call, raised=error)
            raise
        self._record_call(call, result)
        return result

    def _record_call(
        self, call: RecordedCall, result: Any = None, *, raised: Exception | None = None
    ) -> None:
        told: dict[str, JsonValue] | None = None
        if raised is not None and not isinstance(raised, GraphBubbleUp):  # a pause is no failure
            code, message = type(raised).__name__, redact(str(raised))[:500]
            told = {"status": None, "code": code, "message": message}
        self.calls.append(replace(call, answer=_json_copy(result), error=told))


def _tool_call(name: str, values: dict[str, Any]) -> RecordedCall:
    """The record of a call that begins; its values are copied, because the tool may change them."""
    effect = current_effect()  # none where a node of a package calls a tool by itself
    node, path = (name, name) if effect is None else (effect.node, effect.path)
    return RecordedCall(node=node, path=path, method="TOOL", url=name, body=copy.deepcopy(values))


def _json_copy(result: Any) -> JsonValue:
    """A tool's return value as JSON; `None` where it is not JSON, which then fails the node."""
    try:
        copied: JsonValue = json.loads(json.dumps(result, allow_nan=False, default=dict))
    except (TypeError, ValueError, RecursionError):
        return None
    return copied


def _failed_call(call: PlatformCall, error: PlatformError) -> RecordedCall:
    told: dict[str, JsonValue] = {
        "status": error.status,
        "code": error.code,
        "message": str(error),
    }
    return recorded_call(call, error=told)


# ----------------------------------------------------------------------------
# A double of a provider's files: takes every file, and remembers what it was given.
#
#     `uploads = RememberedUploads()`
#     `parts = HostParts(models={"*": model}, attachments_for=lambda run, config: uploads)`
#     …
#     `[ref.artifact_id for ref in uploads.uploaded]     ["att_1"]`
#
# It knows a ref and no bytes, so the files need not exist; whether a model reads such a file at all is
# decided as for real ones.


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
