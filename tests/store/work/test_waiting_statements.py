"""Statements that wait for the lock of a run see what was committed while they waited."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Json

from cinatra_sdk import Decision, RunEnded, RunStore
from cinatra_sdk.errors import FlowError
from cinatra_sdk.governed.person import NOBODY
from cinatra_sdk.postgres.connection import Rows, connect, one
from cinatra_sdk.store.decisions import decision_entry
from cinatra_sdk.store.work.event_rows import EventBuffer
from cinatra_sdk.store.work.run_ledger import RunLedger
from cinatra_sdk.store.work.saver import RunSaver
from tests.effects.samples import effect
from tests.store.work.branches import Branches

FLOW = Branches(("a", "b"))
COMPLETED = {"status": "completed", "outputs": Json({}), "branch": None, "messages": Json([]),
             "error": None, "retry_in": None, "answers": Json([]), "ending": Json({})}  # fmt: skip
GATE = "run_id, payload_sha256, node, visit, step, interrupt, payload, response_schema"


class Place:
    """A run that waits at two gates, and a worker that has it."""

    def __init__(self, store: RunStore, dsn: str) -> None:
        self.store, self.dsn = store, dsn
        store.start(FLOW, run_id="r1")
        (row,) = self.fetch("update work set fence = fence + 1 returning fence")
        self.fence: int = row["fence"]

    def fetch(self, question: Any) -> list[Any]:
        with self.store.database.connection() as rows:
            return rows.execute(question).fetchall()

    def count_waiting(self) -> int:
        (row,) = self.fetch(
            "select count(*) as n from pg_stat_activity "
            "where datname = current_database() and wait_event_type = 'Lock'"
        )
        return int(row["n"])

    @contextmanager
    def locked(self) -> Iterator[Rows]:
        """A transaction that has the run's lock; it commits once somebody waits for that."""
        with connect(self.dsn) as rows, rows.transaction():
            one(rows, "lock_run_row", {"run_id": "r1"})
            yield rows
            deadline = time.monotonic() + 10
            while not self.count_waiting():
                assert time.monotonic() < deadline, "nobody waits"
                time.sleep(0.01)


STOP: dict[str, Any] = {
    "run_id": "r1", "tenant": None, "by": "ann", "reason": "", **NOBODY.list_columns("stopped"),
}  # fmt: skip


@pytest.fixture
def place(fresh_database: str) -> Iterator[Place]:
    with RunStore.open(fresh_database) as store:
        yield Place(store, fresh_database)


