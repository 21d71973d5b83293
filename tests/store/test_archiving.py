"""Runs that have ended are made small, and their evidence stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, cast

import psycopg
import pytest

from cinatra_sdk import Decision, RunEnded, RunNotFound, RunStore, SimulatedPlatform
from cinatra_sdk.errors import AnswerInvalid, GateClosed, InputInvalid, RunBusy, RunNotEnded
from cinatra_sdk.store.runs.upkeep import Archived
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, port, start

ANN = Decision.approve(by="ann")
FLOW = flow_of(
    start(), gate("ok"), api("send", outputs=[port("id")]), end(port("id")),
    edges=[("send", "id", "end", "id")],
)  # fmt: skip
NOW = timedelta()
EVIDENCE = ("runs", "decisions", "gates", "run_events", "settlements", "flows")
REMOVED = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


def flow(**stubs: Any) -> Any:
    return compile_flow(FLOW, platform=SimulatedPlatform({"send": {"id": "m-1"}, **stubs}))


def finish(store: RunStore, *names: str, **how: Any) -> None:
    for name in names:
        store.start(flow(), run_id=name, **how)
        assert store.answer(name, "ok", ANN).status == "completed"


def fail(store: RunStore, name: str, status: int) -> None:
    """A failed run: tried again after a 503, left to a person after a 400."""
    failing = flow(send={"$error": {"status": status, "code": "x", "message": "y"}})
    store.start(failing, run_id=name)
    assert store.answer(name, "ok", ANN).status == "failed"


def count(dsn: str, *tables: str, of: str = "") -> list[int]:
    with psycopg.connect(dsn, options="-c search_path=oasflow") as rows:
        return [
            rows.execute(f"select count(*) from {table}{of}").fetchone()[0]  # type: ignore[arg-type,index]
            for table in tables
        ]


def read(dsn: str, question: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn, options="-c search_path=oasflow") as rows:
        return rows.execute(question).fetchall()  # type: ignore[arg-type]


def test_what_only_going_on_needs_is_removed_and_the_evidence_stays(
    store: RunStore, fresh_database: str
) -> None:
    finish(store, "r1", tenant="acme", by="bob")
    before, told = store.get("r1"), store.told("r1")
    there = dict(zip(REMOVED, count(fresh_database, *REMOVED), strict=True))
    kept = [
        read(fresh_database, f"select to_jsonb(t) - 'archived_at' from {table} t order by 1")
        for table in EVIDENCE
        if table != "run_events"
    ]
    ((sha256,),) = read(
        fresh_database,
        "select encode(sha256(convert_to(result::text, 'UTF8')), 'hex') from effects",
    )
    done = store.archive("r1", by="ann", tenant="acme")
    assert done == Archived(
        runs=1,
        checkpoints=there["checkpoints"],
        blobs=there["checkpoint_blobs"],
        writes=there["checkpoint_writes"],
        results=1,
    )
    assert min(there.values()) > 0, "the control: there was something to remove"
    assert count(fresh_database, *REMOVED) == [0, 0, 0]
    assert kept == [
        read(fresh_database, f"select to_jsonb(t) - 'archived_at' from {table} t order by 1")
        for table in EVIDENCE
        if table != "run_events"
    ]
    archived = store.get("r1")
    assert archived.archived_at is not None
    assert (archived.updated_at, archived.outputs) == (before.updated_at, {"id": "m-1"})
    *earlier, last = store.told("r1")
    assert earlier == told
    assert (last.kind, last.name, last.data) == ("run", "archived", {"by": "ann"})
    (call,) = store.effects("r1").items
    assert (call.status, call.result_sha256) == ("done", sha256)
    assert read(fresh_database, "select result from effects") == [(None,)]


def test_an_archived_run_is_gone_on_with_by_nobody(store: RunStore) -> None:
    finish(store, "r1")
    fail(store, "r2", 400)
    assert store.archive(older_than=NOW, dead_letters=True).runs == 2
    for name, status in (("r1", "completed"), ("r2", "failed")):
        for act in (store.resume, store.work, store.stop):
            with pytest.raises(RunEnded, match=f"run '{name}' is {status} and archived"):
                act(name)
        with pytest.raises(GateClosed):
            store.answer(name, "ok", Decision.approve(by="another"))
    assert store.sweep(grace=0) == []
    assert store.archive("r1") == Archived()
    assert store.archive(older_than=NOW, dead_letters=True) == Archived()


def test_only_runs_that_have_ended_are_archived(store: RunStore) -> None:
    store.start(flow(), run_id="waits")
    store.create(flow(), run_id="created")
    fail(store, "tried again", 503)
    fail(store, "dead", 400)
    finish(store, "done")
    store.start(flow(), run_id="rejected")
    store.answer("rejected", "ok", Decision.reject(by="ann"))
    store.create(flow(), run_id="stopped")
    store.stop("stopped")
    for name, said in (
        ("waits", "is waiting"),
        ("created", "is running"),
        ("tried again", "is failed"),
        ("dead", "a person may resume it"),
    ):
        with pytest.raises(RunNotEnded, match=said):
            store.archive(name)
    with pytest.raises(RunNotEnded, match="is failed"):
        store.archive("tried again", dead_letters=True)
    assert store.archive(older_than=NOW).runs == 3
    assert {run.id for run in store.list() if run.archived_at} == {"done", "rejected", "stopped"}
    assert store.archive(older_than=NOW, dead_letters=True).runs == 1
    assert store.get("dead").archived_at is not None
    assert store.answer("waits", "ok", ANN).status == "completed"


def test_a_dead_letter_with_an_open_gate_takes_no_answer_any_more(
    store: RunStore, owner_database: str
) -> None:
    store.start(flow(), run_id="r1")
    with psycopg.connect(owner_database, options="-c search_path=oasflow") as rows:
        rows.execute("update runs set status = 'failed', error = '{}' where run_id = 'r1'")
    assert [gate.run_id for gate in store.gates().items] == ["r1"], "the control"
    store.archive("r1", dead_letters=True)
    assert store.gates().items == []
    with pytest.raises(RunEnded, match="is failed and archived"):
        store.answer("r1", "ok", ANN)


def test_age_tenant_and_limit_choose_the_runs(store: RunStore) -> None:
    finish(store, "a1", "a2", tenant="acme")
    finish(store, "b1", tenant="beta")
    assert store.archive(older_than=timedelta(days=1)).runs == 0
    assert store.archive(older_than=NOW, tenant="nobody's").runs == 0
    assert store.archive(older_than=NOW, tenant="acme", limit=1).runs == 1
    assert [run.id for run in store.list() if run.archived_at] == ["a1"]
    assert store.archive(older_than=NOW, tenant="acme").runs == 1
    assert store.get("b1").archived_at is None
    with pytest.raises(RunNotFound):
        store.archive("b1", tenant="acme")
    with pytest.raises(InputInvalid, match="run_id or older_than"):
        store.archive()
    with pytest.raises(AnswerInvalid, match="credential"):
        store.archive("b1", by="Bearer abcdefghijklmnopqrstuvwxyz0123456789")


def test_a_dry_run_counts_what_the_real_one_removes(store: RunStore) -> None:
    finish(store, "r1", "r2")
    one = store.archive("r1", dry_run=True)
    expected = store.archive(older_than=NOW, dry_run=True)
    assert (one.runs, expected.runs, expected.results) == (1, 2, 2)
    assert all(run.archived_at is None for run in store.list())
    assert store.archive(older_than=NOW) == expected


def test_a_run_that_somebody_has_is_left_to_the_next_call(
    store: RunStore, owner_database: str
) -> None:
    finish(store, "r2")
    store.start(flow(), run_id="r1")
    lease = "update work set worker = 'w', lease_until = clock_timestamp() + %s where run_id = 'r1'"
    with psycopg.connect(owner_database, options="-c search_path=oasflow") as rows:
        rows.execute(lease, [timedelta(seconds=60)])
    store.stop("r1", by="ann")  # whoever has a run at its end has it after
    assert store.archive(older_than=NOW).runs == 1
    with pytest.raises(RunBusy, match="another process has run 'r1'"):
        store.archive("r1")
    with psycopg.connect(owner_database, options="-c search_path=oasflow") as rows:
        rows.execute(lease, [timedelta(seconds=-1)])
        before = rows.execute("select fence from work where run_id = 'r1'").fetchone()
    assert store.archive("r1").runs == 1
    assert before is not None
    # A worker that was stopped and wakes up has an older fence, and writes nothing.
    assert read(owner_database, "select fence from work where run_id = 'r1'") == [(before[0] + 1,)]


# ------------------------------------------------------------------- at once, and killed


def multiply(owner: str, number: int) -> None:
    """Copies c1, c2, … of the run r1, with its checkpoints and its call."""
    with psycopg.connect(owner, options="-c search_path=oasflow") as rows:
        # No run begins as one that has worked and called.
        rows.execute("alter table work disable trigger work_begins")
        rows.execute("alter table effects disable trigger effects_fit")
        for table, column in (
            ("runs", "run_id"), ("work", "run_id"), ("checkpoints", "thread_id"),
            ("checkpoint_blobs", "thread_id"), ("checkpoint_writes", "thread_id"), ("effects", "run_id"),
        ):  # fmt: skip
            rows.execute(
                f"insert into {table} select (jsonb_populate_record(t, jsonb_build_object("  # type: ignore[arg-type]
                f"'{column}', 'c' || n))).* from {table} t, generate_series(1, {number}) n"
                f" where t.{column} = 'r1'"
            )


def is_whole(owner: str) -> bool:
    """Whether of each run either everything is there or nothing that archiving removes."""
    left = " or ".join(
        f"exists (select from {table} c where c.thread_id = r.run_id)" for table in REMOVED
    )
    question = (
        f"select count(*) from runs r where (archived_at is null) <> ({left})"
        " or (archived_at is null) <> exists (select from effects e"
        " where e.run_id = r.run_id and e.result is not null)"
        " or (archived_at is null) = exists (select from run_events e"
        " where e.run_id = r.run_id and e.name = 'archived')"
    )
    return read(owner, question) == [(0,)]


def test_of_many_at_once_each_run_is_archived_by_one(
    store: RunStore, fresh_database: str, owner_database: str
) -> None:
    finish(store, "r1")
    multiply(owner_database, 60)
    done: list[Archived] = []

    def work() -> None:
        with RunStore.open(fresh_database) as own:
            done.append(own.archive(older_than=NOW))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(one.runs for one in done) == 61
    assert is_whole(owner_database)
    assert count(fresh_database, *REMOVED) == [0, 0, 0]
    assert count(fresh_database, "run_events", of=" where name = 'archived'") == [61]


def test_a_process_that_is_killed_leaves_whole_runs_and_a_later_call_goes_on(
    store: RunStore, fresh_database: str, owner_database: str
) -> None:
    finish(store, "r1")
    multiply(owner_database, 400)
    program = (
        "import sys; from datetime import timedelta; from cinatra_sdk import RunStore\n"
        "RunStore.open(sys.argv[1]).archive(older_than=timedelta(), by='killed')"
    )
    process = subprocess.Popen([sys.executable, "-c", program, fresh_database], env=os.environ)
    deadline = time.monotonic() + 60
    while count(fresh_database, "runs", of=" where archived_at is not null") == [0]:
        assert process.poll() is None
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGKILL)
    process.wait()
    (archived,) = count(fresh_database, "runs", of=" where archived_at is not null")
    assert 0 < archived < 401
    assert is_whole(owner_database)
    assert store.archive(older_than=NOW).runs in {401 - archived, 400 - archived}
    assert is_whole(owner_database)
    assert count(fresh_database, *REMOVED) == [0, 0, 0]


# ------------------------------------------------------------------------------- rights


@pytest.mark.parametrize(
    "statement",
    [
        "delete from checkpoints",
        "update runs set archived_at = now()",
        "update runs set archived_at = null",
        "update effects set result = null",
        "update effects set result_sha256 = 'x'",
        "delete from effects",
    ],
)
def test_the_role_that_runs_flows_removes_nothing_by_itself(
    store: RunStore, fresh_database: str, owner_database: str, statement: str
) -> None:
    refused = (
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.IntegrityConstraintViolation,
    )
    finish(store, "r1", "r2")
    store.archive("r2")
    with (
        psycopg.connect(fresh_database, options="-c search_path=oasflow") as rows,
        pytest.raises(refused),
    ):
        rows.execute(statement)  # type: ignore[arg-type]
    if "checkpoints" not in statement:
        with (
            psycopg.connect(owner_database, options="-c search_path=oasflow") as rows,
            pytest.raises(refused[1]),
        ):
            rows.execute(statement)  # type: ignore[arg-type]


def test_the_function_archives_no_run_that_may_go_on(store: RunStore, fresh_database: str) -> None:
    store.start(flow(), run_id="r1")
    with psycopg.connect(fresh_database, options="-c search_path=oasflow") as rows:
        archive = "select * from oasflow_archive_run('r1', null, 'eve', true)"
        assert rows.execute(archive).fetchall() == []
    assert store.answer("r1", "ok", ANN).status == "completed"


OVERRUN = "update work set {} = 9223372036854775807 where run_id = 'bad'"


@pytest.mark.parametrize("counter", ["events", "fence"])
def test_a_run_whose_rows_are_damaged_keeps_no_other_from_being_archived(
    store: RunStore, fresh_database: str, owner_database: str, counter: str
) -> None:
    finish(store, "bad", "good")
    with (
        psycopg.connect(fresh_database, options="-c search_path=oasflow") as rows,
        pytest.raises(psycopg.errors.IntegrityConstraintViolation),
    ):
        rows.execute(cast("Any", OVERRUN.format(counter)))
    with psycopg.connect(owner_database, options="-c search_path=oasflow") as rows:
        rows.execute("alter table work disable trigger work_counts")
        rows.execute(cast("Any", OVERRUN.format(counter)))
    done = store.archive(older_than=NOW, by="ann")
    assert (done.runs, done.left) == (1, 1)
    assert store.get("good").archived_at is not None
    assert store.get("bad").archived_at is None


def test_an_event_that_was_forged_before_does_not_hide_the_archive(
    store: RunStore, superuser_database: str
) -> None:
    store.create(compile_flow(FLOW, platform=SimulatedPlatform()), {}, "forged")
    # As the role could before migration 022.
    with psycopg.connect(superuser_database, autocommit=True) as rows:
        rows.execute("alter table oasflow.run_events disable trigger events_follow")
        rows.execute(
            "insert into oasflow.run_events (run_id, seq, kind, name, data)"
            " values ('forged', 2, 'run', 'archived', '{\"by\": \"ceo\"}')"
        )
        rows.execute("alter table oasflow.run_events enable always trigger events_follow")
    store.stop("forged", by="bob")
    store.archive("forged", by="ann")
    said = [event.data["by"] for event in store.told("forged") if event.name == "archived"]
    assert said == ["ceo", "ann"]
