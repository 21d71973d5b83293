"""A call that a governed run proposes, its envelope, and the check of its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.governance.contracts.context_pack import ArgConstraint, PolicyDecision
from cinatra_sdk.governance.contracts.invocation import CALL_VERSION, RunContext, ToolCallEnvelope
from cinatra_sdk.governance.contracts.record_format import ApprovalMode, thaw
from cinatra_sdk.governance.packs.rulebook import DeclaredCapability, describe_constraint
from cinatra_sdk.light_imports.records import dataclass


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


# ----------------------------------------------------------------------------
# Whether the arguments of a call are what its adapter and the rules ask for.


def find_argument_problem(
    declared: DeclaredCapability, args: Any, constraints: Iterable[tuple[str, ArgConstraint]]
) -> str:
    """Why the arguments do not fit; empty where they do.  Quotes no value."""
    plain = thaw(args)
    if declared.about.arg_schema is not None:
        problem = first_problem(thaw(declared.about.arg_schema), plain)
        if problem:
            return problem
    for name, constraint in constraints:
        problem = _find_problem(name, constraint, plain)
        if problem:
            return problem
    return ""


def _find_problem(name: str, constraint: ArgConstraint, args: Mapping[str, Any]) -> str:
    if name not in args or args[name] is None:
        return f"lacks the required argument '{name}'" if constraint.required else ""
    value = args[name]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    schema = describe_constraint(constraint)
    if not is_number and ("minimum" in schema or "maximum" in schema):
        return f"argument '{name}' has to be a number"
    if constraint.pattern is not None and not isinstance(value, str):
        return f"argument '{name}' has to be a text"
    problem = first_problem(schema, value) if schema else ""
    return f"argument '{name}': {problem}" if problem else ""
