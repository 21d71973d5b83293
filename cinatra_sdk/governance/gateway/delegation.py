"""Delegation: the permission of a user, and the smaller permission of a child agent.

    narrow(run, child_agent, scopes=["orders.read"], budget=budget, used=usage.read())  ->  RunContext

Scopes, safety mode, tenant and the rest of the budget only narrow, however deep the chain of agents is.
"""

from __future__ import annotations

from collections.abc import Iterable

from cinatra_sdk.governance.contracts.context_pack import PolicyDecision
from cinatra_sdk.governance.contracts.invocation import (
    AgentIdentity,
    Principal,
    RunBudget,
    RunContext,
    UserClaims,
)
from cinatra_sdk.governance.contracts.record_format import ApprovalMode, at_most, rank
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.admission import make_claim
from cinatra_sdk.governance.packs.rulebook import DeclaredCapability, Rulebook
from cinatra_sdk.governance.run.budgets import Used, narrow_budgets
from cinatra_sdk.governance.run.host_ports import GovernancePorts

# ----------------------------------------------------------------------------
# Whether a run may make a call on behalf of its user: scopes, and a delegation that still holds.
#
# Asked at every call, also after a gate that was answered days later: a delegation may be over by then.


def list_scopes(run: RunContext) -> set[str]:
    """What a run holds: the scopes of its delegation and of its agent's claim."""
    claim, delegation = run.agent.identity_claim, run.user.delegation
    return {*(claim.scopes if claim else ()), *(delegation.scopes if delegation else ())}


def require_delegation(
    run: RunContext,
    book: Rulebook,
    declared: DeclaredCapability,
    decision: PolicyDecision,
    ports: GovernancePorts,
) -> None:
    """Raises: `GovernanceRefused` (DELEGATION_REQUIRED)."""
    needed = {*declared.about.scopes}
    for permission in book.list_permissions(declared):
        needed.update(permission.scopes)
    lacking = sorted(needed - list_scopes(run))
    if lacking:
        raise _refuse(declared, f"needs the scope '{lacking[0]}', which nobody delegated")
    if rank(decision.effective_approval_mode) >= rank("delegated"):
        _require_person(run, declared, decision, needed, ports)


def _require_person(
    run: RunContext,
    declared: DeclaredCapability,
    decision: PolicyDecision,
    needed: set[str],
    ports: GovernancePorts,
) -> None:
    """For what is done in the name of a person, or cannot be taken back."""
    delegation = run.user.delegation
    if delegation is None or not delegation.token_ref:
        raise _refuse(
            declared, f"is {decision.effective_approval_mode}: it needs a person's delegation"
        )
    if needed and not needed & set(delegation.scopes):
        raise _refuse(declared, "is not within the scopes of the delegation")
    if not ports.holds_delegation(run.user.user_id, delegation):
        raise _refuse(declared, "rests on a delegation that does not hold any more")


def _refuse(declared: DeclaredCapability, why: str) -> GovernanceRefused:
    return GovernanceRefused(
        "DELEGATION_REQUIRED",
        f"'{declared.id}' {why}",
        hint="user.delegation, for which the host keeps a token that holds",
    )


MAX_CHAIN = 8
"""Principals that may act for each other."""


def narrow(
    parent: RunContext,
    child: AgentIdentity,
    *,
    run_id: str,
    scopes: Iterable[str],
    used: Used,
    budget: RunBudget | None = None,
    safety_mode: ApprovalMode | None = None,
) -> RunContext:
    """The context of a child's run.

    scopes: requested for the child.  used: by the parent so far.  budget, safety_mode:
    what the child asks for; None: what the parent has left.
    Raises: `GovernanceRefused` (DELEGATION_WIDENS, TENANT_MISMATCH).
    """
    asked = tuple(dict.fromkeys(scopes))
    left = what_is_left(parent.run_budget, used)
    _require_narrower(parent, asked, safety_mode)
    if budget is not None:
        _require_within(budget, left)
    return parent.model_copy(
        update={
            "run_id": run_id,
            "user": _narrow_user(parent, asked),
            "agent": _make_child(parent, child, run_id, asked),
            "safety_mode": safety_mode or parent.safety_mode,
            "run_budget": narrow_budgets([left] if budget is None else [left, budget]),
        }
    )


