"""How far a clock is behind is read from ids alone, and told the same by the short way and the long."""

from __future__ import annotations

import time

import pytest
from langgraph.checkpoint.base.id import UUID, uuid6

from cinatra_sdk.engine import id_clock
from cinatra_sdk.engine.id_clock import seconds_behind


def id_of(seconds_ahead: float) -> str:
    """An id that a process makes whose clock is ahead of this one."""
    ticks = time.time_ns() // 100 + int(seconds_ahead * 10_000_000)
    return f"{id_clock._earliest_id(ticks)}-8000-000000000000"


def test_a_made_id_is_read_back_with_its_time() -> None:
    for _ in range(1000):
        before = id_clock._earliest_id(time.time_ns() // 100)
        made = str(uuid6())
        assert before <= made[:18]
    ticks = UUID(made).time - id_clock._FIRST_TICK
    assert id_clock._earliest_id(ticks) == made[:18]


@pytest.mark.parametrize("behind", [-3600.0, -1.0, -0.01])
def test_a_clock_that_is_ahead_or_level_is_not_behind(behind: float) -> None:
    assert seconds_behind(id_of(behind)) <= 0
    assert seconds_behind(str(uuid6())) <= 0


@pytest.mark.parametrize("behind", [1.0, 60.0, 86_400.0])
def test_a_clock_that_is_behind_is_told_by_how_much(behind: float) -> None:
    assert behind - 0.5 < seconds_behind(id_of(behind)) <= behind


@pytest.mark.parametrize("other", ["", "0", "zzzz", "not-an-id", "f" * 36])
def test_an_id_that_the_engine_did_not_make_says_nothing(other: str) -> None:
    assert seconds_behind(other) <= 0
