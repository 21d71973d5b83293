"""Decisions beside the work: create, decide, work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cinatra_sdk import AnswerInvalid, Decision, GateClosed, RunEnded, RunNotFound, RunStore
from cinatra_sdk.errors import InputInvalid
from tests.store.work.branches import Branches

ANN = Decision.approve(by="ann")
NO = Decision.reject(by="bob")


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


def waiting(run: Any) -> list[str]:
    return [gate.id for gate in run.waiting]


def test_a_run_is_created_decided_and_worked_on_in_three_steps(store: RunStore) -> None:
    flow = Branches(("a", "b"))
    made = store.create(flow, run_id="r1", tenant="acme", by="ann")
    assert (made.status, made.attempts, made.waiting) == ("running", 0, ())
    assert waiting(store.work("r1", flow=flow)) == ["a", "b"]
    decided = store.decide("r1", "a", ANN, tenant="acme")
    assert (decided.status, waiting(decided), decided.attempts) == ("waiting", ["b"], 1)
    assert waiting(store.work("r1")) == ["b"]
    assert store.answer("r1", "b", ANN).status == "completed"


def test_what_the_host_says_of_a_new_run_is_kept(store: RunStore) -> None:
    flow = Branches(("a",))
    store.create(flow, run_id="outer")
    at = datetime.now(UTC) + timedelta(hours=1)
    run = store.create(
        flow, run_id="r1", by="ann", owner="bob", session="s1", parent="outer",
        parent_path="outer/inner[2]/node", deadline=at,
    )  # fmt: skip
    assert (run.owner, run.session, run.parent, run.parent_path, run.deadline) == (
        "bob", "s1", "outer", "outer/inner[2]/node", at,
    )  # fmt: skip
    with pytest.raises(RunNotFound, match="'nobody'"):
        store.create(flow, parent="nobody")
    with pytest.raises(RunNotFound, match="'outer'"):
        store.create(flow, parent="outer", tenant="acme")
    with pytest.raises(InputInvalid, match="the deadline has no time zone"):
        store.create(flow, deadline=datetime(2030, 1, 1))  # noqa: DTZ001 - what is refused
    with pytest.raises(TypeError, match="unexpected keyword argument 'ower'"):
        store.create(flow, ower="bob")  # type: ignore[call-arg]
    assert len(store.list()) == 2


def test_several_decisions_are_recorded_together_and_carried_out_in_one_activation(
    store: RunStore,
) -> None:
    flow = Branches(("a", "b", "c"))
    store.start(flow, run_id="r1")
    assert waiting(store.decide("r1", {"a": ANN, "c": ANN})) == ["b"]
    run = store.work("r1")
    assert (waiting(run), run.attempts) == (["b"], 2)
    assert [row.gate_id for row in store.decisions("r1")] == ["a", "c"]


@pytest.mark.parametrize(
    ("other", "error"),
    [(Decision.approve(by=" "), AnswerInvalid), (ANN, GateClosed)],
    ids=["an answer that does not fit", "a gate that is not open"],
)
def test_of_several_decisions_none_is_recorded_where_one_is_refused(
    store: RunStore, other: Decision, error: Any
) -> None:
    store.start(Branches(("a", "b")), run_id="r1")
    name = "b" if error is AnswerInvalid else "z"
    with pytest.raises(error):
        store.decide("r1", {"a": ANN, name: other})
    assert (store.decisions("r1"), waiting(store.get("r1"))) == ([], ["a", "b"])


def test_no_decision_at_all_is_refused(store: RunStore) -> None:
    store.start(Branches(("a",)), run_id="r1")
    with pytest.raises(AnswerInvalid, match="there is no decision"):
        store.decide("r1", {})
    with pytest.raises(AnswerInvalid, match="gate 'a': there is no decision"):
        store.decide("r1", "a")


def test_a_rejection_closes_the_other_gates_at_once(store: RunStore) -> None:
    flow = Branches(("a", "b", "c"))
    store.start(flow, run_id="r1")
    assert waiting(store.decide("r1", "b", NO)) == []
    with pytest.raises(RunEnded, match="run 'r1' was rejected at gate 'b'"):
        store.decide("r1", "a", ANN)
    assert store.work("r1").status == "rejected"
    with pytest.raises(RunEnded, match="run 'r1' is rejected"):
        store.answer("r1", "a", ANN)
    assert [row.gate_id for row in store.decisions("r1")] == ["b"]


def test_a_stop_closes_the_gates(store: RunStore) -> None:
    store.start(Branches(("a", "b")), run_id="r1")
    assert store.stop("r1").waiting == ()
    with store.database.connection() as rows:
        found = rows.execute("select distinct state from gates").fetchall()
    assert found == [{"state": "closed"}]


# ------------------------------------------------------------------ while another branch works


class Slow:
    """The work behind gate `a` waits until the test lets it go on."""

    def __init__(self) -> None:
        self.entered, self.release = threading.Event(), threading.Event()
        self.done: list[str] = []

    def __call__(self, name: str) -> str:
        if name == "a":
            self.entered.set()
            assert self.release.wait(10)
        self.done.append(name)
        return name


def test_an_answer_to_one_branch_is_taken_while_another_branch_works(store: RunStore) -> None:
    slow = Slow()
    flow = Branches(("a", "b"), does=slow)
    store.start(flow, run_id="r1")
    with ThreadPoolExecutor() as threads:
        first = threads.submit(store.answer, "r1", "a", ANN)
        assert slow.entered.wait(10)
        assert waiting(store.get("r1")) == ["b"]
        beside = store.decide("r1", "b", ANN)
        assert (beside.status, waiting(beside)) == ("running", [])
        assert [row.gate_id for row in store.decisions("r1")] == ["a", "b"]
        assert slow.done == []
        slow.release.set()
        run = first.result(60)
    # Whoever works on the run goes on for the answer that came in meanwhile.
    assert (run.status, sorted(slow.done)) == ("completed", ["a", "b"])


def test_a_rejection_while_another_branch_works_ends_the_run(store: RunStore) -> None:
    slow = Slow()
    flow = Branches(("a", "b", "c"), does=slow)
    store.start(flow, run_id="r1")
    with ThreadPoolExecutor() as threads:
        first = threads.submit(store.answer, "r1", "a", ANN)
        assert slow.entered.wait(10)
        store.decide("r1", "b", NO)
        with pytest.raises(RunEnded, match="rejected at gate 'b'"):
            store.decide("r1", "c", ANN)
        slow.release.set()
        run = first.result(60)
    assert (run.status, slow.done, run.waiting) == ("rejected", ["a"], ())


def test_an_answer_during_a_resume_is_taken(store: RunStore) -> None:
    slow = Slow()
    flow = Branches(("a", "b"), does=slow)
    store.start(flow, run_id="r1")
    store.decide("r1", "a", ANN)
    with ThreadPoolExecutor() as threads:
        resumed = threads.submit(store.resume, "r1")
        assert slow.entered.wait(10)
        answered = threads.submit(store.answer, "r1", "b", ANN)
        slow.release.set()
        runs = resumed.result(60), answered.result(60)
    assert "completed" in {run.status for run in runs}
    assert store.get("r1").status == "completed"
