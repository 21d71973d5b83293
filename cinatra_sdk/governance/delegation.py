"""Whether a run may make a call on behalf of its user: scopes, and a delegation that still holds.

Asked at every call, also after a gate that was answered days later: a delegation may be over by then.
"""

from __future__ import annotations

from cinatra_sdk.governance.contracts.identifiers import rank
from cinatra_sdk.governance.contracts.rules import PolicyDecision
from cinatra_sdk.governance.contracts.run_context import RunContext
from cinatra_sdk.governance.ports import GovernancePorts
from cinatra_sdk.governance.refusals import GovernanceRefused
from cinatra_sdk.governance.rulebook import DeclaredCapability, Rulebook


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
    holds = ports.delegation_holds
    if holds is not None and holds(run.user.user_id, delegation) is not True:
        raise _refuse(declared, "rests on a delegation that does not hold any more")


def _refuse(declared: DeclaredCapability, why: str) -> GovernanceRefused:
    return GovernanceRefused(
        "DELEGATION_REQUIRED",
        f"'{declared.id}' {why}",
        hint="user.delegation, for which the host keeps a token that holds",
    )
