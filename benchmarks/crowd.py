"""Many parked runs, answered by several processes at once.

In: numbers of runs, a database.  Out: one row of figures for each number: runs answered per second,
and how long one answer takes.

Every process has its share of the runs and answers one after the other.  Ours finds the run and its
flow in the store, as a worker does that has never seen them; the hand-written graph of the same nodes
(`benchmarks.by_hand`) is told the thread and goes on.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, Final

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.types import Command
from psycopg_pool import ConnectionPool

from benchmarks import runs
from benchmarks.by_hand import write_graph
from cinatra_sdk import Decision, RunStore
from cinatra_sdk.langgraph_threads.serializer import STRICT_SERIALIZER
from cinatra_sdk.postgres.connection import OPTIONS
from cinatra_sdk.testing import sampled_inputs, simulation
from oas_compiler import compile_flow

PROCESSES: Final = 4
GATE: Final = "review"

Share = Sequence[str]
"""Ids of the runs of one process."""


class _Worker:
    """One process: what it opened, and the barrier at which all begin."""

    barrier: Any
    park: Callable[[str], None]
    answer: Callable[[str], None]


def measure(counts: Sequence[int], dsn: str, *, processes: int = PROCESSES) -> list[dict[str, Any]]:
    """Rows with runs per second, the ratio of ours to by hand, and milliseconds of one answer."""
    rows = []
    for count in counts:
        mine = _measure_side("ours", count, dsn, processes)
        hand = _measure_side("hand", count, dsn, processes)
        rows.append(
            {
                "runs": count,
                "per_s": mine["per_s"],
                "hand_per_s": hand["per_s"],
                "ratio": round(mine["per_s"] / hand["per_s"], 2),
                **{f"{name}_ms": mine[name] for name in ("p50", "p99")},
                **{f"hand_{name}_ms": hand[name] for name in ("p50", "p99")},
            }
        )
    return rows


def _measure_side(side: str, count: int, dsn: str, processes: int) -> dict[str, float]:
    context = multiprocessing.get_context("spawn")
    names = [f"{side}-{count}-{number}" for number in range(count)]
    shares = [names[number::processes] for number in range(processes)]
    barrier = context.Barrier(processes)
    with context.Pool(processes, initializer=_open, initargs=(side, dsn, barrier)) as pool:
        pool.map(_park, shares, chunksize=1)
        answered = pool.map(_answer, shares, chunksize=1)
    begun = min(begin for begin, _, _ in answered)
    ended = max(end for _, end, _ in answered)
    took = sorted(seconds for _, _, each in answered for seconds in each)
    return {
        "per_s": round(count / (ended - begun), 1),
        "p50": round(took[len(took) // 2] * 1e3, 1),
        "p99": round(took[-(-len(took) * 99 // 100) - 1] * 1e3, 1),
    }


# ------------------------------------------------------------------ in a process

_WORKER: Final = _Worker()


def _open(side: str, dsn: str, barrier: Any) -> None:
    _WORKER.barrier = barrier
    (_open_store if side == "ours" else _open_graph)(dsn, ExitStack())


def _open_store(dsn: str, opened: ExitStack) -> None:
    flow = compile_flow(runs.one_gate())
    platform = simulation(flow)
    flow = flow.with_platform(platform)
    given = sampled_inputs(flow)
    store = opened.enter_context(RunStore.open(dsn, platform=platform))
    decision = Decision.approve(by="ann")

    def park(name: str) -> None:
        if store.start(flow, given, run_id=name).status != "waiting":
            raise AssertionError(name)

    def answer(name: str) -> None:
        if store.answer(name, GATE, decision).status != "completed":
            raise AssertionError(name)

    _WORKER.park, _WORKER.answer = park, answer


def _open_graph(dsn: str, opened: ExitStack) -> None:
    flow = compile_flow(runs.one_gate())
    given = sampled_inputs(flow)
    pool = opened.enter_context(ConnectionPool(dsn, kwargs=OPTIONS, min_size=1, max_size=2))
    graph = write_graph(flow.ir, simulation(flow)).compile(
        PostgresSaver(pool, serde=STRICT_SERIALIZER)
    )
    resume = Command(resume={"approved": True})

    def config(name: str) -> Any:
        return {"configurable": {"thread_id": name}}

    def park(name: str) -> None:
        graph.invoke({"inputs": given}, config(name), durability="sync")

    def answer(name: str) -> None:
        graph.invoke(resume, config(name), durability="sync")

    _WORKER.park, _WORKER.answer = park, answer


def _park(share: Share) -> None:
    _WORKER.barrier.wait()
    for name in share:
        _WORKER.park(name)


def _answer(share: Share) -> tuple[float, float, list[float]]:
    """When the process began and ended, and how long each answer took."""
    _WORKER.barrier.wait()
    took = []
    begun = time.time()
    for name in share:
        start = time.perf_counter()
        _WORKER.answer(name)
        took.append(time.perf_counter() - start)
    return begun, time.time(), took
