"""Databases for tests, used again where a test leaves only rows behind.

    databases = Databases(url)
    dsn = databases.take()       # the store's tables, and nothing in them
    databases.give_back(dsn)

Making a database takes some fifteen times as long as emptying one, and half of all tests with a
database would wait for it.  A database that is not, table by table and trigger by trigger, what it
was when it was made is dropped instead.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from cinatra_sdk.store.database import Database

TEMPLATE = "oasflow_template"
LARGEST = 4_000_000  # bytes in the store's tables; deleted rows keep their room

_SHAPE = """
with relations as (
    select c.*, n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where nspname <> 'information_schema' and nspname !~ '^pg_')
select array_agg(line order by line) from (
    select format('schema %s %s', nspname, nspacl) from pg_namespace where nspname !~ '^pg_(toast_)?temp'
    -- Estimated rows belong to the shape: a plan must not hang on what an earlier test analyzed.
    union all select format('%s %s.%s %s %s %s', relkind, nspname, relname, relacl, reloptions,
        case when relkind = 'r' then reltuples end) from relations
    union all select format('column %s %s %s %s', attrelid::regclass, attname, atttypid, attnotnull)
        from pg_attribute where attrelid in (select oid from relations) and attnum > 0
    union all select pg_get_indexdef(indexrelid) || indisvalid
        from pg_index where indrelid in (select oid from relations)
    union all select format('constraint %s %s', conrelid::regclass, pg_get_constraintdef(oid))
        from pg_constraint where conrelid in (select oid from relations)
    union all select format('%s %s', pg_get_triggerdef(oid), tgenabled)
        from pg_trigger where not tgisinternal
    union all select pg_get_functiondef(p.oid) from pg_proc p join pg_namespace n on n.oid = pronamespace
        where nspname <> 'information_schema' and nspname !~ '^pg_'
    union all select format('setting %s %s', setrole, setconfig) from pg_db_role_setting
        where setdatabase in (0, (select oid from pg_database where datname = current_database()))
    union all select format('version %s', version) from oasflow.schema_versions
    union all select format('checkpoints %s', v) from oasflow.checkpoint_migrations
) as lines(line)
"""

_EMPTY = """
do $$
declare
    kept record;
    name text;
begin
    set local session_replication_role = replica;  -- foreign keys; the store's triggers fire always
    for kept in select tgrelid::regclass as tab, tgname from pg_trigger
                where not tgisinternal and tgenabled = 'A' loop
        execute format('alter table %s disable trigger %I', kept.tab, kept.tgname);
    end loop;
    for name in select tablename from pg_tables where schemaname = 'oasflow' loop
        if name not in ('schema_versions', 'checkpoint_migrations') then
            execute format('delete from oasflow.%I', name);
        end if;
    end loop;
    for name in select sequencename from pg_sequences where schemaname = 'oasflow' loop
        perform setval(format('oasflow.%I', name)::regclass, 1, false);
    end loop;
    for kept in select tgrelid::regclass as tab, tgname from pg_trigger
                where not tgisinternal and tgenabled = 'D' loop
        execute format('alter table %s enable always trigger %I', kept.tab, kept.tgname);
    end loop;
end $$
"""

_SIZE = """
select coalesce(sum(pg_relation_size(c.oid)), 0) from pg_class c
where relkind = 'r' and relnamespace = 'oasflow'::regnamespace
"""

_OTHERS = """
select pg_terminate_backend(pid, 5000) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()
"""


@dataclass(slots=True)
class Databases:
    """The databases of one server; `url` is a superuser's DSN."""

    url: str
    free: list[str] = field(default_factory=list)
    made: int = 0
    shape: list[Any] = field(default_factory=list)

    def take(self) -> str:
        """The DSN of a database with the store's tables and nothing in them."""
        return self.free.pop() if self.free else self._make()

    def give_back(self, dsn: str) -> None:
        if self._is_empty_again(dsn):
            self.free.append(dsn)
        else:
            self.drop(dsn)

    def _is_empty_again(self, dsn: str) -> bool:
        try:
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute(_OTHERS)
                if _shape(connection) != self.shape:
                    return False
                connection.execute(_EMPTY)
                size = connection.execute(_SIZE).fetchone()
                return size is not None and size[0] < LARGEST and _shape(connection) == self.shape
        except psycopg.Error:
            return False

    def _make(self) -> str:
        with psycopg.connect(self.url, autocommit=True) as connection:
            if not self.shape:
                _create(connection, TEMPLATE, "template0")
                template = make_conninfo(self.url, dbname=TEMPLATE)
                Database.open(template).close()
                with psycopg.connect(template) as there:
                    self.shape = _shape(there)
            name = f"t_{uuid.uuid4().hex[:12]}"
            _create(connection, name, TEMPLATE)
        self.made += 1
        return make_conninfo(self.url, dbname=name)

    def drop(self, dsn: str) -> None:
        name = str(conninfo_to_dict(dsn)["dbname"])
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(
                sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
            )


def _shape(connection: psycopg.Connection[Any]) -> list[Any]:
    row = connection.execute(_SHAPE).fetchone()
    assert row is not None
    return list(row[0])


def _create(connection: psycopg.Connection[Any], name: str, template: str) -> None:
    connection.execute(
        sql.SQL("create database {} template {}").format(
            sql.Identifier(name), sql.Identifier(template)
        )
    )
