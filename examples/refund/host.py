"""What the host lends to the refund: packs, a planner, who may act for whom, who is in finance.

cd examples/refund && PYTHONPATH=.:../.. oasflow approve RUN --host host:lend …
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cinatra_sdk.governance.admission import make_claim
from cinatra_sdk.governance.evidence import Evidence
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.planning import ScriptedPlanner
from cinatra_sdk.governance.ports import GovernancePorts
from cinatra_sdk.governance.registry import FolderRegistry
from cinatra_sdk.lending.host_parts import HostParts
from graphs.governed_run import flow

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from tools import eval_returns_policy, issue_refund, lookup_order  # noqa: E402

FINANCE = {"user_finance_lead_77", "finance@example.org"}


def lend() -> HostParts:
    ports = GovernancePorts(
        evidence={"kg": lambda ref, run: Evidence(ref, tenant=run.tenant_id, text="order 881")},
        delegation_for=lambda user, _delegation: f"tok_{user}",
        delegation_holds=lambda _user, delegation: bool(delegation.token_ref),
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
            registry=FolderRegistry(HERE / "packs"), planner=ScriptedPlanner([plan]), ports=ports
        ),
    )
    return parts.with_parts(graphs=[flow.lent(parts)])
