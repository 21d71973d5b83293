"""A decision is about what its author saw: a gate that shows something else by now does not take it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk import AnswerInvalid, Decision, GateClosed, HostParts, RunStore
from cinatra_sdk.gates.gate import Gate, gates_of
from cinatra_sdk.runs import Run
from cinatra_sdk.store.decisions import decision_entry
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, start
from tests.store.reasking import flow

ASKED = flow_of(start(), gate("first"), gate("second"), end())


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, host=HostParts(graphs=[flow])) as opened:
        yield opened


def find(run: Run, gate_id: str) -> Gate:
    return next(gate for gate in run.waiting if gate.id == gate_id)


def asked_again(store: RunStore) -> tuple[Gate, Gate]:
    """The same gate of run `r1` as it was shown first, and as it is shown now."""
    begun = store.start(flow, {}, "r1")
    then = store.answer("r1", "plain", Decision.approve(by="ann"))
    return find(begun, "draft"), find(then, "draft")


def kinds(store: RunStore, gate_id: str) -> list[tuple[str, str]]:
    found = store.decisions("r1")
    return [(row.decided_by, row.payload_sha256) for row in found if row.gate_id == gate_id]


@pytest.mark.parametrize("length", [64, 20, 16])
def test_a_decision_about_what_the_gate_shows_is_taken(store: RunStore, length: int) -> None:
    _, now = asked_again(store)
    decision = Decision.approve(by="ann", shown=now.shown[:length].upper())
    assert store.answer("r1", "draft", decision).status == "completed"
    (kept,) = (row for row in store.decisions("r1") if row.gate_id == "draft")
    assert kept.payload_sha256 == now.shown == now.payload_sha256
    assert "shown" not in kept.answer


@pytest.mark.parametrize("length", [64, 20, 16])
@pytest.mark.parametrize("made", [Decision.approve, Decision.reject])
def test_a_decision_about_what_the_gate_showed_before_is_refused(
    store: RunStore, made: Any, length: int
) -> None:
    before, now = asked_again(store)
    with pytest.raises(
        GateClosed, match="gate 'draft' of run 'r1' shows something else"
    ) as refused:
        store.answer("r1", "draft", made(by="ben", shown=before.shown[:length]))
    assert refused.value.code == "gate_changed"
    assert now.shown[:16] in str(refused.value)
    assert "oasflow show r1" in str(refused.value)
    assert kinds(store, "draft") == []
    assert store.get("r1").status == "waiting"


def test_the_gate_itself_in_place_of_its_id_says_what_was_seen(store: RunStore) -> None:
    before, now = asked_again(store)
    with pytest.raises(GateClosed, match="shows something else"):
        store.decide("r1", before, Decision.approve(by="ben"))
    with pytest.raises(GateClosed, match="shows something else"):
        asyncio.run(store.aanswer("r1", before, Decision.approve(by="ben")))
    with pytest.raises(GateClosed, match="shows something else"):
        asyncio.run(store.adecide("r1", before, Decision.approve(by="ben")))
    assert asyncio.run(store.aanswer("r1", now, Decision.approve(by="ann"))).status == "completed"
    assert kinds(store, "draft") == [("ann", now.shown)]


@pytest.mark.parametrize("tenant", ["", "acme"])
def test_a_gate_of_another_run_that_shows_the_same_decides_nothing(
    store: RunStore, tenant: str
) -> None:
    seen = store.start(compile_flow(ASKED), {}, "r1", tenant="other").waiting[0]
    own = store.start(compile_flow(ASKED), {}, "r2", tenant=tenant).waiting[0]
    assert (seen.shown, seen.id) == (own.shown, own.id)
    assert (own.run_id, own.tenant) == ("r2", tenant)
    for gate_ in (seen, Gate.from_json(seen.to_json())):
        with pytest.raises(
            GateClosed, match=r"was seen in run 'r1' of tenant 'other'.*to run 'r2'"
        ):
            store.answer("r2", gate_, Decision.approve(by="ben"))
        with pytest.raises(GateClosed, match="was seen in run 'r1'"):
            asyncio.run(store.adecide("r2", gate_, Decision.reject(by="ben")))
    elsewhere = own.of_run("r2", "third")
    with pytest.raises(GateClosed, match="was seen in run 'r2' of tenant 'third'"):
        store.answer("r2", elsewhere, Decision.approve(by="ben"))
    assert store.decisions("r2") == []
    again = Gate.from_json(own.to_json())
    store.answer("r2", again, Decision.approve(by="ann"))
    assert len(store.decisions("r2")) == 1


def test_a_gate_and_a_decision_about_another_one_do_not_go_together(store: RunStore) -> None:
    before, now = asked_again(store)
    with pytest.raises(GateClosed, match="shows something else"):
        store.decide("r1", before, Decision.approve(by="ben", shown=now.shown))
    assert kinds(store, "draft") == []


@pytest.mark.parametrize("made", [Decision.approve, Decision.reject])
def test_a_gate_that_was_asked_twice_takes_no_decision_that_does_not_say_which(
    store: RunStore, made: Any
) -> None:
    _, now = asked_again(store)
    with pytest.raises(GateClosed, match="has shown more than one thing") as refused:
        store.answer("r1", "draft", made(by="ben"))
    assert refused.value.code == "gate_changed"
    assert now.shown[:16] in str(refused.value)
    assert kinds(store, "draft") == []


@pytest.mark.parametrize("says", [False, True])
def test_a_gate_that_is_asked_again_while_a_decision_is_recorded_does_not_take_it(
    store: RunStore, monkeypatch: pytest.MonkeyPatch, says: bool
) -> None:
    begun = store.start(flow, {}, "r1")
    seen = find(begun, "draft")
    original = decision_entry.refuse_withdrawn

    def moved_on(*args: Any) -> None:
        monkeypatch.setattr(decision_entry, "refuse_withdrawn", original)
        store.answer("r1", "plain", Decision.approve(by="ann"))

    monkeypatch.setattr(decision_entry, "refuse_withdrawn", moved_on)
    decision = Decision.approve(by="ben", **({"shown": seen.shown} if says else {}))
    with pytest.raises(GateClosed, match="shows something else"):
        store.answer("r1", "draft", decision)
    assert kinds(store, "draft") == []


def test_several_decisions_are_taken_all_or_none(store: RunStore) -> None:
    begun = store.start(flow, {}, "r1")
    about = {gate.id: Decision.approve(by="ann", shown=gate.shown) for gate in begun.waiting}
    wrong = {**about, "draft": Decision.approve(by="ann", shown="0" * 16)}
    with pytest.raises(GateClosed):
        store.decide("r1", wrong)
    assert store.decisions("r1") == []
    store.decide("r1", about)
    assert len(store.decisions("r1")) == 2


def test_the_refusal_of_a_gate_that_is_decided_says_by_whom_and_where_to_look(
    store: RunStore,
) -> None:
    run = store.start(compile_flow(ASKED), {}, "r1")
    seen = run.waiting[0]
    store.answer("r1", seen, Decision.approve(by="ann"))
    with pytest.raises(GateClosed, match=r"already approved by ann at .*oasflow show r1"):
        store.answer("r1", seen, Decision.approve(by="ben"))
    assert [row.decided_by for row in store.decisions("r1")] == ["ann"]


# ------------------------------------------------------------------ in memory


def test_a_gate_of_a_graph_without_a_store_compares_too() -> None:
    built = compile_flow(ASKED)
    graph, config = built.graph(InMemorySaver()), built.config(run_id="m1")
    context = built.context(run_id="m1")
    graph.invoke(built.input({}), config, context=context)
    (waiting,) = gates_of(graph.get_state(config).interrupts)
    stale = Decision.approve(by="ben", shown="0" * 16).wire()
    with pytest.raises(Exception, match="shows something else"):
        graph.invoke(Command(resume={waiting.interrupt: stale}), config, context=context)
    assert gates_of(graph.get_state(config).interrupts)[0].id == "first"
    seen = Decision.approve(by="ann", shown=waiting.shown[:16]).wire()
    graph.invoke(Command(resume={waiting.interrupt: seen}), config, context=context)
    assert gates_of(graph.get_state(config).interrupts)[0].id == "second"


def test_a_driven_flow_compares_too() -> None:
    built = compile_flow(ASKED)
    seen = drive(built).gates[0]
    taken = drive(built, answers=[Decision.approve(shown=seen.shown)])
    assert [gate.id for gate in taken.gates] == ["first", "second"]
    with pytest.raises(GateClosed, match="gate 'second' shows something else"):
        drive(built, answers=lambda _gate: Decision.approve(shown=seen.shown))


# ------------------------------------------------------------------ what is no hash


@pytest.mark.parametrize(
    "shown",
    ["0a1b2c3d4e5f607", "0" * 12, "0" * 8, "g" * 16, "0" * 65, 12345678, b"0" * 16, " " + "0" * 16],
)
def test_what_is_no_hash_is_no_decision(shown: Any) -> None:
    with pytest.raises(AnswerInvalid, match="'shown' is not the hash"):
        Decision.approve(by="ann", shown=shown)
