"""Everything that a person does to a run keeps the person's name, and no secret for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cinatra_sdk import AnswerInvalid, Decision, RunEnded, RunStore
from tests.store.work.branches import Branches

FLOW = Branches(("a",))
TOKEN = "Bearer abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


def told(store: RunStore, run_id: str) -> list[tuple[str, Any]]:
    """Who did what, as the events say."""
    return [(event.name, event.data["by"]) for event in store.told(run_id) if "by" in event.data]


def test_events_name_who_started_resumed_decided_stopped_and_archived(store: RunStore) -> None:
    store.create(FLOW, run_id="r1", by="bob", tenant="acme")
    store.resume("r1", by="  carol ", tenant="acme")
    store.resume("r1")
    store.decide("r1", "a", Decision.approve(by="ann"), tenant="acme")
    store.stop("r1", by="eve", reason="enough", tenant="acme")
    store.archive("r1", by="dan", tenant="acme")
    assert told(store, "r1") == [
        ("created", "bob"), ("resumed", "carol"), ("resumed", ""), ("approved", "ann"),
        ("stopped", "eve"), ("archived", "dan"),
    ]  # fmt: skip
    numbers = [event.seq for event in store.told("r1")]
    assert numbers == [*range(1, len(numbers) + 1)]


def test_who_cannot_resume_leaves_no_event(store: RunStore) -> None:
    store.start(FLOW, run_id="r1")
    store.stop("r1")
    before = store.told("r1")
    with pytest.raises(RunEnded):
        store.resume("r1", by="ann")
    assert store.told("r1") == before


@pytest.mark.parametrize("name", [TOKEN, "ann\u200b", "a" * 201])
def test_a_name_that_holds_a_secret_or_hides_something_is_refused_and_not_repeated(
    store: RunStore, name: str
) -> None:
    store.start(FLOW, run_id="r1")
    acts: list[Callable[[], Any]] = [
        lambda: store.create(FLOW, run_id="r2", by=name),
        lambda: store.start(FLOW, run_id="r2", by=name),
        lambda: store.resume("r1", by=name),
        lambda: store.decide("r1", "a", Decision.approve(by=name)),
        lambda: store.settle("r1", "k", happened=False, by=name),
        lambda: store.stop("r1", by=name),
        lambda: store.archive("r1", by=name),
    ]
    for act in acts:
        with pytest.raises(AnswerInvalid) as refused:
            act()
        assert name not in str(refused.value)
    assert [run.id for run in store.list()] == ["r1"]
    assert store.get("r1").status == "waiting"


def test_a_reason_that_holds_a_secret_is_refused(store: RunStore) -> None:
    store.start(FLOW, run_id="r1")
    with pytest.raises(AnswerInvalid, match="the reason holds a credential"):
        store.stop("r1", by="ann", reason=f"it sent {TOKEN}")
    assert store.get("r1").status == "waiting"
