"""What a run would like to be remembered, and what a reviewer says of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cinatra_sdk.governance.contracts.contract import AnyJson, Contract
from cinatra_sdk.governance.contracts.identifiers import EvidenceRef, Id, Words
from cinatra_sdk.governance.contracts.packs import WriteClass


class MemoryCandidate(Contract):
    entity_ceid: Id
    predicate: Id
    value: AnyJson
    evidence_refs: tuple[EvidenceRef, ...]
    confidence: Annotated[float, Field(ge=0, le=1)]


class ContradictionCheck(Contract):
    existing: AnyJson = None
    verdict: Literal["none", "supports", "contradicts", "unchecked"]


class MemoryProposal(Contract):
    """Nothing of it is compiled into a context before a reviewer has promoted it."""

    proposal_id: Id
    candidate: MemoryCandidate
    write_class: WriteClass = Field(alias="class")
    tier_target: Literal["working", "episodic", "semantic", "durable"]
    consent_check: Literal["granted", "denied", "not_required"]
    contradiction_check: ContradictionCheck
    auto_promote_eligible: bool = False


class MemoryReview(Contract):
    """A reviewer's word, which stays."""

    proposal_id: Id
    verdict: Literal["promoted", "declined"]
    reviewed_by: Id
    reviewed_at: str
    reason: Words = ""
