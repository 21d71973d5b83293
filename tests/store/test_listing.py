"""Finding runs: by who started them, by flow, by age; each with an index."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cinatra_sdk import AnswerInvalid, Decision, RunStore
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.postgres.connection import QUERIES
from cinatra_sdk.store.lists.list_filters import LIST_OF, RUN_ORDERS, read_conditions
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, start


@pytest.fixture
def store(fresh_database: str) -> Any:
    with RunStore.open(fresh_database) as opened:
        yield opened


def named(name: str) -> Any:
    flow = flow_of(start(), gate("ok"), end())
    return compile_flow({**flow, "name": name}, platform=SimulatedPlatform())


def ids(runs: Any) -> list[str]:
    return sorted(run.id for run in runs)


def test_who_starts_a_run_is_kept_as_names_are(store: RunStore) -> None:
    assert store.start(named("A"), run_id="r1", by="  Jose\u0301 ").started_by == "José"
    assert store.start(named("A"), run_id="r2").started_by == ""
    with pytest.raises(AnswerInvalid, match="U\\+200B"):
        store.start(named("A"), run_id="r3", by="ann\u200b")
    assert ids(store.list()) == ["r1", "r2"]


def test_nobody_who_runs_flows_changes_who_started_one(
    store: RunStore, fresh_database: str
) -> None:
    store.start(named("A"), run_id="r1", by="ann")
    with (
        psycopg.connect(fresh_database, options="-c search_path=oasflow") as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute("update runs set started_by = 'bob'")


def test_runs_are_found_by_flow_and_by_who_started_them(store: RunStore) -> None:
    for number, (flow, by) in enumerate([("A", "ann"), ("A", "bob"), ("B", "ann")]):
        store.start(named(flow), run_id=f"r{number}", by=by, tenant="acme" if number else "")
    assert ids(store.list(flow="A")) == ["r0", "r1"]
    assert ids(store.list(started_by="ann")) == ["r0", "r2"]
    assert ids(store.list(flow="A", started_by="ann", status="waiting")) == ["r0"]
    assert ids(store.list(flow="A", tenant="acme")) == ["r1"]
    assert ids(store.list(flow="C")) == []
    assert store.flow_names() == ["A", "B"]


def aged(owner: str, digest: str, **ages: str) -> None:
    """Waiting runs that have not changed since then."""
    with psycopg.connect(owner, options="-c search_path=oasflow") as connection:
        for name, age in ages.items():
            connection.execute(
                "insert into runs (run_id, digest, status, input, lowering, updated_at)"
                " values (%s, %s, 'waiting', '{}', 1, now() - %s::interval)",
                (name, digest, age),
            )


def test_runs_are_found_by_how_long_they_have_not_changed(
    store: RunStore, owner_database: str
) -> None:
    digest = store.start(named("A"), run_id="now").digest
    aged(owner_database, digest, hour="61 minutes", day="25 hours")
    assert ids(store.list(older_than=timedelta(hours=1))) == ["day", "hour"]
    assert ids(store.list(newer_than=timedelta(hours=1))) == ["now"]
    assert ids(store.list(older_than=timedelta(hours=1), newer_than=timedelta(days=1))) == ["hour"]


async def _alist(store: RunStore) -> Any:
    return await store.alist(flow="A", limit=1)


def test_the_async_twin_takes_the_same_conditions(store: RunStore) -> None:
    import asyncio

    for name in ("r1", "r2"):
        store.start(named("A"), run_id=name)
    assert ids(asyncio.run(_alist(store))) == ["r2"]


MANY = """
insert into flows (digest, name, source)
    select encode(sha256(convert_to(n::text, 'UTF8')), 'hex'), 'flow ' || n, convert_to(n::text, 'UTF8')
    from generate_series(1, 200) n;
