"""RunContext: what every step of a governed run carries, or refers to."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from cinatra_sdk.governance.contracts.contract import Contract, JsonObject
from cinatra_sdk.governance.contracts.identifiers import ApprovalMode, Id, TraceId
from cinatra_sdk.governance.contracts.identity import AgentIdentity, UserClaims

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
