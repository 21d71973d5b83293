"""Plans and decisions: `Plan`, the catalog entry of a decision with its outcomes, the verdicts of the critic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AliasChoices, Field

from cinatra_sdk.governance.contracts.record_format import (
    AnyJson,
    ApprovalMode,
    CapabilityId,
    Contract,
    EvidenceRef,
    Id,
    JsonObject,
    Semver,
    StepId,
    TraceId,
    Words,
)
from cinatra_sdk.light_imports.records import dataclass

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


# ----------------------------------------------------------------------------
# What a run has to decide, and how it means to get there.


class OutcomeSpec(Contract):
    """What must have been carried out, and what must not, where a decision ends in an outcome."""

    requires: tuple[str, ...] = ()
    """Capabilities, each of which a call was made of: `adp_payments.issue_refund`."""
    forbids: tuple[str, ...] = ()
    """Capabilities of which no call was made, nor one whose end nobody knows; `*` for every one that changes something."""


class OutputSource(Contract):
    """The one result that an output is taken from."""

    capability: CapabilityId
    """Whose result: `adp_payments.issue_refund`."""
    member: Annotated[str, Field(min_length=1, max_length=300)]
    """Of the result: `transaction_id`; of something inside of it `payment/id`."""


class DecisionSpec(Contract):
    """A decision of the catalog."""

    decision_key: Id = Field(validation_alias=AliasChoices("decision_key", "decision_id"))
    version: Semver
    intents: tuple[str, ...] = ()
    """Intents that end in this decision; empty: the one that is spelt as the key."""
    owner_role: str | None = None
    required_evidence: tuple[str, ...] = ()
    """Beginnings of references to evidence."""
    allowed_outcomes: tuple[str, ...] = ()
    outcomes: dict[str, OutcomeSpec] = Field(default_factory=dict)
    """By outcome, what it claims.  An outcome that stands here only with what it claims, another only
    as the planner's word.
    """
    approval_mode: ApprovalMode = "read_only"
    """The riskiest mode of its steps."""
    inputs_schema_ref: str | None = None
    outputs_schema_ref: str | None = None
    outputs_schema: JsonObject | None = None
    outputs_from: dict[str, OutputSource] = Field(default_factory=dict)
    """By output, where it comes from.  Of an output that does not stand here the planner chooses the
    result, and the record says so.
    """
    eligibility_rules: AnyJson = True
    """JsonLogic: whether the decision is open to this request."""


class PlanStep(Contract):
    """A call that a planner proposes."""

    id: StepId
    tool: CapabilityId
    params: JsonObject = Field(default_factory=dict)
    """`{"$from": "tool_1/output/id"}` takes a value of an earlier step."""
    depends_on: tuple[StepId, ...] = ()
    approval_mode: ApprovalMode = "read_only"
    requires: tuple[Id, ...] = ()
    """Gates that the planner expects."""
    evidence_refs: tuple[EvidenceRef, ...] = ()


class DecisionCheckpoint(Contract):
    decision_id: Id
    after_step: StepId


class Alternative(Contract):
    """A way that the planner thought of and left."""

    description: Words
    reason: Words = ""


class Plan(Contract):
    plan_id: Id
    intent: Id
    steps: Annotated[tuple[PlanStep, ...], Field(max_length=200)]
    decision_checkpoints: tuple[DecisionCheckpoint, ...] = ()
    outcome: str | None = None
    """The outcome that the steps lead to, of those that the decision allows."""
    outputs: JsonObject = Field(default_factory=dict)
    """What the decision gives: every value is taken from a step, `{"$from": "tool_1/output/id"}`."""
    statements: JsonObject = Field(default_factory=dict)
    """What the planner says besides, in its own words; a record marks it as that."""
    subject_ids: tuple[Id, ...] = ()
    strategy: str = ""
    alternatives_considered: tuple[Alternative, ...] = ()
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None


class DecisionOutput(Contract):
    """What a run gives to whoever called it: the decision alone."""

    decision_key: Id = Field(
        validation_alias=AliasChoices("decision_id", "decision_key"),
        serialization_alias="decision_id",
    )
    outcome: str
    evidence_refs: tuple[EvidenceRef, ...]


# ----------------------------------------------------------------------------
# What an outcome claims: calls that were carried out, and calls that were not.
#
#     {"approved": {"requires": ["adp_payments.issue_refund"]},
#      "declined": {"forbids": ["adp_payments.issue_refund"]}}
#
#     `find_outcome_problem(decision, "declined", [CarriedCall("adp_payments.issue_refund", "completed")])`
#         ->  "the outcome 'declined' claims no call of 'adp_payments.issue_refund', and there is one"
#
# The critic asks before a decision stands, and the record once more.  A call whose end nobody knows counts
# against both: nobody can say that it was carried out, nor that it was not.


_DONE: Final = ("ok", "completed")
_NOT_MADE: Final = ("paused", "blocked", "rejected")


@dataclass(frozen=True, slots=True)
class CarriedCall:
    """A call of the run, and what came of it."""

    capability: str
    status: str
    """Of its result; `error` where nobody knows."""
    changes: bool = False
    """Whether it may change something outside of the run."""

    @classmethod
    def of(cls, capability: str, result: Mapping[str, Any] | None, *, changes: bool) -> Self:
        """result: a `ToolResultEnvelope` as JSON; None while nobody knows what came of the call."""
        told = result or {}
        error = told.get("error") or {}
        status = str(told.get("status", "error"))
        # The transport failed, and nothing had left the process.
        reached = error.get("may_have_happened", error.get("reached", True))
        unmade = status == "failed" and reached is False
        return cls(capability, "blocked" if unmade else status, changes=changes)

    @property
    def is_done(self) -> bool:
        return self.status in _DONE

    @property
    def may_have_happened(self) -> bool:
        return self.status not in _NOT_MADE


def find_outcome_problem(
    decision: DecisionSpec | None, outcome: str | None, calls: Iterable[CarriedCall]
) -> str:
    """Why the calls do not carry the outcome; empty where they do, or where nothing is said of it."""
    claimed = None if decision is None or outcome is None else decision.outcomes.get(outcome)
    if claimed is None:
        return ""
    known = list(calls)
    for name in claimed.requires:
        if not any(one.is_done and one.capability == name for one in known):
            return f"the outcome '{outcome}' claims a call of '{name}', and none was carried out"
    for name in claimed.forbids:
        for one in known:
            if one.may_have_happened and (one.capability == name or (name == "*" and one.changes)):
                return f"the outcome '{outcome}' claims no call of '{name}', and there is one"
    return ""
