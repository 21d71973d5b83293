"""The gateway: which calls a governed run may make, with which arguments, and after whose approval.

    examined = gateway.examine(call)      every rule; spends nothing
    examined.refusal                      the reason, or None
    examined.gates                        whom to ask first, about `examined.snapshot_hash`
    gateway.redeem(examined, approvals)   right before the call: every rule again, approvals, budget

Surface = registry and permissions without prohibitions.  Callable = surface within the safety mode, or
lifted by an approved gate.  Executed = callable, with fitting arguments, evidence and delegation, within
the budget.  The order of the checks is fixed: the first failed check gives the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Final

from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governance.contracts.context_pack import ArgConstraint, PolicyDecision
from cinatra_sdk.governance.contracts.invocation import RunContext, ToolCallEnvelope
from cinatra_sdk.governance.contracts.record_format import at_most, rank, spell_integers
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.call_proposal import (
    GovernedCall,
    find_argument_problem,
    make_call_envelope,
)
from cinatra_sdk.governance.gateway.delegation import require_delegation
from cinatra_sdk.governance.gateway.facts import make_call_facts
from cinatra_sdk.governance.packs.pack_policy import (
    NOT_REQUESTER,
    decide,
    exceeds_declared,
    find_requester_problem,
    list_met,
    list_requesters,
)
from cinatra_sdk.governance.packs.rulebook import DeclaredCapability, Rulebook
from cinatra_sdk.governance.run.budgets import RunUsage, Wanted
from cinatra_sdk.governance.run.evidence import (
    Evidence,
    freeze_evidence,
    list_lacking,
    resolve_evidence,
)
from cinatra_sdk.governance.run.host_ports import GovernancePorts
from cinatra_sdk.light_imports.records import dataclass

_UNDECLARED: Final = (
    "no adapter declares it, or several do",
    "bind a capability of one adapter to it (binds_to), and permit the capability",
)
_TRIAL: Final = "trial"
_UNPERMITTED: Final = (
    "no permission allows it",
    "policy_layer/permissions: allow it, and nowhere forbid it",
)


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
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the rules read; see `cinatra_sdk.governance.gateway.facts`."""
    kept_about: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """`call.about` as it may be kept."""

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
        if declared is None or declared.id not in self.book.surface:
            why, mend = _UNDECLARED if declared is None else _UNPERMITTED
            raise GovernanceRefused(
                "CAPABILITY_UNSURFACED",
                f"'{call.capability_id[:200]}' is not offered: {why}",
                hint=mend,
            )
        facts = make_call_facts(
            self.run_facts,
            capability=declared.id,
            args=call.args,
            approval_mode=call.mode_requested,
            evidence=[*call.evidence_refs, *recorded],
            about=call.about,
        )
        self._require_guardrails(facts)
        decision, constraints = decide(self.book, declared, facts)
        refs = self._choose_refs(call, decision, recorded)
        evidence: tuple[Evidence, ...] = ()
        refusal: GovernanceRefused | None = None
        snapshot = ""
        try:
            _require_arguments(call, declared, constraints)
            self._require_modes(call, declared, decision)
            _require_policy(declared, decision)
            require_delegation(self.run, self.book, declared, decision, self.ports)
            _require_key(call, declared)
            evidence = self._gather_evidence(declared, decision, refs, recorded)
            snapshot = _freeze(declared, call, evidence, decision)
        except GovernanceRefused as error:
            refusal = error
        gates = call.list_gates(decision)
        refusal = refusal or self._find_missing_gate(declared, decision, gates)
        return Examined(
            call=call,
            declared=declared,
            decision=decision,
            envelope=make_call_envelope(
                self.run,
                call,
                declared,
                decision,
                refs=refs,
                args=spell_integers(self.redact(call.args)),
            ),
            evidence=evidence,
            snapshot_hash=snapshot,
            gates=gates,
            refusal=refusal,
            facts=facts,
            kept_about=self.redact(call.about),
        )

    def _find_missing_gate(
        self, declared: DeclaredCapability, decision: PolicyDecision, gates: Iterable[str]
    ) -> GovernanceRefused | None:
        """Why the gates do not suffice: one is unknown, or the call is too risky without any."""
        every = list(gates)
        unknown = next((one for one in every if one not in self.book.gates), None)
        if unknown is not None:
            return GovernanceRefused("GATE_PENDING", f"no pack declares the gate '{unknown}'")
        mode = decision.effective_approval_mode
        # What a plan asks for is added, and lifts nothing: a planner cannot choose who approves.
        if decision.approval_gates or at_most(mode, self.run.safety_mode):
            return None
        return GovernanceRefused(
            "MODE_EXCEEDS_SAFETY",
            f"'{declared.id}' is {mode}, above the {self.run.safety_mode} of the run, and no gate lifts it",
            hint="a gate that a rule asks for, or that names the capability, lifts the call; one that a "
            "plan names does not",
        )

    def _require_guardrails(self, facts: Mapping[str, Any]) -> None:
        for guards, code in (
            (self.book.must_refuse, "MUST_REFUSE"),
            (self.book.must_escalate, "MUST_ESCALATE"),
        ):
            for guard in list_met(guards, facts):
                raise GovernanceRefused(code, f"{guard.guardrail_id} {guard.reason}".strip())

    def _choose_refs(
        self, call: GovernedCall, decision: PolicyDecision, recorded: Mapping[str, Evidence]
    ) -> list[str]:
        """What the call rests on: what it names, the newest of each required kind, and its rules."""
        found = list(call.evidence_refs)
        for wanted in decision.requires:
            if list_lacking([wanted], found):
                newest = [ref for ref in recorded if not list_lacking([wanted], [ref])]
                found += newest[-1:]
        rules = self.book.rule_refs
        found += [rules[one] for one in decision.matched_rule_ids if one in rules]
        return list(dict.fromkeys(found))

    def _know(self, recorded: Mapping[str, Evidence]) -> Mapping[str, Evidence]:
        """What needs no reader: results, the session, rules."""
        session = f"session:{self.run.session_id}"
        own = {session: Evidence(session)} if self.run.session_id else {}
        return {**self.book.rule_evidence, **own, **recorded}

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

    def redact(self, value: Any) -> Any:
        """A value without the members that redaction rules name, for whatever is kept of it."""
        return self.book.redact(value)

    # ------------------------------------------------------------------ redeeming

    def find_lacking(self, examined: Examined) -> GovernanceRefused | None:
        """Why the budget does not suffice for the call: nobody is asked about one that cannot be made."""
        try:
            self.hold(_TRIAL, examined)
        except GovernanceRefused as refused:
            return refused
        self.usage.give_back(_TRIAL)
        return None

    def hold(self, name: str, examined: Examined, tokens: int = 0) -> None:
        """Keep what the call will spend, while a person is asked about it.

        Raises: `GovernanceRefused` (BUDGET_EXCEEDED).
        """
        assert examined.declared is not None  # a call that nothing declares is refused
        cost = examined.declared.about.cost_cents
        wanted = Wanted(tokens=tokens, tool_calls=1, cost_cents=cost)
        self.usage.hold(name, self.run.run_budget, wanted)

    def redeem(
        self,
        examined: Examined,
        approvals: Iterable[GateApproval] = (),
        *,
        tokens: int = 0,
        held: str = "",
    ) -> None:
        """Let the call through, and count it.

        examined: made a moment ago, from what is about to be sent.  tokens: that it will take, as far as
        that is known.  held: the name under which the budget holds it already.
        Raises: `GovernanceRefused`: its refusal; GATE_PENDING or EVIDENCE_DRIFT where a gate was not
        passed, or passed with something else; BUDGET_EXCEEDED.
        """
        if examined.refusal is not None:
            raise examined.refusal
        assert (
            examined.declared is not None
        )  # made by `examine`, which refuses what nobody declares
        _require_passed(examined, examined.declared.id, list(approvals))
        cost = examined.declared.about.cost_cents
        self.usage.reserve(
            self.run.run_budget, tool_calls=1, cost_cents=cost, tokens=tokens, held=held
        )

    def require_approver(self, gate_id: str, person: str) -> None:
        """Raises: `GovernanceRefused` (GATE_PENDING) unless the person has the role of the gate, and
        is another than the requester where the gate demands that.
        """
        gate = self.book.gates.get(gate_id)
        if gate is not None and gate.approver == NOT_REQUESTER:
            problem = find_requester_problem(list_requesters(self.run), person)
            if problem:
                raise GovernanceRefused("GATE_PENDING", f"gate '{gate_id}' {problem}")
        role = None if gate is None else gate.required_approver_role
        if role is None:
            return
        if role not in self.ports.list_roles(self.run.tenant_id, person):
            raise GovernanceRefused(
                "GATE_PENDING",
                f"gate '{gate_id}' asks for somebody with the role '{role}'",
                hint=""
                if self.ports.roles_of
                else "the host gives no roles: GovernancePorts(roles_of=…)",
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
            declared.id,
            call.args if call.frozen is None else call.frozen,
            evidence,
            mode=decision.effective_approval_mode,
        )
    except ValueRefused as error:
        problem = error.message
    raise GovernanceRefused("ARGUMENTS_INVALID", f"'{declared.id}': {problem}")


def _require_passed(examined: Examined, capability: str, given: list[GateApproval]) -> None:
    for gate in examined.list_pending(given):
        raise _make_pending(capability, gate, drifted=any(one.gate_id == gate for one in given))


def _make_pending(capability: str, gate: str, *, drifted: bool) -> GovernanceRefused:
    if drifted:
        return GovernanceRefused(
            "EVIDENCE_DRIFT",
            f"'{capability}' is not what was approved at '{gate}': arguments or evidence have changed",
        )
    return GovernanceRefused("GATE_PENDING", f"'{capability}' waits for '{gate}'")
