"""One process of a durability test: does one thing, says how it stands, and can be killed.

    python -m tests.store.worker start DSN RECORD RUN_ID FLOW     starts the run, then waits for ever
    python -m tests.store.worker answer DSN RECORD RUN_ID GATE    answers one gate and leaves
    python -m tests.store.worker resume DSN RECORD RUN_ID -       goes on after a crash and leaves

RECORD is the file of simulated calls, an address to call, or - for neither.
Prints one JSON line: {"status": …, "gates": […], "error": …}.
"""

from __future__ import annotations

import json
import sys
import time

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.runs import Run
from cinatra_sdk.testing import simulation
from oas_compiler import compile_flow


def main(what: str, dsn: str, record: str, run_id: str, last: str) -> None:
    own = None if record == "-" or record.startswith("http") else record
    with RunStore.open(dsn, record=own) as store:
        if what == "start":
            flow = compile_flow(last)
            if record.startswith("http"):
                flow = flow.with_platform(HttpPlatform(base_url=record, retries=0))
            else:
                flow = flow.with_platform(simulation(flow, record=record))
            say(store.start(flow, {}, run_id=run_id))
            time.sleep(600)  # parked; the test ends this process
        elif what == "answer":
            waiting = {gate.id: gate for gate in store.get(run_id).waiting}
            value = waiting[last].example()
            say(store.answer(run_id, last, Decision.approve(by="worker", value=value)))
        elif what == "resume":
            say(store.resume(run_id))


def say(run: Run) -> None:
    line = {"status": run.status, "gates": [gate.id for gate in run.waiting], "error": run.error}
    print(json.dumps(line), flush=True)


def run() -> None:
    main(*sys.argv[1:])


if __name__ == "__main__":
    run()
