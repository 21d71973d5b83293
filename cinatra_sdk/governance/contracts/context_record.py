"""`CompiledContext`: what one run may know and do, compiled from packs and request, and named by its hash."""

from __future__ import annotations

from pydantic import Field

from cinatra_sdk.governance.contracts.context_pack import Bucket, Capability
from cinatra_sdk.governance.contracts.invocation import BucketTokens, Count
from cinatra_sdk.governance.contracts.record_format import (
    Contract,
    EvidenceRef,
    Id,
    JsonObject,
    PackRef,
    Sha256,
)


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
