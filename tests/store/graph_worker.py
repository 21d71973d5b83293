"""One process that has a run of the hand-written orchestrator, and can be killed.

start(DSN, RECORD, RUN_ID)            starts the run, says how it stands, then waits for ever
crash(DSN, RUN_ID, POINT)             approves gates until the n-th write of a checkpoint kills it
finish(DSN, RUN_ID)                   resumes, approves every gate, says how the run stands
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

from langgraph.checkpoint.postgres import PostgresSaver

from cinatra_sdk import Decision, HostParts, Run, RunStore
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from graphs.orchestrator_v1 import SAMPLES, flow, lend

INPUT = {"campaign_goal": "Meet", "audience": "CTOs", "sender_email": "me@example.com"}


def start(dsn: str, record: str, run_id: str) -> None:
    platform = SimulatedPlatform(SAMPLES, record=record)
    with RunStore.open(dsn, host=lend()) as store:
        say(store.start(flow.lent(HostParts(platform=platform)), INPUT, run_id))
        time.sleep(600)


def crash(dsn: str, record: str, run_id: str, point: str) -> None:
    left = [int(point)]
    original = PostgresSaver.put

    def put(self: Any, *args: Any, **more: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(self, *args, **more)

    PostgresSaver.put = put  # type: ignore[method-assign]
    with RunStore.open(dsn, host=lend().with_parts(record=record)) as store:
        approve_all(store, store.get(run_id))


def finish(dsn: str, record: str, run_id: str) -> None:
    with RunStore.open(dsn, host=lend().with_parts(record=record)) as store:
        say(approve_all(store, store.resume(run_id)))


def approve_all(store: RunStore, run: Run) -> Run:
    while run.waiting:
        gate = run.waiting[0]
        run = store.answer(run.id, gate.id, Decision.approve(by="ann", value=gate.example()))
    return run


def say(run: Run) -> None:
    gates = [gate.id for gate in run.waiting]
    print(json.dumps({"status": run.status, "gates": gates, "error": run.error}), flush=True)


def run() -> None:
    {"start": start, "crash": crash, "finish": finish}[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    run()
