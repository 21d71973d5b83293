"""Durable runs on Postgres: the only place that talks to a database.

run_store.py   `RunStore`: start, answer, resume, list
database.py    connections, tables, errors without passwords
flows.py       the flow of a stored run, made again
artifacts.py   `ArtifactStore`: artifacts, what a slot may take, and the record of what was chosen
plans.py       what a slot was offered;  loading.py  many artifacts at once;  chosen.py  for people
queries.py     the statements of sql/, by name
local*.py      the embedded server
"""

from __future__ import annotations

from cinatra_sdk.store.run_store import RunStore

__all__ = ["RunStore"]
