"""Recording a choice with real processes: at once, and killed halfway."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database
from tests.warm import Process, begin

PROGRAM = (sys.executable, "-m", "tests.store.recorder")
ROWS = 3


@pytest.fixture
def store(fresh_database: str) -> Iterator[ArtifactStore]:
    database = Database.open(fresh_database)
    made = ArtifactStore(database)
    for _ in range(ROWS):
        made.classify(made.add(org_id="o1", owner_id="bob", visibility="org"), "@x/voice")
    yield made
    database.close()


@pytest.fixture
def recorder(fresh_database: str) -> Iterator:
    with ExitStack() as stack:

        def start(*how: str) -> Process:
            process = begin("tests.store.recorder:run", PROGRAM, [fresh_database, *how], os.environ)
            stack.callback(process.communicate)
            stack.callback(process.kill)
            assert heard(process) == "ready"
            return process

        yield start


def heard(process: Process) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.write("on\n")
    process.stdin.flush()


def wait_until_one_waits_for_another(dsn: str) -> None:
    """Returns when a statement is held up by a lock.  Asks again and again, for a million times."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for _ in range(1_000_000):
            row = connection.execute(
                "select count(*) from pg_stat_activity"
                " where datname = current_database() and wait_event_type = 'Lock'"
            ).fetchone()
            if row and row[0]:
                return
    raise AssertionError("nobody waits")


def test_two_processes_that_record_one_choice_at_once_write_one_batch(store, recorder):
    pair = [recorder("go"), recorder("go")]
    for process in pair:
        tell(process)
    assert sorted(heard(process) for process in pair) == ["there already", "wrote"]
    rows = store.selections("o1", "r1")
    assert len(rows) == ROWS
    assert len({row.id.partition(":")[0] for row in rows}) == 1


def test_a_process_that_comes_while_another_writes_waits_and_writes_nothing(
    store, recorder, fresh_database
):
    first, second = recorder("hold", "2"), recorder("go")
    tell(first)
    assert heard(first) == "holding"
    tell(second)
    wait_until_one_waits_for_another(fresh_database)
    assert store.selections("o1", "r1") == []
    tell(first)
    assert [heard(first), heard(second)] == ["wrote", "there already"]
    assert len(store.selections("o1", "r1")) == ROWS


def test_a_process_that_waits_for_one_that_is_killed_writes_the_whole_batch(
    store, recorder, fresh_database
):
    first, second = recorder("hold", str(ROWS + 1)), recorder("go")
    tell(first)
    assert heard(first) == "holding"
    tell(second)
    wait_until_one_waits_for_another(fresh_database)
    first.send_signal(signal.SIGKILL)
    assert heard(second) == "wrote"
    assert len(store.selections("o1", "r1")) == ROWS


@pytest.mark.parametrize("number", range(1, ROWS + 2))
def test_a_process_killed_within_a_batch_leaves_nothing_of_it(store, recorder, number):
    process = recorder("kill", str(number))
    tell(process)
    assert heard(process) == ""
    assert process.wait() == -signal.SIGKILL
    assert store.selections("o1", "r1") == []
    again = recorder("go")
    tell(again)
    assert heard(again) == "wrote"
    assert len(store.selections("o1", "r1")) == ROWS


def test_a_process_that_is_to_die_after_its_last_row_would_otherwise_have_written(store, recorder):
    # Control: beyond the end nothing stops it.
    process = recorder("kill", str(ROWS + 2))
    tell(process)
    assert heard(process) == "wrote"
