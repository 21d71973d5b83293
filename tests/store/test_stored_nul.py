"""JSON with a character that PostgreSQL takes out of no JSON: one such row hides no other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from cinatra_sdk import Decision, RunEnded, RunStore
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.health import examine
from oas_compiler import Flow, compile_flow
from tests.flows import api, end, flow_of, gate, start

NUL = r"\u0000"
HALF = r"\ud800"
FAILED = "update runs set status = 'failed', retry_at = null, error = %s where run_id = 'bad'"
UNKNOWN = "update effects set status = 'unknown', error = %s where run_id = 'bad'"
COLUMNS = ("payload", "response_schema")
GATE = "run_id, tenant, node, visit, step, interrupt"


def flow() -> Flow:
    described = flow_of(start(), gate("ok", riskClass="send_external_message"), api("send"), end())
    return compile_flow(described, platform=SimulatedPlatform())


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    """Two runs that wait at a gate."""
    with RunStore.open(fresh_database) as opened:
        for name in ("bad", "good"):
            opened.start(flow(), run_id=name)
        yield opened


@pytest.fixture
def rows(fresh_database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(fresh_database, autocommit=True, options="-c search_path=oasflow") as made:
        yield made


def fail(rows: psycopg.Connection[Any], error: str) -> None:
    rows.execute("update gates set state = 'closed' where run_id = 'bad'")
    rows.execute(FAILED, [error])


def lose_call(rows: psycopg.Connection[Any], error: str) -> None:
    rows.execute("update gates set state = 'closed' where run_id = 'bad'")
    rows.execute(
        "insert into effects (run_id, key, kind, capability, status)"
        " values ('bad', 'k', 'http', 'POST', 'begun')"
    )
    rows.execute(UNKNOWN, [error])


def show(rows: psycopg.Connection[Any], payload: str, schema: str) -> None:
    """Another gate of the run, with something put into what it shows."""
    added: Any = (
        f"insert into gates (gate_id, payload_sha256, payload, response_schema, {GATE})"
        f" select 'odd', 'z', ({payload})::json, ({schema})::json, {GATE}"
        "  from gates where run_id = 'bad'"
    )
    rows.execute(added)


def put(column: str, junk: str) -> str:
    """The column's JSON with one member more, as SQL."""
    return f"""overlay({column}::text placing '{{"junk": "{junk}", ' from 1 for 1)"""


@pytest.mark.parametrize("junk", [NUL, HALF])
@pytest.mark.parametrize("place", ["message", "code", "junk"])
def test_an_error_hides_nothing_that_needs_a_person(
    store: RunStore, rows: psycopg.Connection[Any], fresh_database: str, place: str, junk: str
) -> None:
    fail(rows, f'{{"code": "x", "{place}": "a{junk}b"}}')
    assert {need.run_id for need in store.needs().items} == {"bad", "good"}
    assert [need.run_id for need in store.needs(kind="failed").items] == ["bad"]
    assert [one.run_id for one in store.gates().items] == ["good"]
    assert {run.id for run in store.list()} == {"bad", "good"}
    assert examine(fresh_database).dead_letters_total == 1
    first = store.needs(limit=1)
    second = store.needs(limit=1, after=first.next)
    assert {need.run_id for need in (*first.items, *second.items)} == {"bad", "good"}
    assert store.sweep(grace=0) == []


@pytest.mark.parametrize("junk", [NUL, HALF])
@pytest.mark.parametrize("column", COLUMNS)
def test_what_a_gate_shows_hides_no_other_gate(
    store: RunStore, rows: psycopg.Connection[Any], column: str, junk: str
) -> None:
    shown = {name: put(name, junk) if name == column else name for name in COLUMNS}
    show(rows, *shown.values())
    for listed in (store.gates(), store.needs()):
        told = {one.run_id for one in listed.items} | {one.run_id for one in listed.unreadable}
        assert told == {"bad", "good"}
        assert len(listed.items) + len(listed.unreadable) == 3
    for wanted in ({"risk": "send_external_message"}, {"text": "ok"}, {"step": 1}):
        assert "good" in {one.run_id for one in store.gates(**wanted).items}  # type: ignore[arg-type]
        assert "good" in {one.run_id for one in store.needs(**wanted).items}  # type: ignore[arg-type]
    assert {run.id for run in store.list()} == {"bad", "good"}
    assert store.answer("good", "ok", Decision.approve(by="ann")).status == "completed"


@pytest.mark.parametrize(
    "junk", [f'{{"code": "x", "message": "{NUL}"}}', "1" * 5000, "[" * 5000 + "]" * 5000],
    ids=["nul", "digits", "depth"],
)  # fmt: skip
def test_a_call_of_which_nobody_knows_hides_no_other(
    store: RunStore, rows: psycopg.Connection[Any], fresh_database: str, junk: str
) -> None:
    lose_call(rows, junk)
    assert {need.run_id for need in store.needs().items} == {"bad", "good"}
    assert [one.run_id for one in examine(fresh_database).calls] == ["bad"]


def test_a_call_is_settled_whatever_the_error_of_its_run_holds(
    store: RunStore, rows: psycopg.Connection[Any]
) -> None:
    lose_call(rows, "{}")
    rows.execute(
        "update runs set error = %s where run_id = 'bad'",
        [f'{{"code": "effect_unknown", "message": "{NUL}"}}'],
    )
    store.settle("bad", "k", happened=False, by="ann")
    assert store.unknown("bad") == []


def test_an_answer_hides_no_decision(store: RunStore, rows: psycopg.Connection[Any]) -> None:
    show(rows, "payload", "response_schema")
    rows.execute(
        "insert into decisions (run_id, gate_id, node, visit, step, kind, answer, decided_by,"
        " payload_sha256, policy_sha256) select run_id, gate_id, node, visit, step, 'approved',"
        " %s, 'eve', payload_sha256, 'q' from gates where gate_id = 'odd'",
        [f'{{"junk": "{NUL}"}}'],
    )
    store.decide("bad", "ok", Decision.approve(by="ann"))
    assert {one.gate_id for one in store.decisions("bad")} == {"odd", "ok"}
    assert {run.id for run in store.list()} == {"bad", "good"}
    assert "good" in {one.run_id for one in store.gates().items}


def test_a_record_with_such_a_character_is_refused(
    store: RunStore, rows: psycopg.Connection[Any]
) -> None:
    with pytest.raises(psycopg.DataError):
        rows.execute(
            "insert into decision_records (run_id, seq, tenant, record_id, status, run_status,"
            " record, record_hash, transcript) values ('bad', 1, '', 'dr_bad_1', 'IN_FLIGHT',"
            " 'waiting', %s, 'sha256:' || repeat('1', 64), '{}')",
            [f'{{"record_id": "dr_bad_1", "junk": "{NUL}"}}'],
        )
    assert store.get("bad").status == "waiting"


@pytest.mark.parametrize("end", ["stop", "reject"])
def test_no_child_begins_under_a_run_that_its_process_still_has(
    store: RunStore, rows: psycopg.Connection[Any], end: str
) -> None:
    rows.execute(
        "update work set worker = 'w', lease_until = clock_timestamp() + interval '10 minutes'"
        " where run_id = 'bad'"
    )
    if end == "stop":
        store.stop("bad", by="ann")
    else:
        rows.execute("update runs set status = 'rejected' where run_id = 'bad'")
    with pytest.raises(RunEnded, match="run 'bad' is"):
        store.create(flow(), run_id="child", parent="bad")
    assert {run.id for run in store.list()} == {"bad", "good"}
