"""Gates that cannot be read, as the role that runs flows may leave them."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.types.json import Json

UNREADABLE: dict[str, Any] = {"payload": None, "response_schema": {}}
PROBLEM = 'its "payload" is of type null'


def damage_gates(dsn: str, run_id: str, *gates: dict[str, Any], beside: bool = False) -> None:
    """Give the run gates with these columns, named `bad0`, `bad1` …; without its own ones unless
    `beside`.
    """
    with psycopg.connect(dsn, autocommit=True, options="-c search_path=oasflow") as connection:
        if not beside:
            connection.execute("update gates set state = 'closed' where run_id = %s", [run_id])
        for place, gate in enumerate(gates):
            connection.execute(
                "insert into gates (run_id, gate_id, payload_sha256, node, visit, step, interrupt,"
                " payload, response_schema) values (%s, %s, %s, 'x', 1, 1, 'i', %s, %s)",
                [run_id, f"bad{place}", f"sha{place}", Json(gate["payload"]),
                 Json(gate["response_schema"])],
            )  # fmt: skip
