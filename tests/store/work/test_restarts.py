"""The database stopped, or killed, and started again under many runs: nothing is lost or done twice."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.local_postgres.cluster import Postmaster
from cinatra_sdk.local_postgres.supervisor import LocalServer
from tests.effort import tries
from tests.flows import api, end, flow_of, gate, port, start
from tests.postgres.test_local import short_folder
from tests.store.work.killed import load, store_of
from tests.store.work.restarted import drive_share, gate_to_reject
from tests.warm import FORKED

RUNS = tries(16, 1_000)
RESTARTS = tries(2, 20)
WORKERS = 4


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with short_folder() as folder:
        made = LocalServer(folder / "pg")
        made.start()
        yield made
        made.stop()


def write_flow(folder: Path) -> str:
    """A call, a gate, a call that sends."""
    flow = flow_of(
        start(port("x", default="1")),
        api("draft", outputs=[port("text")]),
        gate("check", inputs=[port("text")]),
        api("send", data={"text": "{{ text }}"}, inputs=[port("text")], outputs=[port("sent")],
            risk="email_send"),
        end(port("sent")),
        edges=[("draft", "text", "check", "text"), ("draft", "text", "send", "text"),
               ("send", "sent", "end", "sent")],
    )  # fmt: skip
    file = folder / "oas.json"
    file.write_text(json.dumps(flow), encoding="utf-8")
    return str(file)


def restart(server: LocalServer, *, kills: bool) -> None:
    if kills:
        main = Postmaster.of(server._data)
        assert main is not None
        os.kill(main.pid, signal.SIGKILL)
        while main.exists():
            time.sleep(0.02)
    else:
        server.stop()
    server.start()


def drive_through_restarts(server: LocalServer, folder: Path) -> tuple[str, Path]:
    """The source of the flow and the calls that were made."""
    source, calls, done = write_flow(folder), folder / "calls", folder / "done"
    done.touch()
    workers: list[Any] = [
        FORKED.Process(
            target=drive_share,
            args=(server.dsn(), str(calls), source, range(first, RUNS, WORKERS), str(done)),
        )
        for first in range(WORKERS)
    ]
    for worker in workers:
        worker.start()
    for number in range(RESTARTS):
        wanted = RUNS * (number + 1) // (RESTARTS + 1)
        while len(done.read_text().splitlines()) < wanted:
            assert any(worker.is_alive() for worker in workers)
            time.sleep(0.02)
        restart(server, kills=number % 2 == 1)
    for worker in workers:
        worker.join(600)
        assert worker.exitcode == 0
    return source, calls


def look_at_runs(server: LocalServer, source: str, calls: Path, count: int = RUNS) -> None:
    keys: dict[str, dict[str, str]] = defaultdict(dict)
    lines = calls.read_text(encoding="utf-8").splitlines()
    for line in lines:
        call = json.loads(line)
        what = json.dumps(call["what"])
        assert keys[call["run"]].setdefault(call["key"], what) == what
    with store_of(server.dsn(), load(source, str(calls))) as store:
        for number in range(count):
            run_id, rejected = f"r{number}", bool(gate_to_reject(number))
            run = store.get(run_id)
            assert run.status == ("rejected" if rejected else "completed")
            assert [row["kind"] for row in store.decisions(run_id)] == [
                "rejected" if rejected else "approved"
            ]
            made = keys[run_id]
            assert len(made) == (1 if rejected else 2), (run_id, made)
            assert len(set(made.values())) == len(made)
            seen = [event.seq for event in store.events(run_id)]
            assert seen == list(range(1, len(seen) + 1))
    made_again = len(lines) - sum(map(len, keys.values()))
    print(f"{count} runs: {made_again} calls made again under their keys")


def test_no_run_is_lost_and_no_call_made_twice_when_the_database_restarts(
    server: LocalServer, tmp_path: Path
) -> None:
    source, calls = drive_through_restarts(server, tmp_path)
    look_at_runs(server, source, calls)


def test_a_call_that_has_another_key_the_second_time_is_found(
    server: LocalServer, tmp_path: Path
) -> None:
    # Control: the same look at runs of which one made a call again under another key.
    source, calls = write_flow(tmp_path), tmp_path / "calls"
    drive_share(server.dsn(), str(calls), source, range(6), str(tmp_path / "done"))
    look_at_runs(server, source, calls, 6)
    line = json.loads(calls.read_text(encoding="utf-8").splitlines()[0])
    with calls.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({**line, "key": "another"}) + "\n")
    with pytest.raises(AssertionError, match="another"):
        look_at_runs(server, source, calls, 6)
