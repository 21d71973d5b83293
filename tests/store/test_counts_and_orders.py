"""Lists of several statuses and ids, in four orders, and how many fit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.api import Person
from cinatra_sdk.api.permission import ActionSubject
from cinatra_sdk.effects import Verdict
from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.store import PersonStore
from cinatra_sdk.store.lists.list_filters import MOST_IDS, RUN_ORDERS
from tests.store.work.branches import Branches

FLOW = Branches(("a", "b"))
ANN = Person(id="ann", tenant="acme", proof="token")


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    """Four runs, started in the order of their numbers: r1 stopped, r2 and r3 waiting, r4 to be begun."""
    with RunStore.open(fresh_database) as opened:
        for number in (1, 2, 3):
            opened.start(FLOW, run_id=f"r{number}", tenant="acme")
        opened.create(FLOW, run_id="r4", tenant="acme")
        opened.stop("r1", by="ann")
        yield opened


def ids(runs: Any) -> list[str]:
    return [run.id for run in runs]


def test_runs_of_several_statuses_are_listed_together(store: RunStore) -> None:
    assert sorted(ids(store.list(status=["waiting", "stopped"]))) == ["r1", "r2", "r3"]
    assert sorted(ids(store.list(status=("running", "stopped")))) == ["r1", "r4"]
    assert ids(store.list(status={"running"})) == ["r4"]
    assert ids(store.list(status=[])) == []
    with pytest.raises(InputInvalid, match="which is none of its words"):
        store.list(status=["waiting", "wating"])  # type: ignore[list-item]


def test_runs_are_listed_by_their_ids_whatever_else_is_asked(store: RunStore) -> None:
    assert sorted(ids(store.list(run_ids=["r2", "r4", "gone"]))) == ["r2", "r4"]
    assert ids(store.list(run_ids=["r1", "r2"], status="waiting")) == ["r2"]
    assert ids(store.list(run_ids=["r1"], tenant="beta")) == []
    assert ids(store.list(run_ids=[])) == []
    with pytest.raises(InputInvalid, match="names 1,001 runs"):
        store.list(run_ids=[str(one) for one in range(MOST_IDS + 1)])
    with pytest.raises(InputInvalid, match="'run_ids' is a int"):
        store.list(run_ids=5)  # type: ignore[arg-type]


def test_runs_come_in_four_orders(store: RunStore) -> None:
    # r1 was stopped last.
    assert ids(store.list()) == ["r1", "r4", "r3", "r2"]
    assert ids(store.list(order="oldest-change")) == ["r2", "r3", "r4", "r1"]
    assert ids(store.list(order="newest-start")) == ["r4", "r3", "r2", "r1"]
    assert ids(store.list(order="oldest-start")) == ["r1", "r2", "r3", "r4"]
    with pytest.raises(InputInvalid, match="'order' is 'newest'"):
        store.list(order="newest")  # type: ignore[arg-type]


@pytest.mark.parametrize("order", RUN_ORDERS)
@pytest.mark.parametrize("status", [None, ["running", "waiting", "stopped"], ["running"]])
def test_pages_of_each_order_hold_each_run_once(store: RunStore, order: Any, status: Any) -> None:
    whole, found, after = ids(store.list(order=order, status=status)), [], ""
    for _ in range(10):
        page = store.page(order=order, status=status, limit=1, after=after)
        found += ids(page.items)
        after = page.next
        if not after:
            break
    assert found == whole


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(RUN_ORDERS, 2)))
def test_a_cursor_goes_on_in_its_own_order_only(store: RunStore, first: Any, second: Any) -> None:
    cursor = store.page(order=first, limit=1).next
    with pytest.raises(InputInvalid, match="cursor"):
        store.page(order=second, limit=1, after=cursor)


def test_runs_are_counted_as_they_are_listed(store: RunStore) -> None:
    assert store.count() == 4
    assert store.count(status="waiting") == 2
    assert store.count(status=["running", "waiting"], tenant="acme") == 3
    assert store.count(tenant="beta") == 0
    assert store.count(limit=3) == 3
    with pytest.raises(TypeError, match="'order'"):
        store.count(order="newest-start")  # type: ignore[call-arg]


def test_open_gates_are_counted_as_they_are_listed(store: RunStore) -> None:
    assert store.count_gates() == len(store.gates().items) == 4
    assert store.count_gates(run_id="r2") == 2
    assert store.count_gates(limit=1) == 1
    store.decide("r2", "a", Decision.approve(by="ann"))
    assert store.count_gates(run_id="r2", tenant="acme") == 1
    with pytest.raises(InputInvalid, match="no risk class 'hih'"):
        store.count_gates(risk="hih")


def sees_odd_runs(_person: Person, _action: str, subject: ActionSubject) -> Verdict:
    allowed = subject.run_id in ("r1", "r3")
    return Verdict(allowed=allowed, reason="" if allowed else "an even run")


@pytest.mark.parametrize("order", RUN_ORDERS)
def test_a_person_counts_and_orders_what_they_see(store: RunStore, order: Any) -> None:
    store.start(FLOW, run_id="other", tenant="beta")
    mine = PersonStore(store, ANN)
    assert (mine.count(), mine.count_gates()) == (4, 4)
    assert "other" not in ids(mine.list(order=order))
    few = PersonStore(store, ANN, policy=sees_odd_runs)
    assert sorted(ids(few.list(order=order))) == ["r1", "r3"]
    assert (few.count(), few.count(limit=1), few.count_gates()) == (2, 1, 2)
    # Pages go on over what is not seen.
    page = few.page(order=order, limit=1)
    assert len(few.page(order=order, limit=1, after=page.next).items) == 1
    host = PersonStore(store, replace(ANN, tenant=None))
    assert host.count() == 5
