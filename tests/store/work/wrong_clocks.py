"""Processes whose clocks are wrong, one after the other on one run.

Each does one thing and leaves; what it calls is a line in a file, what came of it another file.
"""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from langgraph.checkpoint.base import id as engine_ids

from cinatra_sdk import Decision, FlowError, RunStore, SimulatedPlatform
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, start
from tests.store.work.stopped_worker import Steps, call

FLOW = flow_of(start(), api("first"), gate("ok"), api("second"), api("third"), gate("last"), end())


def set_clock(seconds: float) -> None:
    """This process's clock is off by so many seconds from now on."""
    time.time_ns = lambda: _TIME_NS() + int(seconds * 1e9)  # type: ignore[assignment]
    time.time = lambda: _TIME() + seconds  # type: ignore[assignment]


_FIRST_TICK = 0x01B21DD213814000
_TIME_NS, _TIME = time.time_ns, time.time


def act(what: str, behind: float, dsn: str, record: str, heedless: bool) -> None:
    """Do one thing to run r1 (start it, go on, approve a gate) with a clock that is so many seconds
    behind the run's last checkpoint; 0: with the right clock.
    """
    if heedless:
        _take_the_heed_away()
    platform = SimulatedPlatform(record=record)
    flow = compile_flow(FLOW, platform=platform)
    with RunStore.open(dsn, platform=platform) as store:
        if behind:
            set_clock(_read_last_moment(store) - behind - time.time())
        engine_ids._last_v6_timestamp = None  # as in a process that has made no id yet
        try:
            if what == "start":
                run = store.start(flow, run_id="r1")
            elif what == "go":
                run = store.resume("r1", flow=flow)
            else:
                run = store.answer("r1", what, Decision.approve(by="ann"), flow=flow)
        except FlowError as error:
            call(f"{record}.said", type(error).__name__)
        else:
            call(f"{record}.said", run.status)


def work_with_a_jump(seconds: float, dsn: str, file: str, run_id: str) -> None:
    """Work on `Steps`; the clock jumps inside the first call, and the process dies in the last."""
    engine_ids._last_v6_timestamp = None

    def does(name: str) -> str:
        call(file, name)
        if name == "a":
            set_clock(seconds)
        if name == "c":
            os.kill(os.getpid(), signal.SIGKILL)
        return name

    with RunStore.open(dsn) as store:
        store.work(run_id, flow=Steps(does))


def _read_last_moment(store: RunStore) -> float:
    """The time of the run's newest checkpoint, in seconds since 1970."""
    with store.database.connection() as rows:
        row: Any = rows.execute("select oasflow_newest_checkpoint('r1') as id").fetchone()
    return (engine_ids.UUID(row["id"]).time - _FIRST_TICK) / 1e7


def _take_the_heed_away() -> None:
    """The control: ids come from the clock alone, and nobody looks at clocks."""
    from cinatra_sdk.langgraph_internals import checkpoint_ids
    from cinatra_sdk.langgraph_threads import graph_input, lineage

    nothing: Any = lambda *_: True  # noqa: E731 - three places
    checkpoint_ids.move_ids_beyond = nothing
    lineage.move_ids_beyond = nothing
    graph_input.move_ids_beyond = nothing
