"""A worker that was stopped past its lease and wakes up: it writes nothing and calls nothing."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cinatra_sdk import RunBusy, RunStore
from cinatra_sdk.postgres.connection import connect
from cinatra_sdk.store.work.claims import Claims, Flushing, Heart
from tests.effort import tries
from tests.store.work.branches import Branches
from tests.store.work.stopped_worker import LEASE, PATIENCE, Steps, work_slowly
from tests.warm import FORKED

CYCLES = tries(4, 200)


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, lease=LEASE) as opened:
        yield opened


class Worker:
    """A forked process in `work_slowly`, which stops itself in its first call."""

    def __init__(self, dsn: str, file: Path, run_id: str, *, unfenced: bool = False) -> None:
        self.file = file
        self.process: Any = FORKED.Process(
            target=work_slowly, args=(dsn, str(file), run_id, unfenced)
        )
        self.process.start()

    def wait_until_stopped(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            state = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
            if state.rpartition(")")[2].split()[0] == "T":
                return
            time.sleep(0.01)
        raise AssertionError("the worker did not stop itself")

    def wake_up(self) -> str:
        """Let it go on to its end; what it said of the run."""
        os.kill(self.process.pid, signal.SIGCONT)
        self.process.join(PATIENCE)
        return Path(f"{self.file}.said").read_text(encoding="utf-8").split()[1]


@contextmanager
def stopped_worker(
    dsn: str, file: Path, run_id: str, *, unfenced: bool = False
) -> Iterator[Worker]:
    worker = Worker(dsn, file, run_id, unfenced=unfenced)
    try:
        worker.wait_until_stopped()
        yield worker
    finally:
        if worker.process.is_alive():
            os.kill(worker.process.pid, signal.SIGKILL)
        worker.process.join()


ROWS = """
select (select json_agg(c order by checkpoint_ns, checkpoint_id) from checkpoints c)::text,
       (select json_agg(w order by checkpoint_id, task_id, idx) from checkpoint_writes w)::text,
       (select json_agg(b order by channel, version) from checkpoint_blobs b)::text,
       (select json_agg(r order by run_id) from runs r)::text,
       (select json_agg(g order by run_id, gate_id) from gates g)::text,
       (select json_agg(e order by run_id, seq) from run_events e)::text,
       (select json_agg(d order by run_id, gate_id) from decisions d)::text
