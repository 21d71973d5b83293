"""The roles of the embedded server, and the SQL that brings a cluster to them.

    oasflow_superuser   the cluster's own; sets up and mends, and no run ever connects as it
    oasflow_owner       owns the database, its schema and its tables: migrations
    oasflow             rows only: what `oasflow db url`, `RunStore` and every command get

The SQL is carried out before each start, in PostgreSQL's single-user mode, which asks for no
password and which only the owner of the files can enter.  It changes nothing where nothing is
amiss.  A cluster of a version before, in which `oasflow` was the superuser, comes out with the
same roles; a role that locked itself out (PostgreSQL lets every role change its own password and
its own defaults) is let in again.
"""

from __future__ import annotations

from typing import Final

DATABASE: Final = "oasflow"
"""This name and the next ones are spelled out in the SQL below."""
APP: Final = "oasflow"
OWNER: Final = "oasflow_owner"
SUPERUSER: Final = "oasflow_superuser"

_POWERLESS: Final = "login nosuperuser nocreatedb nocreaterole noreplication nobypassrls"

_ROLES: Final = """
do $do$
declare
    first name := (select rolname from pg_authid where oid = 10);
    renamed boolean := first <> 'oasflow_superuser';
    thing record;
begin
    -- The first role of a cluster stays a superuser for ever; it can only get another name, and not
    -- from itself.
    if renamed then
        create role oasflow_renaming superuser;
        set session authorization oasflow_renaming;
        execute format('alter role %I rename to oasflow_superuser', first);
        set session authorization oasflow_superuser;
        drop role oasflow_renaming;
    end if;
    if not exists (select from pg_roles where rolname = 'oasflow_owner') then
        create role oasflow_owner;
    end if;
    if not exists (select from pg_roles where rolname = 'oasflow') then
        create role oasflow;
    end if;
    -- What belongs to somebody else than the owner of the database: our own schema always; what
    -- people made beside it under the name that is powerless now, once.
    for thing in
        select n.nspname, c.relname, n.nspname = 'oasflow' as ours
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relowner = 10 and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
          and (n.nspname = 'oasflow' or renamed)
          and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
          and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass
                          and d.objid = c.oid and d.deptype in ('a', 'i', 'e'))
    loop
        execute format('alter table %I.%I owner to oasflow_owner', thing.nspname, thing.relname);
        if not thing.ours then
            execute format('grant usage on schema %I to oasflow', thing.nspname);
            execute format('grant all on %I.%I to oasflow', thing.nspname, thing.relname);
        end if;
    end loop;
    for thing in
        select p.oid::regprocedure as routine
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where p.proowner = 10 and n.nspname = 'oasflow'
    loop
        execute format('alter routine %s owner to oasflow_owner', thing.routine);
    end loop;
    for thing in
        select nspname from pg_namespace
        where nspowner = 10 and (nspname = 'oasflow' or renamed)
          and nspname !~ '^pg_' and nspname not in ('information_schema', 'public')
    loop
        execute format('alter schema %I owner to oasflow_owner', thing.nspname);
    end loop;
    -- Every role may connect to every database, and make temporary tables in it, unless told not to.
    for thing in
        select datname from pg_database where datname in ('oasflow', 'postgres', 'template1')
    loop
        execute format('revoke all on database %I from public', thing.datname);
    end loop;
end $do$;

alter database oasflow owner to oasflow_owner;

grant connect on database oasflow to oasflow;

revoke create on schema public from public;

revoke execute on function lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea) from public;

alter role oasflow reset all;

alter role oasflow in database oasflow reset all;

"""


def settling(*, app: str, owner: str, superuser: str) -> str:
    """The SQL for single-user mode (`-j`: an empty line ends a statement); the arguments are passwords."""
    wanted = (
        (SUPERUSER, "login", superuser), (OWNER, _POWERLESS, owner), (APP, _POWERLESS, app),
    )  # fmt: skip
    passwords = (
        f"alter role {role} {may} password {_quote_literal(password)};\n\n"
        for role, may, password in wanted
    )
    return _ROLES.lstrip() + "".join(passwords)


def _quote_literal(text: str) -> str:
    """One line: an empty one would end the statement."""
    return "'" + " ".join(text.split()).replace("'", "''") + "'"
