"""Runs that another version left: which they are, who takes them, and what people are told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from cinatra_sdk import Decision, FlowChanged, RunStore, contract
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.postgres import migration
from cinatra_sdk.postgres.connection import every
from cinatra_sdk.store.health import examine
from cinatra_sdk.store.runs.layouts import OLDER_SECONDS, describe_layouts
from cinatra_sdk.store.work.due_runs import DueScope, list_pages
from oas_compiler import compile_flow
from tests.databases import Databases
from tests.store.test_rebuilt_runs import PLAIN, owner

__all__ = ["owner"]
Owner = Callable[..., None]
ANN = Decision.approve(by="ann")


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, platform=SimulatedPlatform()) as opened:
        yield opened


def leave(store: RunStore, owner: Owner, run_id: str, *, layout: int) -> None:
    """A waiting run as a version of that layout left it."""
    store.start(compile_flow(PLAIN, platform=SimulatedPlatform()), {}, run_id=run_id)
    owner("update runs set lowering = %s where run_id = %s", layout, run_id)


def make_older(owner: Owner, run_id: str, seconds: float) -> None:
    for table, column in (("runs", "updated_at"), ("gates", "settled_at")):
        owner(f"alter table {table} disable trigger user")
        owner(f"update {table} set {column} = clock_timestamp() - %s * interval '1 second' where run_id = %s", seconds, run_id)  # fmt: skip
        owner(f"alter table {table} enable trigger user")


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> int:
    """The layout of this version, which is later than that of the release."""
    monkeypatch.setattr(contract, "LAYOUT", contract.LAYOUT + 1)
    return contract.LAYOUT


def test_runs_of_other_layouts_are_told_apart(store: RunStore, owner: Owner, newer: int) -> None:
    for name, layout in (("own", newer), ("old", newer - 1), ("second", 2), ("first", 1), ("new", newer + 1)):  # fmt: skip
        leave(store, owner, name, layout=layout)
    found = store.list_other_layouts()
    assert [(one.run_id, one.kind) for one in found] == [
        ("first", "lost"), ("new", "newer"), ("old", "older"), ("second", "lost"),
    ]  # fmt: skip
    older, lost, later = describe_layouts(found)
    assert older == (
        "1 run (old) was left by an older version: whoever works on it next brings it over; oasflow "
        "upgrade --check says what becomes of each"
    )
    assert lost == (
        "2 runs (first, second) are of a layout that no version goes on with: end each: oasflow stop "
        "RUN, or reject its gate; then start another"
    )
    assert later == (
        "1 run (new) is of a newer version: only that version goes on; this one can reject or stop"
    )
    outcomes = {one.run_id: (one.outcome, one.reason) for one in store.foretell_upgrades()}
    assert outcomes["old"] == ("unchanged", "")
    for name in ("first", "second", "new"):
        assert outcomes[name][0] == "cannot"
        with pytest.raises(FlowChanged):
            store.work(name)
    assert "runs of layouts before 3" in outcomes["first"][1]
    assert store.answer("first", "first", Decision.reject(by="ann")).status == "rejected"
    assert store.stop("second", by="ann").status == "stopped"
    assert [one.run_id for one in store.list_other_layouts()] == ["new", "old"]


def test_doctor_tells_of_them_before_and_after_a_migration(
    store: RunStore, owner: Owner, newer: int, fresh_database: str, databases: Databases
) -> None:
    leave(store, owner, "old", layout=newer - 1)
    for _ in range(2):
        told = " ".join(examine(fresh_database).findings)
        assert "1 run (old) was left by an older version" in told
        migration.migrate(databases.as_owner(fresh_database))
    store.upgrade()
    assert "older version" not in " ".join(examine(fresh_database).findings)


def list_swept(store: RunStore) -> list[str]:
    return sorted(one.run_id for one in store.sweep())


def test_workers_of_two_versions_each_take_their_own(
    store: RunStore, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The older version never sees a run of the newer one; that leaves the other's alone for a while."""
    leave(store, owner, "old", layout=3)
    leave(store, owner, "new", layout=4)
    owner("update runs set lowering = 3")  # so that a decision is taken
    store.decide("old", "first", ANN)
    store.decide("new", "first", ANN)
    owner("update runs set lowering = 4 where run_id = 'new'")
    with monkeypatch.context() as later:
        later.setattr(contract, "LAYOUT", 4)
        make_older(owner, "old", OLDER_SECONDS - 30)
        assert list_due(store.database) == ["new"]
        make_older(owner, "old", OLDER_SECONDS + 5)
        assert list_due(store.database) == ["new", "old"]
    assert list_due(store.database) == ["old"]
    assert list_swept(store) == ["old"]


def list_due(database: Any) -> list[str]:
    with database.connection() as connection:
        pages = list_pages(partial(every, connection, "list_due_runs"), DueScope(), limit=100)
        return sorted(run.run_id for page in pages for run in page)
