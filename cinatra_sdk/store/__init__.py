"""Durable runs on Postgres: the only place that talks to a database.

run_store.py   `RunStore`: start, answer, resume, list
database.py    connections, tables, errors without passwords
flows.py       the flow of a stored run, made again
queries.py     the statements of sql/, by name
local*.py      the embedded server
"""

from __future__ import annotations

from cinatra_sdk.store.run_store import RunStore

__all__ = ["RunStore"]
