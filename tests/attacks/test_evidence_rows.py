"""Rows that an attacker with the address of the runs adds, changes or takes in advance.

The database holds runs in every state that matters: `r1` waits, `gov` waits and is governed, `done`
has completed, `refused` was rejected, `halted` was stopped, `late` was stopped while a process has it,
`old` is archived, `other` is another tenant's.  Each has gates, events and calls.  Every row of every
table of evidence is compared before and after, as the server's superuser sees it.

`while:` says how a person ends `r1` while the attacker's statement waits for it.
`then:` says what people do afterwards with a run of their own, `victim`, into which the attacker wrote.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, cast

import psycopg
import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import FlowError
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.health import examine
from oas_compiler import compile_flow
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, require_start, tests_of
from tests.databases import Databases
from tests.flows import api, end, flow_of, gate, start

SCHEMA = "-c search_path=oasflow"
SOURCE = "{}"
DIGEST = hashlib.sha256(SOURCE.encode()).hexdigest()
SEED = (Path(__file__).parent / "evidence_rows.sql").read_text(encoding="utf-8")
TABLES = (
    "flows", "runs", "work", "decisions", "gates", "run_events", "effects", "settlements",
    "decision_records", "memory_proposals", "memory_reviews", "context_packs", "attachments",
    "attachment_pieces", "saved_objects", "saved_object_versions", "representations",
    "semantic_assertions", "run_context_selections", "context_finalizes", "run_ends",
)  # fmt: skip
EVIDENCE = "select md5(string_agg(row, '|' order by row)) from ({}) as everything(row)".format(
    " union all ".join(
        f"select '{name} ' || to_jsonb(t)::text from oasflow.{name} t" for name in TABLES
    )
)
SENDING = flow_of(start(), gate("ask"), api("send"), end())
WITHOUT: list[str] = []
"""What a control takes away from the databases that it attacks."""


@dataclass(slots=True)
class Target:
    """A database with all of that in it; one is enough for all attacks that come to nothing."""

    databases: Databases
    dsn: str
    evidence: str

    @classmethod
    def made(cls, databases: Databases) -> Target:
        dsn = databases.take()
        with psycopg.connect(dsn, autocommit=True, options=SCHEMA) as connection:
            for part in SEED.replace("{digest}", DIGEST).split("-- commit\n"):
                connection.execute(cast("Any", part))
        with psycopg.connect(databases.as_superuser(dsn), autocommit=True) as connection:
            for statement in WITHOUT:
                connection.execute(cast("Any", statement))
        return cls(databases=databases, dsn=dsn, evidence=_read_evidence(databases, dsn))

    @property
    def is_as_it_was(self) -> bool:
        return _read_evidence(self.databases, self.dsn) == self.evidence


def _read_evidence(databases: Databases, dsn: str) -> str:
    with psycopg.connect(databases.as_superuser(dsn)) as connection:
        row = connection.execute(cast("Any", EVIDENCE)).fetchone()
    assert row is not None
    return str(row[0])


KEPT: list[Target] = []
"""The one that is there for the next attack."""


@pytest.fixture(autouse=True, scope="module")
def _none_is_left(databases: Databases) -> Iterator[None]:
    yield
    while KEPT:
        databases.give_back(KEPT.pop().dsn)


def attempt(attack: Attack, place: Place) -> str:
    tried = attack.value if isinstance(attack.value, dict) else {"sql": attack.value}
    if "then" in tried:
        return _people_afterwards(place, tried)
    if "while" in tried:
        return _waited(place, tried)
    databases: Databases = place.request.getfixturevalue("databases")
    as_ever = not (WITHOUT or attack.harmless)
    target = KEPT.pop() if as_ever and KEPT else Target.made(databases)
    came = _carried_out(target.dsn, tried["sql"])
    held = attack.harmless or target.is_as_it_was
    if held and as_ever:
        KEPT.append(target)
    else:
        databases.give_back(target.dsn)
    return came if held else f"opened ({came})"


def _carried_out(dsn: str, given: str | list[str]) -> str:
    try:
        with psycopg.connect(dsn, autocommit=True, options=SCHEMA) as connection:
            row = None
            for statement in [given] if isinstance(given, str) else given:
                cursor = connection.execute(cast("Any", statement.replace("{digest}", DIGEST)))
                row = cursor.fetchone() if cursor.description else None
    except psycopg.Error as error:
        return type(error).__name__
    return "done" if row is None else f"done: {row[0]}"


def _waited(place: Place, tried: dict[str, Any]) -> str:
    """What comes of a statement that waits while a person ends the run in another transaction."""
    databases: Databases = place.request.getfixturevalue("databases")
    target = Target.made(databases)
    came: list[str] = []
    attacker = Thread(target=lambda: came.append(_carried_out(target.dsn, tried["sql"])))
    with psycopg.connect(target.dsn, options=SCHEMA) as person:  # commits at its end
        person.execute("select from work where run_id = 'r1' for update")
        person.execute(cast("Any", tried["while"]))
        row = person.execute(cast("Any", EVIDENCE)).fetchone()
        attacker.start()
        _await_waiting(person)
    attacker.join()
    assert row is not None
    held = _read_evidence(databases, target.dsn) == row[0]
    databases.give_back(target.dsn)
    return came[0] if held else f"opened ({came[0]})"


def _await_waiting(person: psycopg.Connection[Any]) -> None:
    deadline = time.monotonic() + 10
    waiting = (
        "select pid from pg_locks where not granted and locktype = 'transactionid'"
        " and transactionid = pg_current_xact_id()::text::xid"
    )
    while not person.execute(cast("Any", waiting)).fetchone():
        require_start(time.monotonic() < deadline, "nobody waits")
        time.sleep(0.01)


def _people_afterwards(place: Place, tried: dict[str, Any]) -> str:
    """What an operator, who knows nothing of the attack, comes to with the run."""
    platform = SimulatedPlatform()
    with RunStore.open(place.database) as store:
        if WITHOUT:
            dsn = place.request.getfixturevalue("superuser_database")
            with psycopg.connect(dsn, autocommit=True) as connection:
                for statement in WITHOUT:
                    connection.execute(cast("Any", statement))
        run = store.start(compile_flow(SENDING, platform=platform), {}, "victim")
        _carried_out(place.database, tried["sql"])
        try:
            came = ACTS[tried["then"]](store, place, run.waiting[0].id)
        except FlowError as error:
            return f"opened ({error.code})"
        numbers = [event.seq for event in store.told("victim")]
        assert numbers == list(range(1, len(numbers) + 1))
    return str(came)


def _approve(store: RunStore, _place: Place, asked: str) -> str:
    return store.answer("victim", asked, Decision.approve(by="ann")).status


def _reject(store: RunStore, _place: Place, asked: str) -> str:
    return store.answer("victim", asked, Decision.reject(by="ann")).status


def _stop(store: RunStore, _place: Place, _asked: str) -> str:
    return store.stop("victim", by="ann").status


def _archive(store: RunStore, _place: Place, _asked: str) -> str:
    store.stop("victim", by="ann")
    done = store.archive("victim", by="ann")
    (told,) = (event for event in store.told("victim") if event.name == "archived")
    assert told.data == {"by": "ann"}
    return f"{done.runs} archived"


def _examine(store: RunStore, place: Place, _asked: str) -> str:
    """`oasflow doctor`, and the sweep of a run that nobody has gone on with."""
    store.create(compile_flow(SENDING, platform=SimulatedPlatform()), {}, "second")
    found = examine(place.database)
    with suppress(FlowError):
        store.sweep(grace=0)
    return f"{found.dead_letters_total} dead letters, second {store.get('second').status}"


ACTS: dict[str, Any] = {
    "approve": _approve, "reject": _reject, "stop": _stop, "archive": _archive, "examine": _examine,
}  # fmt: skip


def _without(*statements: str) -> Any:
    @contextmanager
    def opened(_place: Place) -> Iterator[None]:
        WITHOUT.extend(statements)
        try:
            yield
        finally:
            WITHOUT.clear()

    return opened


def _off(table: str, *triggers: str) -> Any:
    return _without(*(f"alter table oasflow.{table} disable trigger {name}" for name in triggers))


CONTROLS = {
    "events may be numbered by whoever writes them": Control(
        open=_off("run_events", "events_follow"),
        row="numbers_of_events,_then_an_approval-two hundred ahead",
    ),
    "events of ended runs are taken": Control(
        open=_off("run_events", "events_follow"), row="events_after_the_end-of a completed run"
    ),
    "gates of ended runs are taken": Control(
        open=_off("gates", "gates_fit"), row="a_gate_made_up_after_the_end-open, of a completed run"
    ),
    "a gate needs no decision": Control(
        open=_off("gates", "gates_fit"), row="a_gate_of_a_run_that_waits-decided by nobody"
    ),
    "gates change": Control(
        open=_off("gates", "gates_stay"), row="a_gate_of_an_ended_run-its interrupt"
    ),
    "calls of ended runs are taken": Control(
        open=_off("effects", "effects_fit"), row="a_call_begun_after_the_end-of a completed run"
    ),
    "calls of ended runs change": Control(
        open=_off("effects", "effects_stay"), row="a_call_of_an_ended_run-that failed is done"
    ),
    "nobody asks for a person's word": Control(
        open=_off("effects", "effects_are_settled"),
        row="a_call_of_which_nobody_knows-done without a word",
    ),
    "a word on any call": Control(
        open=_off("settlements", "settlements_fit"), row="a_person's_word-on a call that was made"
    ),
    "records of any run": Control(
        open=_off("decision_records", "records_follow"), row="a_decision_record-of another tenant"
    ),
    "an end that has not come": Control(
        open=_off("decision_records", "records_are_true"),
        row="a_decision_record-of an end that has not come",
    ),
    "decisions of no gate": Control(
        open=_off("decisions", "decisions_fit"), row="a_decision_in_advance-of a gate to come"
    ),
    "skips of ended runs": Control(
        open=_off("decisions", "decisions_fit"),
        row="a_decision_after_the_end-skipped, of a stopped run",
    ),
    "reasons without end": Control(
        open=_without("alter table oasflow.decisions drop constraint decisions_bounded"),
        row="a_text_without_end-why a gate was skipped",
    ),
    "counters run away": Control(
        open=_off("work", "work_counts"),
        row="counters_and_leases,_then_an_approval-a fence that nobody overtakes",
    ),
    "children of anybody": Control(
        open=_off("runs", "children_fit"), row="a_child-of a run that has completed"
    ),
    "bytes are added to a file": Control(
        open=_off("attachment_pieces", "attachment_pieces_fit"), row="a_file-more bytes"
    ),
    "revisions leave no room": Control(
        open=_off("attachments", "attachments_follow"), row="a_file-a revision that is the last"
    ),
    "memory of ended runs": Control(
        open=_off("memory_proposals", "memory_proposals_fit"),
        row="memory-of a run that has completed",
    ),
    "choices of ended runs": Control(
        open=_off("context_finalizes", "finalizes_fit"), row="a_choice-in a run that has completed"
    ),
    "ends are told before they come": Control(
        open=_off("run_events", "events_are_true"),
        row="an_event_of_an_end_that_has_not_come-stopped",
    ),
    "a word counts twice": Control(
        open=_off("effects", "effects_keep_words"),
        row="a_word_that_was_given_before-is used a second time",
    ),
    "names without end": Control(
        open=_without("alter table oasflow.settlements drop constraint settlements_named"),
        row="a_name_that_is_none-of a settlement",
    ),
    "offers of others": Control(
        open=_off("context_plans", "plans_fit"), row="what is another organisation's-an offer"
    ),
}
CONTROLS = {
    name: Control(open=control.open, row=control.row.replace(" ", "_"))
    for name, control in CONTROLS.items()
}

test_attack, test_twin, test_control = tests_of("evidence_rows", attempt, CONTROLS)
