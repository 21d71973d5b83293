"""Runs that nobody works on and that can go on: which they are, and the next one for a sweep.

    take_due_run(connection, DueScope(tenant="acme"))   ->  DueRun(run_id="r1", reason="died", …)

Due are runs that were created and never begun, whose worker died or gave no sign of life, that have
a decision which was not carried out, and that failed and are to be tried again by now.  A look reads a few
pages, whatever number of runs waits or has ended.

A run that is taken is offered to one sweep: others leave it alone until it is claimed, or for a moment.  The
offer keeps nobody from the run, so a person's answer never waits for a sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Final, Literal, TypeAlias

from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.postgres.connection import run as execute
from cinatra_sdk.store.runs.layouts import list_own_layouts

GRACE_SECONDS: Final = 30.0
"""How long a new run is left to whoever created it."""
OFFER_SECONDS: Final = 30.0
"""How long other sweeps leave a run to the one that took it, unless it is claimed before."""
CANDIDATES: Final = 16
"""Due runs that one look may choose from: as many sweeps may take one each at the same moment."""

DueReason: TypeAlias = Literal["created", "died", "left", "decided", "woken", "failed"]
"""`left`: its worker stopped before a step, because its process ended or the database was cut off; `woken`: a
run that it began has ended.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueRun:
    """A run that can go on."""

    run_id: str
    tenant: str
    reason: DueReason
    since: datetime
    """When it was created, decided, or to be tried again."""
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DueScope:
    """The runs that a look is about."""

    tenant: str | None = None
    """None: of all tenants."""
    grace: float = GRACE_SECONDS
    but: Sequence[str] = ()
    """Runs that are left out."""

    def ask(self, *, limit: int, offered: bool) -> Row:
        """The parameters of a look, from the oldest run on."""
        return {
            "tenant": self.tenant, "grace": self.grace, "but": list(self.but), "limit": limit,
            "offered": offered, "after_since": None, "after_run": "", **list_own_layouts(),
        }  # fmt: skip


Ask: TypeAlias = Callable[[Row], list[Row]]
"""The rows of the statement `list_due_runs`."""


def list_pages(ask: Ask, scope: DueScope, *, limit: int) -> Iterator[list[DueRun]]:
    """The runs that are due now, the oldest first; each page is read when it is asked for."""
    asked = scope.ask(limit=limit, offered=True)
    while True:
        rows = ask(asked)
        if rows:
            yield [DueRun(**row) for row in rows]
        if len(rows) < limit:
            return
        asked |= {"after_since": rows[-1]["since"], "after_run": rows[-1]["run_id"]}


Taken: TypeAlias = DueRun | Literal["none", "contended"]
"""contended: what is due is being offered to others at this moment, and there may be more."""


def take_due_run(connection: Rows, scope: DueScope) -> Taken:
    """The oldest run that is due and not offered to another sweep; from now on it is offered to this one."""
    asked = {**scope.ask(limit=CANDIDATES, offered=False), "seconds": OFFER_SECONDS}
    row = one(connection, "take_due_run", asked)
    if row is None:
        return "none"
    if row["run_id"] is None:
        return "contended"
    return DueRun(**{name: row[name] for name in DueRun.__annotations__})


def withdraw_offer(connection: Rows, run_id: str) -> None:
    """Let other sweeps look at a run that is left as it is."""
    execute(connection, "withdraw_offer", {"run_id": run_id})


def tell_next_due(connection: Rows, scope: DueScope) -> float | None:
    """In how many seconds the clock makes the next run due; None where it makes none."""
    row = one(connection, "tell_next_due", {"grace": scope.grace})
    seconds: float | None = None if row is None else row["seconds"]
    return seconds


def is_due(row: Row) -> bool:
    """Whether the run can go on, as the statement `load_run` gives it, and where nobody works on it."""
    status, retry_at = row["status"], row["retry_at"]
    if row["paused_at"] is not None:
        return False
    if status == "failed":
        return retry_at is not None and bool(retry_at <= row["now"])
    return status == "running" or bool(row["can_go_on"])
