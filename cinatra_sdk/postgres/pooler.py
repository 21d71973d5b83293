"""What a pooler is told, so that its connections to the server begin as those of this project.

    write_ini(dsn)     for PgBouncer in transaction mode: lines of pgbouncer.ini
    write_sql(dsn)     for any other pooler, and in session mode: statements for the owner of the database

An address without a value, and none at all, gives a word in capitals to put in.
"""

from __future__ import annotations

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
    statement = sql.SQL("alter role {role} in database {database} set {name} = {value};")
    return "\n".join(
        statement.format(
            role=sql.Identifier(given.get("user", "ROLE")),
            database=sql.Identifier(given.get("dbname", "NAME")),
            name=sql.Identifier(name),
            value=sql.Literal(value),
        ).as_string()
        for name, value in {**USUAL, **OURS, **LATER}.items()
    )


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
