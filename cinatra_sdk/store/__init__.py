"""Durable runs: every run in Postgres, so that any process can continue it.

run_store.py   `RunStore`: start, answer, resume, list;  rows.py decisions.py  its rows flows.py
rebuilds the flow of a stored run;  contexts.py  binds a host's context to it lock.py        one
activation of a run at a time;  clocks.py  its clock never runs backwards short_names.py shortened
run ids artifacts.py   `ArtifactStore`: artifacts, the candidates of a slot, the record of
selections plans.py selections.py   the refs that a slot was offered; the refs that were chosen
loading.py     loads many artifacts at once;  chosen.py  selections in words for people
"""

from __future__ import annotations

from cinatra_sdk.store.run_store import RunStore

__all__ = ["RunStore"]
