"""What people say enters the store through many doors: what no row keeps is refused at each of them, by
its name, and never by the database's driver.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cinatra_sdk import AnswerInvalid, Decision, FlowError, InputInvalid, RunStore, StoreError
from cinatra_sdk.data.text.person_texts import MAX_NAME, MAX_REASON
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from cinatra_sdk.store.evidence.memory_proposals import MemoryProposals
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, start

FLOW = compile_flow(flow_of(start(), gate("ok"), end()))
BAD = {
    "a number": 5,
    "bytes": b"x",
    "a list": ["a"],
    "an object": {"a": 1},
    "NUL": "a\0b",
    "half a letter": "\ud800",
    "a megabyte": "x" * 1_000_000,
}

WORDS: dict[str, Callable[[RunStore, Any], Any]] = {
    "reason of a decision": lambda s, x: s.decide("r1", "ok", Decision.approve(by="a", reason=x)),
    "reason of a rejection": lambda s, x: s.decide("r1", "ok", Decision.reject(by="a", reason=x)),
    "name of a decision": lambda s, x: s.decide("r1", "ok", Decision.approve(by=x)),
    "hash of a decision": lambda s, x: s.decide("r1", "ok", Decision.approve(by="a", shown=x)),
    "gate": lambda s, x: s.decide("r1", x, Decision.approve(by="a")),
    "decision": lambda s, x: s.decide("r1", "ok", x),
    "one of several": lambda s, x: s.decide("r1", {"ok": x}),
    "name of a stop": lambda s, x: s.stop("r1", by=x),
    "reason of a stop": lambda s, x: s.stop("r1", by="a", reason=x),
    "name of a settlement": lambda s, x: s.settle("r1", "k", happened=True, by=x),
    "reason of a settlement": lambda s, x: s.settle("r1", "k", happened=True, by="a", reason=x),
    "whether it happened": lambda s, x: s.settle("r1", "k", happened=x, by="a"),
    "name at the archive": lambda s, x: s.archive("r1", by=x),
    "name of a resume": lambda s, x: s.resume("r1", by=x),
    "name of a review": lambda s, x: MemoryProposals(s.database).review("m", promoted=True, by=x),
    "reason of a review": lambda s, x: MemoryProposals(s.database).review(
        "m", promoted=True, by="a", reason=x
    ),
    "reason of a correction": lambda s, x: DecisionRecords(s.database).correct(
        "d", by="a", reason=x
    ),
    "name of a correction": lambda s, x: DecisionRecords(s.database).correct("d", by=x, reason="b"),
}
NAMES: dict[str, Callable[[RunStore, Any], Any]] = {
    "run of a decision": lambda s, x: s.decide(x, "ok", Decision.approve(by="a")),
    "run of an answer": lambda s, x: asyncio.run(s.aanswer(x, "ok", Decision.approve(by="a"))),
    "tenant of a decision": lambda s, x: s.decide("r1", "ok", Decision.approve(by="a"), tenant=x),
    "run of a stop": lambda s, x: s.stop(x, by="a"),
    "tenant of a stop": lambda s, x: s.stop("r1", by="a", tenant=x),
    "run of a settlement": lambda s, x: s.settle(x, "k", happened=False, by="a"),
    "key of a settlement": lambda s, x: s.settle("r1", x, happened=False, by="a"),
    "run at the archive": lambda s, x: s.archive(x, by="a"),
    "run of a resume": lambda s, x: s.resume(x, by="a"),
    "id of a proposal": lambda s, x: MemoryProposals(s.database).review(x, promoted=True, by="a"),
    "id of a record": lambda s, x: DecisionRecords(s.database).correct(x, by="a", reason="b"),
    "tenant of a list": lambda s, x: s.gates(tenant=x),
    "started by": lambda s, x: s.list(started_by=x),
    "tenant of a new run": lambda s, x: s.create(FLOW, tenant=x),
    "session of a new run": lambda s, x: s.create(FLOW, session=x),
    "id of a new run": lambda s, x: s.create(FLOW, run_id=x),
    "shortened id": lambda s, x: s.find(x),
}


@pytest.fixture(scope="module")
def store(module_database: str) -> Iterator[RunStore]:
    with RunStore.open(module_database) as opened:
        opened.start(FLOW, run_id="r1")
        yield opened


@pytest.fixture(scope="module")
def module_database(databases: Any) -> Iterator[str]:
    url = databases.take()
    yield url
    databases.give_back(url)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("door", WORDS.values(), ids=WORDS)
def test_a_persons_words_that_no_row_keeps_are_no_answer(
    store: RunStore, door: Callable[[RunStore, Any], Any], bad: Any
) -> None:
    with pytest.raises(AnswerInvalid):
        door(store, bad)
    assert store.decisions("r1") == []
    assert store.get("r1").status == "waiting"


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("door", NAMES.values(), ids=NAMES)
def test_a_name_that_no_row_has_is_refused_as_an_argument(
    store: RunStore, door: Callable[[RunStore, Any], Any], bad: Any
) -> None:
    with pytest.raises(FlowError) as refused:
        door(store, bad)
    assert isinstance(refused.value, (AnswerInvalid, InputInvalid))
    assert not isinstance(refused.value, StoreError)
    assert len(str(refused.value)) < 500
    assert store.decisions("r1") == []
    assert store.get("r1").status == "waiting"


def test_none_is_no_reason(fresh_database: str) -> None:
    nothing: Any = None
    with RunStore.open(fresh_database) as store:
        store.start(FLOW, run_id="r1")
        with pytest.raises(AnswerInvalid, match="the reason is None"):
            Decision.approve(by="a", reason=nothing)
        with pytest.raises(AnswerInvalid, match="the reason is None"):
            store.stop("r1", by="a", reason=nothing)
        assert store.get("r1").status == "waiting"
        assert store.decisions("r1") == []


def test_a_reason_and_a_name_of_full_length_are_kept(fresh_database: str) -> None:
    with RunStore.open(fresh_database) as store:
        store.start(FLOW, run_id="r1")
        reason, name = "é" * MAX_REASON, "é" * MAX_NAME
        store.answer("r1", "ok", Decision.approve(by=name, reason=reason))
        (kept,) = store.decisions("r1")
        assert (kept.decided_by, kept.reason) == (name, reason)
        with pytest.raises(AnswerInvalid, match="more than 10,000 characters"):
            Decision.approve(by="a", reason=reason + "é")
