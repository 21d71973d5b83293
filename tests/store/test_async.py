"""The asynchronous twins: work on runs is bounded, and holds up nothing short."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec

import psycopg
import pytest

from cinatra_sdk import Decision, RunStore, SimulatedPlatform
from cinatra_sdk.store.async_twins import Threads
from oas_compiler import compile_flow
from tests.effort import tries
from tests.flows import api, end, flow_of, gate, start
from tests.store.work.stopped_worker import Steps

P = ParamSpec("P")


def in_a_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


RUNS = tries(100, 500)


class Held:
    """A flow whose calls wait until they are let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.lock = threading.Condition()
        self.now = self.most = 0

    def does(self, name: str) -> str:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.lock.notify_all()
        assert self.go.wait(120)
        with self.lock:
            self.now -= 1
        return name

    def wait_until(self, number: int) -> None:
        """Wait until so many calls are being made at once."""
        with self.lock:
            assert self.lock.wait_for(lambda: self.now >= number, timeout=120)


async def begin(store: RunStore, held: Held, number: int) -> list[asyncio.Task[Any]]:
    """Begin so many runs, and wait until as many are worked on as ever will be."""
    tasks = [
        asyncio.create_task(store.astart(Steps(held.does), run_id=f"r{place}"))
        for place in range(number)
    ]
    await asyncio.to_thread(held.wait_until, min(8, number))
    return tasks


@in_a_loop
async def test_short_methods_answer_while_more_runs_are_worked_on_than_fit(
    fresh_database: str,
) -> None:
    held = Held()
    async with await RunStore.aopen(fresh_database) as store:
        tasks = await begin(store, held, 30)
        try:
            # None of the runs goes on before all of these have answered.
            parked = await asyncio.wait_for(store.acreate(Steps(), run_id="parked"), 60)
            assert [run.id for run in await asyncio.wait_for(store.alist(limit=1), 60)] == [
                "parked"
            ]
            assert (await asyncio.wait_for(store.astop(parked.id), 60)).status == "stopped"
            assert held.now == 8
        finally:
            held.go.set()
        runs = await asyncio.gather(*tasks)
    assert {run.status for run in runs} == {"completed"}
    assert held.most == 8


@in_a_loop
async def test_with_one_pool_for_all_a_list_waits_behind_the_work(
    fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The control.
    apart = Threads.pool
    monkeypatch.setattr(Threads, "pool", lambda self, *, long: apart(self, long=True))
    held = Held()
    async with await RunStore.aopen(fresh_database) as store:
        tasks = await begin(store, held, 30)
        listed = asyncio.create_task(store.alist(limit=1))
        done, _ = await asyncio.wait([listed], timeout=1)
        held.go.set()
        assert not done
        await asyncio.gather(listed, *tasks)


@in_a_loop
async def test_many_runs_at_once_lose_none_and_keep_to_the_connections(
    fresh_database: str, superuser_database: str
) -> None:
    platform = SimulatedPlatform()
    flow = compile_flow(flow_of(start(), api("work"), gate("ok"), end()), platform=platform)
    lists = most = 0
    async with await RunStore.aopen(fresh_database, platform=platform) as store:
        work = asyncio.gather(
            *(store.astart(flow, run_id=f"r{number:03}") for number in range(RUNS))
        )
        with psycopg.connect(superuser_database, autocommit=True) as rows:
            while not work.done():
                await store.alist(limit=10)
                lists += 1
                found: Any = rows.execute(
                    "select count(*) from pg_stat_activity where application_name = 'oasflow'"
                    " and datname = current_database()"
                ).fetchone()
                most = max(most, found[0])
                await asyncio.sleep(0.05)
        assert {run.status for run in await work} == {"waiting"}
        kept = await store.alist(limit=RUNS + 1)
        answered = await asyncio.gather(
            *(store.aanswer(run.id, "ok", Decision.approve(by="ann")) for run in kept)
        )
    assert Counter(run.status for run in kept) == {"waiting": RUNS}
    assert Counter(run.status for run in answered) == {"completed": RUNS}
    assert Counter(call.node for call in platform.calls) == {"work": RUNS}
    assert most <= 8 + 8  # short ones, and one for each run that is worked on
    assert lists > 5
    print(f"{lists} lists meanwhile, {most} connections")


@in_a_loop
async def test_a_store_that_is_closed_leaves_what_has_not_begun_to_a_sweep(
    fresh_database: str,
) -> None:
    held = Held()
    store = await RunStore.aopen(fresh_database, workers=1)
    for number in range(3):
        await store.acreate(Steps(), run_id=f"r{number}")
    tasks = [asyncio.create_task(store.awork(f"r{n}", flow=Steps(held.does))) for n in range(3)]
    await asyncio.to_thread(held.wait_until, 1)
    store._threads.close()
    held.go.set()
    first, *others = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(one) for one in others] == [asyncio.CancelledError] * 2
    assert first.status == "completed"  # type: ignore[union-attr]
    swept = await store.asweep(grace=0.0)
    assert [(one.run_id, one.status) for one in swept] == [("r1", "completed"), ("r2", "completed")]
    await store.aclose()


def test_a_store_without_a_worker_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Threads(0)
