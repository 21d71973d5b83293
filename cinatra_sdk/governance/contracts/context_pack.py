"""A context pack, version 2: what governed runs may know and do; one file, published once per version.
And `CompiledContext`: what one run may know and do, compiled from packs and request, and named by its hash.

ContextPack.read({"pack_meta": {…}, "tooling_layer": {…}, "policy_layer": {…}, …})
"""

from __future__ import annotations

import re
from datetime import datetime
from difflib import get_close_matches
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, AliasChoices, ConfigDict, Field, model_validator

from cinatra_sdk.data.text.message_words import LONGEST_COMPARED
from cinatra_sdk.governance.contracts.invocation import BucketTokens, Cents, Count, RunBudget
from cinatra_sdk.governance.contracts.plans import DecisionSpec
from cinatra_sdk.governance.contracts.record_format import (
    AnyJson,
    ApprovalMode,
    CapabilityId,
    Contract,
    EvidenceRef,
    Id,
    JsonObject,
    PackRef,
    Semver,
    Sha256,
    Words,
    hash_of,
)

# ----------------------------------------------------------------------------
# What a pack allows: rules, gates, guardrails, permissions, adapters; and the word of a policy.
#
# Conditions are JsonLogic over the facts of a run and a call (`cinatra_sdk.governance.gateway.facts`).


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


Bucket = Literal["business", "policy", "tool", "evidence", "memory", "session"]
WriteClass = Literal["evidence_link", "preference", "decision_outcome", "correction"]
PackId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]+$", max_length=200)]


_NEAR: Final = 0.88
"""From how similar on a name that is unknown counts as a slip: `approval_gate`, `permisions`."""


_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DIGESTS: Final = re.compile(
    r"(?:content|pack|file|canonical)?(?:sha(?:1|256|384|512)(?:sum)?|md5|digest|checksum|hash|integrity)"
)
"""Names of digests, without `_`, `-` and capitals."""


def states_digest(name: str, value: object) -> bool:
    """Whether a member that this runtime does not read says what the hash of something is."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return _DIGESTS.fullmatch(plain) is not None or (
        isinstance(value, str) and re.match(r"sha(?:256|384|512)[:-]", value) is not None
    )


class _Open(Contract):
    """A layer to which publishers add members that this runtime does not read."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    @model_validator(mode="after")
    def _refuse_slips(self) -> Self:
        """A misspelt gate would be no gate, in silence."""
        known = list(type(self).model_fields)
        for name, value in (self.model_extra or {}).items():
            if states_digest(name, value):
                raise ValueError(
                    f'nobody checks the digest "{name[:100]}": write it as pack_meta/sha256, or leave it out'
                )
            if len(name) > LONGEST_COMPARED:
                continue
            near = get_close_matches(name.lower().replace("-", "_"), known, n=1, cutoff=_NEAR)
            if near:
                raise ValueError(f'there is no member "{name}"; did you mean "{near[0]}"?')
        return self


def require_time(text: str) -> str:
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        read = None
    if read is None or (read.tzinfo is None and not _DAY.fullmatch(text)):
        raise ValueError("it is no time: write 2026-05-01T00:00:00Z")
    return text


class Compatibility(Contract):
    requires: dict[str, str] = Field(default_factory=dict)
    """Name of a contract or of a pack → range of versions: `{"oasflow": ">=0.1"}`."""


class ContractMeta(_Open):
    contract_name: Literal["contextos.pack"]
    contract_version: Semver
    issuer: str
    created_at: Annotated[str, AfterValidator(require_time)]
    """A day, or a moment with its zone: `2026-05-01`, `2026-05-01T00:00:00Z`."""
    compatibility: Compatibility = Compatibility()


class EnvironmentDefaults(_Open):
    """What a run gets where nobody says otherwise, and at most."""

    safety_mode: ApprovalMode = "read_only"
    run_budget: RunBudget | None = None
    plan_timeout_ms: Count | None = None
    tool_timeout_ms: Count | None = None
    max_session_duration_ms: Count | None = None
    max_payload_bytes: Count | None = None
    heartbeat_ttl_ms: Count | None = None


class PackMeta(_Open):
    pack_id: PackId
    pack_version: Semver
    tenant: Id
    """`*` for a pack that every tenant may use."""
    sha256: Sha256 | None = None
    """Over the canonical JSON of the pack without this member; a pack with another content is refused."""
    environment_defaults: EnvironmentDefaults = EnvironmentDefaults()
    ttl_seconds: Count | None = None
    data_classification: Literal["PUBLIC", "INTERNAL", "CONFIDENTIAL", "RESTRICTED"] = "INTERNAL"


class PackBlock(Contract):
    """A text for the model; dropped whole where its bucket is full, the lowest priority first."""

    block_id: Id
    content: Words
    priority: int = 0
    intents: tuple[str, ...] = ()
    """Empty: for every intent."""
    provenance_refs: tuple[EvidenceRef, ...] = ()


class BusinessContext(_Open):
    system: Words = ""
    developer: Words = ""
    blocks: tuple[PackBlock, ...] = ()


class PolicyLayer(_Open):
    bundles: tuple[PolicyBundle, ...] = ()
    permissions: tuple[Permission, ...] = ()
    approval_gates: tuple[ApprovalGate, ...] = ()
    guardrails: Guardrails = Guardrails()


