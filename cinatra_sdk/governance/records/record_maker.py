"""Decision records: made from the story of a run, chained, hashed, signed.

    make_record(story)  ->  DecisionRecord(…, record_hash="sha256:…", previous_record_hash="sha256:…")

A record refers only to what the run can show: a reference to a call that nobody made, or to a rule
that no pack has, is refused (`RECORD_INVALID`) and not written.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import Any, Self

from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.governance.contracts.context_pack import RuntimeControls
from cinatra_sdk.governance.contracts.decision_record import (
    BudgetUsage,
    DecisionRecord,
    Lineage,
    Rationale,
    RecordActor,
    RecordApproval,
    RecordIdentity,
    RecordPolicyDecision,
    RecordSignature,
    RecordStatus,
)
from cinatra_sdk.governance.contracts.invocation import (
    RunContext,
    ToolCallEnvelope,
    ToolResultEnvelope,
)
from cinatra_sdk.governance.contracts.plans import (
    Alternative,
    CarriedCall,
    DecisionSpec,
    find_outcome_problem,
)
from cinatra_sdk.governance.contracts.record_format import hash_of, thaw
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.records.signatures import ED25519, HMAC
from cinatra_sdk.governance.run.budgets import Used
from cinatra_sdk.governance.run.host_functions import ask_host
from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# Signatures of decision records, with a key that the host keeps.
#
#     Signer.hmac("kid_2026_05", secret)          a shared secret: whoever verifies can also sign
#     Signer.ed25519("kid_2026_05", private_pem)  needs the package `cryptography`
#
# What is signed is `record_hash`, which covers every other member of the record, and the manifest of an
# export.  To verify either needs no package (`signatures.py`).


@dataclass(frozen=True, slots=True)
class Signer:
    """Prints no key."""

    kid: str
    alg: str
    make: Callable[[bytes], bytes] = field(repr=False)

    @classmethod
    def hmac(cls, kid: str, secret: bytes) -> Self:
        """Raises: `ValueError` for a secret of less than 32 bytes."""
        if len(secret) < 32:
            raise ValueError("the secret of a signer needs at least 32 bytes")
        return cls(kid, HMAC, lambda text: hmac.new(secret, text, hashlib.sha256).digest())

    @classmethod
    def ed25519(cls, kid: str, private_pem: bytes) -> Self:
        """private_pem: PKCS #8, not encrypted.  Raises: `NotConfigured`; `TypeError`, `ValueError` for another key."""
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
        except ImportError:
            raise NotConfigured(
                "ed25519 signatures need the package cryptography", hint="pip install cryptography"
            ) from None
        key = load_pem_private_key(private_pem, password=None)
        if not isinstance(key, Ed25519PrivateKey):
            raise TypeError("the key is not an Ed25519 key")
        return cls(kid, ED25519, key.sign)

    def sign(self, text: str) -> RecordSignature:
        """text: the hash of a record, or what stands for a manifest."""
        made = ask_host("signer", lambda: self.make(text.encode()), bytes)
        value = base64.b64encode(made).decode()
        return RecordSignature(kid=self.kid, alg=self.alg, value=value)


