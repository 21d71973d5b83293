"""The host's ports for attached files, a cache of uploads and the upload itself; and their resolver.

    class Ports:                                   # built for ONE tenant, of a run that is proved
        def cache_get(self, ref, provider):                   ...   # CachedFile, id, or None
        def provider_upload(self, ref, provider, capability): ...   # CachedFile, or it raises
        def cache_put(self, ref, provider, file, ttl):        ...

A ref names no tenant.  So ports are bound to a tenant when they are made, and a run without a tenant gets
no ports.  Each method may be a coroutine function: then `aresolve_attachments` awaits it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Generator, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

from cinatra_sdk.attachments.attachment_refs import AttachmentRef
from cinatra_sdk.attachments.provider_capabilities import (
    RULES,
    CapabilityRule,
    NativeKind,
    NotReadable,
    find_capability,
)
from cinatra_sdk.governed.secret_values import redact
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.threads import call_beside


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
    """The ports that a host lends to one run, without `await`."""

    def cache_get(self, ref: AttachmentRef, provider: str) -> CachedFile | str | None:
        """The upload that may be used again; a bare id says nothing about type and size.

        None where there is none, or where it has expired.  An error counts as None.
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
        """Keep an upload for `ttl`.  An error changes nothing: the upload serves this turn."""


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


# ----------------------------------------------------------------------------
# Refs in; out: what the provider has of them, and for each other ref the reason why it has not.
#
#     `resolve_attachments([pdf, word], "openai", "gpt-5", ports)`
#         -> Resolved(parts=(FilePart(ref=pdf, native_kind="openai_input_file",
#                                     provider_file_id="file-1", mime="application/pdf"),),
#                     unreadable=(Unreadable(ref=word, reason='openai reads no files of the type …'),))
#
# For each ref in its order: the rules, then the cache, then the upload.  Every ref comes out on one of the
# two sides, so none is dropped silently.  A ref that fails takes no other with it.  Resolve once the
# provider is final: a file of one provider is nothing to another.
#
# The rules are a generator that says which port to call next, so that both forms share them.


NO_PORTS: Final = "resolver unavailable for this run"
"""The reason where the host lends no ports: an unknown run, or one without a tenant."""
_URI: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """A file that the model can read."""

    ref: AttachmentRef
    native_kind: NativeKind
    provider_file_id: str
    mime: str
    """The type under which the provider has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableFile:
    """A file that the model cannot read, and why; it goes into the manifest."""

    ref: AttachmentRef
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Every ref, on one side or the other, each side in the order of the refs."""

    parts: tuple[FilePart, ...] = ()
    unreadable: tuple[UnreadableFile, ...] = ()


@dataclass(frozen=True, slots=True)
class _Failed:
    """What a port raised, without its traceback."""

    reason: str


_Call: TypeAlias = Callable[[], Any]
_Steps: TypeAlias = Generator[_Call, Any, Resolved]


def resolve_attachments(
    refs: Sequence[AttachmentRef],
    provider: str,
    model: str,
    ports: AttachmentPorts | None,
    *,
    rules: Sequence[CapabilityRule] = RULES,
) -> Resolved:
    """Resolve every ref for one provider; without refs no port is called.

    provider, model: final; a fallback to another provider resolves again.
    ports:           None where the run has none: then every ref is unreadable.

    Raises: `TypeError` for ports that have to be awaited.
    """
    steps = _resolve_each(refs, provider, model, ports, rules)
    answer: Any = None
    while True:
        try:
            call = steps.send(answer)
        except StopIteration as end:
            resolved: Resolved = end.value
            return resolved
        answer = _carry_out(call)


async def aresolve_attachments(
    refs: Sequence[AttachmentRef],
    provider: str,
    model: str,
    ports: AsyncAttachmentPorts | AttachmentPorts | None,
    *,
    rules: Sequence[CapabilityRule] = RULES,
) -> Resolved:
    """As `resolve_attachments`, for an event loop; a port that is no coroutine function gets a thread."""
    steps = _resolve_each(refs, provider, model, ports, rules)
    answer: Any = None
    while True:
        try:
            call = steps.send(answer)
        except StopIteration as end:
            resolved: Resolved = end.value
            return resolved
        answer = await _acarry_out(call)


