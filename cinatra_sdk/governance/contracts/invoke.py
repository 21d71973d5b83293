"""The invokeAgent envelope: the one way into a governed run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cinatra_sdk.governance.contracts.contract import Contract, JsonObject
from cinatra_sdk.governance.contracts.identifiers import (
    BareSha256,
    Id,
    SpanId,
    TraceFlags,
    TraceId,
    Words,
)
from cinatra_sdk.governance.contracts.identity import AgentIdentity, UserClaims
from cinatra_sdk.governance.contracts.run_context import Cents, Count


class AgentInput(Contract):
    """What is asked."""

    intent: Id
    """Of the catalog of intents, such as `support.refund`."""
    message: Words
    channel: str | None = None
    locale: str | None = None
    context: JsonObject | None = None
    """Facts that policies read; the caller's word, and no proof."""


class RuntimeHints(Contract):
    """What the caller would like; a run gets at most what its pack and its tenant allow."""

    plan_timeout_ms: Count | None = None
    max_session_duration_ms: Count | None = None
    max_tool_calls: Count | None = None
    max_payload_bytes: Count | None = None
    max_cost_cents: Cents | None = None


class Attachment(Contract):
    """A file, by reference."""

    artifact_id: Id
    media_type: Annotated[str, Field(min_length=1, max_length=200)]
    sha256: BareSha256
    uri: Annotated[str, Field(min_length=1, max_length=4000)]


class Trace(Contract):
    """The caller's place in a trace (W3C Trace Context)."""

    trace_id: TraceId
    span_id: SpanId
    trace_flags: TraceFlags | None = None
    tracestate: str | None = None
    baggage: str | None = None


class TraceContext(Contract):
    """The headers of one call that leaves the run."""

    traceparent: Annotated[
        str, Field(pattern=r"^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")
    ]
    tracestate: str | None = None
    baggage: str | None = None


class InvokeAgent(Contract):
    """A request for one governed run."""

    request_id: Id
    session_id: Id | None = None
    """Without it the run is ephemeral."""
    tenant_id: Id
    user: UserClaims
    agent: AgentIdentity
    context_pack_refs: Annotated[tuple[str, ...], Field(min_length=1, max_length=50)]
    """`id@semver` each.  What is not pinned is refused by its own code, when the run is admitted."""
    input: AgentInput
    mode: Literal["stream", "batch", "long_running"]
    runtime: RuntimeHints
    attachments: tuple[Attachment, ...] = ()
    trace: Trace