CONTROLS = (
    "must_refuse", "must_escalate", "approval_gates_active", "redaction_rules_active",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCall:
    """One call as the gateway saw it, and what came of it."""

    call: ToolCallEnvelope
    result: ToolResultEnvelope | None
    """None where nobody knows yet."""
    rule_ids: tuple[str, ...] = ()
    """Of the policy decision."""
    snapshot_hash: str = ""
    """Of what a person would approve."""
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """`{"context", "evidence"}`: what the rules read besides the run and the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStory:
    """What a record is made from."""

    run: RunContext
    request_id: str
    pack_ref: str
    pack_refs: tuple[str, ...]
    snapshot_version: str
    compiled_context_hash: str
    controls: RuntimeControls
    decision: DecisionSpec | None
    status: RecordStatus
    outcome: str | None = None
    outputs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    statements: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The planner's own words."""
    binds: bool = True
    """Whether an outcome has to have what it claims; records of earlier releases were made without."""
    reason: str = ""
    transcripts: Sequence[JudgedCall] = ()
    approvals: tuple[RecordApproval, ...] = ()
    subject_ids: tuple[str, ...] = ()
    confidence: float | None = None
    strategy: str = ""
    alternatives: tuple[Alternative, ...] = ()
    reasons: tuple[str, ...] = ()
    scorecard: Mapping[str, float] = field(default_factory=dict)
    used: Used = field(default_factory=Used)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLink:
    """The place of a record in the chain of its run."""

    sequence: int = 1
    previous_hash: str | None = None
    corrects: str | None = None


def make_record(
    story: RunStory,
    link: RecordLink,
    *,
    at: datetime,
    signer: Signer | None = None,
    transcript: Mapping[str, Any] | None = None,
) -> DecisionRecord:
    """transcript: what the story was read from; the record names its hash.

    Raises: `GovernanceRefused` (RECORD_INVALID) for a record that refers to nothing.
    """
    refs = dict(_describe_inputs(story))
    if transcript is not None:
        refs["transcript"] = hash_of(transcript)
    body: dict[str, Any] = {
        "record_id": f"dr_{story.run.run_id}_{link.sequence}",
        "timestamp": format_time(at),
        "status": story.status,
        **_describe_agent(story),
        **_describe_decision(story),
        **_describe_grounds(story),
        "inputs_refs": refs,
        "budget_usage": _describe_usage(story.used).to_json(),
        "trace_id": story.run.trace_id,
        "sequence": link.sequence,
        "previous_record_hash": link.previous_hash,
    }
    if link.corrects is not None:
        body["corrects"] = link.corrects
    record = DecisionRecord.read(body, code="RECORD_INVALID")
    _require_true(record, story)
    return seal_record(record, signer)


def _describe_agent(story: RunStory) -> dict[str, Any]:
    agent, claim = story.run.agent, story.run.agent.identity_claim
    identity = RecordIdentity(
        subject=agent.agent_urn or agent.agent_id,
        claim_hash=claim.claim_hash if claim else "sha256:" + "0" * 64,
        principal_chain=agent.principal_chain or (),
    )
    actor = RecordActor(type="AGENT", id=agent.agent_id)
    return {"actor": actor.to_json(), "agent_identity": identity.to_json()}


def _describe_decision(story: RunStory) -> dict[str, Any]:
    """What was decided, and how surely."""
    decision, intent = story.decision, story.run.intent or ""
    sure = 1.0 if story.status == "DECIDED" else 0.0
    rationale = Rationale(
        strategy=story.strategy or "policy_match_with_evidence",
        alternatives_considered=story.alternatives,
        reasons=story.reasons,
    )
    made: dict[str, Any] = {
        "decision_key": decision.decision_key if decision else (intent or "run"),
        "decision_version": decision.version if decision else "0.0.0",
        "intent_ref": intent,
        "subject_ids": list(story.subject_ids),
        "outputs": thaw(story.outputs),
        "confidence": float(sure if story.confidence is None else story.confidence),
        "rationale": rationale.to_json(),
        "scorecard": dict(story.scorecard),
        "reason": story.reason,
    }
    if story.statements:
        made["statements"] = thaw(story.statements)
    return made if story.outcome is None else {**made, "outcome": story.outcome}


def _describe_grounds(story: RunStory) -> dict[str, Any]:
    """What the decision rests on: evidence, rules, persons, controls."""
    controls = story.controls
    lineage = Lineage(pack_version=story.pack_ref, snapshot_version=story.snapshot_version)
    return {
        "evidence_refs": list_record_evidence(story.transcripts),
        "policy_decisions": [one.to_json() for one in _list_decisions(story.transcripts)],
        "approvals": [one.to_json() for one in story.approvals],
        "controls_active": {name: list(getattr(controls, name)) for name in CONTROLS},
        "lineage": lineage.to_json(),
    }


def _describe_inputs(story: RunStory) -> dict[str, Any]:
    return {
        "request": story.request_id,
        "session": story.run.session_id,
        "packs": list(story.pack_refs),
        "compiled_context": story.compiled_context_hash,
    }


def _describe_usage(used: Used) -> BudgetUsage:
    return BudgetUsage(
        tokens=used.tokens,
        tool_calls=used.tool_calls,
        cost_usd_cents=used.cost_cents,
        wall_clock_ms=used.wall_clock_ms,
        replans=used.replans,
    )


def seal_record(record: DecisionRecord, signer: Signer | None) -> DecisionRecord:
    """With its hash, and signed where there is a key."""
    sealed = record.sealed()
    if signer is None:
        return sealed
    assert sealed.record_hash is not None
    text = sealed.record_hash
    made = ask_host("signer", lambda: signer.sign(text), RecordSignature)
    return sealed.model_copy(update={"signature": made})


def format_time(at: datetime) -> str:
    """UTC, as records write it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def list_record_evidence(transcripts: Iterable[JudgedCall]) -> list[str]:
    """What the calls rested on, and the calls that count as evidence themselves."""
    found: list[str] = []
    for one in transcripts:
        if one.result is None or one.result.status not in ("ok", "completed"):
            continue
        found += one.call.evidence_refs
        found += [citation.evidence_ref for citation in one.result.citations]
    return list(dict.fromkeys(found))


def _list_decisions(transcripts: Iterable[JudgedCall]) -> list[RecordPolicyDecision]:
    found: dict[str, RecordPolicyDecision] = {}
    for one in transcripts:
        name = one.call.policy_decision_id
        if name is not None:
            found[name] = RecordPolicyDecision(policy_decision_id=name, rule_ids=one.rule_ids)
    return list(found.values())


def _require_true(record: DecisionRecord, story: RunStory) -> None:
    """Refuse what refers to nothing, and a decision without its outcome."""
    made = {
        f"tool:{one.call.capability_id}:{one.call.tool_call_id}"
        for one in story.transcripts
        if one.result is not None and one.result.status in ("ok", "completed")
    }
    for ref in record.evidence_refs:
        if ref.startswith("tool:") and ref not in made:
            raise _invalid(f"'{ref[:200]}' is no call of the run")
    require_outcome(record, story)
    usage = record.budget_usage
    if usage.tool_calls < len(made):
        raise _invalid(
            f"it counts {say_number(usage.tool_calls, 'call')}, and {len(made)} were made"
        )


def require_outcome(record: DecisionRecord, story: RunStory) -> None:
    """Refuse an outcome that the decision does not allow, or that the calls do not carry.

    Raises: `GovernanceRefused` (RECORD_INVALID).
    """
    if record.status == "DECIDED" and record.outcome is None:
        raise _invalid("it is DECIDED, and has no outcome")
    allowed = story.decision.allowed_outcomes if story.decision else ()
    if record.outcome is not None and allowed and record.outcome not in allowed:
        raise _invalid(f"the outcome is none of {', '.join(allowed)}")
    if record.status == "DECIDED" and story.binds:
        problem = find_outcome_problem(story.decision, record.outcome, _list_carried(story))
        if problem:
            raise _invalid(problem)


def _list_carried(story: RunStory) -> list[CarriedCall]:
    return [
        CarriedCall.of(
            one.call.capability_id,
            None if one.result is None else one.result.to_json(),
            changes=one.call.approval_mode_highest != "read_only",
        )
        for one in story.transcripts
    ]


def _invalid(why: str) -> GovernanceRefused:
    return GovernanceRefused("RECORD_INVALID", f"the decision record does not hold: {why}")
