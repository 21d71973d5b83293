"""Runs that the version with migrations 001 to 017 left behind, and processes of it that still work.

The database is brought to 017, runs of several shapes stop there, and 018 is made while a store of
before is still open.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.postgres import migration, role_rights
from cinatra_sdk.postgres.connection import migrations, rights
from cinatra_sdk.postgres.migration import migrate
from cinatra_sdk.store.runs.run_events import EffectRecord
from oas_compiler import compile_flow
from tests.databases import Databases
from tests.flows import api, end, flow_of, gate, start

ANN = Decision.approve(by="ann")
DOWN: Any = {"send": {"$error": {"status": 500, "code": "DOWN", "message": "down"}}}
PLAIN = flow_of(start(), gate("first"), api("send"), gate("second"), end())
LATER = (
    ("grant select on oasflow.run_ends to {role};", ""),
    (", claimed_at,\n              events_at_claim)", ")"),
    (
        "grant execute on function oasflow.oasflow_clear_checkpoints(text, bigint, integer) to {role};",
        "",
    ),
    ("grant select on oasflow.homes to {role};", ""),
    ("grant select on oasflow.erasures to {role};", ""),
)
"""What `rights.sql` says today, and what it said at 017."""


def rights_of_017() -> Any:
    text: str = rights()
    for today, then in LATER:
        assert text.count(today) == 1, today
        text = text.replace(today, then)
    return text


SKIP_OF_BEFORE = (
    "insert into oasflow.decisions (run_id, gate_id, tenant, node, visit, step, kind, answer,"
    " decided_by, reason, payload_sha256, policy_sha256) values ('stopped', 'first', '', 'first', 1, 1,"
    " 'auto_skipped', '{}', 'policy', repeat('x', 20000), '', '')"
)
AHEAD = (
    "insert into oasflow.run_events (run_id, seq, kind, name)"
    " select run_id, events + n, 'run', 'x' from oasflow.work, generate_series(1, 200) n"
)


@dataclass
class Before:
    """A database of 017, and a store of its version that is open."""

    app: str
    owner: str
    patch: pytest.MonkeyPatch

    @contextmanager
    def version(self) -> Iterator[None]:
        with self.patch.context() as patch:
            for module in (migration, role_rights):
                patch.setattr(module, "migrations", lambda: migrations()[:17])
            patch.setattr(migration, "rights", rights_of_017)
            yield

    def open(self) -> RunStore:
        with self.version():
            return RunStore.open(self.app)

    def execute(self, statement: Any) -> Any:
        with psycopg.connect(self.owner, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else None


@pytest.fixture
def before(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> Iterator[Before]:
    app = make_conninfo(databases.take())
    owner = databases.as_owner(app)
    found = Before(app, owner, monkeypatch)
    found.execute("drop schema oasflow cascade")
    with found.version():
        migrate(owner, app_role="oasflow")
    yield found
    databases.drop(app)


def plain(answers: Any = None) -> Any:
    return compile_flow(PLAIN, platform=SimulatedPlatform(answers))


def to_the_end(store: RunStore, run_id: str) -> str:
    while waiting := store.get(run_id).waiting:
        store.answer(run_id, waiting[0].id, ANN)
    return store.get(run_id).status


def numbers(store: RunStore, run_id: str) -> list[int]:
    return [event.seq for event in store.told(run_id)]


def test_runs_of_every_shape_go_on_and_end(before: Before) -> None:
    with before.open() as old:
        for name in ("waits", "rejected", "stopped", "to stop", "to reject"):
            old.start(plain(), run_id=name)
        old.answer("rejected", "first", Decision.reject(by="ann"))
        old.stop("stopped", by="ann")
        old.start(plain(), run_id="second gate")
        old.answer("second gate", "first", ANN)
        old.start(plain(), run_id="decided")
        old.decide("decided", "first", ANN)
        old.start(plain(DOWN), run_id="failed")
        old.answer("failed", "first", ANN)
        old.create(plain(), run_id="created")
        old.start(plain(), run_id="child", parent="waits")
    before.execute(SKIP_OF_BEFORE)
    done = migrate(before.owner)
    assert (done.applied, done.granted) == (
        ("018", "019", "020", "021", "022", "023"),
        ("oasflow",),
    )
    with RunStore.open(before.app) as store:
        store.resume("created", flow=plain())
        store.resume("decided", flow=plain())
        assert store.resume("failed", flow=plain()).status == "waiting"
        for name in ("waits", "second gate", "decided", "failed", "created", "child"):
            assert to_the_end(store, name) == "completed", name
            assert numbers(store, name) == list(range(1, len(numbers(store, name)) + 1))
        assert store.stop("to stop", by="ann").status == "stopped"
        reject = Decision.reject(by="ann")
        assert store.answer("to reject", "first", reject).status == "rejected"
        assert store.get("rejected").status == "rejected"
        (kept,) = store.decisions("stopped")  # rows of before stay, whatever is refused now
        assert (kept.gate_id, kept.kind, len(kept.reason)) == ("first", "auto_skipped", 20_000)
        assert store.archive("stopped", by="ann").runs == 1


def test_a_process_of_the_version_before_and_one_of_this_go_on_with_each_others_runs(
    before: Before,
) -> None:
    with before.open() as old:
        old.start(plain(), run_id="r1")
        migrate(before.owner)
        with RunStore.open(before.app) as new:
            new.start(plain(), run_id="r2")
            old.answer("r1", "first", ANN)
            new.answer("r1", "second", ANN)
            old.answer("r2", "first", ANN)
            new.answer("r2", "second", ANN)
            assert {old.get("r1").status, new.get("r2").status} == {"completed"}
            for name in ("r1", "r2"):
                assert numbers(new, name) == list(range(1, len(numbers(new, name)) + 1))
            old.start(plain(), run_id="r3")
            assert old.stop("r3", by="ann").status == "stopped"


def test_a_run_whose_numbers_were_taken_before_can_be_answered_and_stopped_after(
    before: Before,
) -> None:
    with before.open() as old:
        old.start(plain(), run_id="answered")
        old.start(plain(), run_id="stopped")
    before.execute(AHEAD)
    migrate(before.owner)
    with RunStore.open(before.app) as store:
        assert to_the_end(store, "answered") == "completed"
        assert store.stop("stopped", by="ann").status == "stopped"
        told = store.told("stopped")
        assert (told[-1].name, told[-1].seq - told[-2].seq) == ("stopped", 1)


def test_calls_of_before_read_as_they_were(before: Before) -> None:
    with before.open() as old:
        old.start(plain(DOWN), run_id="failed")
        old.answer("failed", "first", ANN)
        was: list[EffectRecord] = [*old.effects("failed").items]
    migrate(before.owner)
    with RunStore.open(before.app) as store:
        assert [*store.effects("failed").items] == was


def test_two_migrations_at_once_make_it_once(before: Before) -> None:
    together, done = threading.Barrier(2), []

    def make() -> None:
        together.wait()
        done.append(migrate(before.owner).applied)

    threads = [threading.Thread(target=make) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(done) == 2
    made = before.execute("select version from oasflow.schema_versions order by version")
    assert [row[0] for row in made] == [version for version, _ in migrations()]
    with RunStore.open(before.app) as store:
        store.start(plain(), run_id="r1")
        assert to_the_end(store, "r1") == "completed"
