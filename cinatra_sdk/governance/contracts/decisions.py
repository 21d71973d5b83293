"""What a run has to decide, and how it means to get there."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, Field

from cinatra_sdk.governance.contracts.contract import AnyJson, Contract, JsonObject
from cinatra_sdk.governance.contracts.identifiers import (
    ApprovalMode,
    CapabilityId,
    EvidenceRef,
    Id,
    Semver,
    StepId,
    Words,
)


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
    """One call that a planner means to make."""

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
