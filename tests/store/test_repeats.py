"""The same start, and the same answer, by the same person may be sent twice; anything else is told by name."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cinatra_sdk import Decision, GateClosed, HostParts, NotAllowed, RunExists, RunStore
from cinatra_sdk.api import Person
from cinatra_sdk.effects import Verdict
from cinatra_sdk.store import PersonStore
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, port, start
from tests.store.reasking import flow as reasking
from tests.store.work.branches import Branches

FLOW = Branches(("a", "b"))
ANN = Person(id="ann", tenant="", proof="session", sub="1", issuer="https://id.example")
YES = Decision.approve(by="ann", reason="fine")


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, host=HostParts(graphs=[reasking])) as opened:
        yield opened


def asking(default: str | None = None) -> Any:
    declared = port("x") if default is None else port("x", default=default)
    edges = [("start", "x", "ok", "x")]
    return compile_flow(
        flow_of(start(declared), gate("ok", inputs=[port("x")]), end(), edges=edges)
    )


# ------------------------------------------------------------------ starts


@pytest.mark.parametrize("by", ["ann", ANN])
def test_the_same_start_by_the_same_person_gives_the_run(store: RunStore, by: Any) -> None:
    made = store.create(asking(), {"x": "1"}, "r1", by=by)
    before = store.told("r1")
    assert store.create(asking(), {"x": "1"}, "r1", by=by, channel="slack") == made
    later = datetime.now(UTC) + timedelta(days=1)
    assert store.create(asking(), {"x": "1"}, "r1", by=by, deadline=later) == made
    assert store.told("r1") == before
    waiting = store.start(asking(), {"x": "1"}, "r1", by=by)
    assert (waiting.status, waiting.attempts) == ("waiting", 1), "it goes on with what is there"
    store.answer("r1", "ok", Decision.approve(by="ben"))
    assert store.start(asking(), {"x": "1"}, "r1", by=by).status == "completed"


@pytest.mark.parametrize(
    "other",
    [
        {"by": "ben"},
        {"by": ANN},
        {"by": ""},
        {"owner": "team"},
        {"session": "s2"},
        {"params": {"x": "2"}},
        {"flow": asking("1")},
    ],
)
def test_another_start_under_the_id_is_refused_with_the_run_in_it(
    store: RunStore, other: dict[str, Any]
) -> None:
    made = store.create(asking(), {"x": "1"}, "r1", by="ann")
    given: dict[str, Any] = {"flow": asking(), "params": {"x": "1"}, "by": "ann", **other}
    for act in (store.create, store.start):
        with pytest.raises(RunExists, match="there is a run 'r1' already") as refused:
            act(given["flow"], run_id="r1", **{k: v for k, v in given.items() if k != "flow"})
        assert refused.value.run == made
    assert len(store.list()) == 1


def test_nobody_is_not_the_same_person_twice(store: RunStore) -> None:
    store.create(FLOW, run_id="r1")
    with pytest.raises(RunExists):
        store.create(FLOW, run_id="r1")


def test_a_run_that_the_caller_may_not_see_is_not_in_the_error(store: RunStore) -> None:
    store.create(FLOW, run_id="r1", tenant="beta", by="ann")
    with pytest.raises(RunExists) as strange:
        store.create(FLOW, run_id="r1", by="ann")
    assert strange.value.run is None
    store.create(FLOW, run_id="r2", by="ben")

    def own_only(person: Person, action: str, subject: Any) -> Verdict:
        return Verdict(subject.started_by == person.id, "not yours")

    with pytest.raises(RunExists) as hidden:
        PersonStore(store, ANN, policy=own_only).create(FLOW, run_id="r2")
    assert hidden.value.run is None
    with pytest.raises(RunExists) as seen:
        PersonStore(store, ANN).create(FLOW, run_id="r2")
    assert seen.value.run.id == "r2", "the control"


def test_ten_clients_that_start_the_same_at_once_make_one_run(store: RunStore) -> None:
    flow = asking()
    store.create(flow, {"x": "0"}, "r0", by="ann")
    with ThreadPoolExecutor(10) as pool:
        made = [
            *pool.map(lambda _: store.create(flow, {"x": "1"}, "r1", by="ann").id, range(10)),
        ]
    assert made == ["r1"] * 10
    assert [event.name for event in store.told("r1")] == ["created"]


# ------------------------------------------------------------------ answers


def test_the_same_answer_by_the_same_person_gives_the_run_and_writes_nothing(
    store: RunStore,
) -> None:
    run = store.start(FLOW, run_id="r1")
    shown = run.waiting[0].shown
    store.decide("r1", "a", YES)
    before = (store.told("r1"), store.decisions("r1"))
    for again in (YES, replace(YES, shown=shown), replace(YES, shown=shown[:16], channel="slack")):
        assert store.decide("r1", "a", again).id == "r1"
    assert store.decide("r1", {"a": YES}).id == "r1"
    assert (store.told("r1"), store.decisions("r1")) == before


def test_an_answer_that_was_recorded_and_not_carried_out_is_carried_out_by_its_repeat(
    store: RunStore,
) -> None:
    """As after a crash of the client between the two steps of `answer`."""
    store.start(asking(), {"x": "1"}, "r1")
    store.decide("r1", "ok", YES)
    assert store.answer("r1", "ok", YES).status == "completed"
    assert store.answer("r1", "ok", YES).status == "completed", "and again after the end"
    assert len(store.decisions("r1")) == 1


def test_a_repeated_rejection_gives_the_rejected_run(store: RunStore) -> None:
    store.start(FLOW, run_id="r1")
    no = Decision.reject(by=ANN, reason="wrong list")
    assert store.answer("r1", "a", no).status == "rejected"
    assert store.answer("r1", "a", no).status == "rejected"
    assert store.decide("r1", "a", no).status == "rejected"


@pytest.mark.parametrize(
    "other",
    [
        Decision.approve(by="ben", reason="fine"),
        Decision.approve(by=ANN, reason="fine"),
        Decision.approve(by="ann"),
        Decision.reject(by="ann", reason="fine"),
        replace(YES, shown="0" * 64),
    ],
)
def test_another_answer_is_refused_with_the_decision_that_counts(
    store: RunStore, other: Decision
) -> None:
    store.start(FLOW, run_id="r1")
    store.decide("r1", "a", YES)
    (kept,) = store.decisions("r1")
    for act in (store.decide, store.answer):
        with pytest.raises(GateClosed, match="was already approved by ann") as refused:
            act("r1", "a", other)
        assert refused.value.decision == kept
    assert store.decisions("r1") == [kept]


def test_a_value_makes_the_answer_another(store: RunStore) -> None:
    edges = [("start", "x", "end", "x")]
    asks = flow_of(start(port("x"), required=["x"]), end(port("x")), edges=edges)
    (setup,) = store.start(compile_flow(asks), {}, "r1").waiting
    filled = Decision.approve(by="ann", value="bees")
    assert store.answer("r1", setup.id, filled).status == "completed"
    for same in (filled, replace(filled, value={"x": "bees"})):
        assert store.answer("r1", setup.id, same).status == "completed"
    with pytest.raises(GateClosed):
        store.answer("r1", setup.id, replace(filled, value="wasps"))


def test_several_are_a_repeat_only_where_all_of_them_are(store: RunStore) -> None:
    store.start(FLOW, run_id="r1")
    store.decide("r1", "a", YES)
    with pytest.raises(GateClosed):
        store.decide("r1", {"a": YES, "b": YES})
    assert [one.gate_id for one in store.decisions("r1")] == ["a"], "all or none"
    store.decide("r1", "b", YES)
    assert store.decide("r1", {"a": YES, "b": YES}).id == "r1"


def test_what_the_gate_shows_now_takes_no_answer_about_what_it_showed(store: RunStore) -> None:
    """The hash is part of what is the same."""
    begun = store.start(reasking, {}, "r1")
    first = next(one for one in begun.waiting if one.id == "draft")
    store.answer("r1", "plain", YES)
    with pytest.raises(GateClosed, match="shows something else") as refused:
        store.decide("r1", "draft", replace(YES, shown=first.shown))
    assert refused.value.decision is None


def test_a_store_of_a_person_takes_repeats_and_still_asks(store: RunStore) -> None:
    store.start(FLOW, run_id="r1")
    mine = PersonStore(store, ANN, channel="inbox")
    mine.decide("r1", "a", Decision.approve())
    assert mine.decide("r1", "a", Decision.approve()).id == "r1"
    with pytest.raises(GateClosed) as refused:
        mine.decide("r1", "a", Decision.approve(reason="other"))
    assert refused.value.decision == store.decisions("r1")[0]

    def nobody_answers(person: Person, action: str, subject: Any) -> Verdict:
        return Verdict(action != "answer", "not now")

    with pytest.raises(NotAllowed):
        PersonStore(store, ANN, policy=nobody_answers).decide("r1", "a", Decision.approve())


def test_ten_clients_that_answer_the_same_at_once_are_all_told_the_run(store: RunStore) -> None:
    """The control: of ten that answer differently one is told the run."""

    def answer(decision: Decision, gate_id: str) -> str:
        try:
            return store.decide("r1", gate_id, decision).id
        except GateClosed:
            return "closed"

    store.start(FLOW, run_id="r1")
    with ThreadPoolExecutor(10) as pool:
        same = [*pool.map(lambda _: answer(YES, "a"), range(10))]
        other = [
            *pool.map(lambda n: answer(Decision.approve(by=f"p{n}"), "b"), range(10)),
        ]
    assert same == ["r1"] * 10
    assert sorted(other) == ["closed"] * 9 + ["r1"]
    assert len(store.decisions("r1")) == 2
