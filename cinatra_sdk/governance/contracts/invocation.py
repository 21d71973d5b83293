"""Who acts, and on whose behalf: people, agents, delegations; the invokeAgent envelope; envelopes of tool calls.

A token never stands in an envelope.  `token_ref` names a token that the host keeps; auditors see the
`claim_hash` of a claim.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field

from cinatra_sdk.governance.contracts.record_format import (
    AgentUrn,
    AnyJson,
    ApprovalMode,
    BareSha256,
    CapabilityId,
    Contract,
    EvidenceRef,
    Id,
    JsonObject,
    Sha256,
    SpanId,
    TraceFlags,
    TraceId,
    Words,
    WorkloadIdentity,
)
from cinatra_sdk.governance.contracts.refusals import ToolResultStatus

Scopes = tuple[Id, ...]


class Principal(Contract):
    """One link of the chain of those who act for each other, the first first."""

    kind: Literal["user", "service", "agent", "automation"]
    id: Id
    tenant_id: Id | None = None
    display: str | None = None


class UserDelegation(Contract):
    """The right to act for a person, as the host got it."""

    auth_type: Literal["oauth2", "saml", "oidc", "service"]
    scopes: Scopes
    subject: Id
    token_ref: Id | None = None
    """Names the token; only the host puts it in, when it admits the run."""


class UserClaims(Contract):
    """The person for whom the run acts.  Hosts add claims of their own."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    user_id: Id
    delegation: UserDelegation | None = None
    role: str | None = None
    tenant_id: Id | None = None
    tenure_days: Annotated[int, Field(ge=0)] | None = None


class IdentityClaim(Contract):
    """What a signed claim says about one run of an agent: in full, or as a reference by its hash.

    The wire form is a reference: `sub`, `run_id`, `tenant_id`, `scopes`, `claim_hash`.
    """

    version: Literal["ctxid/1"] | None = None
    iss: str | None = None
    sub: AgentUrn
    aud: str | None = None
    run_id: Id
    session_id: Id | None = None
    tenant_id: Id
    principal_chain: tuple[Principal, ...] | None = None
    scopes: Scopes
    nbf: int | None = None
    """Seconds since 1970: not before."""
    exp: int | None = None
    """Seconds since 1970: not from then on."""
    iat: int | None = None
    jti: str | None = None
    kid: str | None = None
    claim_hash: Sha256


class AgentIdentity(Contract):
    """The agent that runs."""

    agent_id: Id
    agent_urn: AgentUrn | None = None
    """Optional on the wire; a governed run is not admitted without it."""
    workload_identity: WorkloadIdentity
    role: str | None = None
    token_ref: Id | None = None
    lifecycle: Literal["draft", "active", "suspended", "retired"] | None = None
    principal_chain: tuple[Principal, ...] | None = None
    identity_claim: IdentityClaim | None = None


# ----------------------------------------------------------------------------
# RunContext: what every step of a governed run carries, or refers to.


STARTED_BY: Final = "started_by"
"""Member of `metadata`: whoever started the run, as the host says; absent from runs of earlier releases."""
VOUCHED: Final = "agent_vouched_by"
"""Member of `metadata`: who vouches for the agent, `host`, `claim` or nobody (empty)."""
Count = Annotated[int, Field(ge=0, le=2**53 - 1)]
Cents = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]


class BucketTokens(Contract):
    """Tokens for each kind of text in the prompt."""

    policy: Count = 0
    tool: Count = 0
    evidence: Count = 0
    memory: Count = 0
    business: Count = 0
    session: Count = 0


class RunBudget(Contract):
    """What a run may use up; nothing is spent beyond it."""

    total_tokens: Count
    bucket_tokens: BucketTokens
    max_tool_calls: Count
    max_replan_attempts: Count
    wall_clock_ms: Count
    """Of work; time in which a person thinks does not count."""
    max_cost_cents: Cents


class RunContext(Contract):
    """Who runs what for whom.  The host makes it when it admits a run; no input sets it."""

    run_id: Id
    trace_id: TraceId
    session_id: Id | None = None
    tenant_id: Id
    user: UserClaims
    agent: AgentIdentity
    intent: Id | None = None
    locale: str | None = None
    safety_mode: ApprovalMode
    """The riskiest mode of a call that no person has approved."""
    run_budget: RunBudget
    metadata: JsonObject = Field(default_factory=dict)


# ----------------------------------------------------------------------------
# The invokeAgent envelope: the one way into a governed run.


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


# ----------------------------------------------------------------------------
# The envelope of a call of a tool, and the envelope of what came of it.


CALL_VERSION: Final = "contextos.tool_call.v1"
RESULT_VERSION: Final = "contextos.tool_result.v1"


class ToolCallEnvelope(Contract):
    """One call that leaves a governed run, as the gateway sees it.  Holds no secret."""

    envelope_version: Literal["contextos.tool_call.v1"]
    tool_call_id: Id
    run_id: Id
    trace_id: TraceId
    session_id: Id | None = None
    capability_id: CapabilityId
    args: JsonObject
    principal_chain: tuple[Principal, ...]
    approval_mode_requested: ApprovalMode
    """What the plan, or the node, says of the call."""
    approval_mode_effective: ApprovalMode
    """What the call counts as, by its adapter and the policy."""
    approval_mode_highest: ApprovalMode
    """The riskiest mode that the adapter declares; nothing goes beyond it."""
    policy_decision_id: Id | None = None
    evidence_refs: tuple[EvidenceRef, ...]
    idempotency_key: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    auth_ref: str | None = None
    """`claim_hash:sha256:…`."""
    metadata: JsonObject = Field(default_factory=dict)


class Citation(Contract):
    evidence_ref: EvidenceRef


class ToolResultEnvelope(Contract):
    """What came of a call."""

    envelope_version: Literal["contextos.tool_result.v1"]
    tool_call_id: Id
    run_id: Id
    trace_id: TraceId
    session_id: Id | None = None
    capability_id: CapabilityId
    status: ToolResultStatus
    output: AnyJson = None
    error: JsonObject | None = None
    """`{"code": …, "message": …}`."""
    artifacts: tuple[AnyJson, ...] = ()
    citations: tuple[Citation, ...] = ()
    mutations: tuple[str, ...] = ()
    """What the call changed outside of the run."""
    risk_tags: tuple[str, ...] = ()
    policy_decision_id: Id | None = None
    latency_ms: Annotated[int, Field(ge=0)] | None = None
    metadata: JsonObject = Field(default_factory=dict)
