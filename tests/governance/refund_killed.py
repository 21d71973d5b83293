"""A process that refunds and kills itself at the n-th thing that it does to the world."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from cinatra_sdk import Decision, Run, RunNotFound, RunStore
from tests.governance.refund import FINANCE, TENANT, lend_refund, request
from tests.store.work.killed import tap_store


def refund_until_killed(point: int, dsn: str, ledger: str, run_id: str, rejects: str) -> None:
    """Ends with 0 where the run ended before the n-th thing."""
    remaining = [point]

    def tell() -> None:
        remaining[0] -= 1
        if remaining[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    parts = lend_refund(Path(ledger), tell=tell)
    tap_store(tell)
    with RunStore.open(dsn, host=parts) as store:
        go_to_the_end(store, parts.graphs[0], run_id, rejects)


def go_to_the_end(store: RunStore, flow: object, run_id: str, rejects: str) -> Run:
    """Begin the run, or go on with it, and answer its gate."""
    try:
        run = store.get(run_id)
    except RunNotFound:
        run = store.start(flow, {"request": request()}, run_id=run_id, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
    if not run.waiting and run.status not in {"completed", "rejected"}:
        run = store.resume(run_id)
    decide = Decision.reject if rejects else Decision.approve
    while run.waiting:
        run = store.answer(run_id, run.waiting[0].id, decide(by=FINANCE, reason="looked at it"))
    return run
