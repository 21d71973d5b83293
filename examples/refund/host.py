"""What the host lends to the refund: packs, a planner, who may act for whom, who is in finance.

cd examples/refund && PYTHONPATH=.:../.. oasflow approve RUN --host host:lend …
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cinatra_sdk import HostParts
from cinatra_sdk.governance import (
    AgentIdentity,
    Evidence,
    FolderRegistry,
    Governance,
    GovernancePorts,
    ScriptedPlanner,
    UserClaims,
    UserDelegation,
    make_claim,
)
from graphs.governed_run import flow

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from tools import eval_returns_policy, issue_refund, lookup_order  # noqa: E402

PACKS = ("ctxpack.support@5.2.0", "decision-catalog.support@2.1.0")
"""The rules of every request, whichever of them it names; one that names others is refused."""
AGENT = AgentIdentity(
    agent_id="agt_support",
    agent_urn="agent:contextos/support-refund@1.2.0",
    workload_identity="spiffe://contextos/agents/support",
    role="support_ops",
)
"""The one agent that this host runs: a request of another gets no claim, and is refused."""
VERIFIED = {"usr_771"}
"""Whose identity the desk has verified: the host's own list, whatever a request says."""
FINANCE = {"user_finance_lead_77", "finance@example.org"}
DELEGATED = {"usr_771": ("orders.read", "payments.refund")}
"""What each person has let the agent do, as the directory of this host keeps it."""


def find_user(run: Mapping[str, Any]) -> UserClaims | None:
    """The person for whom a run acts is whoever started it; rules read what the host knows of them."""
    person = str(run.get("started_by") or "")
    if not person:
        return None
    return UserClaims.read({"user_id": person, "identity_verified": person in VERIFIED})


def find_delegation(user: str, _asked: UserDelegation) -> UserDelegation | str:
    """The host's own word: whatever scopes a request brings, only these count."""
    scopes = DELEGATED.get(user)
    if scopes is None:
        return ""
    return UserDelegation(
        auth_type="oauth2", scopes=scopes, subject=f"u:user:{user}", token_ref=f"tok_{user}"
    )


def still_holds(user: str, delegation: UserDelegation) -> bool:
    """Asked before each call: a person who takes a delegation back is taken at their word at once."""
    return user in DELEGATED and bool(delegation.token_ref)


def lend() -> HostParts:
    ports = GovernancePorts(
        evidence={"kg": lambda ref, run: Evidence(ref, tenant=run.tenant_id, text="order 881")},
        delegation_for=find_delegation,
        delegation_holds=still_holds,
        claim_for=lambda run, tenant, urn: make_claim(
            run, tenant, urn, ("tools:read", "tools:write")
        ),
        roles_of=lambda _tenant, person: {"finance_lead"} if person in FINANCE else (),
    )
    plan = json.loads((HERE / "plan.json").read_text())
    parts = HostParts(
        tools={
            "lookup_order": lookup_order,
            "eval_returns_policy": eval_returns_policy,
            "issue_refund": issue_refund,
        },
        governance=Governance(
            registry=FolderRegistry(HERE / "packs"),
            pack_refs=PACKS,
            agent=AGENT,
            user_for=find_user,
            planner=ScriptedPlanner([plan]),
            ports=ports,
        ),
    )
    return parts.with_parts(graphs=[flow.lent(parts)])
