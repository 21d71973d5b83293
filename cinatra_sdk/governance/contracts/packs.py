"""ContextPack v2: everything that a governed run may know and do, published once per version."""

from __future__ import annotations

import re
from datetime import datetime
from difflib import get_close_matches
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from cinatra_sdk.governance.canonical import hash_of
from cinatra_sdk.governance.contracts.contract import Contract, JsonObject
from cinatra_sdk.governance.contracts.decisions import DecisionSpec
from cinatra_sdk.governance.contracts.identifiers import (
    ApprovalMode,
    EvidenceRef,
    Id,
    Semver,
    Sha256,
    Words,
)
from cinatra_sdk.governance.contracts.rules import (
    Adapter,
    ApprovalGate,
    Condition,
    Guardrails,
    Permission,
    PolicyBundle,
)
from cinatra_sdk.governance.contracts.run_context import Count, RunBudget
from cinatra_sdk.text.spelling import LONGEST_COMPARED

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