class Beside:
    """A call in another thread."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.result: Any = None
        self._call = call
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.result = self._call()
        except FlowError as error:
            self.result = error

    def join(self) -> Any:
        self._thread.join()
        return self.result


def reject(place: Place, rows: Rows) -> None:
    row = one(rows, "load_run", {"run_id": "r1", "tenant": None})
    assert row is not None
    decision_entry._record(
        rows, row, [], {"a": Decision.reject(by="ann")}, made=FLOW, signer=None, due=False
    )


def test_no_call_begins_that_waited_for_a_rejection(place: Place) -> None:
    ledger = RunLedger(place.store.database, run_id="r1", fence=place.fence)
    with place.locked() as rows:
        reject(place, rows)
        call = Beside(lambda: ledger.begin(effect()))
    assert isinstance(call.join(), RunEnded)
    assert place.fetch("select * from effects") == []


def test_no_call_begins_that_waited_for_a_stop(place: Place) -> None:
    ledger = RunLedger(place.store.database, run_id="r1", fence=place.fence)
    with place.locked() as rows:
        one(rows, "stop_run", STOP)
        call = Beside(lambda: ledger.begin(effect()))
    assert isinstance(call.join(), RunEnded)
    assert place.fetch("select * from effects") == []


def test_an_end_that_waited_for_a_rejection_is_a_rejection(place: Place) -> None:
    with place.store.database.own_connection() as own:
        saver = RunSaver(own, run_id="r1", tenant="", fence=place.fence, events=EventBuffer())
        with place.locked() as rows:
            reject(place, rows)
            end = Beside(lambda: saver.end(COMPLETED, ()))
        end.join()
    assert place.store.get("r1").status == "rejected"


def test_of_two_settlements_at_once_the_second_lets_the_run_go_on(place: Place) -> None:
    place.fetch(
        "update runs set error = '{\"code\": \"effect_unknown\"}' where run_id = 'r1' returning 1"
    )
    place.fetch(
        "insert into effects (run_id, key, kind, status) "
        "values ('r1', 'x', 'http', 'begun'), ('r1', 'y', 'http', 'begun') returning 1"
    )
    place.fetch("update effects set status = 'unknown' where run_id = 'r1' returning 1")
    nothing = {
        "happened": False,
        "result": None,
        "usage": None,
        "by": "ann",
        "reason": "",
        **NOBODY.list_columns("by"),
    }
    with place.locked() as rows:
        one(rows, "settle_effect", {"run_id": "r1", "key": "x", **nothing})
        other = Beside(lambda: place.store.settle("r1", "y", happened=False, by="bob"))
    assert other.join().status == "running"


def test_a_stop_closes_a_gate_that_was_opened_while_it_waited(place: Place) -> None:
    with place.locked() as rows:
        rows.execute(f"insert into gates (gate_id, {GATE}) select 'new', {GATE} from gates limit 1")
        stop = Beside(lambda: place.store.stop("r1", by="bob"))
    assert stop.join().status == "stopped"
    assert {row["state"] for row in place.fetch("select state from gates")} == {"closed"}


MADE = f"insert into gates (gate_id, {GATE}) select 'new', {GATE} from gates limit 1"
CALL = "insert into effects (run_id, key, kind, status) values ('r1', 'x', 'http', 'begun')"
EVENT = "insert into run_events (run_id, seq, kind, name) values ('r1', 7, 'node', 'finished')"
CHILD = """insert into runs (run_id, digest, input, lowering, parent_run_id)
           select 'child', digest, '{}', 1, 'r1' from runs"""
OBJECT = "insert into saved_objects (id, org_id, run_id) values ('o', 'acme', 'r1')"
PROPOSAL = """insert into memory_proposals (proposal_id, run_id, tenant, proposal)
              values ('mp_1', 'r1', '', '{"proposal_id": "mp_1"}')"""
CHOICE = """insert into context_finalizes
                (org_id, parent_run_id, parent_package_name, slot_id, selection_mode, key)
            values ('acme', 'r1', 'p', 'voice', 'interactive', repeat('7', 64))"""
ROWS = {"a gate": MADE, "a call": CALL, "an event": EVENT, "a child": CHILD, "an object": OBJECT,
        "a proposal": PROPOSAL, "a choice": CHOICE}  # fmt: skip


def write(place: Place, statement: Any) -> str:
    """What comes of a statement that nobody of this project writes."""
    options = "-c search_path=oasflow -c statement_timeout=20s"
    try:
        with psycopg.connect(place.dsn, autocommit=True, options=options) as rows:
            return f"{rows.execute(statement).rowcount} rows"
    except psycopg.Error as error:
        return type(error).__name__


@pytest.mark.parametrize("of", ROWS)
@pytest.mark.parametrize("end", ["stop", "rejection"])
def test_a_row_that_waited_for_the_end_of_its_run_is_not_taken(
    place: Place, of: str, end: str
) -> None:
    with place.locked() as rows:
        if end == "stop":
            one(rows, "stop_run", STOP)
        else:
            one(rows, "reject_run", {"run_id": "r1"})
        late = Beside(lambda: write(place, ROWS[of]))
    assert late.join() == ("0 rows" if of == "an event" else "IntegrityConstraintViolation")


@pytest.mark.parametrize("of", ROWS)
def test_a_row_that_waited_for_another_statement_is_taken(place: Place, of: str) -> None:
    with place.locked():
        late = Beside(lambda: write(place, ROWS[of]))
    assert late.join() == "1 rows"


def test_an_event_that_waited_has_the_next_number(place: Place) -> None:
    told: Any = EVENT
    with place.locked() as rows:
        rows.execute(told)
        rows.execute(told)
        late = Beside(lambda: write(place, told))
    assert late.join() == "1 rows"
    numbers = [row["seq"] for row in place.fetch("select seq from run_events order by seq")]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_child_that_waited_for_a_stop_does_not_begin(place: Place) -> None:
    with place.locked() as rows:
        one(rows, "stop_run", STOP)
        child = Beside(lambda: place.store.create(FLOW, run_id="r2", parent="r1"))
    assert isinstance(child.join(), RunEnded)


@pytest.mark.parametrize("change", ["interrupt = 'x'", "state = 'open'", "state = 'decided'"])
def test_whoever_has_a_gate_does_not_wait_for_its_run(place: Place, change: str) -> None:
    """Others have the run, and wait for the gate."""
    place.fetch("update gates set state = 'closed' where gate_id = 'b' returning 1")
    with connect(place.dsn) as rows, rows.transaction():
        one(rows, "lock_run_row", {"run_id": "r1"})
        came = write(place, f"update gates set {change} where gate_id = 'b'")
    assert came == "LockNotAvailable"
