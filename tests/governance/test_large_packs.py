"""Packs that are large, or that name large numbers."""

from __future__ import annotations

import time
from pathlib import Path

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.governance.packs.rulebook import make_rulebook
from cinatra_sdk.governance.run.budgets import call_within
from tests.governance.packs import make_registry, put, read_pack
from tests.governance.refund import FINANCE, TENANT, count_refunds, lend_refund, request
from tests.governance.small_pack import make_small_pack

LONGEST_MS = 10**15


def test_a_pack_with_many_rules_is_read_in_a_moment() -> None:
    """The loop puts the rules together in each of its nodes."""
    asked = {"requires_approval_gate": "G"}
    pack = make_small_pack([{"rule_id": f"R{number}", "then": asked} for number in range(20_000)])
    began = time.process_time()
    assert len(make_rulebook([pack]).rules) == 20_000
    assert time.process_time() - began < 5


def test_a_time_beyond_what_python_waits_for_is_no_failure_of_the_call(
    fresh_database: str, tmp_path: Path
) -> None:
    assert call_within(LONGEST_MS, lambda: 7) == 7
    place = "tooling_layer/adapters/2/capability_metadata/issue_refund/timeout_ms"
    changed = put(read_pack(), place, LONGEST_MS)
    ledger = tmp_path / "refunds"
    parts = lend_refund(ledger, registry=make_registry(changed))
    with RunStore.open(fresh_database, host=parts) as store:
        run = store.start(parts.graphs[0], {"request": request()}, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        done = store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        assert (done.status, count_refunds(ledger)) == ("completed", 1), done.error
