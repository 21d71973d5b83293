"""What a critic says of a plan before it is carried out, and of its results afterwards."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cinatra_sdk.governance.contracts.contract import Contract
from cinatra_sdk.governance.contracts.identifiers import Id, TraceId

FindingKind = Literal[
    "missing_evidence",
    "approval_mode_mismatch",
    "violates_decision_spec",
    "loop_guard",
    "budget_exceeded",
    "capability_unsurfaced",
    "arguments_invalid",
]


class Verification(Contract):
    """Before: `replan` asks the planner again, `reject` ends the run."""

    verdict: Literal["ok", "replan", "reject"]
    kind: FindingKind | None = None
    reasons: tuple[str, ...] = ()
    offending_step: Id | None = None

    @property
    def ok(self) -> bool:
        return self.verdict == "ok"


class Score(Contract):
    """After: whether the results carry the decision."""

    verdict: Literal["accept", "retry", "replan", "escalate"]
    scorecard: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    offending_step: Id | None = None

    @property
    def ok(self) -> bool:
        return self.verdict == "accept"


class CriticReport(Contract):
    trace_id: TraceId
    decision_key: Id
    verify: Verification
    score: Score | None = None
    status: Literal["completed", "refused_by_critic", "escalated", "in_progress"]