def confine(own: RunContext, parent: RunContext) -> RunContext:
    """The context of a governed flow inside a governed call: the parent's part, within its own packs.

    own: as the flow's packs and its host have it.  parent: what `narrow` left for it.
    Raises: `GovernanceRefused` (TENANT_MISMATCH).
    """
    if own.tenant_id != parent.tenant_id:
        raise GovernanceRefused("TENANT_MISMATCH", "the flow that is called is another tenant's")
    narrower = at_most(own.safety_mode, parent.safety_mode)
    return own.model_copy(
        update={
            "trace_id": parent.trace_id,
            "user": parent.user,
            "agent": parent.agent,
            "safety_mode": own.safety_mode if narrower else parent.safety_mode,
            "run_budget": narrow_budgets([own.run_budget, parent.run_budget]),
        }
    )


def _require_narrower(
    parent: RunContext, asked: tuple[str, ...], safety_mode: ApprovalMode | None
) -> None:
    held = list_scopes(parent)
    wider = next((one for one in asked if one not in held), None)
    if wider is not None:
        raise _wider(f"the scope '{wider[:100]}'")
    if safety_mode is not None and not at_most(safety_mode, parent.safety_mode):
        raise _wider(f"the safety mode {safety_mode}")
    if len(parent.agent.principal_chain or ()) >= MAX_CHAIN:
        raise _wider(f"a chain of more than {MAX_CHAIN} principals")


def _narrow_user(parent: RunContext, asked: tuple[str, ...]) -> UserClaims:
    delegation = parent.user.delegation
    if delegation is None:
        return parent.user
    kept = tuple(one for one in delegation.scopes if one in asked)
    return parent.user.model_copy(
        update={"delegation": delegation.model_copy(update={"scopes": kept})}
    )


def _make_child(
    parent: RunContext, child: AgentIdentity, run_id: str, asked: tuple[str, ...]
) -> AgentIdentity:
    urn = child.agent_urn
    if urn is None:
        raise GovernanceRefused("IDENTITY_INVALID", "the child agent has no agent_urn")
    for one in child.principal_chain or ():
        if one.tenant_id not in (None, parent.tenant_id):
            raise GovernanceRefused("TENANT_MISMATCH", "the child agent is another tenant's")
    own = Principal(kind="agent", id=urn, tenant_id=parent.tenant_id)
    return child.model_copy(
        update={
            "principal_chain": (*(parent.agent.principal_chain or ()), own),
            "identity_claim": make_claim(run_id, parent.tenant_id, urn, asked),
            "token_ref": None,
        }
    )


def what_is_left(budget: RunBudget, used: Used) -> RunBudget:
    """The budget without what is used up; never below nothing."""
    return budget.model_copy(
        update={
            "total_tokens": max(0, budget.total_tokens - used.tokens),
            "max_tool_calls": max(0, budget.max_tool_calls - used.tool_calls),
            "max_replan_attempts": max(0, budget.max_replan_attempts - used.replans),
            "wall_clock_ms": max(0, budget.wall_clock_ms - used.wall_clock_ms),
            "max_cost_cents": max(0.0, budget.max_cost_cents - used.cost_cents),
        }
    )


def _require_within(asked: RunBudget, left: RunBudget) -> None:
    for name in (
        "total_tokens",
        "max_tool_calls",
        "max_replan_attempts",
        "wall_clock_ms",
        "max_cost_cents",
    ):
        if getattr(asked, name) > getattr(left, name):
            raise _wider(f"more {name} than the parent has left")


def _wider(what: str) -> GovernanceRefused:
    return GovernanceRefused("DELEGATION_WIDENS", f"the child asks for {what}")