insert into runs (run_id, digest, status, tenant, started_by, input, lowering, updated_at)
    select 'run ' || n, encode(sha256(convert_to((n % 200 + 1)::text, 'UTF8')), 'hex'),
           case when n % 100 = 0 then 'waiting' else 'completed' end, 'tenant ' || n % 100,
           'person ' || n % 100, '{}', 1, now() - n * interval '1 minute'
    from generate_series(1, 20000) n;
analyze flows;
analyze runs;
analyze rests;
"""


def scans(plan: Any) -> Any:
    """How each table is read, with what it is read by."""
    if plan["Node Type"].endswith("Scan"):
        yield plan.get("Relation Name"), plan["Node Type"]
    for part in plan.get("Plans", ()):
        yield from scans(part)


@pytest.mark.parametrize("order", RUN_ORDERS)
@pytest.mark.parametrize(
    "wanted",
    [
        {}, {"status": "waiting"}, {"status": ["waiting", "failed", "running"]},
        {"run_ids": ["run 5", "run 7", "none"]}, {"tenant": "tenant 7"}, {"started_by": "person 7"},
        {"flow": "flow 7"}, {"status": "waiting", "older_than": timedelta(days=13)},
        {"flow": "flow 7", "started_by": "person 6", "newer_than": timedelta(days=2)},
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_condition_reads_all_runs(
    fresh_database: str, owner_database: str, wanted: Any, order: Any
) -> None:
    with psycopg.connect(owner_database, options="-c search_path=oasflow") as owner:
        owner.execute(MANY)
    given = {**read_conditions(wanted), "limit": 100, "after_at": None, "after_run": ""}
    with psycopg.connect(fresh_database, options="-c search_path=oasflow") as connection:
        row = connection.execute(
            "explain (format json) " + QUERIES[LIST_OF[order]], given
        ).fetchone()
    assert row is not None
    plan = row[0][0]["Plan"]
    of_runs = [kind for table, kind in scans(plan) if table == "runs"]
    assert of_runs
    assert "Seq Scan" not in of_runs, json.dumps(plan, indent=1)


def write_flow(folder: Path, name: str) -> str:
    folder.mkdir()
    (folder / name).write_text(json.dumps(flow_of(start(), gate("ok"), end())), "utf-8")
    return name


def test_each_run_names_the_file_that_it_was_started_from_absolute_and_for_good(
    store: RunStore, fresh_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("one", "other"):
        typed = write_flow(tmp_path / folder, "flow.json")
        monkeypatch.chdir(tmp_path / folder)
        store.start(compile_flow(typed, platform=SimulatedPlatform()), run_id=folder)
    shutil.rmtree(tmp_path / "one")  # the name is for people: nothing opens the file again
    assert store.get("one").file == str(tmp_path / "one/flow.json")
    assert store.get("other").file == str(tmp_path / "other/flow.json")
    assert store.answer("one", "ok", Decision.approve(by="ann")).status == "completed"
    assert store.start(named("A"), run_id="of no file").file == ""
    with (
        psycopg.connect(fresh_database, options="-c search_path=oasflow") as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute("update runs set file = '/etc/passwd'")


def test_a_run_of_before_shows_the_file_of_its_flow(
    store: RunStore, owner_database: str, tmp_path: Path
) -> None:
    typed = str(tmp_path / "a" / write_flow(tmp_path / "a", "flow.json"))
    store.start(compile_flow(typed, platform=SimulatedPlatform()), run_id="r1")
    with psycopg.connect(owner_database, options="-c search_path=oasflow") as connection:
        connection.execute("update runs set file = null")
    assert store.get("r1").file == typed


def test_a_file_whose_name_is_no_text_does_not_keep_a_run_from_starting(
    store: RunStore, tmp_path: Path
) -> None:
    typed = str(tmp_path / "a" / write_flow(tmp_path / "a", "caf\udce9.json"))
    run = store.start(compile_flow(typed, platform=SimulatedPlatform()), run_id="r1")
    assert run.file == str(tmp_path / "a/caf?.json")
