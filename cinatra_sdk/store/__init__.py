"""Durable runs: every run in Postgres, so that any process can continue it.

database.py     the database of a run store: its address, tables and connections
pages.py        pages of a list
arguments.py    the names of who acts; ids and tenants that no row has
async_twins.py  its methods for `await`
health.py       what is wrong with a store
run_store.py    `RunStore`: create, decide, work, and their short forms start and answer
artifacts/      artifacts, attached files and saved objects in the database
evidence/       decision records, packs and proposals of memory in the database
flows/          the flows of stored runs: what the store needs of one, and how it is made again
runs/           runs in the database: created, worked on, decided, listed, ended
work/               one worker at a time on a run

`RunStore` is imported on first use: what a store is made of is used below it, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cinatra_sdk.store.run_store import RunStore

__all__ = ["RunStore"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cinatra_sdk.store.run_store import RunStore

    return RunStore
