"""`oasflow db archive`, and what other commands say of an archived run."""

from __future__ import annotations

import json
from typing import Any

import pytest


@pytest.fixture
def ended(cli: Any, flow_file: Any) -> Any:
    """`r1` and `r2` are completed, `r3` waits."""
    path = flow_file()
    for name in ("r1", "r2"):
        assert cli("run", path, "--simulate", "--yes", "--run-id", name).exit_code == 0
    assert cli("run", path, "--simulate", "--run-id", "r3").exit_code == 3
    return cli


def test_a_dry_run_counts_and_archiving_does_the_same(ended: Any) -> None:
    dry = json.loads(ended("db", "archive", "--older-than", "0d", "--dry-run", "--json").stdout)
    assert (dry["runs"], dry["results"], dry["dry_run"]) == (2, 2, True)
    assert min(dry["checkpoints"], dry["writes"]) > 0
    told = ended("db", "archive", "--older-than", "0d", "--dry-run").stdout
    assert told.startswith(f"2 runs would be archived: {dry['checkpoints']} checkpoints, ")
    assert ended("db", "archive", "--older-than", "1d").stdout == "0 runs archived\n"
    done = ended("db", "archive", "--older-than", "0d", "--limit", "1", "--as", "ann")
    assert (done.exit_code, done.stdout.split(":")[0]) == (0, "1 run archived")
    rest = json.loads(ended("db", "archive", "--older-than", "0d", "--json").stdout)
    assert (rest["runs"], rest["dry_run"]) == (1, False)


def test_lists_and_show_say_that_a_run_is_archived_and_resume_refuses_it(ended: Any) -> None:
    assert ended("db", "archive", "--older-than", "0d", "--as", "ann").exit_code == 0
    lines = {line.split()[0]: line for line in ended("runs").stdout.splitlines()[1:]}
    assert "completed (archived)" in lines["r1"]
    assert "archived" not in lines["r3"]
    listed = {run["id"]: run for run in json.loads(ended("runs", "--json").stdout)["runs"]}
    assert (listed["r1"]["archived_at"] is None, listed["r3"]["archived_at"]) == (False, None)
    shown = ended("show", "r1").stdout
    assert "nobody can go on with it; what happened in it stays" in shown
    assert "approved" in shown, "its decisions are there"
    assert "run archived  ann" in ended("show", "r1", "--events").stdout
    refused = ended("resume", "r1")
    assert refused.exit_code == 4
    assert "run 'r1' is completed and archived" in refused.stderr


def test_an_age_is_needed(ended: Any) -> None:
    assert ended("db", "archive").exit_code == 2
    assert "an age is a number" in ended("db", "archive", "--older-than", "soon").stderr
