"""Ledgers in memory for runs whose host gave none, so that what acts at most once can act.

    name_run()        "5f0c….7", sealed into the identity of a run when it begins in this process
    find_ledger()     the ledger of the run that the running node belongs to, or why there is none

Such a ledger lives as long as the process, and only effects that are at most once are written in it.
A run that another process began gets none, because nobody here knows what was begun there: its
effects that are at most once are refused, as if no run had a ledger in memory.
A host that keeps runs longer gives a ledger itself; `RunStore` keeps it in the database.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import OrderedDict
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from cinatra_sdk.effects.memory_ledger import MemoryLedger

LEDGER_NAME: Final = "ledger"
"""The member of a run's sealed identity that names its ledger in memory."""
_MOST: Final = 10_000
"""Runs whose ledgers are kept; of older ones it is unknown what they did."""
GONE: Final = "the ledger in memory of the process that began the run is gone"
MISSING: Final = "no ledger would know of it"


@dataclass(slots=True)
class _Process:
    """The runs that this process began."""

    name: str = field(default_factory=lambda: uuid4().hex)
    numbers: Any = field(default_factory=lambda: itertools.count(1))
    ledgers: OrderedDict[int, MemoryLedger] = field(default_factory=OrderedDict)
    newest_forgotten: int = 0
    """The highest number of a run whose ledger was let go."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def find(self, number: int) -> MemoryLedger | None:
        """The ledger of the run, made on first use; None where it was let go."""
        with self.lock:
            known = self.ledgers.get(number)
            if known is not None:
                self.ledgers.move_to_end(number)
                return known
            if number <= self.newest_forgotten:
                return None
            made = self.ledgers[number] = MemoryLedger()
            if len(self.ledgers) > _MOST:
                oldest, _ = self.ledgers.popitem(last=False)
                self.newest_forgotten = max(self.newest_forgotten, oldest)
            return made


_process = _Process()


def _begin_process() -> None:
    """A child of this process knows nothing of what its parent does from here on."""
    global _process  # noqa: PLW0603 - there is one process
    _process = _Process()


os.register_at_fork(after_in_child=_begin_process)


_begun: Final[ContextVar[str]] = ContextVar("cinatra_begun_run", default="")
"""The name of the run whose first node runs in this task, and maybe the nodes after it."""


def name_run() -> str:
    """A name for the ledger of a run that begins now, in this process."""
    name = f"{_process.name}.{next(_process.numbers)}"
    _begun.set(name)
    return name


def find_ledger() -> MemoryLedger | str:
    """The ledger of the running node's run; else why there is none, as part of a sentence."""
    process, _, number = _read_name().partition(".")
    if not number:
        return MISSING
    if process != _process.name or not number.isdecimal():
        return GONE
    return _process.find(int(number)) or GONE


def _read_name() -> str:
    """The name that stands in the run of the graph that runs; empty where there is none."""
    from langgraph.config import get_config  # on first use: hosts import this without the engine

    try:
        read: Any = (get_config().get("configurable") or {})["__pregel_read"]
        # The engine's own function for reading state; tests/effects/test_process_ledgers.py fails
        # when it changes.
        known = read(["run"])
    except (RuntimeError, KeyError):  # outside of any graph; a graph without runs
        return ""
    # In the superstep of the first node nothing is written yet.
    name = known["run"].get(LEDGER_NAME) if "run" in known else _begun.get()
    return name if isinstance(name, str) else ""
