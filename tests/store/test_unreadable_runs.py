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
from cinatra_sdk.platform import SimulatedPlatform
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, start

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


WAITING = "update runs set waiting = %s where run_id = 'r1'"


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
    damaged(fresh_database, WAITING, [sound, without(sound, "payload"), 7])
    runs = {run.id: run for run in store.list()}
    assert runs["r2"].unreadable == ()
    broken = runs["r1"]
    assert (broken.status, [gate.id for gate in broken.waiting]) == ("waiting", ["ok"])
    assert broken.unreadable == (
        'waiting[1]: it has no "payload"',
        "waiting[2]: it is no object, got integer",
    )
    assert store.get("r1") == broken


@pytest.mark.parametrize("waiting", [None, 7, "x", {"a": 1}], ids=repr)
def test_gates_that_are_no_list_are_said_to_be_none(
    store: RunStore, fresh_database: str, waiting: Any
) -> None:
    damaged(fresh_database, WAITING, waiting)
    assert [run.unreadable for run in store.list() if run.id == "r1"] == [
        ("waiting: it is no list",)
    ]


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
    damaged(fresh_database, WAITING, [{}, *_waiting(store)])
    assert store.answer("r1", "ok", ANN).status == "completed"


def test_an_answer_to_a_gate_that_cannot_be_read_says_so_and_is_not_recorded(
    store: RunStore, fresh_database: str, sound: Any
) -> None:
    damaged(fresh_database, WAITING, [{}])
    with pytest.raises(GateUnreadable, match=r'run \'r1\': waiting\[0\]: it has no "payload"'):
        store.answer("r1", "ok", ANN)
    assert store.decisions("r1") == []


def test_resuming_a_run_writes_what_waits_again_from_its_checkpoint(
    store: RunStore, fresh_database: str
) -> None:
    before = store.get("r1").waiting
    damaged(fresh_database, WAITING, [{}])
    run = store.resume("r1")
    assert (run.status, run.waiting, run.unreadable) == ("waiting", before, ())
    assert store.answer("r1", "ok", ANN).status == "completed"


def test_a_run_whose_checkpoint_holds_a_gate_of_another_form_fails_and_says_why(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(*_: object) -> Any:
        raise GateUnreadable('it has no "innerSchema"')

    with monkeypatch.context() as newer:
        newer.setattr("cinatra_sdk.advancing.gates_of", other)
        run = store.resume("r1")
    assert run.status == "failed"
    assert run.error == {
        "code": "gate_unreadable", "message": 'it has no "innerSchema"', "node": "",
    }  # fmt: skip
    assert store.resume("r1").status == "waiting"
    assert store.stop("r1").status == "stopped"


def _waiting(store: RunStore) -> Any:
    with store.database.connection() as connection:
        row = connection.execute("select waiting from runs where run_id = 'r1'").fetchone()
    assert row is not None
    return row["waiting"]
