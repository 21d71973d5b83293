"""Problems of a store, found without changing anything.

examine(dsn)  ->  Examination(due={"died": 2}, dead_letters=(…), missing=(), clock_ahead=0.01, …)
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

import psycopg

from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.errors import StoreError
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Rows, connect, every, is_pooled, one, reading
from cinatra_sdk.postgres.database_errors import store_error
from cinatra_sdk.postgres.home import read_home
from cinatra_sdk.postgres.role_rights import Standing, lacking, look
from cinatra_sdk.store.runs.layouts import OtherLayout, describe_layouts, list_other_layouts
from cinatra_sdk.store.runs.needs import CallToSettle, DeadLetter, conditions_of, read_need
from cinatra_sdk.store.work.due_runs import DueReason, DueScope, list_pages

TAKEN_OVER: Final = (
    "another server took over: oasflow reconcile lists what may be lost, oasflow db adopt notes that "
    "somebody has looked"
)
MOST_LETTERS: Final = 100
"""Dead letters that are named; all of them are counted."""
_FILTERS: Final = (
    "flow", "started_by", "older_than", "newer_than", "run_id", "after_at", "after_run",
    "after_kind", "after_name",
)  # fmt: skip
CLOCK_SECONDS: Final = 1.0
"""A larger difference of clocks is told as a finding, though nothing depends on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """How a store stands."""

    role: str
    database: str
    server_version: str
    clock_ahead: float
    """Seconds that this process's clock is ahead of the database's; below 0: behind."""
    missing: tuple[str, ...]
    """Migrations that were not made; then runs are not looked at."""
    newer: tuple[str, ...]
    """Migrations that this version does not know."""
    lacks: tuple[str, ...]
    """Rights that the role needs for running flows and has not."""
    powers: tuple[str, ...]
    """Reasons why the role could change append-only tables."""
    due: Mapping[DueReason, int]
    """What a sweep would go on with: reason → number of runs."""
    dead_letters: tuple[DeadLetter, ...]
    """The oldest ones."""
    dead_letters_total: int
    calls: tuple[CallToSettle, ...]
    """The oldest calls of which nobody knows whether they happened."""
    calls_total: int
    gates_total: int
    """Gates that wait for a decision."""
    is_copy: bool = False
    """Whether nothing is done in the database until somebody adopts it."""
    is_pooled: bool = False
    """Whether a pooler stands between."""
    was_taken_over: bool = False
    """Whether another server took over since the database was adopted."""
    layouts: tuple[OtherLayout, ...] = ()
    """Runs that have not ended and that another version left."""

    @property
    def findings(self) -> tuple[str, ...]:
        """What somebody should do something about, each in a few words."""
        found = [
            (self.missing, f"the tables are not up to date: {', '.join(self.missing)} missing"),
            (self.newer, f"the tables are newer than this version: {', '.join(self.newer)}"),
            (
                self.is_copy,
                "this database is a copy, in which nothing is done until oasflow db adopt",
            ),
            (
                self.was_taken_over,
                TAKEN_OVER,
            ),
            (self.lacks, f"the role lacks {', '.join(self.lacks)}"),
            (
                self.powers,
                f"the role could change what is append-only: it {', '.join(self.powers)}",
            ),
            (abs(self.clock_ahead) > CLOCK_SECONDS, self._describe_clock()),
            (
                self.due,
                say_number(
                    sum(self.due.values()),
                    "run can go on, and nobody works on it",
                    "runs can go on, and nobody works on them",
                ),
            ),
            (self.gates_total, count_gates(self.gates_total)),
            (
                self.calls,
                say_number(self.calls_total, "call has", "calls have")
                + " to be settled by a person",
            ),
            (
                self.dead_letters,
                say_number(self.dead_letters_total, "failed run waits", "failed runs wait")
                + " for a person",
            ),
        ]
        return (*(text for there, text in found if there), *describe_layouts(self.layouts))

    def _describe_clock(self) -> str:
        which = "ahead of" if self.clock_ahead > 0 else "behind"
        return f"this process's clock is {abs(self.clock_ahead):,.1f} s {which} the database's"


