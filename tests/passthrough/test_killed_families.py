"""A process that works on a parent and its children, killed at everything that it does to the world."""

from __future__ import annotations

import os
import random
import signal
import time
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import RunNotFound
from tests.effort import tries
from tests.passthrough.families import Family, FamilyPlatform
from tests.store.work.killed import MOST, tap_store
from tests.warm import FORKED

DEEP = 3
ANN = Decision.approve(by="ann")


class Telling(FamilyPlatform):
    def __init__(self, tell: Any) -> None:
        super().__init__()
        self.tell = tell

    def call(self, call: Any) -> Any:
        self.tell()
        answer = super().call(call)
        self.tell()
        return answer


def work_until_killed(point: int, dsn: str, run_id: str) -> None:
    """Ends with 0 where the run came to its gate and to its end before the n-th thing."""
    remaining = [point]

    def tell() -> None:
        remaining[0] -= 1
        if remaining[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    platform = Telling(tell)
    tap_store(tell)
    with RunStore.open(dsn, platform=platform) as store:
        go_to_the_end(store, Family(store, platform, deep=DEEP, asks=True), run_id)


def go_to_the_end(store: RunStore, family: Family, run_id: str) -> None:
    """Begin the family, or go on with it, and approve the gate of the deepest run."""
    try:
        store.get(run_id)
    except RunNotFound:
        family.start(run_id)
    until = time.monotonic() + 60
    while store.get(run_id).status != "completed":
        assert time.monotonic() < until, list_standing(store)
        for run in store.list(tenant="acme"):
            if run.waiting and is_below(store, run.id, run_id):
                store.answer(run.id, "review", ANN)
        store.sweep(grace=0, tenant="acme")


def is_below(store: RunStore, run_id: str, top: str) -> bool:
    while run_id and run_id != top:
        run_id = store.get(run_id).parent
    return bool(run_id)


def list_standing(store: RunStore) -> list[Any]:
    return [(run.id, run.parent, run.status, run.error) for run in store.list(tenant="acme")]


def list_family(store: RunStore, run_id: str) -> list[str]:
    """The run and those below it, the topmost first; each has at most one child."""
    found = [run_id]
    everyone = list(store.list(tenant="acme", limit=100_000))
    while below := [run.id for run in everyone if run.parent == found[-1]]:
        assert len(below) == 1, "a call that was made again began another run"
        found += below
    return found


@pytest.mark.parametrize("step", [tries(29, 1)])
def test_a_killed_family_ends_right_whatever_was_under_way(fresh_database: str, step: int) -> None:
    first = random.SystemRandom().randint(1, step)
    print(f"killed at point {first} and at each {step}. after it")
    platform, killed = FamilyPlatform(), 0
    with RunStore.open(fresh_database, platform=platform) as store:
        family = Family(store, platform, deep=DEEP, asks=True)
        for point in range(first, MOST, step):
            run_id = f"r{point}"
            process = FORKED.Process(target=work_until_killed, args=(point, fresh_database, run_id))
            process.start()
            process.join(120)
            assert process.exitcode in {0, -signal.SIGKILL}
            go_to_the_end(store, family, run_id)
            names = list_family(store, run_id)
            assert [store.get(name).status for name in names] == ["completed"] * DEEP
            for name in names:
                done = [effect for effect in store.effects(name).items if effect.status == "done"]
                assert len({effect.key for effect in done}) == len(done)
                assert len(done) == (1 if name == names[-1] else 2)
                numbers = [event.seq for event in store.events(name)]
                assert numbers == list(range(1, len(numbers) + 1))
            if process.exitcode == 0:
                break
            killed += 1
        else:
            pytest.fail("the family never came to its end by itself")
    assert killed >= 3