class ToolingLayer(_Open):
    adapters: tuple[Adapter, ...] = ()


class DecisionLayer(_Open):
    catalog: Literal["none"] | None = None
    """`none`: the pack has no catalog of decisions, and takes every intent.  Absent: its decisions
    stand here, or in a catalog that a run names beside it.
    """
    decisions: tuple[DecisionSpec, ...] = ()


class FirstTurnRef(Contract):
    """What the context of a first turn is about (`cinatra_sdk.first_turn`)."""

    image_id: Id
    """The member of the request's `context` that names the image, or whatever the notes are about."""
    workspace: Id | None = None
    """A member of the request's `context`, or a word; the host knows which folder it means."""
    priority: int = 0
    """Among the blocks of the bucket `memory`, of which the lowest is left out first."""


class MemoryLayer(_Open):
    first_turn: FirstTurnRef | None = None
    """A run of the loop begins with this context."""
    write_classes: tuple[WriteClass, ...] = ()
    """What a run may propose to remember."""
    blocks: tuple[PackBlock, ...] = ()
    """Memory that a reviewer has promoted."""


class Evaluator(Contract):
    """A condition over what a run came to: `outputs`, `outcome`, `calls.<step>`, `evidence`, and the
    facts of the run.
    """

    evaluator_id: Id
    when: Condition
    hard_fail: bool = False
    """Whether a person has to look where the condition is not met."""


class EvaluationLayer(_Open):
    evaluators: tuple[Evaluator, ...] = ()


class ContextPack(Contract):
    """One version of a pack, which never changes once it is published."""

    contract_meta: ContractMeta
    pack_meta: PackMeta
    intelligence_refs: JsonObject
    business_context: BusinessContext
    policy_layer: PolicyLayer
    tooling_layer: ToolingLayer
    decision_layer: DecisionLayer
    memory_layer: MemoryLayer
    evaluation_layer: EvaluationLayer
    tone_and_comms: JsonObject

    @model_validator(mode="after")
    def _require_digest(self) -> Self:
        stated = self.pack_meta.sha256
        if stated is not None:
            made = self.to_json()
            del made["pack_meta"]["sha256"]
            if hash_of(made) != stated:
                raise ValueError(
                    f"pack_meta/sha256 of '{self.ref}' is the digest of another content: "
                    f"that of this one is {hash_of(made)}"
                )
        return self

    @property
    def ref(self) -> str:
        return f"{self.pack_meta.pack_id}@{self.pack_meta.pack_version}"


class DecisionCatalog(Contract):
    """Decisions that are published apart from a pack: `decision-catalog.support@2.1.0`."""

    catalog_id: PackId
    catalog_version: Semver
    tenant: Id
    decisions: tuple[DecisionSpec, ...]
    compatibility: Compatibility = Compatibility()

    @property
    def ref(self) -> str:
        return f"{self.catalog_id}@{self.catalog_version}"


class ContextBlock(Contract):
    block_id: Id
    bucket: Bucket
    content: str
    priority: int
    provenance_refs: tuple[EvidenceRef, ...] = ()
    truncated: bool = False


class CompiledPrompt(Contract):
    system: str
    developer: str
    task: str
    context_blocks: tuple[ContextBlock, ...]


class PolicyManifestEntry(Contract):
    bundle_id: Id
    rule_ids: tuple[Id, ...]


class ToolManifestEntry(Contract):
    adapter_id: Id
    capabilities: tuple[str, ...]
    constraints: JsonObject = Field(default_factory=dict)
    capability_metadata: dict[str, Capability] = Field(default_factory=dict)


class EvidenceManifestEntry(Contract):
    evidence_ref: EvidenceRef
    source_id: str | None = None
    hash: Sha256 | None = None


class Manifests(Contract):
    policy_manifest: tuple[PolicyManifestEntry, ...]
    tool_manifest: tuple[ToolManifestEntry, ...]
    evidence_manifest: tuple[EvidenceManifestEntry, ...]


class RuntimeControls(Contract):
    """What was in force when the context was compiled."""

    must_refuse: tuple[str, ...] = ()
    must_escalate: tuple[str, ...] = ()
    approval_gates_active: tuple[str, ...] = ()
    redaction_rules_active: tuple[str, ...] = ()


class BudgetReport(Contract):
    tokens_allocated: BucketTokens
    tokens_used_at_compile: Count
    tokens_used_by_bucket: BucketTokens
    bucket_truncations: dict[Bucket, bool] = Field(default_factory=dict)
    dropped_block_ids: dict[Bucket, tuple[str, ...]] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class LedgerBudget(Contract):
    tokens_used_at_compile: Count
    truncated_buckets: tuple[Bucket, ...]


class ContextLedger(Contract):
    pack_ref: PackRef
    request_id: Id
    policy_bundles: tuple[Id, ...]
    tools: tuple[str, ...]
    evidence_refs: tuple[EvidenceRef, ...]
    memory_refs: tuple[str, ...]
    budget: LedgerBudget
    compiled_context_hash: Sha256


class CompiledContext(Contract):
    compiled_prompt: CompiledPrompt
    manifests: Manifests
    runtime_controls: RuntimeControls
    budget_report: BudgetReport
    context_ledger: ContextLedger
    pack_hashes: dict[PackRef, Sha256] = Field(default_factory=dict)
    """Every pack and catalog that it was compiled from, and the hash of its content."""
