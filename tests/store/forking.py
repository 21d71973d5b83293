"""A process that opens a store, forks, and goes on with the same store on both sides.

    python -m tests.store.forking DSN FOLDER

Each side starts runs, reads and follows them, and writes what it saw into FOLDER/<side>.json.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from cinatra_sdk import RunStore, SimulatedPlatform
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, port, start

RUNS = 12
"""Runs of each side."""
SIDES = ("parent", "left", "right")
FLOW = flow_of(
    start(port("x")),
    api("ask", data={"x": "{{ x }}"}, inputs=[port("x")], outputs=[port("y")]),
    end(port("y")),
    edges=[("start", "x", "ask", "x"), ("ask", "y", "end", "y")],
)


def main(dsn: str, folder: str) -> None:
    flow = compile_flow(FLOW, platform=SimulatedPlatform())
    store = RunStore.open(dsn)
    store.start(flow, {"x": "before"}, "before")
    used = find_servers(store)
    # A thread of the parent is in the middle of something at the fork.
    busy, go_on = threading.Event(), threading.Event()
    thread = threading.Thread(target=hold_connections, args=(store, busy, go_on))
    thread.start()
    busy.wait()
    side, children = fork()
    go_on.set()
    told = {"servers": find_servers(store), "runs": work(store, flow, side)}
    if side == "parent":
        thread.join()
        for child in children:
            os.waitpid(child, 0)
        # What the children closed was theirs: the parent's connections are there as before.
        told |= {"before": used, "after": list_servers(store)}
        told["runs"] += work(store, flow, "afterwards")
    store.close()
    Path(folder, f"{side}.json").write_text(json.dumps(told))
    # Every side leaves as a program does, so that what is left over is cleared away.


def fork() -> tuple[str, list[int]]:
    children = []
    for side in SIDES[1:]:
        child = os.fork()
        if child == 0:
            return side, []
        children.append(child)
    return SIDES[0], children


def hold_connections(store: RunStore, busy: threading.Event, go_on: threading.Event) -> None:
    with store.database.connection() as short, store.database.own_connection() as long:
        busy.set()
        go_on.wait()
        short.execute("select 1")
        long.execute("select 1")


def find_servers(store: RunStore) -> list[int]:
    """Processes of the server that this side speaks to, one for each kind of connection."""
    found = []
    for take in (store.database.connection, store.database.own_connection):
        with take() as connection:
            row = connection.execute("select pg_backend_pid() as pid").fetchone()
            assert row is not None
            found.append(row["pid"])
    return found


def list_servers(store: RunStore) -> list[int]:
    """Processes of the server that have a connection to the database, whoever's it is."""
    with store.database.connection() as connection:
        rows = connection.execute(
            "select pid from pg_stat_activity where datname = current_database()"
        ).fetchall()
    return [row["pid"] for row in rows]


def work(store: RunStore, flow: Any, side: str) -> list[dict[str, Any]]:
    made = []
    for number in range(RUNS):
        run = store.start(flow, {"x": f"{side} {number}"}, f"{side}-{number}")
        read = store.get(run.id)
        events = [event.seq for event in store.events(run.id, follow=True)]
        made.append({"id": read.id, "status": read.status, "input": read.input, "events": events})
    return made


if __name__ == "__main__":
    main(*sys.argv[1:])
