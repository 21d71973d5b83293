"""A run waits for the agents that it called as it waits at a gate, and is woken by their end."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.store import database as stores_database
from tests.effort import tries
from tests.passthrough.families import Family, FamilyPlatform

ANN = Decision.approve(by="ann")


@pytest.fixture
def platform() -> FamilyPlatform:
    return FamilyPlatform()


@pytest.fixture
def store(fresh_database: str, platform: FamilyPlatform) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, platform=platform) as opened:
        yield opened


def test_a_parent_goes_on_with_what_its_child_gave(
    store: RunStore, platform: FamilyPlatform
) -> None:
    family = Family(store, platform, deep=2, wide=2)
    run = family.start("r1")
    assert (run.status, run.error) == ("completed", None)
    assert set(family.platform.made.values()) == {1}


def test_more_parents_than_connections_all_end(
    store: RunStore, platform: FamilyPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each holds nothing while its children work: four connections are enough, three deep."""
    monkeypatch.setattr(stores_database, "PATIENCE", 5.0)
    monkeypatch.setattr(store.database.work._pool, "_settings",
                        {**store.database.work._pool._settings, "max_size": 4})  # fmt: skip
    family, many = Family(store, platform, deep=4), tries(16, 64)
    with ThreadPoolExecutor(many) as threads:
        ran = list(threads.map(family.start, [f"r{n}" for n in range(many)]))
    assert Counter(run.status for run in ran) == {"completed": many}
    assert set(family.platform.made.values()) == {1}
    assert len(family.platform.made) == 4 * many


def test_a_child_that_asks_a_person_parks_its_parents_and_their_end_wakes_them(
    store: RunStore,
    platform: FamilyPlatform,
) -> None:
    family = Family(store, platform, deep=3, asks=True)
    run = family.start("r1")
    assert (run.status, run.waiting) == ("waiting", ())
    assert run.error is not None
    assert run.error["code"] == "child_waits"
    child = family.below("r1")
    grandchild = family.below(child.id)
    assert [gate.id for gate in grandchild.waiting] == ["review"]
    assert store.sweep(grace=0) == []  # nothing is due, and nobody looks again and again
    store.decide(grandchild.id, "review", ANN)
    for _ in range(3):
        store.sweep(grace=0)
    assert store.get("r1").status == "completed"
    assert set(family.platform.made.values()) == {1}


def test_an_answer_goes_on_with_the_runs_above(store: RunStore, platform: FamilyPlatform) -> None:
    family = Family(store, platform, deep=3, asks=True)
    family.start("r1")
    grandchild = family.below(family.below("r1").id)
    store.answer(grandchild.id, "review", ANN)
    assert store.get("r1").status == "completed"


@pytest.mark.parametrize("end", ["reject", "stop"])
def test_a_child_that_ends_without_outputs_fails_its_parents(
    store: RunStore, platform: FamilyPlatform, end: str
) -> None:
    family = Family(store, platform, deep=3, asks=True)
    family.start("r1")
    grandchild = family.below(family.below("r1").id)
    if end == "reject":
        store.decide(grandchild.id, "review", Decision.reject(by="ann"))
    else:
        store.stop(grandchild.id, by="ann")
    for _ in range(4):
        store.sweep(grace=0)
    error = store.get("r1").error
    assert store.get("r1").status == "failed"
    assert error is not None
    assert error["code"] == "child_failed"


def test_a_child_that_failed_for_good_fails_its_parent_once_and_is_tried_with_it_again(
    store: RunStore,
    platform: FamilyPlatform,
) -> None:
    platform.fails["work_2"] = 2
    family = Family(store, platform, deep=2)
    for _ in range(2):
        run = family.start("r1") if store.list() == [] else store.resume("r1", flow=family.flow)
        assert (run.status, (run.error or {})["code"]) == ("failed", "child_failed")
        assert family.below("r1").status == "failed"
    assert store.resume("r1", flow=family.flow).status == "completed"
    assert family.platform.made.most_common(1)[0][1] == 3  # twice failed, once done


def test_a_run_that_waits_for_a_child_has_no_worker(
    store: RunStore, platform: FamilyPlatform
) -> None:
    family = Family(store, platform, deep=2, asks=True)
    family.start("r1")
    with store.database.connection() as connection:
        rows = connection.execute("select worker, backend_pid, lease_until from work").fetchall()
    assert [tuple(row.values()) for row in rows] == [("", None, None)] * 2


def test_a_word_of_a_run_that_nobody_began_fails_the_call(
    store: RunStore, platform: FamilyPlatform
) -> None:
    """Only the end of a child wakes a run, so a host that names none cannot park one for ever."""
    from cinatra_sdk.outside.routes import RouteError
    from oas_compiler import compile_flow
    from tests.flows import api, end, flow_of, port, start

    class Lies(FamilyPlatform):
        def call(self, call: object) -> object:
            raise RouteError(409, "child_waits", "somewhere")

    flow = compile_flow(flow_of(start(), api("a", outputs=[port("o")]), end()), platform=Lies())
    run = store.start(flow, {}, "r1")
    assert (run.status, (run.error or {})["code"]) == ("failed", "child_waits")


def test_an_end_in_the_moment_in_which_a_parent_parks_is_not_missed(
    store: RunStore, platform: FamilyPlatform
) -> None:
    """The mark is taken away at the claim alone, before the parent looks: whatever ends later counts."""
    family = Family(store, platform, deep=2, asks=True)
    family.start("r1")
    child = family.below("r1").id
    barrier = threading.Barrier(2)

    def end_child() -> None:
        barrier.wait()
        store.stop(child, by="ann")

    def park_again() -> None:
        barrier.wait()
        store.work("r1", flow=family.flow, due=True)

    threads = [threading.Thread(target=one) for one in (end_child, park_again)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.sweep(grace=0)
    assert store.get("r1").status == "failed"  # and not waiting for ever
