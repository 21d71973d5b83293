"""What a pooler is told, so that its connections to the server begin as those of this project.

    write_ini(dsn)     for PgBouncer in transaction mode: lines of pgbouncer.ini
    write_sql(dsn)     for any other pooler, and in session mode: statements for the owner of the database

An address without a value, and none at all, gives a word in capitals to put in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from cinatra_sdk.postgres.connection import LATER, OURS, USUAL, plain_error
from cinatra_sdk.postgres.dsn import is_address

BEGIN: Final = "select oasflow.oasflow_begin_session()"
"""What a pooler carries out on each of its connections to the server; see `sql/032_poolers.sql`."""


def write_ini(dsn: str = "") -> str:
    """dsn: of the server itself.  Raises: `StoreError` for what is no address."""
    given = _read_address(dsn)
    name = _quote(given.get("dbname", "NAME"))
    where = " ".join(
        f"{key}={_quote(value)}"
        for key, value in (
            ("host", given.get("host", "HOST")),
            ("port", given.get("port", "5432")),
            ("dbname", given.get("dbname", "NAME")),
        )
    )
    return (
        f"[databases]\n{name} = {where} connect_query='{BEGIN}'\n\n"
        "[pgbouncer]\npool_mode = transaction"
    )


def write_sql(dsn: str = "") -> str:
    """dsn: with the role that runs flows.  Raises: `StoreError` for what is no address."""
    given = _read_address(dsn)
    return "\n".join(
        f"{statement.as_string()};"
        for statement in list_statements(given.get("user", "ROLE"), given.get("dbname", "NAME"))
    )


def list_statements(role: str, database: str) -> Iterator[sql.Composed]:
    """What gives the role the settings of this project, in that database."""
    whose = sql.SQL("alter role {} in database {}").format(
        sql.Identifier(role), sql.Identifier(database)
    )
    for name, value in {**USUAL, **OURS, **LATER}.items():
        # '' would be taken for a list of one name, which is empty.
        given = sql.SQL("set {} = {}").format(sql.Identifier(name), sql.Literal(value))
        none = sql.SQL("reset {}").format(sql.Identifier(name))
        yield sql.SQL(" ").join((whose, given if value else none))


def _read_address(dsn: str) -> dict[str, str]:
    """Its parts but the password."""
    if dsn and not is_address(dsn):
        raise plain_error(dsn, ValueError())
    return {
        name: str(value)
        for name, value in conninfo_to_dict(dsn).items()
        if name in ("host", "port", "dbname", "user") and value
    }


def _quote(value: str) -> str:
    """As PgBouncer reads it."""
    if value.replace("_", "").replace("-", "").replace(".", "").replace("/", "").isalnum():
        return value
    return "'" + value.replace("'", "''") + "'"
