"""A process that sweeps once others do too, and says how often it claimed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cinatra_sdk import RunStore
from cinatra_sdk.postgres import connection as statements
from cinatra_sdk.store.work import claims, due_runs


def sweep_and_count(
    dsn: str, folder: str, name: str, limit: int, seconds: float, together: Any
) -> None:
    """Writes `claims runs` into a file of its own: statements that claim, runs gone on with.

    seconds: how long a run that is taken is kept from others.
    """
    due_runs.OFFER_SECONDS = seconds  # type: ignore[misc]  # this process ends after it
    claimed = 0
    ask = statements.one

    def counting(rows: Any, query: str, parameters: Any = None) -> Any:
        nonlocal claimed
        claimed += query == "claim_run"
        return ask(rows, query, parameters)

    claims.one = counting  # type: ignore[assignment]
    with RunStore.open(dsn) as store:
        together.wait()
        swept = store.sweep(grace=0.0, limit=limit)
    done = sum(bool(run.status) for run in swept)
    Path(folder, name).write_text(f"{claimed} {done}", encoding="utf-8")
