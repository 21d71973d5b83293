"""A stored database of each release: parked runs of every shape, as that release wrote them.

    python -m tests.store.parked_database        writes parked_at_layout_3.jsonl.xz, of the layout of today
    with parked(databases, file) as dsn: …       that database, migrated; for the role with rows only

One row of one table a line, after a line about the release: its layout and its number of migrations.  A file is
written once, by the release whose name it has, and kept for ever: no layout change may strand a run.
"""

from __future__ import annotations

import json
import lzma
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from cinatra_sdk.contract import LAYOUT
from cinatra_sdk.local_postgres.cluster import APP
from cinatra_sdk.local_postgres.supervisor import LocalServer
from cinatra_sdk.postgres import migration, role_rights
from cinatra_sdk.postgres.connection import migrations
from cinatra_sdk.postgres.migration import migrate
from cinatra_sdk.store.database import Database
from tests.databases import Databases
from tests.store.parked_shapes import DEPTHS, SHAPES, fill_shelf

FOLDER = Path(__file__).parent
LAYOUT_3 = FOLDER / "parked_at_layout_3.jsonl.xz"
RUNS = tuple((shape, depth) for shape in SHAPES for depth in DEPTHS)
_OWN = ("schema_versions", "checkpoint_migrations")
"""Tables that every database has filled since its migration."""


def name_run(shape: str, depth: str) -> str:
    return f"{shape.replace(' ', '-')}-{depth}"


def fill(dsn: str) -> None:
    database = Database.open(dsn)
    fill_shelf(database)
    database.close()
    for name, shape in SHAPES.items():
        with shape.open(dsn, []) as world:
            for depth in DEPTHS:
                world.park(name_run(name, depth), depth)


def list_tables(connection: psycopg.Connection[Any]) -> list[str]:
    asked = "select tablename from pg_tables where schemaname = 'oasflow' order by tablename"
    return [name for (name,) in connection.execute(asked) if name not in _OWN]


def dump(dsn: str, file: Path) -> None:
    lines = [json.dumps({"layout": LAYOUT, "migrations": len(migrations())})]
    with psycopg.connect(dsn) as connection:
        for table in list_tables(connection):
            asked = sql.SQL("select to_json(t)::text from {} t").format(
                sql.Identifier("oasflow", table)
            )
            rows = sorted(text for (text,) in connection.execute(asked))
            lines += [f'{{"table": "{table}", "row": {text}}}' for text in rows]
    file.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))


@contextmanager
def parked(
    databases: Databases, file: Path = LAYOUT_3, *, is_migrated: bool = True
) -> Iterator[str]:
    """The DSN of the database in `file`.  is_migrated: whether it is brought to the tables of today."""
    about, *entries = [json.loads(line) for line in lzma.decompress(file.read_bytes()).splitlines()]
    name = make_conninfo(databases.take())
    owner = databases.as_owner(name)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("drop schema oasflow cascade")
    with pytest.MonkeyPatch.context() as before:
        for module in (migration, role_rights):
            before.setattr(module, "migrations", lambda: migrations()[: about["migrations"]])
        migrate(owner, app_role=APP)
    with psycopg.connect(databases.as_superuser(name)) as connection:
        _switch_triggers(connection, "disable")
        connection.execute("set session_replication_role = replica")  # for foreign keys
        for entry in entries:
            table = sql.Identifier("oasflow", entry["table"])
            asked = sql.SQL(
                "insert into {0} overriding system value select * from json_populate_record(null::{0}, %s)"
            )
            connection.execute(asked.format(table), [json.dumps(entry["row"])])
        connection.execute("set session_replication_role = origin")
        _switch_triggers(connection, "enable always")
        _count_on(connection)
    if is_migrated:
        migrate(owner, app_role=APP)
    try:
        yield name
    finally:
        databases.drop(name)


def _switch_triggers(connection: psycopg.Connection[Any], how: str) -> None:
    """Of those that always fire: they keep what is stored from being written by anybody."""
    asked = "select tgrelid::regclass::text, tgname from pg_trigger where not tgisinternal and tgenabled = %s"
    for table, trigger in connection.execute(asked, ["A" if how == "disable" else "D"]).fetchall():
        switch = f"alter table {table} {how} trigger {trigger}"
        connection.execute(switch)  # type: ignore[call-overload]  # of names in the catalog


def _count_on(connection: psycopg.Connection[Any]) -> None:
    """Rows that are numbered by the database are numbered on from those that were put in."""
    asked = "select table_name, column_name from information_schema.columns where table_schema = 'oasflow' and (is_identity = 'YES' or column_default like 'nextval%')"
    for table, column in connection.execute(asked).fetchall():
        newest = sql.SQL(
            "select setval(pg_get_serial_sequence(%s, %s), coalesce(max({}), 0) + 1, false) from {}"
        )
        named = newest.format(sql.Identifier(column), sql.Identifier("oasflow", table))
        connection.execute(named, [f"oasflow.{table}", column])


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="parked-"))
    server = LocalServer(folder)
    server.start()
    try:
        fill(server.dsn())
        file = FOLDER / f"parked_at_layout_{LAYOUT}.jsonl.xz"
        dump(server.superuser_dsn(), file)
        print(f"{file.name}: {len(RUNS)} runs, {file.stat().st_size:,} bytes")
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
