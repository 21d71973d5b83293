"""Rows that cannot be read: damaged, of another version, or written by somebody else."""

from __future__ import annotations

import copy
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.types.json import Json

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import GateUnreadable
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, start
from tests.store.damage import PROBLEM, UNREADABLE, damage_gates

FLOW = flow_of(start(), gate("ok"), api("send"), end())
ANN = Decision.approve(by="ann")


@pytest.fixture
def store(fresh_database: str) -> Any:
    """Two runs that wait."""
    with RunStore.open(fresh_database) as opened:
        for name in ("r1", "r2"):
            opened.start(compile_flow(FLOW, platform=SimulatedPlatform()), run_id=name)
        yield opened


@pytest.fixture(scope="module")
def sound() -> Any:
    """The JSON of the gate of `FLOW`."""
    return drive(compile_flow(FLOW), answers={}).gates[0].to_json()


def damaged(dsn: str, statement: LiteralString, value: Any) -> None:
    """As the role that runs flows may, and as a version before may have left it."""
    with psycopg.connect(dsn, autocommit=True, options="-c search_path=oasflow") as connection:
        connection.execute(statement, [Json(value)])


def without(gate_json: Any, *path: str) -> Any:
    made = copy.deepcopy(gate_json)
    inside = made
    for key in path[:-1]:
        inside = inside[key]
    del inside[path[-1]]
    return made


def changed(gate_json: Any, value: Any, *path: str) -> Any:
    made = copy.deepcopy(gate_json)
    inside = made
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return made


ABOUT = ("response_schema", "x-gate")
PLACES = (
    ("interrupt",), ("payload",), ("response_schema",), ABOUT,
    *((*ABOUT, key) for key in ("id", "node", "visit", "step", "risk", "name", "output", "textOutput",
                               "answerSchema", "outputSchema", "innerSchema")),
    *(("payload", key) for key in ("xRenderer", "schema", "values")),
)  # fmt: skip


@pytest.mark.parametrize("path", PLACES, ids=lambda path: path[-1])
def test_a_gate_that_lacks_something_is_refused_with_its_name(
    sound: Any, path: tuple[str, ...]
) -> None:
    assert Gate.from_json(sound).id == "ok"
    with pytest.raises(GateUnreadable, match=f'has no "{path[-1]}"'):
        Gate.from_json(without(sound, *path))


@pytest.mark.parametrize("path", PLACES, ids=lambda path: path[-1])
@pytest.mark.parametrize("value", [1.5, []], ids=repr)
def test_a_gate_of_another_form_is_refused_with_what_is_wrong(
    sound: Any, path: tuple[str, ...], value: Any
) -> None:
    with pytest.raises(GateUnreadable, match=f'"{path[-1]}"'):
        Gate.from_json(changed(sound, value, *path))


@pytest.mark.parametrize("path", [(*ABOUT, "visit"), (*ABOUT, "step")], ids=lambda path: path[-1])
def test_true_is_no_number_of_a_gate(sound: Any, path: tuple[str, ...]) -> None:
    with pytest.raises(GateUnreadable, match="is of type boolean"):
        Gate.from_json(changed(sound, True, *path))


@pytest.mark.parametrize("text", ["{", "[]", "7", "[" * 5000], ids=["{", "[]", "7", "deep"])
def test_a_schema_that_is_no_object_is_refused(sound: Any, text: str) -> None:
    with pytest.raises(GateUnreadable, match='"answerSchema" is not the text of a JSON object'):
        Gate.from_json(changed(sound, text, *ABOUT, "answerSchema"))


def test_a_run_whose_gate_cannot_be_read_is_listed_with_the_others_and_says_what_is_wrong(
    store: RunStore, fresh_database: str, sound: Any
) -> None:
    lacking = {"payload": sound["payload"], "response_schema": {}}
    damage_gates(fresh_database, "r1", UNREADABLE, lacking, beside=True)
    runs = {run.id: run for run in store.list()}
    assert runs["r2"].unreadable == ()
    broken = runs["r1"]
    assert (broken.status, [gate.id for gate in broken.waiting]) == ("waiting", ["ok"])
    assert broken.unreadable == (
        f"gate 'bad0': {PROBLEM}",
        "gate 'bad1': its response_schema has no \"x-gate\"",
    )
    assert store.get("r1") == broken


