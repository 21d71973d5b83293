"""One process that records one choice of everything there is, and can be held or killed in it.

    python -m tests.store.recorder DSN go        says "ready", records on a line from its input
    python -m tests.store.recorder DSN hold N    as `go`; says "holding" before the N-th row
                                                 and goes on with a further line
    python -m tests.store.recorder DSN kill N    as `go`; kills itself before the N-th row

Where N is one more than there are rows, the place is after the last row and before the commit.
Prints "ready", then "wrote" or "there already".
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from cinatra_sdk.context import Actor, AgentContextSlot, InstalledExtensions
from cinatra_sdk.store.artifacts import artifacts, selections
from cinatra_sdk.store.database import Database

SLOT = AgentContextSlot(
    slotId="voice", acceptedArtifactExtensions=("@x/voice",), selectionMode="interactive",
    resolutionMode="accumulate",
)  # fmt: skip
ACTOR = Actor(org_id="o1", principal_id="ann")


def main(dsn: str, what: str, number: str = "0") -> None:
    database = Database.open(dsn)
    store = artifacts.ArtifactStore(database)
    refs = store.resolve(ACTOR, SLOT, InstalledExtensions()).candidates
    choice = artifacts.Choice(
        org_id="o1", parent_run_id="r1", parent_package_name="@x/agent", slot=SLOT, refs=refs
    )
    stop_before(int(number), len(refs), what)
    say("ready")
    sys.stdin.readline()
    say("wrote" if store.record(choice) else "there already")
    database.close()


def stop_before(number: int, rows: int, what: str) -> None:
    original = selections.one
    sent = 0

    def tapped(connection: Any, query: str, parameters: Any = None) -> Any:
        nonlocal sent
        sent += query == "insert_selection"
        if query == "insert_selection" and sent == number:
            stop(what)
        row = original(connection, query, parameters)
        if query == "insert_selection" and sent == rows == number - 1:
            stop(what)
        return row

    selections.one = tapped


def stop(what: str) -> None:
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    say("holding")
    sys.stdin.readline()


def say(text: str) -> None:
    print(text, flush=True)


def run() -> None:
    main(*sys.argv[1:])


if __name__ == "__main__":
    run()
