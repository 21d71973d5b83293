"""A store that was opened before a fork: each side has connections of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from cinatra_sdk import RunStore
from tests.store.forking import RUNS, SIDES

QUIET = ("-W", "ignore:This process:DeprecationWarning")
"""From 3.12 on, Python warns of every fork of a process with threads."""


def test_both_sides_of_a_fork_read_and_start_runs(fresh_database: str, tmp_path: Path) -> None:
    # A process of its own, which cannot be held up for ever by two that speak on one connection.
    done = subprocess.run(
        [sys.executable, *QUIET, "-m", "tests.store.forking", fresh_database, str(tmp_path)],
        capture_output=True, encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    told = {side: json.loads((tmp_path / f"{side}.json").read_text()) for side in SIDES}
    for side, seen in told.items():
        named = [side, "afterwards"] if side == "parent" else [side]
        assert seen["runs"] == [expected(name, number) for name in named for number in range(RUNS)]
    assert_apart(told)
    with RunStore.open(fresh_database) as store:
        assert len(store.list(limit=1000)) == 1 + RUNS * (len(SIDES) + 1)


def expected(name: str, number: int) -> dict[str, Any]:
    return {
        "id": f"{name}-{number}",
        "status": "completed",
        "input": {"x": f"{name} {number}"},
        "events": [*range(1, 13)],
    }


def assert_apart(told: dict[str, Any]) -> None:
    """Each side has its own processes of the server, and the parent's outlive its children."""
    used = [server for seen in told.values() for server in seen["servers"]]
    assert len({*used}) == 2 * len(SIDES)
    parent = told["parent"]
    held = {*parent["before"], *parent["servers"]}
    assert held <= {*parent["after"]}, "its children ended a connection of the parent"
