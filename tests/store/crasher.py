"""A process that kills itself at the n-th write of its checkpointer.

Approves every gate; ends with 0 when the run ended before the n-th write.
"""

from __future__ import annotations

import os
import signal
from typing import Any

from langgraph.checkpoint.postgres import PostgresSaver

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.store import run_store
from cinatra_sdk.testing import simulation
from oas_compiler import compile_flow


def crash_at(point: int, dsn: str, record: str, run_id: str, file: str) -> None:
    remaining = [point]

    def tapped(name: str) -> None:
        original = getattr(PostgresSaver, name)

        def tap(self: Any, *args: Any, **kwargs: Any) -> Any:
            remaining[0] -= 1
            if remaining[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(self, *args, **kwargs)

        setattr(PostgresSaver, name, tap)

    tapped("put")
    tapped("put_writes")
    with RunStore.open(dsn) as store:
        flow = compile_flow(file)
        flow = flow.with_platform(simulation(flow, record=record))
        run = store.start(flow, {}, run_id=run_id)
        while run.waiting:
            gate = run.waiting[0]
            decision = Decision.approve(by="crasher", value=gate.example())
            run = store.answer(run_id, gate.id, decision)
        assert run.status == "completed", run


def die_once_recorded(dsn: str, run_id: str, gate_id: str, value: Any) -> None:
    """Answer a gate, and be killed between the record of the answer and the work after it."""

    def die(*_args: Any, **_more: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with RunStore.open(dsn) as store:
        run_store.activate = die  # type: ignore[assignment]
        store.answer(run_id, gate_id, Decision.approve(by="crasher", value=value))
