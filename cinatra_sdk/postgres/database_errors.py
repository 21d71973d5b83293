"""Turns psycopg's errors into errors of this project, which name the database and the remedy."""

from __future__ import annotations

from typing import Final

import psycopg

from cinatra_sdk.errors import NotAdopted, NotReplicated, StoreError
from cinatra_sdk.postgres.connection import connect, plain_error
from cinatra_sdk.postgres.dsn import shown_detail, shown_name
from cinatra_sdk.postgres.role_rights import lacking, look

_ARGUMENTS: Final = (
    psycopg.errors.NotNullViolation,
    psycopg.errors.CheckViolation,
    psycopg.errors.UndefinedFunction,
    psycopg.errors.DatatypeMismatch,
)
"""What a value of another kind than its column comes to."""

COPY_STATE: Final = "OF001"
UNCONFIRMED_STATE: Final = "OF002"
"""What the triggers of migration 029 raise."""


def store_error(dsn: str, error: Exception) -> StoreError:
    """`error` as ours: the database and the cause, never the password."""
    refused = _build_trigger_error(dsn, error)
    if refused is not None:
        return refused
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return _build_denied_error(dsn, error)
    if isinstance(error, psycopg.errors.ProgramLimitExceeded):
        return StoreError("a name or id is longer than a database can look up")
    if isinstance(error, psycopg.DataError) and error.sqlstate is None:  # the driver's: NUL
        return StoreError("a name or id holds characters that no database takes")
    if isinstance(error, _ARGUMENTS):
        cause = f"{type(error).__name__} {error.sqlstate or ''}".strip()
        return StoreError(
            f"the database {shown_name(dsn)} refuses a value that it was given: {cause}",
            hint="a name or an id is missing, or is no text",
        )
    return plain_error(dsn, error)


def _build_trigger_error(dsn: str, error: Exception) -> StoreError | None:
    """The error for what a trigger of migration 029 refused; None for every other one."""
    state = getattr(error, "sqlstate", None)
    if state == COPY_STATE:
        return NotAdopted(
            f"the database {shown_name(dsn)} is a copy of another one, and nothing is done in it",
            hint="if it takes the place of the original, which runs no more: oasflow db adopt",
        )
    if state == UNCONFIRMED_STATE:
        return NotReplicated(
            f"the database {shown_name(dsn)} keeps nothing that a standby confirms: "
            f"{shown_detail(dsn, str(error))}; nothing was written",
            hint="connect a standby and name it in synchronous_standby_names, or demand less: "
            "durability='disk'",
        )
    return None


def _build_denied_error(dsn: str, error: psycopg.Error) -> StoreError:
    """The error for a missing right, which the database's owner can grant."""
    role, owner, rights = "NAME", "the owner of its tables", ""
    try:
        with connect(dsn) as connection:
            standing = look(connection)
            role, owner = standing.role, f"'{standing.owner}', who owns its tables"
            rights = ", ".join(lacking(connection))
    except (psycopg.Error, StoreError):
        pass  # what is known of the refusal itself is said all the same
    who = "the role of this address" if role == "NAME" else f"the role '{role}'"
    what = rights or shown_detail(dsn, str(error)) or type(error).__name__
    return StoreError(
        f"{who} lacks a right in the database {shown_name(dsn)}: {what}",
        hint=f"oasflow db migrate --app-role {role} grants it, with the address of {owner}",
    )
