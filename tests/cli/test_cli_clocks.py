"""Processes whose clock is wrong: what the store keeps, and what it says of ages, is the database's."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import RunStore
from tests.cli.oasflow_process import Ended, Oasflow

WRONG = """
import datetime, os, time

shift = datetime.timedelta(days=int(os.environ["CLOCK_IS_OFF_BY_DAYS"]))
right = time.time
time.time = lambda: right() + shift.total_seconds()


class Like(type):
    def __instancecheck__(cls, one):
        return isinstance(one, before)


before = datetime.datetime


class Wrong(before, metaclass=Like):
    @classmethod
    def now(cls, tz=None):
        return before.now(tz) + shift


datetime.datetime = Wrong
"""
DAY = 86_400


@pytest.fixture
def off(oasflow: Oasflow, tmp_path: Path) -> Any:
    """`oasflow` in a process whose clock is off by a number of days."""
    (tmp_path / "sitecustomize.py").write_text(WRONG)

    def run(days: int, *arguments: str) -> Ended:
        return oasflow(*arguments, PYTHONPATH=str(tmp_path), CLOCK_IS_OFF_BY_DAYS=str(days))

    return run


@pytest.mark.parametrize(
    "days", [pytest.param(3650, marks=pytest.mark.long), -3650], ids=["ahead", "behind"]
)
def test_a_process_with_a_wrong_clock_writes_and_tells_the_times_of_the_database(
    off: Any, oasflow: Oasflow, flow_file: Any, days: int
) -> None:
    with RunStore.open(oasflow.env["DATABASE_URL"]) as store:
        moments = [store.database.now()]
        begun = off(days, "run", flow_file(), "--simulate", "--run-id", "r1", "--detach", "--json")
        assert begun.code == 3, begun.err
        assert off(days, "approve", "r1", "--as", "ann").code == 3
        (kept,) = store.decisions("r1")
        run = store.get("r1")
        moments += [run.created_at, kept["decided_at"], run.updated_at]
        approved_at = datetime.fromisoformat(kept["answer"]["approvedAt"])
        assert off(days, "stop", "r1", "--as", "ann").code == 0
        moments += [store.get("r1").updated_at, store.database.now()]
    assert moments == sorted(moments)
    assert abs((approved_at - kept["decided_at"]).total_seconds()) < DAY


def test_ages_are_told_by_the_clock_of_the_database(off: Any, here: Any, flow_file: Any) -> None:
    assert here("run", flow_file(), "--simulate", "--run-id", "r1", "--detach").code == 3
    (gate,) = off(3650, "gates", "--json").json["gates"]
    assert gate["age_seconds"] < DAY
    for command in (("runs",), ("show", "r1")):
        told = off(3650, *command)
        assert (told.code, "3650 d" in told.out, "3649 d" in told.out) == (0, False, False)
