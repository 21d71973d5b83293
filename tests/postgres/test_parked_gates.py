"""Runs that were parked before gates had rows: migration 010 over a database of 009 with rows."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Json

from cinatra_sdk import Decision, RunStore, SimulatedPlatform
from cinatra_sdk.activations import advance
from cinatra_sdk.langgraph_threads.serializer import STRICT_SERIALIZER
from cinatra_sdk.postgres import migration, role_rights
from cinatra_sdk.postgres.connection import Rows, connect, migrations
from cinatra_sdk.postgres.migration import migrate
from oas_compiler import compile_flow
from tests.databases import Databases
from tests.flows import api, end, flow_of, gate, start

FLOW = flow_of(start(), gate("ok"), api("send"), end())
MANY = 1_200


AFTER_009 = tuple(version for version, _ in migrations()[9:])


@pytest.fixture
def at_009(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The owner's DSN of a database as 009 left it, with its runs."""
    name = make_conninfo(databases.take())
    dsn = databases.as_owner(name)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("drop schema oasflow cascade")
    with monkeypatch.context() as before:
        for module in (migration, role_rights):
            before.setattr(module, "migrations", lambda: migrations()[:9])
        migrate(dsn)
    with connect(dsn) as connection:
        _park(connection)
    yield dsn
    databases.drop(name)


def _park(connection: Rows) -> None:
    """`r1` with its real checkpoints, and rows as runs of 009 left them."""
    flow = compile_flow(FLOW, platform=SimulatedPlatform())
    graph = flow.graph(PostgresSaver(connection, serde=STRICT_SERIALIZER))
    stop = advance(
        graph, flow.input(), flow.config(run_id="r1"), context=flow.context(run_id="r1"),
        answer=lambda _: None,
    )  # fmt: skip
    (asked,) = stop.gates
    sound = asked.to_json()
    connection.execute(
        "insert into flows (digest, name, file, source) values (%s, %s, '', %s)",
        [flow.digest, flow.name, flow.source],
    )
    stored: dict[str, tuple[str, Any]] = {
        "r1": ("waiting", [sound]),
        "decided": ("waiting", [sound]),
        "damaged": ("waiting", [sound, {}, 7]),
        "no list": ("waiting", {"a": 1}),
        "over": ("completed", [sound]),
        "failed": ("failed", []),
    }
    for run_id, (status, waiting) in stored.items():
        _insert_run(connection, flow, run_id, status, waiting)
    connection.execute(
        "insert into runs (run_id, digest, status, input, lowering, platform, waiting)"
        " select 'm' || n, digest, 'waiting', input, lowering, platform, waiting"
        " from runs, generate_series(1, %s) as n where run_id = 'r1'",
        [MANY],
    )
    connection.execute(
        "insert into decisions (run_id, tenant, gate_id, node, visit, step, kind, answer, decided_by,"
        " payload_sha256, policy_sha256) values"
        " ('decided', 'acme', 'ok', 'ok', 1, 1, 'approved', '{\"approved\": true}', 'ann', %s, 'p')",
        [_hash_as_009(asked.payload)],
    )


def _insert_run(connection: Rows, flow: Any, run_id: str, status: str, waiting: Any) -> None:
    connection.execute(
        "insert into runs (run_id, tenant, digest, status, input, lowering, platform, waiting, fence,"
        " attempts) values (%s, 'acme', %s, %s, %s, %s, %s, %s, 3, 3)",
        [run_id, flow.digest, status, Json(flow.input()), flow.lowering,
         Json(flow.platform.describe()), Json(waiting)],
    )  # fmt: skip


def _hash_as_009(payload: Any) -> str:
    """What 009 hashed, spelled out: decisions of before must fit the rows of after."""
    shown = json.dumps(payload, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(shown.encode()).hexdigest()


def _fetch(dsn: str, question: Any) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn, options="-c search_path=oasflow") as connection:
        return connection.execute(question).fetchall()


def test_every_gate_that_waits_gets_its_row(at_009: str) -> None:
    runs = "select json_agg(to_jsonb(r) order by run_id) from (select run_id, status, waiting::text, updated_at from runs) r"
    before = _fetch(at_009, runs)
    assert migrate(at_009).applied == AFTER_009
    assert _fetch(at_009, runs) == before
    rows = _fetch(
        at_009,
        "select run_id, gate_id, state, node, fence from gates where run_id !~ '^m' order by 1, 2",
    )
    assert rows == [
        ("damaged", "ok", "open", "ok", 3),
        ("damaged", "waiting[1]", "open", "", 3),
        ("damaged", "waiting[2]", "open", "", 3),
        ("decided", "ok", "decided", "ok", 3),
        ("no list", "waiting", "open", "", 3),
        ("r1", "ok", "open", "ok", 3),
    ]
    assert _fetch(at_009, "select count(*) from gates where run_id ~ '^m' and state = 'open'") == [
        (MANY,)
    ]
    assert _fetch(at_009, "select count(*) from runs r where not exists (select from work w where w.run_id = r.run_id)") == [(0,)]  # fmt: skip


def test_the_rows_of_a_gate_are_what_the_run_had_kept(at_009: str) -> None:
    migrate(at_009)
    ((kept, tenant, sha, payload, schema, interrupt, opened),) = _fetch(
        at_009,
        "select r.waiting->0, g.tenant, g.payload_sha256, g.payload, g.response_schema, g.interrupt,"
        " g.opened_at = r.updated_at from gates g join runs r using (run_id) where run_id = 'r1'",
    )
    assert kept == {"payload": payload, "response_schema": schema, "interrupt": interrupt}
    assert (tenant, sha, opened) == ("acme", _hash_as_009(payload), True)


def test_a_parked_run_of_before_takes_its_answer_and_goes_on(at_009: str) -> None:
    migrate(at_009)
    with RunStore.open(at_009) as store:
        run = store.answer("r1", "ok", Decision.approve(by="ann"), tenant="acme")
        assert run.status == "completed"


def test_a_migration_that_is_interrupted_leaves_the_database_as_it_was(
    at_009: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_off(*_args: Any, **_more: Any) -> Any:
        raise RuntimeError("broken off")

    with monkeypatch.context() as patch:
        patch.setattr(migration, "_build_row", break_off)
        with pytest.raises(RuntimeError):
            migrate(at_009)
    assert _fetch(at_009, "select to_regclass('oasflow.gates') is null") == [(True,)]
    assert migrate(at_009).applied == AFTER_009
