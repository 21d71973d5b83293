"""The refund of the example in tests: its host, with a file of refunds and a tap on every call."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cinatra_sdk.governance.contracts.invocation import UserClaims
from cinatra_sdk.governance.gateway.admission import make_claim
from cinatra_sdk.governance.gateway.call_result import ToolOutput
from cinatra_sdk.governance.gateway.planners import ScriptedPlanner
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.packs.pack_registry import MemoryRegistry
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from graphs.governed_run import flow
from tests.governance.packs import TENANT, VERIFIED, make_ports, make_registry, read_example

FINANCE = "user_finance_lead_77"


def request() -> dict[str, Any]:
    return read_example("request.json")


def lend_refund(
    ledger: Path,
    *,
    tell: Callable[[], None] = lambda: None,
    registry: MemoryRegistry | None = None,
    plans: Sequence[Any] = (),
    user: UserClaims = VERIFIED,
    **ports: Any,
) -> HostParts:
    """ledger: the file of the receiver, a line for each key that it paid."""

    def look_up(order_id: str) -> dict[str, Any]:
        tell()
        return {"order_id": order_id, "total_inr": 4200}

    def ask_policy(order_id: str, amount_inr: float) -> dict[str, Any]:
        tell()
        return {"eligible": True, "amount_inr": amount_inr}

    def pay(order_id: str, amount_inr: float, currency: str, idempotency_key: str) -> ToolOutput:
        tell()
        paid = (
            [json.loads(one) for one in ledger.read_text().splitlines()] if ledger.exists() else []
        )
        if not any(one["key"] == idempotency_key for one in paid):
            with ledger.open("a") as file:
                file.write(json.dumps({"key": idempotency_key, "amount": amount_inr}) + "\n")
                file.flush()
                os.fsync(file.fileno())
        tell()
        return ToolOutput(
            output={
                "transaction_id": "txn_1", "refund_amount_inr": amount_inr, "currency": currency,
            },
            mutations=("refund:txn_1",),
        )  # fmt: skip

    own = {"claim_for": lambda run, tenant, urn: make_claim(run, tenant, urn, ("tools:read",))}
    governance = Governance(
        registry=registry or make_registry(),
        planner=ScriptedPlanner(plans or [read_example("plan.json")]),
        user_for=lambda _run: user,
        ports=replace(make_ports(clock=make_clock), **{**own, **ports}),
    )
    parts = HostParts(
        platform=SimulatedPlatform(),
        tools={"lookup_order": look_up, "eval_returns_policy": ask_policy, "issue_refund": pay},
        governance=governance,
    )
    return parts.with_parts(graphs=[flow.lent(parts)])


def make_clock() -> Any:
    from cinatra_sdk.governance.run.host_ports import read_clock

    return read_clock()


def count_refunds(ledger: Path) -> int:
    return len(ledger.read_text().splitlines()) if ledger.exists() else 0


__all__ = ["FINANCE", "TENANT", "count_refunds", "lend_refund", "request"]
