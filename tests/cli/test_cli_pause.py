"""`oasflow pause`, and what a paused run looks like until somebody resumes it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from oas_compiler.cli.terminal.exits import Exit


@pytest.fixture
def parked(cli: Any, flow_file: Any) -> Any:
    """`r1` waits at its first gate."""
    assert cli("run", flow_file(), "--simulate", "--run-id", "r1").exit_code == Exit.WAITING
    return cli


def test_a_paused_run_says_who_paused_it_and_how_it_goes_on(parked: Any) -> None:
    told = parked("pause", "r1", "--as", "ann")
    assert told.exit_code == Exit.OK
    assert "paused by ann" in told.stdout
    assert "oasflow resume r1" in told.stdout
    assert "waiting (paused)" in parked("runs").stdout
    assert "paused by ann" in parked("show", "r1").stdout
    again = parked("pause", "r1", "--as", "bob")
    assert "was paused already" in again.stderr
    assert "paused by ann" in again.stdout


def test_a_paused_run_is_left_alone_until_it_is_resumed(parked: Any) -> None:
    parked("pause", "r1", "--as", "ann")
    assert parked("approve", "r1").exit_code == Exit.WAITING
    assert "no run can go on" in parked("resume", "--all").stderr
    before = json.loads(parked("show", "r1", "--json").stdout)
    resumed = json.loads(parked("resume", "r1", "--as", "bob", "--json").stdout)
    assert (before["paused"]["by"], resumed["paused"]) == ("ann", None)
    assert (before["waiting"], len(resumed["waiting"])) == ([], 1)  # at the gate behind it


def test_json_tells_of_the_pause(parked: Any) -> None:
    paused = json.loads(parked("pause", "r1", "--as", "ann", "--json").stdout)
    assert paused["paused"]["by"] == "ann"
    (run,) = json.loads(parked("runs", "--json").stdout)["runs"]
    assert run["paused"] == paused["paused"]
    assert json.loads(parked("show", "r1", "--json").stdout)["status"] == "waiting"


def test_a_run_that_has_ended_or_is_not_there_is_refused(parked: Any) -> None:
    parked("stop", "r1")
    refused = parked("pause", "r1")
    assert (refused.exit_code, "is stopped" in refused.stderr) == (Exit.CONFLICT, True)
    assert parked("pause", "nobody").exit_code == Exit.USAGE
    assert parked("pause", "").exit_code == Exit.USAGE