"""


def rows_of(dsn: str) -> Any:
    with psycopg.connect(dsn, options="-c search_path=oasflow") as connection:
        return connection.execute(ROWS).fetchone()


def lines_of(file: Path, pid: int | None = None) -> list[str]:
    lines = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
    return [what for who, what in lines if pid is None or int(who) == pid]


def overtake(store: RunStore, file: Path, run_id: str) -> Any:
    """Wait for the lease to run out, and work on the run to its end."""

    def does(name: str) -> str:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"{os.getpid()} {name}\n")
        return name

    return store.work(run_id, flow=Steps(does), wait=30)


def test_a_worker_that_was_stopped_past_its_lease_writes_and_calls_nothing(
    store: RunStore, fresh_database: str, tmp_path: Path
) -> None:
    for cycle in range(CYCLES):
        run_id, file = f"r{cycle}", tmp_path / f"calls{cycle}"
        store.create(Steps(), run_id=run_id)
        with stopped_worker(fresh_database, file, run_id) as zombie:
            assert overtake(store, file, run_id).status == "completed"
            before = rows_of(fresh_database)
            assert zombie.wake_up() == "completed"  # it tells how the run stands
            assert rows_of(fresh_database) == before
            # The call that it was stopped in, and none after it.
            assert lines_of(file, zombie.process.pid) == ["a"]
            assert lines_of(file) == ["a", "a", "b", "c"]


def test_a_worker_whose_fence_nobody_compares_is_caught(
    store: RunStore, fresh_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The control; the connection of the worker must live on, as where its role may not be ended.
    monkeypatch.setattr("cinatra_sdk.store.work.claims._take_over", lambda *_: None)
    wrote = called = False
    for turn in range(5):  # a sign of life may tell it first that the run is somebody else's
        file, run_id = tmp_path / f"calls{turn}", f"r{turn}"
        store.create(Steps(), run_id=run_id)
        with stopped_worker(fresh_database, file, run_id, unfenced=True) as zombie:
            overtake(store, file, run_id)
            before = rows_of(fresh_database)
            zombie.wake_up()
            wrote = wrote or rows_of(fresh_database) != before
            called = called or "b" in lines_of(file, zombie.process.pid)
        if wrote and called:
            return
    raise AssertionError(f"nobody noticed: it wrote: {wrote}, it called: {called}")


def test_the_fence_is_enough_where_the_old_connection_cannot_be_ended(
    store: RunStore, fresh_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cinatra_sdk.store.work.claims._take_over", lambda *_: None)
    file = tmp_path / "calls"
    store.create(Steps(), run_id="r1")
    with stopped_worker(fresh_database, file, "r1") as zombie:
        assert overtake(store, file, "r1").status == "completed"
        before = rows_of(fresh_database)
        assert zombie.wake_up() == "completed"
        assert rows_of(fresh_database) == before
        assert lines_of(file, zombie.process.pid) == ["a"]


def test_a_worker_that_died_is_followed_at_once(fresh_database: str, tmp_path: Path) -> None:
    file = tmp_path / "calls"
    with RunStore.open(fresh_database, lease=600) as store:
        store.create(Steps(), run_id="r1")
        with stopped_worker(fresh_database, file, "r1") as worker:
            with store.database.connection() as rows:
                rows.execute("update work set lease_until = clock_timestamp() + interval '1 hour'")
            with pytest.raises(RunBusy):
                store.work("r1", flow=Steps(), wait=0)
            os.kill(worker.process.pid, signal.SIGKILL)
            worker.process.join()
            # Its lease runs for an hour: nobody waits for the end of it.
            assert overtake(store, file, "r1").status == "completed"


def test_a_heartbeat_keeps_the_run_of_a_slow_worker(store: RunStore, fresh_database: str) -> None:
    store.create(Steps(), run_id="r1")
    other = Claims(store.database, lease=LEASE)
    met: list[str] = []

    def does(name: str) -> str:
        if name == "a":
            time.sleep(3 * LEASE)
            with pytest.raises(RunBusy), other.claim("r1", wait=0):
                met.append("claimed")
            met.append("busy")
        return name

    assert store.work("r1", flow=Steps(does)).status == "completed"
    assert met == ["busy"]


def test_without_a_heartbeat_a_slow_worker_is_overtaken(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The control of the test before: it is the heartbeat that keeps the run.
    monkeypatch.setattr("cinatra_sdk.store.work.claims.Heart.beat", lambda _self: None)
    monkeypatch.setattr("cinatra_sdk.store.work.claims._take_over", lambda *_: None)
    store.create(Steps(), run_id="r1")
    other = Claims(store.database, lease=LEASE)
    calls: list[str] = []

    def does(name: str) -> str:
        calls.append(name)
        time.sleep(3 * LEASE)
        with other.claim("r1", wait=0):
            pass
        return name

    run = store.work("r1", flow=Steps(does))
    assert (run.status, calls) == ("running", ["a"])


def test_a_run_that_is_held_by_its_lease_alone_is_not_taken_with_the_lock(store: RunStore) -> None:
    """A worker that could not get the lock of the one before still has the run."""
    store.create(Steps(), run_id="r1")
    with store.database.connection() as rows:
        rows.execute(
            "update work set fence = 5, worker = 'w', lease_until = clock_timestamp() + interval '1 s'"
        )
    with pytest.raises(RunBusy):
        store.work("r1", flow=Steps(), wait=0)
    assert store.work("r1", flow=Steps(), wait=10).status == "completed"


def test_a_run_whose_row_is_locked_holds_up_no_heartbeat_of_others(
    store: RunStore, fresh_database: str
) -> None:
    for name in ("r1", "r2"):
        store.create(Branches(("a",)), run_id=name)
    heart = Heart(store.database, lease=30)
    with connect(fresh_database) as rows:
        rows.execute("update work set worker = 'x', lease_until = clock_timestamp()")
        with rows.transaction(), heart.beating("r1", fence=0), heart.beating("r2", fence=0):
            rows.execute("select from work where run_id = 'r1' for update")
            with store.database.connection() as other:
                other.execute("set lock_timeout = '2s'")
            heart.beat()
            alive = rows.execute(
                "select run_id from work where lease_until > clock_timestamp()"
            ).fetchall()
    heart.close()
    assert alive == [{"run_id": "r2"}]


class _Stuck:
    """A saver; its flush may have to wait."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.flushed = threading.Event()
        self.run_id = "x"

    def flush(self) -> None:
        assert self.go_on.wait(30)
        self.flushed.set()

    def close(self) -> None:
        return


def test_a_flush_that_has_to_wait_holds_up_no_other_run() -> None:
    flushing = Flushing()
    stuck, free = _Stuck(), _Stuck()
    free.go_on.set()
    with flushing.watching(stuck), flushing.watching(free):  # type: ignore[arg-type]
        assert free.flushed.wait(20)
        free.flushed.clear()
        assert free.flushed.wait(20)
        assert not stuck.flushed.is_set()
        stuck.go_on.set()
        assert stuck.flushed.wait(20)
    flushing.close()


def _look_after_fork(flushing: Flushing) -> bool:
    """Whether a forked process flushes the savers of its parent."""
    own = _Stuck()
    own.go_on.set()
    with flushing.watching(own):  # type: ignore[arg-type]
        return own.flushed.wait(20) and list(flushing._due) == [own]


def test_a_forked_process_does_not_flush_the_runs_of_its_parent() -> None:
    flushing, parents = Flushing(), _Stuck()
    with flushing.watching(parents):  # type: ignore[arg-type]
        child = os.fork()
        if child == 0:
            os._exit(0 if _look_after_fork(flushing) else 1)
        _, status = os.waitpid(child, 0)
        parents.go_on.set()
    assert os.waitstatus_to_exitcode(status) == 0
