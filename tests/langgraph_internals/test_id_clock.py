"""This process's checkpoint ids sort after those that are there, whatever its clock says."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from langgraph.checkpoint.base import id as engine_ids
from langgraph.checkpoint.base.id import UUID, uuid6

from cinatra_sdk.errors import EngineUnsupported
from cinatra_sdk.langgraph_internals import checkpoint_ids
from cinatra_sdk.langgraph_internals.checkpoint_ids import FURTHEST, move_ids_beyond

DAY = 86_400.0


@pytest.fixture(autouse=True)
def _ids_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests make their ids from the clock."""
    monkeypatch.setattr(engine_ids, "_last_v6_timestamp", None)


def id_of(seconds_ahead: float) -> str:
    """An id that a process makes whose clock is ahead of this one."""
    ticks = time.time_ns() // 100 + int(seconds_ahead * 10_000_000)
    return f"{checkpoint_ids._earliest_id(ticks)}-bfff-ffffffffffff"


def test_a_made_id_is_read_back_with_its_time() -> None:
    for _ in range(1000):
        before = checkpoint_ids._earliest_id(time.time_ns() // 100)
        made = str(uuid6())
        assert before <= made[:18]
    ticks = UUID(made).time - checkpoint_ids._FIRST_TICK
    assert checkpoint_ids._earliest_id(ticks) == made[:18]


@pytest.mark.parametrize("behind", [0.0, 0.5, 3600.0, DAY, 3650 * DAY])
def test_ids_sort_after_a_checkpoint_of_a_clock_that_is_ahead(behind: float) -> None:
    checkpoint = id_of(behind)
    assert move_ids_beyond(checkpoint)
    made = [str(uuid6()) for _ in range(100)]
    assert made == sorted(made)
    assert checkpoint < made[0]


def test_without_it_they_sort_before() -> None:
    # The control: it is the engine's own last id that is raised, and nothing else.
    assert str(uuid6()) < id_of(0.5)


@pytest.mark.parametrize("ahead", [0.001, 1.0, DAY])
def test_a_clock_that_is_ahead_changes_nothing(ahead: float) -> None:
    assert move_ids_beyond(id_of(-ahead))
    assert engine_ids._last_v6_timestamp is None


def test_a_checkpoint_between_does_not_take_ids_back() -> None:
    assert move_ids_beyond(far := id_of(DAY))
    assert move_ids_beyond(id_of(60))
    assert str(uuid6()) > far


def test_an_id_that_no_clock_makes_is_refused_and_changes_nothing() -> None:
    for forged in (id_of(FURTHEST + 10), "ffffffff-ffff-6fff-bfff-ffffffffffff"):
        assert not move_ids_beyond(forged)
    assert engine_ids._last_v6_timestamp is None


@pytest.mark.parametrize("other", ["", "0", "zzzz", "not-an-id", "f" * 36])
def test_an_id_that_the_engine_did_not_make_says_nothing(other: str) -> None:
    assert move_ids_beyond(other)
    assert engine_ids._last_v6_timestamp is None


def test_ids_of_many_threads_stay_above_a_checkpoint() -> None:
    checkpoint = id_of(DAY)

    def make(number: int) -> list[str]:
        if number == 3:
            assert move_ids_beyond(checkpoint)
        return [str(uuid6()) for _ in range(2000)]

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(make, range(8)))
    assert str(uuid6()) > checkpoint


def test_an_engine_that_keeps_its_last_id_elsewhere_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checkpoint_ids, "uuid6", lambda: "00000000-0000-6000-8000-000000000000")
    with pytest.raises(EngineUnsupported, match="LangGraph"):
        move_ids_beyond(id_of(60))