@pytest.mark.parametrize("payload", [7, "x", [{}]], ids=repr)
def test_a_payload_that_is_no_object_is_said_to_be_none(
    store: RunStore, fresh_database: str, payload: Any
) -> None:
    damage_gates(fresh_database, "r1", {"payload": payload, "response_schema": {}})
    ((problem,),) = [run.unreadable for run in store.list() if run.id == "r1"]
    assert problem.startswith("gate 'bad0': its \"payload\" is of type ")


@pytest.mark.parametrize("column", ["messages", "error", "outputs"])
def test_another_column_that_cannot_be_read_is_left_out_and_named(
    store: RunStore, fresh_database: str, column: str
) -> None:
    statements: dict[str, LiteralString] = {
        "messages": "update runs set messages = %s",
        "error": "update runs set error = %s",
        "outputs": "update runs set outputs = %s",
    }
    damaged(fresh_database, statements[column], ["x"])
    assert {run.unreadable for run in store.list()} == {(f"{column}: it is of another form",)}


def test_a_gate_beside_one_that_cannot_be_read_takes_its_answer(
    store: RunStore, fresh_database: str, sound: Any
) -> None:
    damage_gates(fresh_database, "r1", UNREADABLE, beside=True)
    assert store.answer("r1", "ok", ANN).status == "completed"


def test_an_answer_to_a_gate_that_cannot_be_read_says_so_and_is_not_recorded(
    store: RunStore, fresh_database: str, sound: Any
) -> None:
    damage_gates(fresh_database, "r1", UNREADABLE)
    with pytest.raises(GateUnreadable, match=f"run 'r1': gate 'bad0': {PROBLEM}"):
        store.answer("r1", "ok", ANN)
    assert store.decisions("r1") == []


def test_resuming_a_run_writes_what_waits_again_from_its_checkpoint(
    store: RunStore, fresh_database: str
) -> None:
    before = store.get("r1").waiting
    damage_gates(fresh_database, "r1", UNREADABLE)
    run = store.resume("r1")
    assert (run.status, run.waiting, run.unreadable) == ("waiting", before, ())
    assert store.answer("r1", "ok", ANN).status == "completed"


def test_a_run_whose_checkpoint_holds_a_gate_of_another_form_fails_and_says_why(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(*_: object) -> Any:
        raise GateUnreadable('it has no "innerSchema"')

    with monkeypatch.context() as newer:
        newer.setattr("cinatra_sdk.activations.gates_of", other)
        run = store.resume("r1")
    assert run.status == "failed"
    assert run.error == {
        "code": "gate_unreadable", "message": 'it has no "innerSchema"', "node": "",
    }  # fmt: skip
    assert store.resume("r1").status == "waiting"
    assert store.stop("r1").status == "stopped"


@pytest.mark.parametrize(
    ("place", "value"),
    [("id", "1" * 5000), ("answerSchema", '{"minimum": ' + "1" * 5000 + "}")],
    ids=["id", "answerSchema"],
)
def test_a_gate_with_a_number_of_thousands_of_digits_hides_no_other(
    store: RunStore, fresh_database: str, sound: Any, place: str, value: str
) -> None:
    damage_gates(fresh_database, "r1", changed(sound, value, *ABOUT, place), beside=True)
    assert {run.id for run in store.list()} == {"r1", "r2"}
    assert {"r1", "r2"} <= {one.run_id for one in store.gates().items}
    assert store.answer("r2", "ok", ANN).status == "completed"


@pytest.mark.parametrize("data", ["[1]", '"x"', "null", "7", "1" * 5000], ids=lambda data: data[:9])
def test_an_event_whose_data_is_no_object_is_told_without_it(
    store: RunStore, fresh_database: str, data: str
) -> None:
    before = store.told("r1")
    with psycopg.connect(fresh_database, autocommit=True, options="-c search_path=oasflow") as rows:
        rows.execute(
            "insert into run_events (run_id, seq, kind, data) values ('r1', 99, 'run', %s)", [data]
        )
    *told, last = store.told("r1")
    assert told == before
    assert (last.seq, last.data) == (len(before) + 1, {})  # the database gives the number


def test_moments_that_python_has_none_of_are_the_nearest_ones(
    store: RunStore, fresh_database: str
) -> None:
    for moment, year in (("infinity", 9999), ("-infinity", 2), ("4000-01-01 BC", 2)):
        with psycopg.connect(fresh_database, autocommit=True) as rows:
            rows.execute(
                "update oasflow.runs set retry_at = %s::timestamptz where run_id = 'r1'", [moment]
            )
        retry_at = store.get("r1").retry_at
        assert retry_at is not None
        assert retry_at.year == year
