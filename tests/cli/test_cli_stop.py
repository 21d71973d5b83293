"""`oasflow stop`, and what else ends or shows a run with which something is wrong."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import Any, LiteralString

import psycopg
import pytest

from tests.cli.oasflow_process import PATIENCE, Oasflow, finish
from tests.flows import api, end, flow_of, start
from tests.platform.loopback_server import LoopbackServer, Reply
from tests.store.damage import PROBLEM, UNREADABLE, damage_gates


@pytest.fixture
def parked(cli: Any, flow_file: Any) -> Any:
    """`r1` waits at its first gate."""
    assert cli("run", flow_file(), "--simulate", "--run-id", "r1").exit_code == 3
    return cli


def as_owner(dsn: str, statement: LiteralString, *values: Any) -> None:
    with psycopg.connect(dsn, autocommit=True, options="-c search_path=oasflow") as connection:
        connection.execute(statement, values)


def no_flow_any_more(owner: str) -> None:
    digest = hashlib.sha256(b"{}").hexdigest()
    as_owner(owner, "insert into flows (digest, name, source) values (%s, 'x', '{}')", digest)
    as_owner(owner, "update runs set digest = %s", digest)


def another_layout(owner: str) -> None:
    as_owner(owner, "update runs set lowering = 99")


def test_a_stop_is_told_kept_and_made_once(parked: Any) -> None:
    stopped = parked("stop", "r1", "--by", "ann", "--reason", "wrong list")
    assert stopped.exit_code == 0
    assert stopped.stdout.splitlines() == ["run r1  stopped", "  stopped by ann: wrong list"]
    again = parked("stop", "r1", "--as", "eve", "--reason", "mine", "--json")
    assert again.exit_code == 0
    assert "note: the run was stopped already, and stays as it was" in again.stderr
    record = json.loads(again.stdout)
    person = {
        "name": "ann", "sub": "", "issuer": "", "kind": "person", "proof": "terminal",
        "channel": "command-line",
    }  # fmt: skip
    told = {"by": "ann", "person": person, "at": record["updated_at"], "reason": "wrong list"}
    assert record["stopped"] == told
    assert "stopped by ann: wrong list" in parked("show", "r1").stdout
    assert parked("approve", "r1").exit_code == 4
    assert parked("resume", "r1").exit_code == 4


def test_a_run_that_ended_otherwise_is_not_stopped(parked: Any) -> None:
    assert parked("reject", "r1").exit_code == 5
    refused = parked("stop", "r1", "--json")
    assert refused.exit_code == 4
    assert json.loads(refused.stdout)["error"]["code"] == "run_ended"
    assert json.loads(parked("show", "r1", "--json").stdout)["stopped"] is None


@pytest.mark.parametrize("word", ["nope", "r", ""])
def test_a_run_is_named_to_be_stopped(parked: Any, word: str) -> None:
    assert parked("stop", word).exit_code == 2
    assert json.loads(parked("show", "r1", "--json").stdout)["status"] == "waiting"


@pytest.mark.parametrize("broken", [another_layout, no_flow_any_more], ids=lambda f: f.__name__)
def test_a_run_is_rejected_or_stopped_though_its_flow_cannot_be_made_again(
    parked: Any, flow_file: Any, owner_database: str, broken: Any
) -> None:
    assert parked("run", flow_file(), "--simulate", "--run-id", "r2").exit_code == 3
    broken(owner_database)
    for command in ("approve", "resume"):
        assert parked(command, "r1").exit_code in (1, 4)
    rejected = parked("reject", "r1", "--as", "bob", "--reason", "wrong list")
    assert rejected.exit_code == 5
    assert rejected.stdout.splitlines() == ["run r1  rejected"]
    assert "  calls nothing: the run is rejected\n" in rejected.stderr
    assert "run 'r1' is rejected without its flow: " in rejected.stderr
    (kept,) = json.loads(parked("show", "r1", "--json").stdout)["decisions"]
    assert (kept["decision"], kept["by"], kept["reason"]) == ("rejected", "bob", "wrong list")
    assert parked("stop", "r2").exit_code == 0


def test_a_run_that_another_process_drives_makes_no_further_call(
    oasflow: Oasflow, here: Any, flow_file: Any
) -> None:
    server, stopped = LoopbackServer(), threading.Event()
    server.replies = [Reply(once=stopped)]
    path = flow_file(flow_of(start(), api("one"), api("two"), end()))
    try:
        process = oasflow.begin("run", path, "--base-url", server.url, "--run-id", "r1", "--json")
        assert server.asked.wait(PATIENCE)
        assert here("stop", "r1", "--as", "ann", "--reason", "wrong list").code == 0
        stopped.set()
        out, _ = finish(process)
        assert process.returncode == 6
        assert json.loads(out)["stopped"]["by"] == "ann"
        assert len(server.seen) == 1
    finally:
        stopped.set()
        server.close()


def test_a_run_whose_gates_cannot_be_read_is_shown_beside_the_others(
    parked: Any, flow_file: Any, owner_database: str
) -> None:
    assert parked("run", flow_file(), "--simulate", "--run-id", "r2").exit_code == 3
    damage_gates(owner_database, "r1", UNREADABLE)
    listed = parked("runs")
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()[1:]] == ["r2", "r1"]
    assert "(cannot be read)" in listed.stdout
    gates = parked("gates")
    assert (gates.exit_code, "r2" in gates.stdout) == (0, True)
    what = f"cannot be read: gate 'bad0': {PROBLEM}"
    way = (
        "oasflow resume r1 writes it again from the run's checkpoint; oasflow stop r1 ends the run"
    )
    assert f"note: run r1: {what}" in gates.stderr
    assert f"note: run r1: {way}" in gates.stderr
    shown = parked("show", "r1")
    assert (what in shown.stdout, way in shown.stdout) == (True, True)
    for target in ("r1", "r1/first"):
        refused = parked("approve", target, "--json")
        assert refused.exit_code == 4
        assert json.loads(refused.stdout)["error"]["code"] == "gate_unreadable"
    assert json.loads(parked("show", "r1", "--json").stdout)["unreadable"] == [what[16:]]
    assert parked("resume", "r1", "--detach").exit_code == 3
    assert parked("approve", "r1/first").exit_code == 3
