"""The tables of a store: checks whether they are up to date, and migrates them as their owner.

    prepare(connection)                       at every open: changes nothing where the tables are up to date
    migrate(dsn, app_role="oasflow_app")      in `oasflow db migrate`, as the owner of the tables

Two roles.  The owner makes the tables and could change everything.  An app role has the rows and nothing
else (`sql/rights.sql`), which is enough for a store.  A single role that owns the tables works too: it brings
the tables up to date itself, and the log warns of its powers.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.types.json import Json

from cinatra_sdk.data.text.person_texts import find_hidden
from cinatra_sdk.errors import GateUnreadable, StoreError
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import (
    QUERIES,
    Row,
    Rows,
    connect,
    every,
    is_pooled,
    migrations,
    one,
    rights,
    run,
)
from cinatra_sdk.postgres.database_errors import store_error
from cinatra_sdk.postgres.role_rights import Standing, look

log = logging.getLogger("oasflow.store")

PATIENCE: Final = 60.0
"""Seconds to wait for another process that sets up the same database."""
MAX_NAME: Final = 63
"""Bytes of a name; Postgres would cut a longer name, and so might name another role."""
RESTART: Final = (
    "the local server was started by a version before and still runs: oasflow db stop ends it, and "
    "the next start gives that role rows only"
)
_TOLD: Final[set[tuple[str, str]]] = set()
"""(role, database) pairs of which this process has logged the warning already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """What a migration did."""

    role: str
    database: str
    applied: tuple[str, ...]
    granted: tuple[str, ...]
    """The app roles, each of which has the rows now and nothing else."""
    created: str
    """The app role, where it was made here; it has no password yet."""


def prepare(connection: Rows, *, embedded: bool = False) -> bool:
    """Whether the tables are up to date; brings them there where this role may.

    embedded: the database is that of the local server.  False: they are not, and the role may not
    migrate.  Raises: `StoreError` for a database that is newer than this version, and for a role
    without rights.
    """
    try:
        standing = look(connection)
        refuse(standing)
        if standing.missing:
            if not standing.may_create or standing.read_only:
                return False
            _refuse_pooler(connection, standing)
            _bring_up_to_date(connection)
            standing = look(connection)
    except psycopg.Error as error:
        raise store_error(connection.info.dsn, error) from None
    _warn_powerful_role(standing, embedded=embedded)
    return True


def outdated(connection: Rows) -> StoreError:
    """The error for a role that may not bring the tables up to date."""
    standing = look(connection)
    what = "has no tables of oasflow yet" if not standing.has_schema else "is not up to date"
    why = (
        "the database is read-only" if standing.read_only else f"'{standing.role}' may not do that"
    )
    return StoreError(
        f"the database '{standing.database}' {what} (missing: {', '.join(standing.missing)}), "
        f"and {why}",
        hint=f"run oasflow db migrate --app-role {standing.role} as the owner of the tables",
    )


def migrate(dsn: str, *, app_role: str = "") -> Migrated:
    """Bring the tables up to date, and the roles that may only use them to their rights.

    dsn:      of the role that owns the tables, or may create them.
    app_role: gets rows only; made where there is none, without a password.  Roles that got theirs
              before are brought to them in any case.

    Raises: `StoreError`.
    """
    connection = connect(dsn)
    try:
        standing = look(connection)
        refuse(standing)
        if standing.read_only or not standing.may_create:
            raise _not_the_owner(standing)
        _refuse_pooler(connection, standing)
        applied, granted, created = _bring_up_to_date(connection, app_role)
    except psycopg.Error as error:
        raise store_error(dsn, error) from None
    finally:
        connection.close()
    return Migrated(
        role=standing.role,
        database=standing.database,
        applied=applied,
        granted=granted,
        created=created,
    )


def rights_of(role: str) -> sql.Composed:
    """The statements that give `role` its rows and nothing else, for the owner to carry out."""
    return sql.SQL(rights()).format(role=sql.Identifier(role))


def refuse(standing: Standing) -> None:
    """Raises: `StoreError` where the store cannot be used whatever is done to its tables."""
    if standing.newer:
        raise StoreError(
            f"the database '{standing.database}' was made by a newer version of oasflow "
            f"(this one does not know {', '.join(standing.newer)})",
            hint="use that version, or another database",
        )
    if not standing.may_look:
        raise StoreError(
            f"the role '{standing.role}' has no rights on the tables of oasflow in the database "
            f"'{standing.database}'",
            hint=f"run oasflow db migrate --app-role {standing.role} as '{standing.owner}', "
            "who owns them",
        )


def _not_the_owner(standing: Standing) -> StoreError:
    if standing.read_only:
        return StoreError(f"the database '{standing.database}' is read-only")
    who = f"'{standing.owner}' owns its tables" if standing.owner else "it may not create a schema"
    return StoreError(
        f"the role '{standing.role}' cannot migrate the database '{standing.database}': {who}",
        hint=f"give the address of '{standing.owner}'"
        if standing.owner
        else f"grant create on database {standing.database}, or give the address of its owner",
    )


def _refuse_pooler(connection: Rows, standing: Standing) -> None:
    """Raises: `StoreError`; who migrates holds a lock from one transaction to the next."""
    if is_pooled(connection):
        raise StoreError(
            f"the database '{standing.database}' is reached through a pooler, through which its tables "
            "cannot be migrated",
            hint="give oasflow db migrate the server's own address",
        )


