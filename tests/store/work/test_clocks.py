"""Workers whose clock is behind the run's last checkpoint: nothing is repeated, and the run ends."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cinatra_sdk import Decision, RunStore, SimulatedPlatform
from oas_compiler import compile_flow
from tests.store.work.stopped_worker import Steps
from tests.store.work.wrong_clocks import FLOW, act, work_with_a_jump
from tests.warm import FORKED

BEHIND = [0.5, 3600.0, 86_400.0]


def in_a_process(target: Any, *arguments: Any) -> int:
    process: Any = FORKED.Process(target=target, args=arguments)
    process.start()
    process.join(120)
    code: int = process.exitcode
    return code


def take_turns(
    dsn: str, record: Path, *turns: tuple[str, float], heedless: bool = False
) -> tuple[list[str], Counter[str]]:
    """What each process said, and how often each node called."""
    for what, off in turns:
        assert in_a_process(act, what, off, dsn, str(record), heedless) == 0
    said = Path(f"{record}.said").read_text(encoding="utf-8").splitlines()
    calls = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    return [line.split()[1] for line in said], Counter(one["node"] for one in calls)


@pytest.mark.parametrize("behind", BEHIND)
def test_a_run_goes_on_with_a_clock_that_is_behind_and_calls_once(
    fresh_database: str, tmp_path: Path, behind: float
) -> None:
    turns = [("start", 0.0), ("ok", behind), ("go", behind), ("last", behind)]
    said, calls = take_turns(fresh_database, tmp_path / "calls", *turns)
    assert said == ["waiting", "waiting", "waiting", "completed"]
    assert calls == {"first": 1, "second": 1, "third": 1}


# On a slow machine half a second is over before the run goes on.
@pytest.mark.parametrize("behind", [30.0, *BEHIND[1:]])
def test_without_heed_of_clocks_the_same_run_is_caught(
    fresh_database: str, tmp_path: Path, behind: float
) -> None:
    # The control.
    turns = [("start", 0.0), ("ok", behind), ("go", behind)]
    said, calls = take_turns(fresh_database, tmp_path / "calls", *turns, heedless=True)
    assert (said, calls) != (["waiting"] * 3, {"first": 1, "second": 1, "third": 1})


@pytest.mark.parametrize("jump", [-0.5, -3600.0, -86_400.0, 86_400.0])
def test_a_clock_that_jumps_while_a_run_is_worked_on_repeats_nothing(
    fresh_database: str, tmp_path: Path, jump: float
) -> None:
    file = tmp_path / "calls"
    with RunStore.open(fresh_database) as store:
        store.create(Steps(), run_id="r1")
        assert in_a_process(work_with_a_jump, jump, fresh_database, str(file), "r1") == -9

        def does(name: str) -> str:
            with file.open("a", encoding="utf-8") as lines:
                lines.write(f"{os.getpid()} {name}\n")
            return name

        assert store.work("r1", flow=Steps(does)).status == "completed"
    called = [line.split()[1] for line in file.read_text(encoding="utf-8").splitlines()]
    assert called == ["a", "b", "c", "c"]  # the last one died in its call


@pytest.fixture
def parked(fresh_database: str) -> Any:
    platform = SimulatedPlatform()
    with RunStore.open(fresh_database, platform=platform) as store:
        assert store.start(compile_flow(FLOW, platform=platform), run_id="r1").status == "waiting"
        yield store, platform


def delete_checkpoints(store: RunStore, owner: str) -> None:
    with psycopg.connect(owner, autocommit=True) as rows:
        for table in ("checkpoints", "checkpoint_writes", "checkpoint_blobs"):
            rows.execute(f"delete from oasflow.{table}")  # type: ignore[arg-type]


def test_a_waiting_run_whose_checkpoints_were_deleted_goes_on_without_a_call_made_again(
    parked: Any, owner_database: str
) -> None:
    store, platform = parked
    delete_checkpoints(store, owner_database)
    run = store.answer("r1", "ok", Decision.approve(by="ann"))
    assert (run.status, run.error, [gate.id for gate in run.waiting]) == ("waiting", None, ["last"])
    assert [call.node for call in platform.calls] == ["first", "second", "third"]


def test_a_rejection_ends_a_run_whose_checkpoints_were_deleted(
    parked: Any, owner_database: str
) -> None:
    store, _ = parked
    delete_checkpoints(store, owner_database)
    assert store.answer("r1", "ok", Decision.reject(by="ann")).status == "rejected"


def test_a_run_whose_checkpoint_was_forged_is_told(parked: Any, owner_database: str) -> None:
    store, platform = parked
    with psycopg.connect(owner_database, autocommit=True) as rows:
        rows.execute(
            "update oasflow.checkpoints set checkpoint_id = 'ffffffff-ffff-6fff-bfff-ffffffffffff'"
            " where checkpoint_id = (select max(checkpoint_id) from oasflow.checkpoints)"
        )
    run = store.answer("r1", "ok", Decision.approve(by="ann"))
    assert run.error["code"] == "checkpoints_unusable"
    assert "century" in run.error["message"]
    assert [call.node for call in platform.calls] == ["first"]


def test_a_run_that_died_before_its_first_checkpoint_begins_again(fresh_database: str) -> None:
    with RunStore.open(fresh_database) as store:
        store.create(Steps(), run_id="r1")
        with store.database.connection() as rows:
            rows.execute("update runs set attempts = 1")
        assert store.work("r1", flow=Steps()).status == "completed"
