"""Many processes at one time: each gate has one winner, and a death anywhere loses nothing."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from tests.effort import tries
from tests.store.work.branches import Branches
from tests.store.work.stopped_worker import answer_gates, die_at
from tests.warm import FORKED


@pytest.mark.parametrize("rivals", [2, pytest.param(4, marks=pytest.mark.long), 16])
@pytest.mark.parametrize("gates", [80, pytest.param(2_000, marks=pytest.mark.long)])
def test_each_gate_that_processes_race_for_has_one_winner(
    fresh_database: str, tmp_path: Path, rivals: int, gates: int
) -> None:
    flow = Branches(("a", "b"))
    file = tmp_path / "won"
    with RunStore.open(fresh_database) as store:
        runs = [f"r{number}" for number in range(gates // 2)]
        for run_id in runs:
            store.start(flow, run_id=run_id)
        names = [f"{run_id}/{gate}" for run_id in runs for gate in flow.names]
        together = FORKED.Barrier(rivals)
        processes: list[Any] = [
            FORKED.Process(
                target=answer_gates, args=(fresh_database, str(file), f"p{place}", names, together)
            )
            for place in range(rivals)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        assert [process.exitcode for process in processes] == [0] * rivals
        won = Counter(line.split()[1] for line in file.read_text(encoding="utf-8").splitlines())
        assert won == dict.fromkeys(names, 1)
        with store.database.connection() as rows:
            kept = rows.execute(
                "select count(*) as n, count(distinct decided_by) as by from decisions"
            )
            found = kept.fetchone()
        assert found is not None
        assert found["n"] == gates
        assert found["by"] > 1, "the processes took turns: nothing was raced"
        # Both decisions of a run are carried out by one activation.
        assert store.work(runs[0], flow=flow).status == "completed"


def test_a_death_before_any_statement_loses_nothing(fresh_database: str, tmp_path: Path) -> None:
    """kill -9 before every n-th statement of a run's life, from its creation to its end."""
    step = tries(5, 1)
    first = random.SystemRandom().randint(1, step)
    print(f"killed at point {first} and at each {step}. after it")
    points = 0
    for point in range(first, 400, step):
        file, run_id = tmp_path / f"calls{point}", f"r{point}"
        child: Any = FORKED.Process(target=die_at, args=(point, fresh_database, str(file), run_id))
        child.start()
        child.join()
        assert child.exitcode in {0, -signal.SIGKILL}, point
        _finish(fresh_database, file, run_id)
        calls = Counter(line.split()[1] for line in file.read_text(encoding="utf-8").splitlines())
        assert set(calls) == {"a", "b"}, point
        assert sum(calls.values()) <= 3, point  # the one that it died in may be made again
        if child.exitcode == 0:
            break
        points += 1
    else:
        raise AssertionError("it died at every point: the run never ended by itself")
    assert points > 0
    assert point >= 25


def _finish(dsn: str, file: Path, run_id: str) -> None:
    """Go on with the run as a person or a sweep would, and look at what is left of it."""

    def does(name: str) -> str:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"{os.getpid()} {name}\n")
        return name

    flow = Branches(("a", "b"), does=does)
    with RunStore.open(dsn) as store:
        if not [run for run in store.list(limit=1000) if run.id == run_id]:
            store.create(flow, run_id=run_id)  # it died before its run was there
        run = store.get(run_id)
        if run.status != "completed":
            run = store.work(run_id, flow=flow)
        while run.waiting:
            run = store.answer(run_id, run.waiting[0].id, Decision.approve(by="ann"), flow=flow)
        assert run.status == "completed", run
        assert sorted(row.gate_id for row in store.decisions(run_id)) == ["a", "b"]
        with store.database.connection() as rows:
            states = rows.execute("select state, fence from gates where run_id = %s", [run_id])
            assert {tuple(row.values()) for row in states} == {("decided", 0)}
