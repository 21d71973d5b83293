"""Databases for tests, used again where a test leaves only rows behind.

    databases = Databases(url, app=…, owner=…)
    dsn = databases.take()       # the store's tables, and nothing in them; for the role with rows only
    databases.as_owner(dsn)      # the same database, for who may change its tables
    databases.give_back(dsn)     # nobody reaches it by this name any more

Making and dropping a database takes ten times as long as emptying one, and was most of what a test
with a database did.  One whose catalogs are not what they were when it was made is dropped.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any, LiteralString

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from cinatra_sdk.local_postgres.cluster import APP, DATABASE, OWNER

TEMPLATE = DATABASE
"""The server's own database, whose tables it made at its first start; no test is given it."""
FIRST_OWN = 16384
"""Object ids below are those that every Postgres has."""

_CATALOGS: dict[LiteralString, LiteralString] = {
    "pg_attrdef": "adrelid", "pg_attribute": "attrelid", "pg_cast": "oid", "pg_class": "oid",
    "pg_collation": "oid", "pg_constraint": "oid", "pg_default_acl": "oid", "pg_enum": "oid",
    "pg_event_trigger": "oid", "pg_extension": "oid", "pg_foreign_data_wrapper": "oid",
    "pg_foreign_server": "oid", "pg_index": "indexrelid", "pg_inherits": "inhrelid",
    "pg_largeobject_metadata": "oid", "pg_operator": "oid", "pg_policy": "oid", "pg_proc": "oid",
    "pg_publication": "oid", "pg_rewrite": "oid", "pg_sequence": "seqrelid", "pg_statistic": "starelid",
    "pg_statistic_ext": "oid", "pg_trigger": "oid", "pg_type": "oid",
}  # fmt: skip
"""Catalog → whose id says that a row is not everybody's.  Copies of a template have equal ids."""

_ROW: dict[str, LiteralString] = {
    "pg_class": """(to_jsonb(t) - '{relpages,reltuples,relallvisible,relallfrozen,relfrozenxid,
                    relminmxid,relfilenode}'::text[])::text"""
}
"""Catalog → its row without what emptying a table, or looking after it, changes."""

_REST: LiteralString = """
select jsonb_build_object(
    'schemas', (select jsonb_agg(to_jsonb(n) order by oid) from pg_namespace n
                where nspname !~ '^pg_(toast_)?temp'),
    'settings', (select jsonb_agg(to_jsonb(s) - 'setdatabase' order by setrole) from pg_db_role_setting s
                 where setdatabase in (0, d.oid)),
    'database', jsonb_build_array(datacl, datconnlimit, datallowconn, datdba),
    'objects', jsonb_build_array((select count(*) from pg_class), (select count(*) from pg_proc),
                                 (select count(*) from pg_type), (select count(*) from pg_default_acl),
                                 (select count(*) from pg_largeobject_metadata)),
    'versions', (select jsonb_agg(to_jsonb(v) order by version) from oasflow.schema_versions v),
    'checkpoints', (select jsonb_agg(v order by v) from oasflow.checkpoint_migrations))
from pg_database d where datname = current_database()
"""

_EMPTY: LiteralString = """
do $$
declare
    used regclass[] := '{}';
    large boolean := false;
    has_rows boolean;
    tab regclass;
    guard record;
begin
    set local session_replication_role = replica;  -- for foreign keys; triggers of ours fire always
    for tab in select oid from pg_class where relnamespace = 'oasflow'::regnamespace and relkind = 'r'
               and relname not in ('schema_versions', 'checkpoint_migrations', 'homes') loop
        -- The planner takes a table that was never looked after for one of ten pages; a larger one
        -- gets other plans than in a new database, though it is empty.
        if pg_relation_size(tab) > 10 * current_setting('block_size')::int then
            used := used || tab;
            large := true;
        elsif pg_relation_size(tab) > 0 then
            execute format('select exists (select from %s)', tab) into has_rows;
            if has_rows then used := used || tab; end if;
        end if;
    end loop;
    -- Whatever refers to a table that is truncated is truncated, too.
    for guard in select tgrelid::regclass as tab, tgname from pg_trigger
                 where not tgisinternal and tgenabled = 'A' and (large or tgrelid = any(used)) loop
        execute format('alter table %s disable trigger %I', guard.tab, guard.tgname);
    end loop;
    foreach tab in array used loop
        if pg_relation_size(tab) > 10 * current_setting('block_size')::int then
            execute format('truncate %s cascade', tab);
        else
            execute format('delete from %s', tab);
        end if;
    end loop;
    perform setval(oid::regclass, 1, false) from pg_class
        where relnamespace = 'oasflow'::regnamespace and relkind = 'S' and relname not like 'homes%';
    for guard in select tgrelid::regclass as tab, tgname from pg_trigger
                 where not tgisinternal and tgenabled = 'D' loop
        execute format('alter table %s enable always trigger %I', guard.tab, guard.tgname);
    end loop;
end $$
"""

_ADOPT: LiteralString = """
insert into oasflow.homes (system_identifier, database_oid, timeline, why, by_whom)
select h.system_identifier, h.database_oid, h.timeline, 'adopted', 'tests' from oasflow.oasflow_here() as h
"""

_OTHERS: LiteralString = """
select pg_terminate_backend(pid, 5000) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()
"""


