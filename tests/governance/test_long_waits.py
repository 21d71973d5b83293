"""A gate that is answered hours later: what admission asked for may be over, and the record is written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.governance.gateway.admission import make_claim
from cinatra_sdk.governance.run.evidence import Evidence
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from tests.governance.packs import put
from tests.governance.refund import FINANCE, TENANT, count_refunds, lend_refund, request

DIGEST = "2f" * 32
FILE = {
    "artifact_id": "art_1", "media_type": "text/plain", "sha256": DIGEST, "uri": "artifact:art_1",
}  # fmt: skip


@pytest.mark.parametrize("over", ["claim", "attachment"])
def test_a_run_ends_with_its_record_when_its_admission_would_not_hold_any_more(
    fresh_database: str, tmp_path: Path, over: str
) -> None:
    now = [datetime.now(UTC)]
    until = now[0] + timedelta(hours=1)

    def make(run: str, tenant: str, urn: str) -> Any:
        claim = make_claim(run, tenant, urn, ("tools:read",))
        return claim.model_copy(update={"exp": int(until.timestamp())} if over == "claim" else {})

    def read_file(ref: str, run: Any) -> Evidence | None:
        return Evidence(ref, f"sha256:{DIGEST}", run.tenant_id) if now[0] < until else None

    asked = put(request(), "attachments", [FILE] if over == "attachment" else [])
    readers = {"kg": lambda ref, run: Evidence(ref, tenant=run.tenant_id), "attachment": read_file}
    ledger = tmp_path / "refunds"
    parts = lend_refund(ledger, clock=lambda: now[0], claim_for=make, evidence=readers)
    with RunStore.open(fresh_database, host=parts) as store:
        run = store.start(parts.graphs[0], {"request": asked}, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        now[0] += timedelta(hours=2)
        done = store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        assert (done.status, count_refunds(ledger)) == ("completed", 1), done.error
        last = DecisionRecords(store.database).page(run_id=run.id).items[0]
        assert (last.record.status, last.run_status) == ("DECIDED", "completed")