def _bring_up_to_date(
    connection: Rows, app_role: str = ""
) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """What was applied, which roles have rows now, and which one was made; one process at a time."""
    with _lock_setup(connection):
        standing = look(connection)  # as another process may have left it meanwhile
        if not standing.has_schema:
            run(connection, "create_schema")
        run(connection, "create_versions")
        done = {row["version"] for row in every(connection, "list_versions")}
        for version, text in migrations():
            if version not in done:
                with connection.transaction():
                    connection.execute(text, prepare=False)
                    _carry_over(connection, version)
                    run(connection, "add_version", {"version": version})
        _bring_checkpoints_up_to_date(connection)
        created = _create_app_role(connection, app_role) if app_role else ""
        roles = {row["role"] for row in every(connection, "list_app_roles")}
        roles |= {app_role} if app_role else set()
        for role in sorted(roles):
            with connection.transaction():
                connection.execute(rights_of(role), prepare=False)
    return standing.missing, tuple(sorted(roles)), created


def _carry_over(connection: Rows, version: str) -> None:
    """What a migration does to rows of before that SQL alone cannot."""
    if version == "010":
        move_parked_gates(connection)


def _bring_checkpoints_up_to_date(connection: Rows) -> None:
    from langgraph.checkpoint.postgres import PostgresSaver  # only where something is changed

    PostgresSaver(connection).setup()


def _create_app_role(connection: Rows, role: str) -> str:
    """`role`, where it was not there; raises `StoreError` for one that would not be held to rows."""
    if len(role.encode()) > MAX_NAME or find_hidden(role) or role.strip() != role:
        raise StoreError(
            "the name of the app role is not usable",
            hint=f"up to {MAX_NAME} bytes of printable text, without spaces around it",
        )
    found = one(connection, "describe_role", {"role": role})
    if found is None:
        made = sql.SQL("create role {} login nosuperuser nocreatedb nocreaterole noreplication")
        try:
            # Somebody else may be making it at this moment, in another database of the server.
            with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
                connection.execute(made.format(sql.Identifier(role)))
                return role
        except psycopg.errors.InsufficientPrivilege:
            raise StoreError(
                f"there is no role '{role}', and this role may not create one",
                hint=f"let an administrator run: create role {role} login; then migrate again",
            ) from None
        found = one(connection, "describe_role", {"role": role})
    if found is not None and (found["is_powerful"] or found["is_owner"]):
        why = "owns the tables" if found["is_owner"] else "is a superuser or may make roles"
        raise StoreError(
            f"the role '{role}' {why}, so that nothing holds it to rows",
            hint="name a role of its own for running flows",
        )
    return ""


@contextmanager
def _lock_setup(connection: Rows) -> Iterator[None]:
    deadline = time.monotonic() + PATIENCE
    pause = 0.01
    while not (one(connection, "try_lock_setup") or {}).get("locked"):
        if time.monotonic() >= deadline:
            raise StoreError(
                "another process has been setting up this database for a minute",
                hint="see pg_stat_activity for who holds the lock, and try again",
            )
        time.sleep(pause)
        pause = min(pause * 2, 0.2)
    try:
        yield
    finally:
        if not connection.closed and not connection.broken:
            run(connection, "unlock_setup")


def _warn_powerful_role(standing: Standing, *, embedded: bool) -> None:
    about = (standing.role, standing.database)
    if not standing.powers or about in _TOLD:
        return
    _TOLD.add(about)
    log.warning(
        "the role '%s' could change what is append-only in the database '%s': it %s; %s",
        standing.role, standing.database, ", ".join(standing.powers),
        RESTART if embedded else "oasflow db migrate --app-role NAME makes a role that cannot",
    )  # fmt: skip


# ----------------------------------------------------------------------------
# Gates of runs that were parked before gates had rows: from `runs.waiting` into the table `gates`.
#
# In: a connection in the transaction of migration 010.  Out: a row for each gate that waits.
#
# A gate that cannot be read gets a row all the same, named by its place (`waiting[0]`), so that the
# run still says what is wrong with it; resuming the run writes its gates again and closes that row.


_BATCH: Final = 500
"""Runs whose gates are in memory at once."""


def move_parked_gates(connection: Rows) -> None:
    """Insert the gates of every run that has not ended; nothing else is changed."""
    with connection.cursor(name=f"parked_{uuid.uuid4().hex}") as runs, connection.cursor() as gates:
        runs.execute(QUERIES["list_parked"])
        while found := runs.fetchmany(_BATCH):
            rows = [row for run in found for row in _list_gate_rows(run)]
            gates.executemany(QUERIES["insert_parked"], rows)


def _list_gate_rows(run: Row) -> Iterator[Row]:
    waiting = run["waiting"]
    if not isinstance(waiting, list):
        yield _build_row(run, "waiting", waiting)
        return
    for place, data in enumerate(waiting):
        try:
            gate = Gate.from_json(data)
            shown = gate.payload_sha256
        except (GateUnreadable, UnicodeError):
            yield _build_row(run, f"waiting[{place}]", data)
        else:
            yield _build_row(
                run, gate.id, data,
                node=gate.node, visit=gate.visit, step=gate.step, payload_sha256=shown,
            )  # fmt: skip


def _build_row(run: Row, gate_id: str, data: Any, **known: Any) -> Row:
    """The row of a gate; of an unreadable one as much as there is."""
    parts = data if isinstance(data, Mapping) else {}
    interrupt = parts.get("interrupt")
    return {
        "run_id": run["run_id"],
        "tenant": run["tenant"],
        "fence": max(run["fence"], 1),
        "opened_at": run["updated_at"],
        "gate_id": gate_id,
        "payload_sha256": hashlib.sha256(json.dumps(data).encode()).hexdigest(),
        "node": "",
        "visit": 1,
        "step": 0,
        "interrupt": interrupt if isinstance(interrupt, str) else "",
        "payload": Json(parts.get("payload")),
        "response_schema": Json(parts.get("response_schema")),
        **known,
    }
