"""A run is numbered from rest to rest, and events of messages name the message."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.api import make_stretch
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, start
from tests.store.work.branches import Branches

ANN = Decision.approve(by="ann")
ASKED = flow_of(start(), gate("one"), gate("two"), end())


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


def test_a_stretch_ends_at_each_rest_and_the_next_begins_with_the_decision(
    store: RunStore,
) -> None:
    flow = compile_flow(ASKED)
    store.create(flow, run_id="r1")
    (begun,) = store.stretches("r1")
    assert (begun.number, begun.first, begun.last, begun.status) == (1, 1, 1, None)
    store.work("r1")
    store.answer("r1", "one", ANN)
    store.answer("r1", "two", ANN)
    store.archive("r1")
    found = asyncio.run(store.astretches("r1"))
    assert [one.status for one in found] == ["waiting", "waiting", "completed"]
    assert [one.number for one in found] == [1, 2, 3]
    events = {event.seq: event for event in store.told("r1")}
    assert [(events[one.first].kind, events[one.last].kind) for one in found] == [
        ("run", "run"), ("decision", "run"), ("decision", "run"),
    ]  # fmt: skip
    assert [one.first for one in found[1:]] == [one.last + 1 for one in found[:-1]]
    assert found[0].began_at == events[1].at
    assert make_stretch(found[2])["status"] == "completed"


def test_the_number_of_a_stretch_never_changes(store: RunStore) -> None:
    store.start(Branches(("a", "b")), run_id="r1")
    (first,) = store.stretches("r1")
    store.decide("r1", "a", ANN)
    going = store.stretches("r1")
    assert (going[0], going[1].number, going[1].status) == (first, 2, None)
    store.stop("r1", by="ann")
    ended = store.stretches("r1")
    assert (ended[0], ended[1].first, ended[1].status) == (first, going[1].first, "stopped")


def test_the_event_of_a_message_has_the_id_of_the_message(store: RunStore) -> None:
    store.start(compile_flow(ASKED), run_id="r1")
    store.answer("r1", "one", ANN)
    run = store.answer("r1", "two", ANN)
    told = [event.data["id"] for event in store.told("r1") if event.kind == "message"]
    assert told == [message["id"] for message in run.messages]
    assert len(set(told)) == len(told) >= 2
