"""Processes that work on a run of many calls and end in the middle of it, each in its way.

Each call writes two lines into a file, one before and one after: `{"key": …, "node": …, "at": "begun" or "ended"}`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final, NoReturn

from cinatra_sdk import RunStore, SimulatedPlatform
from oas_compiler import Flow, compile_flow
from tests.flows import api, end, flow_of, port, start

CALL_SECONDS: Final = 0.02
"""Of one call: short, and long enough to be cut off in it."""


class Noted(SimulatedPlatform):
    """Writes each call into the file, and counts those that have begun in this process."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file
        self.begun = 0
        self.news = threading.Condition()

    def call(self, call: Any) -> Any:
        self._note(call, "begun")
        with self.news:
            self.begun += 1
            self.news.notify_all()
        time.sleep(CALL_SECONDS)
        self._note(call, "ended")
        return super().call(call)

    def wait_for(self, number: int) -> None:
        """Until so many calls have begun, or for a minute."""
        with self.news:
            self.news.wait_for(lambda: self.begun >= number, 60)

    def _note(self, call: Any, at: str) -> None:
        line = json.dumps({"key": call.idempotency_key, "node": call.node, "at": at}) + "\n"
        with Path(self._file).open("ab", 0) as lines:
            lines.write(line.encode())


def make_flow(calls: int, platform: Any) -> Flow:
    """So many calls, one after the other."""
    nodes = [api(f"n{number}", outputs=[port("o")]) for number in range(calls)]
    return compile_flow(flow_of(start(), *nodes, end()), platform=platform)


def count_calls(file: Path) -> Counter[str]:
    """How often the call with a key was begun."""
    if not file.exists():
        return Counter()
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return Counter(line["key"] for line in lines if line["at"] == "begun")


# ------------------------------------------------------------------ ways to end


def drain_at_sigterm(dsn: str, file: str, run_id: str, _after: int) -> None:
    """A grace that is longer than any call."""
    platform = Noted(file)
    with RunStore.open(dsn, platform=platform) as store:

        def hear(_number: int, _frame: Any) -> None:
            threading.Thread(target=store.drain).start()

        signal.signal(signal.SIGTERM, hear)
        say_ready(file)
        with contextlib.suppress(Exception):  # told before it began
            store.work(run_id)


def exit_at_sigterm(dsn: str, file: str, run_id: str, _after: int) -> None:
    """As a server without a drain: SystemExit in the main thread, which works on the run."""

    def hear(_number: int, _frame: Any) -> NoReturn:
        sys.exit(0)

    signal.signal(signal.SIGTERM, hear)
    say_ready(file)
    with RunStore.open(dsn, platform=Noted(file)) as store:
        store.work(run_id)


def interrupt(dsn: str, file: str, run_id: str, _after: int) -> None:
    """Ctrl-C in a program that knows nothing of it, on a loop: the run is in a thread."""
    signal.signal(signal.SIGINT, signal.default_int_handler)

    async def host() -> None:
        async with await RunStore.aopen(dsn, platform=Noted(file)) as store:
            say_ready(file)
            await store.awork(run_id)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(host())


def close_loop(dsn: str, file: str, run_id: str, after: int) -> None:
    """`asyncio.run` returns while a call is being made."""
    platform = Noted(file)

    async def host() -> None:
        async with await RunStore.aopen(dsn, platform=platform) as store:
            task = asyncio.create_task(store.awork(run_id))
            await asyncio.to_thread(platform.wait_for, after)
            task.cancel()

    asyncio.run(host())


def exit_interpreter(dsn: str, file: str, run_id: str, after: int) -> None:
    """The main thread returns while another one works on the run."""
    platform = Noted(file)
    store = RunStore.open(dsn, platform=platform)
    threading.Thread(target=_work_quietly, args=(store, run_id), daemon=True).start()
    platform.wait_for(after)


def fail_at_the_end(dsn: str, file: str, run_id: str, after: int) -> None:
    """The control: as it was before, the end of the process is the run's failure."""
    from cinatra_sdk.store.runs import activation

    activation.is_process_ending = lambda _error: False  # type: ignore[assignment]
    close_loop(dsn, file, run_id, after)


def end_in_a_call(dsn: str, file: str, run_id: str, after: int) -> None:
    """The control: as a crash, with the call made again."""

    class Cut(Noted):
        def _note(self, call: Any, at: str) -> None:
            super()._note(call, at)
            if self.begun == after - 1:
                os._exit(1)

    with RunStore.open(dsn, platform=Cut(file)) as store:
        store.work(run_id)


def sweep_until_drained(dsn: str, file: str, _run_id: str, _after: int) -> None:
    """A worker, redeployed by SIGTERM with enough grace."""
    with RunStore.open(dsn, platform=Noted(file)) as store:
        ended = threading.Event()

        def hear(_number: int, _frame: Any) -> None:
            threading.Thread(target=lambda: (store.drain(), ended.set())).start()

        signal.signal(signal.SIGTERM, hear)
        say_ready(file)
        while not ended.is_set():
            store.sweep(grace=0.0)
            ended.wait(0.02)


def sweep_for_ever(dsn: str, file: str, _run_id: str, _after: int) -> None:
    """A worker that goes on whatever the database does, until it is killed."""
    store = None
    while True:
        try:
            store = store or RunStore.open(dsn, platform=Noted(file))
            store.sweep(grace=0.0)
        except Exception as error:
            print(f"sweeper: {type(error).__name__}", flush=True)
        time.sleep(0.05)


def _work_quietly(store: RunStore, run_id: str) -> None:
    with contextlib.suppress(BaseException):  # the process ends under it
        store.work(run_id)


def say_ready(file: str) -> None:
    """From here on a signal is heard."""
    Path(f"{file}.ready").touch()


WAYS: Final = {
    "SIGTERM with a drain": (drain_at_sigterm, signal.SIGTERM),
    "SIGTERM without": (exit_at_sigterm, signal.SIGTERM),
    "SIGINT": (interrupt, signal.SIGINT),
    "loop closed": (close_loop, None),
    "interpreter exit": (exit_interpreter, None),
}
