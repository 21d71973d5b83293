"""A process that drives runs to their ends while the database goes away and comes back.

It gives up nothing: whatever the store says, it looks where the run stands and goes on.
"""

from __future__ import annotations

import time
from pathlib import Path

from cinatra_sdk import FlowError, RunBusy, StoreError
from tests.store.work.killed import go_to_the_end, load, store_of

PATIENCE = 120.0
"""Seconds in which a run has to end."""


def drive_share(dsn: str, calls: str, source: str, numbers: range, done: str) -> None:
    flow = load(source, calls)
    store = None
    for number in numbers:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                store = store or store_of(dsn, flow)
                run = go_to_the_end(store, flow, f"r{number}", gate_to_reject(number))
            except (StoreError, RunBusy, FlowError):
                time.sleep(0.05)
                continue
            if run.status in {"completed", "rejected"}:
                with Path(done).open("a", encoding="utf-8") as lines:
                    lines.write(f"{number}\n")
                break
        else:
            raise AssertionError(f"run r{number} does not end")
    if store is not None:
        store.close()


def gate_to_reject(number: int) -> str:
    """Each fifth run is rejected at its gate."""
    return "" if number % 5 else "check"
