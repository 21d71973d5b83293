"""The shop of the example: orders, a returns policy, and payments that remember what they paid.

Every refund is a line in the file REFUNDS (default `refunds.jsonl`), under its idempotency key: the
receiver that knows a key answers as before.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cinatra_sdk.governance import ToolOutput

ORDERS = {
    "ord_881": {
        "order_id": "ord_881",
        "customer": "cus_77",
        "total_inr": 4200,
        "delivered_days_ago": 6,
    },
    "ord_882": {
        "order_id": "ord_882",
        "customer": "cus_78",
        "total_inr": 900,
        "delivered_days_ago": 12,
    },
}


def lookup_order(order_id: str) -> dict[str, Any]:
    """The order."""
    return ORDERS[order_id]


def eval_returns_policy(order_id: str, amount_inr: float) -> dict[str, Any]:
    """What the returns policy says."""
    order = ORDERS[order_id]
    fits = order["delivered_days_ago"] <= 30 and amount_inr <= order["total_inr"]
    return {"eligible": fits, "amount_inr": amount_inr if fits else 0}


def issue_refund(
    order_id: str, amount_inr: float, currency: str, idempotency_key: str
) -> ToolOutput:
    """Pay, once per key."""
    ledger = Path(os.environ.get("REFUNDS", "refunds.jsonl"))
    paid = [json.loads(line) for line in ledger.read_text().splitlines()] if ledger.exists() else []
    known = next((one for one in paid if one["key"] == idempotency_key), None)
    if known is None:
        known = {"key": idempotency_key, "order_id": order_id, "amount_inr": amount_inr,
                 "currency": currency, "transaction_id": f"txn_{len(paid) + 1}"}  # fmt: skip
        with ledger.open("a") as file:
            file.write(json.dumps(known) + "\n")
            file.flush()
            os.fsync(file.fileno())
    transaction = known["transaction_id"]
    return ToolOutput(
        output={"transaction_id": transaction, "refund_amount_inr": amount_inr, "currency": currency,
                "supplier_rules_ref": "rules:payments:refund:v12"},
        mutations=(f"refund:{transaction}",),
    )  # fmt: skip
