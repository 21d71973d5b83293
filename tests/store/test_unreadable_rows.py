"""Rows of calls, decisions, settlements and objects that cannot be read: each is told, none hides another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.host.passthrough.host_tools import show
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.artifacts.object_store import ObjectContent, SavedObjects
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, start

FLOW = flow_of(start(), api("send"), gate("ok"), end())
DEEP = "[" * 5000 + "]" * 5000


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        opened.start(compile_flow(FLOW, platform=SimulatedPlatform()), {}, "r1")
        yield opened


@pytest.fixture
def rows(fresh_database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(fresh_database, autocommit=True, options="-c search_path=oasflow") as made:
        yield made


def begin(rows: psycopg.Connection[Any], key: str) -> None:
    rows.execute(
        "insert into effects (run_id, key, kind, status) values ('r1', %s, 'http', 'begun')", [key]
    )


@pytest.mark.parametrize("junk", ["[1]", "7", '"x"', "1" * 5000, DEEP], ids=lambda junk: junk[:5])
@pytest.mark.parametrize("column", ["usage", "error"])
def test_a_call_whose_record_is_no_object_is_told_without_it(
    store: RunStore, rows: psycopg.Connection[Any], column: str, junk: str
) -> None:
    begin(rows, "bad")
    set_it: Any = f"update effects set status = 'failed', {column} = %s where key = 'bad'"
    rows.execute(set_it, [junk])
    found = {one.key: one for one in store.effects("r1").items}
    assert len(found) == 2
    assert getattr(found["bad"], column) == {}
    assert found["bad"].unreadable == (f"{column}: it is of another form",)
    json.dumps([one.to_json() for one in found.values()])
    assert store.usage("r1") is not None


@pytest.mark.parametrize("junk", ["[1]", "7", "1" * 5000], ids=lambda junk: junk[:5])
def test_an_unknown_call_and_its_settlement_are_told_without_what_cannot_be_read(
    store: RunStore, rows: psycopg.Connection[Any], junk: str
) -> None:
    for key in ("bad", "good"):
        begin(rows, key)
    rows.execute("update effects set status = 'unknown', error = %s where key = 'bad'", [junk])
    rows.execute("update effects set status = 'unknown' where key = 'good'")
    told = {one.key: one.unreadable for one in store.unknown("r1")}
    assert told == {"bad": ("error: it is of another form",), "good": ()}
    with rows.transaction():
        rows.execute("update effects set status = 'done', result = %s where key = 'bad'", [junk])
        rows.execute(
            "insert into settlements (run_id, key, attempts, happened, result, settled_by)"
            " values ('r1', 'bad', 1, true, %s, 'ann')",
            [junk],
        )
    (word,) = store.settlements("r1")
    assert (word.value, word.unreadable) == (None, ("result: it is of another form",))
    json.dumps(word.to_json())


@pytest.mark.parametrize("junk", ["[1]", "7", '"yes"', "1" * 5000, DEEP], ids=lambda junk: junk[:5])
def test_a_decision_whose_answer_is_no_object_is_told_without_it(
    store: RunStore, rows: psycopg.Connection[Any], junk: str
) -> None:
    rows.execute(
        "insert into gates (run_id, gate_id, payload_sha256, node, visit, step, interrupt, payload,"
        " response_schema) values ('r1', 'other', 'x', 'n', 1, 1, 'i', '{}', '{}')"
    )
    rows.execute(
        "insert into decisions (run_id, gate_id, node, visit, step, kind, answer, decided_by,"
        " payload_sha256, policy_sha256) values ('r1', 'other', 'n', 1, 1, 'approved', %s, 'eve', 'x', 'q')",
        [junk],
    )
    store.decide("r1", "ok", Decision.approve(by="ann"))
    told = {one.gate_id: one for one in store.decisions("r1")}
    assert set(told) == {"other", "ok"}
    assert (told["other"].answer, told["other"].unreadable) == (
        {},
        ("answer: it is of another form",),
    )
    json.dumps([one.to_json() for one in told.values()])
    assert told["ok"].unreadable == ()
    assert "unreadable" not in dict(told["ok"])


def test_an_object_whose_data_are_not_what_its_type_says_is_listed_beside_the_others(
    store: RunStore,
) -> None:
    objects = SavedObjects(store.database)
    objects.save(ObjectContent.of_json("@x/draft", {"a": 1}), org_id="acme", run_id="r1")
    broken = ObjectContent(type="@x/draft", mime="application/json", content=b"\xff{")
    objects.save(broken, org_id="acme", run_id="r1")
    told = [show(one) for one in objects.of_run("r1", org_id="acme")]
    assert [one["rawData"] for one in told] == [None, {"a": 1}]
    assert ["unreadable" in one for one in told] == [True, False]


def test_a_run_that_cannot_be_read_does_not_stop_the_sweep(
    store: RunStore, rows: psycopg.Connection[Any]
) -> None:
    for name in ("bad", "good"):
        store.create(compile_flow(FLOW, platform=SimulatedPlatform()), {}, name)
    for column, junk in (("messages", "7"), ("error", DEEP), ("outputs", "1" * 5000)):
        set_it: Any = f"update runs set {column} = %s where run_id = 'bad'"
        rows.execute(set_it, [junk])
    swept = {one.run_id: one for one in store.sweep(grace=0)}
    assert set(swept) == {"bad", "good"}
    assert store.get("good").status == "waiting"