def _resolve_each(
    refs: Sequence[AttachmentRef],
    provider: str,
    model: str,
    ports: AttachmentPorts | AsyncAttachmentPorts | None,
    rules: Sequence[CapabilityRule],
) -> _Steps:
    parts: list[FilePart] = []
    unreadable: list[UnreadableFile] = []
    for ref in refs:
        found: FilePart | NotReadable
        if ports is None:
            found = NotReadable(reason=NO_PORTS)
        else:
            rule = find_capability(provider, model, ref, rules=rules)
            found = (
                rule if isinstance(rule, NotReadable)
                else (yield from _resolve_one(ref, provider, rule, ports))
            )  # fmt: skip
        if isinstance(found, FilePart):
            parts.append(found)
        else:
            unreadable.append(UnreadableFile(ref=ref, reason=found.reason))
    return Resolved(parts=tuple(parts), unreadable=tuple(unreadable))


def _resolve_one(
    ref: AttachmentRef,
    provider: str,
    rule: CapabilityRule,
    ports: AttachmentPorts | AsyncAttachmentPorts,
) -> Generator[_Call, Any, FilePart | NotReadable]:
    cached = _read_file((yield partial(ports.cache_get, ref, provider)))
    if isinstance(cached, CachedFile) and _is_hit(cached, ref, rule):
        return _make_part(cached, ref, rule)
    told = yield partial(ports.provider_upload, ref, provider, rule)
    if isinstance(told, _Failed):
        return NotReadable(reason=f"provider upload failed: {told.reason}")
    uploaded = _read_file(told)
    problem = _find_problem(uploaded, rule)
    if uploaded is None or problem:
        return NotReadable(reason=f"provider upload failed: {problem}")
    yield partial(ports.cache_put, ref, provider, uploaded, rule.ttl)
    return _make_part(uploaded, ref, rule)


def _is_hit(file: CachedFile, ref: AttachmentRef, rule: CapabilityRule) -> bool:
    """Whether a kept upload is of this very file: of the exact type, and within the rule."""
    return (file.mime is None or file.mime == ref.mime) and not _find_problem(file, rule)


def _find_problem(file: CachedFile | None, rule: CapabilityRule) -> str:
    """What is wrong with a file at the provider; empty where nothing is."""
    if file is None or not file.provider_file_id.strip():
        return "the upload gave no id of a file"
    if rule.native_kind == "gemini_file_data" and not _URI.match(file.provider_file_id):
        # A request with the resource name `files/…` is taken, and the file silently left out.
        return "the upload gave no URI of a file"
    if file.size_bytes is not None and file.size_bytes > rule.max_bytes:
        return f"{file.size_bytes} bytes were uploaded, and {rule.max_bytes} may be at most"
    if file.mime is not None and not rule.takes(file.mime):
        return f'the bytes have the type "{file.mime}", which {rule.provider} does not read'
    return ""


def _make_part(file: CachedFile, ref: AttachmentRef, rule: CapabilityRule) -> FilePart:
    return FilePart(
        ref=ref,
        native_kind=rule.native_kind,
        provider_file_id=file.provider_file_id,
        mime=ref.mime if file.mime is None else file.mime,
    )


def _read_file(told: object) -> CachedFile | None:
    """What a port told: a file, its bare id, or nothing usable."""
    if isinstance(told, str):
        return CachedFile(provider_file_id=told)
    return told if isinstance(told, CachedFile) else None


# ------------------------------------------------------------------------ calling ports


def _carry_out(call: _Call) -> object:
    if _is_awaited(call):
        raise TypeError("these ports have to be awaited; use aresolve_attachments")
    try:
        told = call()
    except Exception as error:  # noqa: BLE001 - a port is the host's; what it raises is a reason
        return _Failed(redact(str(error)) or type(error).__name__)
    if inspect.isawaitable(told):
        if inspect.iscoroutine(told):
            told.close()
        raise TypeError("these ports have to be awaited; use aresolve_attachments")
    return told


async def _acarry_out(call: _Call) -> object:
    try:
        told = call() if _is_awaited(call) else await call_beside(call)
        return await told if inspect.isawaitable(told) else told
    except Exception as error:  # noqa: BLE001 - as above
        return _Failed(redact(str(error)) or type(error).__name__)


def _is_awaited(call: _Call) -> bool:
    return inspect.iscoroutinefunction(call.func if isinstance(call, partial) else call)
