"""Where a database lives: a copy of it does nothing until somebody adopts it.

    read_home(connection)            ->  Home(is_copy=False, timeline=1, timeline_now=2, …)
    adopt(dsn, by="ann")             ->  the same, after which it is no copy; as the owner of the tables
    disown(dsn, by="ann")            ->  after which every database with these rows is a copy

A dump that is restored, and a clone, are known by the system identifier of the server and the id of the
database (`sql/029_bad_days.sql`).  A copy of the server's files has both: `disown` it before anything opens it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

import psycopg

from cinatra_sdk.data.text.person_texts import person_name
from cinatra_sdk.errors import AnswerInvalid, StoreError
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Rows, connect, one, run
from cinatra_sdk.postgres.database_errors import store_error
from cinatra_sdk.postgres.role_rights import look

COPY_MIGRATION: Final = "029"
"""The migration from which on a database knows where it lives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """What a database knows of the place where it lives, and where it is."""

    is_copy: bool
    """Whether nothing may be done in it until it is adopted."""
    database: str
    why: str
    """`migrated`, `adopted` or `disowned`; empty where nothing is known."""
    by: str
    since: datetime | None
    timeline: int
    """Of the server, when the database was adopted."""
    timeline_now: int
    """Higher after each promotion of a standby, and after each restore to a moment."""

    @property
    def was_taken_over(self) -> bool:
        """Whether another server took over since the database was adopted: what its predecessor had not
        sent is lost.
        """
        return not self.is_copy and self.timeline_now > self.timeline


def read_home(connection: Rows) -> Home:
    """In a database whose tables are up to date."""
    row = one(connection, "load_home")
    assert row is not None  # one row always
    return Home(
        is_copy=row["is_copy"],
        database=row["database"],
        why=row["why"] or "",
        by=row["by_whom"] or "",
        since=row["at"],
        timeline=row["timeline"] or 0,
        timeline_now=row["timeline_now"] or 0,
    )


def adopt(dsn: str, *, by: str) -> Home:
    """The database lives where it is now: its runs go on here, with all their sends.

    dsn: of the role that owns the tables.  by: the person who says so.
    Raises: `StoreError`; `AnswerInvalid` for what is no name.
    """
    return _settle(dsn, "adopt_home", by)


def disown(dsn: str, *, by: str) -> Home:
    """Nothing is done in the database, wherever it is, until somebody adopts it.

    Raises: as `adopt`.
    """
    return _settle(dsn, "disown_home", by)


def _settle(dsn: str, query: Literal["adopt_home", "disown_home"], by: str) -> Home:
    name = person_name(by)
    if not name:
        raise AnswerInvalid("nobody is named who says so", hint="give a name")
    with connect(dsn) as connection:
        try:
            standing = look(connection)
            if COPY_MIGRATION in standing.missing or not standing.has_schema:
                raise StoreError(
                    f"the database '{standing.database}' does not know where it lives: its tables are "
                    "of a version before",
                    hint="oasflow db migrate brings them up to date, and adopts it",
                )
            if not standing.may_create:
                raise StoreError(
                    f"the role '{standing.role}' may not say where the database "
                    f"'{standing.database}' lives",
                    hint=f"give the address of '{standing.owner}', who owns its tables",
                )
            run(connection, query, {"by": name})
            return read_home(connection)
        except psycopg.Error as error:
            failed = store_error(dsn, error)
    raise failed