def count_gates(number: int) -> str:
    return say_number(number, "gate waits", "gates wait") + " for a decision"


def examine(dsn: str, *, tenant: str | None = None) -> Examination:
    """Raises: `StoreError` where the database cannot be reached or read."""
    with connect(dsn) as connection:
        try:
            with reading(connection):
                return _examine(connection, tenant)
        except psycopg.Error as error:
            failed: StoreError = store_error(dsn, error)
    raise failed


def _examine(connection: Rows, tenant: str | None) -> Examination:
    standing = look(connection)
    version, ahead = _ask_server(connection)
    runs = _look_at_runs(connection, standing, tenant)
    is_ready = standing.has_schema and standing.may_look and not standing.missing
    home = read_home(connection) if is_ready else None
    return Examination(
        role=standing.role,
        database=standing.database,
        server_version=version,
        clock_ahead=ahead,
        missing=standing.missing if standing.has_schema else ("everything",),
        newer=standing.newer,
        lacks=lacking(connection) if standing.has_schema else (),
        powers=standing.powers,
        due=runs.due,
        dead_letters=runs.letters,
        dead_letters_total=runs.letters_total,
        calls=runs.calls,
        calls_total=runs.calls_total,
        gates_total=runs.gates_total,
        is_copy=home is not None and home.is_copy,
        is_pooled=is_pooled(connection),
        was_taken_over=home is not None and home.was_taken_over,
        layouts=runs.layouts,
    )


def _ask_server(connection: Rows) -> tuple[str, float]:
    """Its version, and `Examination.clock_ahead`."""
    before = time.time()
    told = one(connection, "tell_server")
    assert told is not None  # one row always
    ahead = (before + time.time()) / 2 - told["now"].timestamp()
    return told["version"], round(ahead, 3)


class _Runs(NamedTuple):
    """What runs wait for."""

    due: Mapping[DueReason, int] = MappingProxyType({})
    letters: tuple[DeadLetter, ...] = ()
    letters_total: int = 0
    calls: tuple[CallToSettle, ...] = ()
    calls_total: int = 0
    gates_total: int = 0
    layouts: tuple[OtherLayout, ...] = ()


def _look_at_runs(connection: Rows, standing: Standing, tenant: str | None) -> _Runs:
    if standing.missing or not standing.has_schema or not standing.may_look:
        return _Runs()
    pages = list_pages(
        lambda asked: every(connection, "list_due_runs", asked), DueScope(tenant=tenant), limit=1000
    )
    due = Counter(run.reason for page in pages for run in page)
    letters, total = _list_dead_letters(connection, tenant)
    calls = _list_calls(connection, tenant)
    counted = one(connection, "count_needs", {"tenant": tenant})
    assert counted is not None  # one row always
    layouts = list_other_layouts(connection, tenant=tenant)
    return _Runs(dict(due), letters, total, calls, counted["calls"], counted["gates"], layouts)


def _list_dead_letters(connection: Rows, tenant: str | None) -> tuple[tuple[DeadLetter, ...], int]:
    """The oldest ones, and how many there are."""
    rows = every(connection, "list_dead_letters", {"tenant": tenant, "limit": MOST_LETTERS})
    total = rows[0].pop("total") if rows else 0
    letters = tuple(
        DeadLetter(
            run_id=row["run_id"],
            tenant=row["tenant"],
            code=_code_of(row["error"]),
            since=row["since"],
        )
        for row in rows
    )
    return letters, total


def _list_calls(connection: Rows, tenant: str | None) -> tuple[CallToSettle, ...]:
    """The oldest ones."""
    asked = {**dict.fromkeys(_FILTERS), **conditions_of({}), "kind": "call", "tenant": tenant}
    listed = every(connection, "list_needs", {**asked, "limit": MOST_LETTERS})
    needs = [need for row in listed for need in read_need(row)[0]]
    return tuple(need for need in needs if isinstance(need, CallToSettle))


def _code_of(error: object) -> str:
    """The code of a stored error; empty where the error cannot be read, and hides no other."""
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, str) else ""