@dataclass(slots=True)
class Databases:
    """The databases of one embedded server."""

    url: str
    """Of its superuser, who makes, empties and drops them."""
    app: str
    """Of the role with rows only."""
    owner: str
    """Of the role that owns the tables."""
    free: list[str] = field(default_factory=list)
    made: int = 0
    shape: dict[str, Any] = field(default_factory=dict)
    """Of the template: catalog → what it holds."""
    owned: set[str] = field(default_factory=set)
    """Names of those that were lent to a role that may change more than rows."""
    patience: int = 5
    """Seconds: a test that holds on to its database does not hold up the others."""
    _kept: psycopg.Connection[Any] | None = field(default=None, init=False, repr=False)

    def take(self) -> str:
        """The DSN of a database with the store's tables and nothing in them."""
        return self.free.pop() if self.free else self._make()

    def as_owner(self, dsn: str) -> str:
        self.owned.add(_dbname(dsn))
        return make_conninfo(self.owner, dbname=_dbname(dsn))

    def as_superuser(self, dsn: str) -> str:
        self.owned.add(_dbname(dsn))
        return make_conninfo(self.url, dbname=_dbname(dsn))

    def give_back(self, dsn: str) -> None:
        again = self._emptied(dsn)
        if again is None:
            self.drop(dsn)
        else:
            self.free.append(again)

    def drop(self, dsn: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(
                sql.SQL("drop database if exists {} with (force)").format(_name(dsn))
            )

    def _emptied(self, dsn: str) -> str | None:
        """The DSN of the database, empty and under another name; None where it cannot be used.

        What a test left running, a pool that connects again most of all, must not meet the next one.
        """
        name = _new_name()
        limits = f"-c lock_timeout={self.patience}s -c statement_timeout={6 * self.patience}s"
        try:
            with psycopg.connect(
                make_conninfo(self.url, dbname=_dbname(dsn)), autocommit=True, options=limits
            ) as connection:
                connection.execute(_OTHERS)
                connection.execute(_EMPTY)
                # Who has rows only can change little else: that much is looked at in any case.
                shape = (shape_of if _dbname(dsn) in self.owned else outline_of)(connection)
                if not shape.items() <= self.shape.items():
                    return None
            # Refused while anybody is connected.
            self._renamer(limits).execute(
                sql.SQL("alter database {} rename to {}").format(_name(dsn), sql.Identifier(name))
            )
        except psycopg.Error:
            return None
        return make_conninfo(self.app, dbname=name)

    def _renamer(self, limits: str) -> psycopg.Connection[Any]:
        """A connection that is kept: to begin one takes as long as to empty a database.

        It is to none that is copied, which is refused while anybody is connected.
        """
        if self._kept is None or self._kept.closed:
            there = make_conninfo(self.url, dbname="postgres")
            self._kept = psycopg.connect(there, autocommit=True, options=limits)
        return self._kept

    def close(self) -> None:
        if self._kept is not None:
            self._kept.close()

    def _make(self) -> str:
        name = _new_name()
        with psycopg.connect(self.url, autocommit=True) as connection:
            if not self.shape:
                with psycopg.connect(make_conninfo(self.url, dbname=TEMPLATE)) as there:
                    self.shape = shape_of(there)
            _create(connection, name)
        # A copy of the template, which would do nothing.
        with psycopg.connect(make_conninfo(self.url, dbname=name), autocommit=True) as there:
            there.execute(_ADOPT)
        self.made += 1
        return make_conninfo(self.app, dbname=name)


def shape_of(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    """Everything about a database but the rows of the store's tables: catalog → its rows, hashed."""
    parts = [
        sql.SQL(
            "select {name} as name, count(*) || ' ' || sum(hashtextextended({row}, 0)) as hash"
            " from {catalog} t where {key} >= {first}"
        ).format(
            name=sql.Literal(catalog),
            row=sql.SQL(_ROW.get(catalog, "t::text")),
            catalog=sql.Identifier(catalog),
            key=sql.Identifier(key),
            first=sql.Literal(FIRST_OWN),
        )
        for catalog, key in _CATALOGS.items()
    ]
    shape = dict(connection.execute(sql.SQL(" union all ").join(parts)).fetchall())
    return {**shape, **outline_of(connection)}


def outline_of(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    """The part of it that is told without reading every catalog."""
    rest = connection.execute(_REST).fetchone()
    assert rest is not None
    return {"rest": rest[0]}


def _name(dsn: str) -> sql.Identifier:
    return sql.Identifier(_dbname(dsn))


def _dbname(dsn: str) -> str:
    return str(conninfo_to_dict(dsn)["dbname"])


def _new_name() -> str:
    return f"t_{uuid.uuid4().hex[:12]}"


def _create(connection: psycopg.Connection[Any], name: str) -> None:
    """As the server's own database: what a database says of itself is not copied with it."""
    statements: tuple[LiteralString, ...] = (
        "create database {name} template {template} owner {owner}",
        "revoke all on database {name} from public",
        "grant connect on database {name} to {app}",
    )
    for statement in statements:
        connection.execute(
            sql.SQL(statement).format(
                name=sql.Identifier(name),
                template=sql.Identifier(TEMPLATE),
                owner=sql.Identifier(OWNER),
                app=sql.Identifier(APP),
            )
        )
