"""Names that were recorded before names were checked: shown spelled out, and no reason to refuse a run."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Json

from cinatra_sdk import AnswerInvalid, Decision, GateClosed, InputInvalid, RunStore
from cinatra_sdk.data.text.person_texts import MAX_NAME, person_name, recorded_name
from cinatra_sdk.gates.answers import has_words, said_name
from cinatra_sdk.host.host_settings import ActorSettings
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.outside.mcp.calls import require_bounded
from cinatra_sdk.outside.remote_answers.foreign_answer import BrokenOff
from cinatra_sdk.outside.remote_answers.remote_bounds import RemoteBounds
from cinatra_sdk.postgres.connection import clock, run
from cinatra_sdk.store.decisions.decision_rows import decision_row
from cinatra_sdk.store.runs.run_rows import checked_run_id, load_row
from cinatra_sdk.store.work.event_rows import list_event_columns
from oas_compiler import compile_flow
from oas_compiler.text.safe_text import visible
from tests.flows import api, end, flow_of, gate, start

OLD = "ann\u200b"
"""As a version before took it."""
FLOW = flow_of(start(), gate("ok"), api("send"), gate("sure"), end())


@pytest.mark.parametrize(
    ("kept", "shown"),
    [
        ("ann", "ann"),
        ("", ""),
        ("  Jose\u0301  Lima ", "José Lima"),
        ("ann\u200b@example.org", "ann<U+200B>@example.org"),
        ("a\x1b[31m", "a<U+001B>[31m"),
        ("\ud800x", "<U+D800>x"),
        ("\u0301x", "<U+0301>x"),
        ("x\u0316\u0317\u0318\u0319", "x<U+0316><U+0317><U+0318><U+0319>"),
        ("ann\nbob", "ann<U+000A>bob"),
        ("x" * 300, "x" * (MAX_NAME - 1) + "…"),
        ("\u200b" * 500, ("<U+200B>" * 500)[: MAX_NAME - 1] + "…"),
        (None, ""),
        ({"name": "ann"}, ""),
    ],
    ids=ascii,
)
def test_a_recorded_name_is_shown_with_what_nobody_sees_spelled_out(kept: Any, shown: str) -> None:
    assert recorded_name(kept) == shown
    assert recorded_name(shown) == shown


FILLERS = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u2800\u3164\uffa0\ufe00\ufe0f\ufffc"
    "\U00013441\U00013442\U00016fe4\U0001bca0\U0001d159\U0001d173\U000e0100\U000e01ef"
)
"""Letters of a class, each of which leaves no trace on a screen."""


@pytest.mark.parametrize("filler", FILLERS, ids=ascii)
def test_a_name_with_a_letter_that_leaves_no_trace_is_refused_wherever_names_are_read(
    filler: str,
) -> None:
    name = f"ann{filler}"
    with pytest.raises(AnswerInvalid, match=f"U\\+{ord(filler):04X}"):
        person_name(name)
    assert recorded_name(name) == f"ann<U+{ord(filler):04X}>"
    with pytest.raises(InputInvalid, match="run id"):
        checked_run_id(name)
    with pytest.raises(ValueError, match="printable text"):
        ActorSettings.model_validate({"orgId": name, "principalId": "ann"})
    with pytest.raises(BrokenOff, match="nobody sees"):
        require_bounded({"name": name}, RemoteBounds())
    assert not has_words(filler)
    assert said_name(name) == f"ann{filler.encode('unicode_escape').decode()}"
    # A selector of a form makes a picture of a sign, so a terminal gets it behind one.
    is_selector = "\ufe00" <= filler <= "\ufe0f"
    assert (visible(name) == "ann\ufffd") is not is_selector


@pytest.mark.parametrize("name", ["", " ", " send", "send ", "\u00a0"], ids=ascii)
def test_a_tool_without_a_name_that_is_seen_is_refused(name: str) -> None:
    with pytest.raises(BrokenOff, match="no name"):
        require_bounded({"name": name}, RemoteBounds())


@pytest.mark.parametrize(
    "name", ["José Lima", "王\u5c0f明", "O\u2019Brien", "Øyvind", "한글", "ম্যাক্স"]
)
def test_names_of_people_and_tools_of_all_scripts_are_taken(name: str) -> None:
    assert person_name(name) == name
    require_bounded({"name": name}, RemoteBounds())


@pytest.fixture
def store(fresh_database: str, superuser_database: str) -> Any:
    """`r1` waits at `ok`, which somebody with an unseen letter in their name has approved."""
    with RunStore.open(fresh_database, platform=SimulatedPlatform()) as opened:
        with psycopg.connect(superuser_database, autocommit=True) as before:
            before.execute("alter table oasflow.decisions drop constraint decisions_named")
        flow = compile_flow(FLOW, platform=SimulatedPlatform())
        waiting = opened.start(flow, run_id="r1").waiting[0]
        decision = Decision.approve(by="ann")
        with opened.database.connection() as connection:
            row = load_row(connection, "r1")
            kept = decision_row(row, waiting, decision, flow, clock(connection))
            answer = Json({**kept["answer"].obj, "by": OLD})
            told = list_event_columns([])
            old = {**kept, **told, "decided_by": OLD, "answer": answer, "tells_due": False}
            run(connection, "insert_decision", old)
        yield opened


def test_a_run_whose_decider_has_a_name_of_before_goes_on(store: RunStore) -> None:
    run = store.resume("r1")
    assert (run.status, [gate.id for gate in run.waiting]) == ("waiting", ["sure"]), run.error
    # What was recorded stays as it is.
    assert [row["decided_by"] for row in store.decisions("r1")] == [OLD]
    assert store.answer("r1", "sure", Decision.approve(by="bob")).status == "completed"


def test_who_is_late_is_told_the_name_spelled_out(store: RunStore) -> None:
    with pytest.raises(GateClosed, match=r"already approved by ann<U\+200B> at"):
        store.answer("r1", "ok", Decision.reject(by="bob"))


def test_a_new_name_is_refused_as_ever(store: RunStore) -> None:
    store.resume("r1")
    with pytest.raises(AnswerInvalid, match="ZERO WIDTH SPACE"):
        Decision.approve(by="bob\u200b")
