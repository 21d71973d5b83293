"""Durable runs: every run in Postgres, so that any process can go on with it.

run_store.py   `RunStore`: start, answer, resume, list;  rows.py decisions.py  its rows
flows.py       the flow of a stored run, made again;  contexts.py  whose context goes with it
lock.py        one activation of a run at a time;  clocks.py  none behind the one before
short_names.py ids cut short
artifacts.py   `ArtifactStore`: artifacts, what a slot may take, and the record of what was chosen
plans.py selections.py   what a slot was offered, and what was taken
loading.py     many artifacts at once;  chosen.py  for people
"""

from __future__ import annotations

from cinatra_sdk.store.run_store import RunStore

__all__ = ["RunStore"]
