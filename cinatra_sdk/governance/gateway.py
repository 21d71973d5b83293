"""The gateway: what a governed run may call, with which arguments, and after whose approval.

    examined = gateway.examine(call)      every rule, nothing spent
    examined.refusal                      why not, or None
    examined.gates                        whom to ask first, with `examined.snapshot_hash`
    gateway.redeem(examined, approvals)   right before the call: all of it again, the budget, the approvals

Surface = registry and permissions without prohibitions.  Callable = surface within the safety mode, or
lifted by a gate that was approved.  Executed = callable, with fitting arguments, evidence and delegation,
within the budget.  The order of the checks is fixed: the first that fails gives the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governance.arguments import find_argument_problem
from cinatra_sdk.governance.contracts.calls import CALL_VERSION, ToolCallEnvelope
from cinatra_sdk.governance.contracts.contract import thaw
from cinatra_sdk.governance.contracts.identifiers import ApprovalMode, at_most, rank
from cinatra_sdk.governance.contracts.rules import ArgConstraint, PolicyDecision
from cinatra_sdk.governance.contracts.run_context import RunContext
from cinatra_sdk.governance.evidence import (
    Evidence,
    freeze_evidence,
    list_lacking,
    resolve_evidence,
)
from cinatra_sdk.governance.facts import make_call_facts
from cinatra_sdk.governance.policy import decide, exceeds_declared
from cinatra_sdk.governance.ports import GovernancePorts
from cinatra_sdk.governance.refusals import GovernanceRefused
from cinatra_sdk.governance.rulebook import DeclaredCapability, Rulebook
from cinatra_sdk.governance.usage import RunUsage


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


@dataclass(frozen=True, slots=True, kw_only=True)
class GateApproval:
    """A person's yes, to exactly what they were shown."""

    gate_id: str
    approver: str
    snapshot_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What the gateway says of a call."""

    call: GovernedCall
    declared: DeclaredCapability | None
    """None: nothing declares the capability."""
    decision: PolicyDecision | None
    """None where the call was refused before any rule was read."""
    envelope: ToolCallEnvelope | None
    evidence: tuple[Evidence, ...] = ()
    snapshot_hash: str = ""
    gates: tuple[str, ...] = ()
    """All that have to be passed."""
    refusal: GovernanceRefused | None = None

    def list_pending(self, approvals: Iterable[GateApproval]) -> list[str]:
        """The gates that nobody has passed with what would be sent now."""
        passed = {one.gate_id for one in approvals if one.snapshot_hash == self.snapshot_hash}
        return [gate for gate in self.gates if gate not in passed]


class Gateway:
    """The rules of one governed run; safe to share between threads."""

    def __init__(
        self,
        book: Rulebook,
        run: RunContext,
        run_facts: Mapping[str, Any],
        *,
        ports: GovernancePorts,
        usage: RunUsage,
    ) -> None:
        """run_facts: as `facts.make_run_facts` makes them."""
        self.book = book
        self.run = run
        self.run_facts = dict(run_facts)
        self.ports = ports
        self.usage = usage
        self._surface = frozenset(book.surface())

    # ------------------------------------------------------------------ examining

    def examine(
        self, call: GovernedCall, recorded: Mapping[str, Evidence] | None = None
    ) -> Examined:
        """What the rules say of a call; nothing is spent and nobody is asked.

        recorded: what the run itself knows, by reference (results of its calls, its session).
        """
        declared = self.book.capabilities.get(call.capability_id)
        try:
            return self._examine(call, declared, recorded or {})
        except GovernanceRefused as refusal:
            return _refused(call, declared, refusal)

    def _examine(
        self,
        call: GovernedCall,
        declared: DeclaredCapability | None,
        recorded: Mapping[str, Evidence],
    ) -> Examined:
        if declared is None or declared.id not in self._surface:
            why = "no adapter declares it" if declared is None else "no permission allows it"
            raise GovernanceRefused(
                "CAPABILITY_UNSURFACED", f"'{call.capability_id[:200]}' is not offered: {why}"
            )
        facts = make_call_facts(
            self.run_facts,
            capability=declared.id,
            args=call.args,
            approval_mode=call.mode_requested,
            evidence=[*call.evidence_refs, *recorded],
        )
        decision, constraints = decide(self.book, declared, facts)
        refs = self._choose_refs(call, decision, recorded)
        evidence: tuple[Evidence, ...] = ()
        refusal: GovernanceRefused | None = None
        snapshot = ""
        try:
            _require_arguments(call, declared, constraints)
            self._require_modes(call, declared, decision)
            _require_policy(declared, decision)
            self._require_delegation(declared, decision)
            _require_key(call, declared)
            evidence = self._gather_evidence(declared, decision, refs, recorded)
            snapshot = _freeze(declared, call, evidence, decision)
        except GovernanceRefused as error:
            refusal = error
        gates = tuple(dict.fromkeys((*decision.approval_gates, *call.gates)))
        unknown = next((one for one in gates if one not in self.book.gates), None)
        if refusal is None and unknown is not None:
            refusal = GovernanceRefused("GATE_PENDING", f"no pack declares the gate '{unknown}'")
        above = not at_most(decision.effective_approval_mode, self.run.safety_mode)
        if refusal is None and above and not gates:
            refusal = GovernanceRefused(
                "MODE_EXCEEDS_SAFETY",
                f"'{declared.id}' is {decision.effective_approval_mode}, above the "
                f"{self.run.safety_mode} of the run, and no gate lifts it",
            )
        return Examined(
            call=call,
            declared=declared,
            decision=decision,
            envelope=self._make_envelope(call, declared, decision, refs),
            evidence=evidence,
            snapshot_hash=snapshot,
            gates=gates,
            refusal=refusal,
        )

    def _choose_refs(
        self, call: GovernedCall, decision: PolicyDecision, recorded: Mapping[str, Evidence]
    ) -> list[str]:
        """What the call rests on: what it names, the newest of each required kind, and its rules."""
        found = list(call.evidence_refs)
        for wanted in decision.requires:
            if list_lacking([wanted], found):
                newest = [ref for ref in recorded if not list_lacking([wanted], [ref])]
                found += newest[-1:]
        matched = set(decision.matched_rule_ids)
        found += [
            f"policy:{one.bundle_id}#{one.rule.rule_id}"
            for one in self.book.rules
            if one.rule.rule_id in matched
        ]
        return list(dict.fromkeys(found))

    def _know(self, recorded: Mapping[str, Evidence]) -> dict[str, Evidence]:
        """What needs no reader: results, rules, the session."""
        rules = {
            ref: Evidence(ref, self.book.sha256)
            for ref in (f"policy:{one.bundle_id}#{one.rule.rule_id}" for one in self.book.rules)
        }
        session = f"session:{self.run.session_id}"
        own = {session: Evidence(session)} if self.run.session_id else {}
        return {**rules, **own, **recorded}

    def _require_modes(
        self, call: GovernedCall, declared: DeclaredCapability, decision: PolicyDecision
    ) -> None:
        asked = call.mode_requested
        if exceeds_declared(decision, declared) or not at_most(asked, declared.highest):
            raise GovernanceRefused(
                "MODE_EXCEEDS_DECLARED",
                f"'{declared.id}' is {declared.highest} at most; it would count as "
                f"{max([asked, decision.effective_approval_mode], key=rank)}",
            )

    def _require_delegation(self, declared: DeclaredCapability, decision: PolicyDecision) -> None:
        """For calls on behalf of a person: the delegation, and the scopes that the call needs."""
        needed = {*declared.about.scopes}
        for permission in self.book.list_permissions(declared):
            needed.update(permission.scopes)
        delegation = self.run.user.delegation
        claim = self.run.agent.identity_claim
        held = {*(delegation.scopes if delegation else ()), *(claim.scopes if claim else ())}
        lacking = sorted(needed - held)
        if lacking:
            raise GovernanceRefused(
                "DELEGATION_REQUIRED",
                f"'{declared.id}' needs the scope '{lacking[0]}', which nobody delegated",
            )
        if rank(decision.effective_approval_mode) < rank("delegated"):
            return
        if delegation is None or not delegation.token_ref:
            raise GovernanceRefused(
                "DELEGATION_REQUIRED",
                f"'{declared.id}' is {decision.effective_approval_mode}: it needs a person's delegation",
                hint="user.delegation, for which the host keeps a token",
            )
        if needed and not needed & set(delegation.scopes):
            raise GovernanceRefused(
                "DELEGATION_REQUIRED",
                f"the delegation has no scope for '{declared.id}'",
            )
        holds = self.ports.delegation_holds
        if holds is not None and holds(self.run.user.user_id, delegation) is not True:
            raise GovernanceRefused(
                "DELEGATION_REQUIRED",
                f"the delegation for '{declared.id}' does not hold any more",
                hint="the person has to delegate again",
            )

    def _gather_evidence(
        self,
        declared: DeclaredCapability,
        decision: PolicyDecision,
        refs: Iterable[str],
        recorded: Mapping[str, Evidence],
    ) -> tuple[Evidence, ...]:
        lacking = list_lacking(decision.requires, refs)
        if lacking:
            raise GovernanceRefused(
                "EVIDENCE_MISSING", f"'{declared.id}' needs evidence of '{lacking[0][:200]}'"
            )
        known = self._know(recorded)
        return tuple(resolve_evidence(refs, self.run, self.ports.evidence, known))

    def _make_envelope(
        self,
        call: GovernedCall,
        declared: DeclaredCapability,
        decision: PolicyDecision,
        refs: Iterable[str],
    ) -> ToolCallEnvelope:
        run, claim = self.run, self.run.agent.identity_claim
        gates = tuple(dict.fromkeys((*decision.approval_gates, *call.gates)))
        metadata = {**call.metadata, "protocol": declared.adapter.type}
        if gates:
            metadata["requires_approval_gate"] = gates[0]
        return ToolCallEnvelope(
            envelope_version=CALL_VERSION,
            tool_call_id=call.tool_call_id,
            run_id=run.run_id,
            trace_id=run.trace_id,
            session_id=run.session_id,
            capability_id=declared.id,
            args=self.redact(call.args),
            principal_chain=run.agent.principal_chain or (),
            approval_mode_requested=call.mode_requested,
            approval_mode_effective=decision.effective_approval_mode,
            approval_mode_highest=declared.highest,
            policy_decision_id=decision.policy_decision_id,
            evidence_refs=tuple(refs),
            idempotency_key=call.idempotency_key,
            auth_ref=None if claim is None else f"claim_hash:{claim.claim_hash}",
            metadata=metadata,
        )

    def redact(self, value: Any) -> Any:
        """A value without the members that redaction rules name, for whatever is kept of it."""
        names = {field for rule in self.book.redactions for field in rule.fields}
        return _redact(thaw(value), names) if names else thaw(value)

    # ------------------------------------------------------------------ redeeming

    def redeem(self, examined: Examined, approvals: Iterable[GateApproval] = ()) -> None:
        """Let the call through, and count it.

        examined: made a moment ago, from what is about to be sent.
        Raises: `GovernanceRefused`: its refusal; GATE_PENDING or EVIDENCE_DRIFT where a gate was not
        passed, or passed with something else; BUDGET_EXCEEDED.
        """
        if examined.refusal is not None:
            raise examined.refusal
        assert (
            examined.declared is not None
        )  # made by `examine`, which refuses what nobody declares
        given = list(approvals)
        for gate in examined.list_pending(given):
            drifted = any(one.gate_id == gate for one in given)
            raise GovernanceRefused(
                "EVIDENCE_DRIFT" if drifted else "GATE_PENDING",
                f"'{examined.declared.id}' "
                + (
                    f"is not what was approved at '{gate}': arguments or evidence have changed"
                    if drifted
                    else f"waits for '{gate}'"
                ),
            )
        cost = examined.declared.about.cost_cents
        self.usage.reserve(self.run.run_budget, tool_calls=1, cost_cents=cost)

    def require_approver(self, gate_id: str, person: str) -> None:
        """Raises: `GovernanceRefused` (GATE_PENDING) unless the person has the role of the gate."""
        gate = self.book.gates.get(gate_id)
        role = None if gate is None else gate.required_approver_role
        if role is None:
            return
        roles_of = self.ports.roles_of
        if roles_of is None or role not in roles_of(self.run.tenant_id, person):
            raise GovernanceRefused(
                "GATE_PENDING",
                f"gate '{gate_id}' asks for somebody with the role '{role}'",
                hint="" if roles_of else "the host gives no roles: GovernancePorts(roles_of=…)",
            )


def _refused(
    call: GovernedCall, declared: DeclaredCapability | None, refusal: GovernanceRefused
) -> Examined:
    return Examined(call=call, declared=declared, decision=None, envelope=None, refusal=refusal)


def _require_arguments(
    call: GovernedCall,
    declared: DeclaredCapability,
    constraints: Iterable[tuple[str, ArgConstraint]],
) -> None:
    problem = find_argument_problem(declared, call.args, constraints)
    if problem:
        raise GovernanceRefused("ARGUMENTS_INVALID", f"'{declared.id}': {problem}")


def _require_policy(declared: DeclaredCapability, decision: PolicyDecision) -> None:
    if not decision.allowed:
        raise GovernanceRefused("POLICY_DENIED", f"'{declared.id}': {decision.reason}")


def _require_key(call: GovernedCall, declared: DeclaredCapability) -> None:
    if declared.writes and not call.idempotency_key:
        raise GovernanceRefused(
            "IDEMPOTENCY_KEY_REQUIRED", f"'{declared.id}' writes, and the call has no key"
        )


def _freeze(
    declared: DeclaredCapability,
    call: GovernedCall,
    evidence: Iterable[Evidence],
    decision: PolicyDecision,
) -> str:
    try:
        return freeze_evidence(
            declared.id, call.args, evidence, mode=decision.effective_approval_mode
        )
    except ValueRefused as error:
        problem = error.message
    raise GovernanceRefused("ARGUMENTS_INVALID", f"'{declared.id}': {problem}")


def _redact(value: Any, names: set[str]) -> Any:
    if isinstance(value, Mapping):
        return {
            key: "[redacted]" if key in names else _redact(one, names) for key, one in value.items()
        }
    return [_redact(one, names) for one in value] if isinstance(value, list) else value
