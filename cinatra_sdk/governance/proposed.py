"""A call that a governed run would like to make, and its envelope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cinatra_sdk.governance.contracts.calls import CALL_VERSION, ToolCallEnvelope
from cinatra_sdk.governance.contracts.identifiers import ApprovalMode
from cinatra_sdk.governance.contracts.rules import PolicyDecision
from cinatra_sdk.governance.contracts.run_context import RunContext
from cinatra_sdk.governance.rulebook import DeclaredCapability


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernedCall:
    """A call that a run would like to make."""

    capability_id: str
    args: Mapping[str, Any] = field(repr=False)
    tool_call_id: str
    idempotency_key: str | None = None
    mode_requested: ApprovalMode = "read_only"
    evidence_refs: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    """Gates that the plan expects, besides those of the rules."""
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)
    about: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What rules read of the call beside its arguments; see `call_facts`."""
    frozen: Any = field(default=None, repr=False)
    """What a person approves where that is more than the arguments: a whole request."""

    def list_gates(self, decision: PolicyDecision) -> tuple[str, ...]:
        """All gates that have to be passed: those of the rules, then those that the plan expects."""
        return tuple(dict.fromkeys((*decision.approval_gates, *self.gates)))


def make_call_envelope(
    run: RunContext,
    call: GovernedCall,
    declared: DeclaredCapability,
    decision: PolicyDecision,
    *,
    refs: Iterable[str],
    args: dict[str, Any],
) -> ToolCallEnvelope:
    """args: as they may be kept."""
    claim, gates = run.agent.identity_claim, call.list_gates(decision)
    metadata = {**call.metadata, "protocol": declared.adapter.type}
    return ToolCallEnvelope(
        envelope_version=CALL_VERSION,
        tool_call_id=call.tool_call_id,
        run_id=run.run_id,
        trace_id=run.trace_id,
        session_id=run.session_id,
        capability_id=declared.id,
        args=args,
        principal_chain=run.agent.principal_chain or (),
        approval_mode_requested=call.mode_requested,
        approval_mode_effective=decision.effective_approval_mode,
        approval_mode_highest=declared.highest,
        policy_decision_id=decision.policy_decision_id,
        evidence_refs=tuple(refs),
        idempotency_key=call.idempotency_key,
        auth_ref=None if claim is None else f"claim_hash:{claim.claim_hash}",
        metadata={**metadata, "requires_approval_gate": gates[0]} if gates else metadata,
    )
