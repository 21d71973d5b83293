"""One gate can be read as it was asked for ever: open, decided or closed, and what else it showed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest

from cinatra_sdk import (
    AnswerInvalid,
    Decision,
    GateNotFound,
    GateUnreadable,
    HostParts,
    RunNotFound,
    RunStore,
)
from cinatra_sdk.api import make_asked_gate
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, port, start
from tests.store.damage import UNREADABLE, damage_gates
from tests.store.reasking import flow as reasking
from tests.store.work.branches import Branches

ANN = Decision.approve(by="ann", reason="fine")


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, host=HostParts(graphs=[reasking])) as opened:
        yield opened


def begin(store: RunStore, tenant: str = "acme") -> None:
    asks = flow_of(
        start(port("x")),
        gate("review", inputs=[port("x")]),
        gate("send", inputs=[port("x")]),
        end(),
        edges=[("start", "x", "review", "x"), ("start", "x", "send", "x")],
        name="Asking",
    )
    store.start(compile_flow(asks), {"x": "Bees"}, "r1", by="bob", tenant=tenant)


def test_an_open_gate_and_a_decided_one_show_what_they_showed(store: RunStore) -> None:
    begin(store)
    before = store.gate("r1", "review")
    assert (before.state, before.decision, before.settled_at) == ("open", None, None)
    assert before.gate == store.get("r1").waiting[0]
    assert (before.flow, before.tenant, before.started_by) == ("Asking", "acme", "bob")
    store.answer("r1", "review", ANN)
    after = asyncio.run(store.agate("r1", "review", tenant="acme"))
    assert after.state == "decided"
    assert after.gate.values == before.gate.values == {"x": "Bees"}
    assert after.opened_at == before.opened_at
    assert after.decision == store.decisions("r1")[0]
    assert after.decision is not None
    assert after.settled_at == after.decision.decided_at


def test_it_is_readable_after_the_run_was_archived(store: RunStore) -> None:
    begin(store)
    store.answer("r1", "review", ANN)
    store.answer("r1", "send", Decision.reject(by="bob"))
    shown = [store.gate("r1", name) for name in ("review", "send")]
    assert store.archive("r1").runs == 1
    again = [store.gate("r1", name) for name in ("review", "send")]
    assert again == shown
    assert [one.decision and one.decision.kind for one in again] == ["approved", "rejected"]


def test_a_gate_that_a_rejection_beside_it_closed_is_closed_and_undecided(store: RunStore) -> None:
    store.start(Branches(("a", "b")), run_id="r1")
    store.answer("r1", "a", Decision.reject(by="ann"))
    closed = store.gate("r1", "b")
    assert (closed.state, closed.decision) == ("closed", None)
    assert closed.settled_at is not None


def test_what_a_gate_showed_before_is_named_by_its_hash(store: RunStore) -> None:
    begun = store.start(reasking, {}, "r1")
    then = store.answer("r1", "plain", Decision.approve(by="ann"))
    first = next(one for one in begun.waiting if one.id == "draft")
    now = next(one for one in then.waiting if one.id == "draft")
    assert first.shown != now.shown
    last = store.gate("r1", "draft")
    assert (last.gate.shown, last.state, last.others) == (now.shown, "open", (first.shown,))
    earlier = store.gate("r1", "draft", first.shown[:16].upper())
    assert (earlier.gate.values, earlier.state) == (first.values, "closed")
    with pytest.raises(
        GateNotFound, match=rf"has not shown 0{{16}} \(it has shown: {first.shown[:16]}"
    ):
        store.gate("r1", "draft", "0" * 64)


def test_what_was_not_asked_is_told_by_name(store: RunStore) -> None:
    begin(store)
    with pytest.raises(
        GateNotFound, match=r"asked nothing at a gate 'reviw' .*did you mean .review"
    ):
        store.gate("r1", "reviw")
    with pytest.raises(GateNotFound, match="'send'"):
        store.gate("r1", "send")
    with pytest.raises(RunNotFound):
        store.gate("r1", "review", tenant="beta")
    with pytest.raises(AnswerInvalid, match="'shown' is not the hash"):
        store.gate("r1", "review", "xyz")


def test_a_damaged_row_is_named(store: RunStore, fresh_database: str) -> None:
    begin(store, tenant="")
    damage_gates(fresh_database, "r1", UNREADABLE, beside=True)
    with pytest.raises(GateUnreadable, match="run 'r1', gate 'bad0'"):
        store.gate("r1", "bad0")
    assert store.gate("r1", "review").state == "open", "it hides no other"


def test_as_json_it_has_the_gate_the_state_and_the_decision(store: RunStore) -> None:
    begin(store)
    told = make_asked_gate(store.gate("r1", "review"))
    assert (told["state"], told["run"], told["decision"], told["others"]) == (
        "open",
        "r1",
        None,
        [],
    )
    assert told["values"] == {"x": "Bees"}
    store.answer("r1", "review", ANN)
    after = make_asked_gate(store.gate("r1", "review"))
    assert after["decision"] is not None
    assert (after["decision"]["by"], after["decision"]["reason"]) == ("ann", "fine")
    assert after["shown"] == told["shown"] == after["decision"]["payload_sha256"]
    assert timedelta() < store.database.now() - store.gate("r1", "review").opened_at
