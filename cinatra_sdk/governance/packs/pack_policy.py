"""The word of the packs on one call: a pure function of the rulebook and the facts.

    decide(book, facts)  ->  PolicyDecision(allowed=True, effective_approval_mode="destructive",
                                            requires_approval_gate="GATE_FINANCE_APPROVAL", …)

The strictest word wins, whatever the priorities say: one refusal refuses, every gate has to be passed,
and the riskiest mode counts.  A rule whose condition cannot be decided counts as met where it
restricts (`allow: false`, gates, evidence, prohibitions, a riskier mode, constraints) and as not met
where it would loosen.  `allow: true` loosens nothing: only permissions grant.

Compiler, critic and gateway all call this function.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Final, Literal

from cinatra_sdk.governance.conditions.condition import Undecided, read_condition
from cinatra_sdk.governance.contracts.context_pack import (
    AppliesTo,
    ArgConstraint,
    Guardrail,
    PolicyDecision,
    PolicyRule,
)
from cinatra_sdk.governance.contracts.invocation import STARTED_BY, RunContext
from cinatra_sdk.governance.contracts.record_format import ApprovalMode, at_most, rank
from cinatra_sdk.governance.packs.rulebook import ANY, DeclaredCapability, Rulebook
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import hash_json

Word = Literal["met", "undecided", "not_met"]


@dataclass(slots=True)
class _Verdict:
    """What the rules say so far."""

    refused: str = ""
    modes: list[ApprovalMode] = field(default_factory=list)
    at_least: list[ApprovalMode] = field(default_factory=list)
    """Modes of undecided rules, which make a call riskier and never less risky."""
    gates: list[str] = field(default_factory=list)
    requires: list[str] = field(default_factory=list)
    prohibits: list[str] = field(default_factory=list)
    matched: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)


def decide(
    book: Rulebook, declared: DeclaredCapability, facts: Mapping[str, Any]
) -> tuple[PolicyDecision, list[tuple[str, ArgConstraint]]]:
    """The decision, and what the rules ask of the arguments.

    facts: see `cinatra_sdk.governance.gateway.facts`.
    """
    verdict = _Verdict()
    constraints: list[tuple[str, ArgConstraint]] = []
    for bundled in book.rules:
        rule = bundled.rule
        if not _is_about(rule.applies_to, facts):
            continue
        word = judge_condition(rule.condition, facts)
        if word == "not_met":
            continue
        (verdict.matched if word == "met" else verdict.undecided).append(rule.rule_id)
        constraints += rule.then.arg_constraints.items()
        verdict.requires += rule.then.requires
        verdict.prohibits += rule.then.prohibits
        _take(verdict, rule, declared, decided=word == "met")
    for gate in book.gates.values():
        if declared.id in gate.capabilities or ANY in gate.capabilities:
            word = judge_condition(gate.when, facts)
            if word != "not_met":
                verdict.gates.append(gate.gate_id)
            if word == "undecided":
                verdict.undecided.append(gate.gate_id)
    if not verdict.refused and any(one in (ANY, declared.id) for one in verdict.prohibits):
        verdict.refused = "a rule prohibits the capability"
    for permission in book.list_permissions(declared):
        constraints += permission.arg_constraints.items()
    return _conclude(verdict, declared, book, facts), constraints


def judge_condition(condition: Any, facts: Mapping[str, Any]) -> Word:
    """Whether a condition is met, as far as the facts decide it."""
    try:
        return "met" if read_condition(condition).holds(facts) else "not_met"
    except Undecided:
        return "undecided"


def list_met(guards: Iterable[Guardrail], facts: Mapping[str, Any]) -> list[Guardrail]:
    """Guardrails that are met, or that cannot be decided."""
    return [one for one in guards if judge_condition(one.when, facts) != "not_met"]


def _is_about(applies: AppliesTo, facts: Mapping[str, Any]) -> bool:
    named = applies.capabilities
    return applies.intent in (ANY, facts.get("intent")) and (
        not named or ANY in named or facts.get("capability") in named
    )


def _take(
    verdict: _Verdict, rule: PolicyRule, declared: DeclaredCapability, *, decided: bool
) -> None:
    then = rule.then
    if then.allow is False and not verdict.refused:
        unsure = "" if decided else ", which the facts do not decide,"
        verdict.refused = f"rule '{rule.rule_id}'{unsure} forbids it"
    if then.approval_mode is not None:
        (verdict.modes if decided else verdict.at_least).append(then.approval_mode)
    # A rule about a whole intent sends only calls that change something to a person.
    named = declared.id in rule.applies_to.capabilities or ANY in rule.applies_to.capabilities
    if then.requires_approval_gate is not None and (named or declared.writes):
        verdict.gates.append(then.requires_approval_gate)


def _conclude(
    verdict: _Verdict, declared: DeclaredCapability, book: Rulebook, facts: Mapping[str, Any]
) -> PolicyDecision:
    mode = max(verdict.modes, key=rank) if verdict.modes else declared.mode
    if verdict.at_least:
        mode = max([mode, *verdict.at_least], key=rank)
    gates = tuple(dict.fromkeys(verdict.gates))
    reason = verdict.refused or ("it needs a person" if gates else "nothing forbids it")
    return PolicyDecision(
        policy_decision_id="pol_" + hash_json([book.sha256, dict(facts)])[:24],
        allowed=not verdict.refused,
        reason=reason,
        capability_id=declared.id,
        effective_approval_mode=mode,
        requires_approval_gate=gates[0] if gates else None,
        approval_gates=gates,
        requires=tuple(dict.fromkeys(verdict.requires)),
        prohibits=tuple(dict.fromkeys(verdict.prohibits)),
        matched_rule_ids=tuple(verdict.matched),
        undecided_rule_ids=tuple(verdict.undecided),
    )


def exceeds_declared(decision: PolicyDecision, declared: DeclaredCapability) -> bool:
    return not at_most(decision.effective_approval_mode, declared.highest)


# ----------------------------------------------------------------------------
# Whoever asked for a call, whom a gate may demand that its approver is not.
#
#     find_requester_problem(["ann"], "Ann ")   ->  "is not for whoever asked for the call"
#     find_requester_problem(["ann"], "bob")    ->  ""
#
# In: the names that the host gives.  Out: why a person may not approve; empty where they may.


NOT_REQUESTER: Final = "not_requester"
"""What a gate of a pack says in `approver`."""


def list_requesters(run: RunContext, started_by: str = "") -> list[str]:
    """Whoever started the run, and the person for whom it acts; empty where the host names nobody.

    started_by: as the store has it, for a run of a release whose runs did not say it themselves.
    """
    started = str(run.metadata.get(STARTED_BY, started_by) or "")
    return [started, run.user.user_id] if started else []


def find_requester_problem(requesters: Iterable[str], person: str) -> str:
    """One person has one name here, in capital letters and with blanks around it, too."""
    known = {fold_name(one) for one in requesters if one.strip()}
    if not known:
        return "is not for whoever asked for the call, and nobody says who that was: start runs with by=…"
    if not person.strip():
        return "is not for whoever asked for the call, and the approval has no name"
    return "is not for whoever asked for the call" if fold_name(person) in known else ""


def fold_name(name: str) -> str:
    """As two spellings of a name are compared; records have no blanks in names."""
    return "_".join(unicodedata.normalize("NFKC", name).casefold().split())
