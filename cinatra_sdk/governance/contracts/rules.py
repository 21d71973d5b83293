"""What a pack allows: rules, gates, guardrails, permissions, adapters; and the word of a policy.

Conditions are JsonLogic over the facts of a run and a call (`cinatra_sdk.governance.facts`).
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AliasChoices, ConfigDict, Field

from cinatra_sdk.governance.contracts.contract import AnyJson, Contract, JsonObject
from cinatra_sdk.governance.contracts.identifiers import ApprovalMode, CapabilityId, Id, Words
from cinatra_sdk.governance.contracts.run_context import Cents, Count

Condition: TypeAlias = AnyJson
"""JsonLogic: an object with one operator, or a constant."""


class ArgConstraint(Contract):
    """What one argument of a call has to be."""

    required: bool = False
    min: float | int | None = None
    max: float | int | None = None
    enum: tuple[AnyJson, ...] | None = None
    pattern: Annotated[str, Field(max_length=1000)] | None = None
    """Of the whole text."""


ArgConstraints: TypeAlias = dict[str, ArgConstraint]


class AppliesTo(Contract):
    """Which calls a rule is about; each member narrows, `*` stands for any."""

    intent: str = "*"
    capabilities: tuple[str, ...] = ()
    """Empty: every call; of a gate: every call that changes something."""


class RuleEffect(Contract):
    """What follows where the condition of a rule holds."""

    allow: bool | None = None
    requires: tuple[str, ...] = ()
    """Beginnings of references to evidence: `kg:order:`, `tool:adp_policy.eval`."""
    prohibits: tuple[str, ...] = ()
    """Capabilities that may not be used."""
    approval_mode: ApprovalMode | None = None
    """The mode that the call counts as; never above what its adapter declares."""
    requires_approval_gate: Id | None = None
    arg_constraints: ArgConstraints = Field(default_factory=dict)


class PolicyRule(Contract):
    """If the condition holds, then the effect."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, serialize_by_alias=True)

    rule_id: Id
    applies_to: AppliesTo = AppliesTo()
    condition: Condition = Field(default=True, alias="if")
    then: RuleEffect
    rationale: Words = ""
    decision_binding: str | None = None
    """The decision to which the rule belongs; None: every decision."""


class PolicyDsl(Contract):
    language: Literal["jsonlogic"]
    rules: tuple[PolicyRule, ...]


class PolicyBundle(Contract):
    bundle_id: Id
    priority: int = 0
    """Rules of a higher priority are read first; the strictest word wins in any case."""
    policy_dsl: PolicyDsl


class ApprovalGate(Contract):
    """A person who has to approve."""

    gate_id: Id
    when: Condition = True
    required_approver_role: str | None = None
    approver: Literal["anyone", "not_requester"] = "anyone"
    """`not_requester`: whoever started the run, and the person for whom it acts, may not approve."""
    capabilities: tuple[str, ...] = ()
    """Calls that the gate stands before where `when` holds; empty: those that a rule sends there."""
    description: Words = ""


class Guardrail(Contract):
    """A request that is refused, or handed to a person, whatever else is allowed."""

    guardrail_id: Id = Field(validation_alias=AliasChoices("guardrail_id", "id"))
    when: Condition
    reason: Words = ""


class RedactionRule(Contract):
    """Members of arguments and outputs that no record shows."""

    rule_id: Id = Field(validation_alias=AliasChoices("rule_id", "id"))
    fields: tuple[str, ...]
    """Names of members, at any depth."""
    when: Condition = True


class Guardrails(Contract):
    must_refuse: tuple[Guardrail, ...] = ()
    must_escalate: tuple[Guardrail, ...] = ()
    redaction_rules: tuple[RedactionRule, ...] = ()


class Permission(Contract):
    permission_id: Id
    adapter_id: Id
    capability: str
    """The name of a capability of the adapter; `*` for all."""
    allow: bool
    arg_constraints: ArgConstraints = Field(default_factory=dict)
    scopes: tuple[str, ...] = ()
    """Scopes of the delegation, or of the agent's claim, that the call needs."""


class Capability(Contract):
    """What an adapter can do, beside its name."""

    kind: Literal["read", "write"] | None = None
    """None: by the approval mode."""
    risk_level: str | None = None
    approval_mode: ApprovalMode | None = None
    """None: that of the adapter."""
    source: str | None = None
    arg_schema: JsonObject | None = None
    """JSON Schema of the arguments."""
    binds_to: str | None = None
    """What calls it in a flow: the name of a tool, `POST {{CINATRA_BASE_URL}}/api/refunds`, `openai/gpt-5`,
    `agent:<urn>`; `*` for everything of the adapter's type.  None: the name of the capability.
    """
    timeout_ms: Count | None = None
    cost_cents: Cents = 0
    """Counted before the call is made."""
    at_most_once: bool = False
    """For a receiver that knows no idempotency key."""
    scopes: tuple[str, ...] = ()


AdapterType: TypeAlias = Literal["tool", "http", "openapi", "mcp", "model", "a2a", "agent"]


class Adapter(Contract):
    """A system outside, with the riskiest mode of anything that it can do."""

    adapter_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$", max_length=100)]
    type: AdapterType
    endpoint_ref: str = ""
    capabilities: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/-]+$", max_length=90)], ...]
    approval_mode: ApprovalMode
    """The highest."""
    capability_metadata: dict[str, Capability] = Field(default_factory=dict)


class PolicyDecision(Contract):
    """The word of a policy on one call: a pure function of rules and facts."""

    policy_decision_id: Id
    allowed: bool
    reason: str
    capability_id: CapabilityId
    effective_approval_mode: ApprovalMode
    requires_approval_gate: Id | None = None
    """The first gate of `approval_gates`."""
    approval_gates: tuple[Id, ...] = ()
    """Every gate that has to be passed, in this order."""
    requires: tuple[str, ...] = ()
    prohibits: tuple[str, ...] = ()
    matched_rule_ids: tuple[str, ...] = ()
    undecided_rule_ids: tuple[str, ...] = ()
    """Rules whose condition could not be read, which count as met where they restrict."""
