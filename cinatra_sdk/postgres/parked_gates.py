"""Gates of runs that were parked before gates had rows: from `runs.waiting` into the table `gates`.

In: a connection in the transaction of migration 010.  Out: a row for each gate that waits.

A gate that cannot be read gets a row all the same, named by its place (`waiting[0]`), so that the
run still says what is wrong with it; resuming the run writes its gates again and closes that row.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from psycopg.types.json import Json

from cinatra_sdk.errors import GateUnreadable
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.postgres.connection import Row, Rows
from cinatra_sdk.postgres.queries import QUERIES

_BATCH: Final = 500
"""Runs whose gates are in memory at once."""


def move_parked_gates(connection: Rows) -> None:
    """Insert the gates of every run that has not ended; nothing else is changed."""
    with connection.cursor(name=f"parked_{uuid.uuid4().hex}") as runs, connection.cursor() as gates:
        runs.execute(QUERIES["list_parked"])
        while found := runs.fetchmany(_BATCH):
            rows = [row for run in found for row in _list_gate_rows(run)]
            gates.executemany(QUERIES["insert_parked"], rows)


def _list_gate_rows(run: Row) -> Iterator[Row]:
    waiting = run["waiting"]
    if not isinstance(waiting, list):
        yield _build_row(run, "waiting", waiting)
        return
    for place, data in enumerate(waiting):
        try:
            gate = Gate.from_json(data)
            shown = gate.payload_sha256
        except (GateUnreadable, UnicodeError):
            yield _build_row(run, f"waiting[{place}]", data)
        else:
            yield _build_row(
                run, gate.id, data,
                node=gate.node, visit=gate.visit, step=gate.step, payload_sha256=shown,
            )  # fmt: skip


def _build_row(run: Row, gate_id: str, data: Any, **known: Any) -> Row:
    """The row of a gate; of an unreadable one as much as there is."""
    parts = data if isinstance(data, Mapping) else {}
    interrupt = parts.get("interrupt")
    return {
        "run_id": run["run_id"],
        "tenant": run["tenant"],
        "fence": max(run["fence"], 1),
        "opened_at": run["updated_at"],
        "gate_id": gate_id,
        "payload_sha256": hashlib.sha256(json.dumps(data).encode()).hexdigest(),
        "node": "",
        "visit": 1,
        "step": 0,
        "interrupt": interrupt if isinstance(interrupt, str) else "",
        "payload": Json(parts.get("payload")),
        "response_schema": Json(parts.get("response_schema")),
        **known,
    }
