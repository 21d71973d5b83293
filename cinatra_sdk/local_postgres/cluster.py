"""A data folder of PostgreSQL, a server process on it, and the three roles of the embedded server.

In: an account, programs, folders.  Out: files and a process.

    create(cluster, password, …)   area/data exists, complete or not at all
    settle(cluster, …)          its three roles exist, with their rights and passwords
    launch(cluster, sockets)    a server of its own session, ready for connections

All raise `LocalServerError` with the last lines of PostgreSQL's output.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import socket
import struct
import subprocess
from pathlib import Path
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.local_postgres.programs import Account, LocalServerError
from cinatra_sdk.local_postgres.server_folders import SOCKET_NAME, read_file

# ----------------------------------------------------------------------------
# The roles of the embedded server, and the SQL that brings a cluster to them.
#
#     oasflow_superuser   the cluster's own; sets up and mends, and no run ever connects as it
#     oasflow_owner       owns the database, its schema and its tables: migrations
#     oasflow             rows only: what `oasflow db url`, `RunStore` and every command get
#
# The SQL is carried out before each start, in PostgreSQL's single-user mode, which asks for no
# password and which only the owner of the files can enter.  It changes nothing where nothing is
# amiss.  A cluster of a version before, in which `oasflow` was the superuser, comes out with the
# same roles; a role that locked itself out (PostgreSQL lets every role change its own password and
# its own defaults) is let in again.


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


PORT = 5432
"""Only part of the socket's file name: there is no TCP."""
START_SECONDS = 60
INITDB_OPTIONS = ("--auth=scram-sha-256", "-E", "UTF8", "--locale=C", "--data-checksums")
LOG_LIMIT = 10_000_000
"""A log of more bytes is put aside as `server.log.1` at the next start."""
SETTINGS = """
# Written once by oasflow.  Change what you like; it holds from the next start on.
max_connections = 100
max_wal_size = 256MB
timezone = 'UTC'
log_timezone = 'UTC'
jit = off
# The log repeats no statement and no value: they may hold what users typed.
log_min_error_statement = panic
log_error_verbosity = terse
log_checkpoints = off
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """One data folder and what runs it."""

    folder: Path
    """What errors name."""
    area: Path
    """0700, belongs to the account."""
    account: Account
    binaries: Path

    @property
    def data(self) -> Path:
        return self.area / "data"

    @property
    def log(self) -> Path:
        return self.area / "server.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Postmaster:
    """The process of a server, from `postmaster.pid`."""

    pid: int
    data: Path
    sockets: str

    @classmethod
    def of(cls, data: Path) -> Postmaster | None:
        """`None` when there is no such file, or a half-written one.

        Raises: OSError for anything but an ordinary file.
        """
        try:
            text = os.fsdecode(read_file(data / "postmaster.pid"))
            lines = text.splitlines()
            if not lines[4].startswith("/") or "," in lines[4]:
                return None  # libpq would take another server for it, on another machine
            return cls(pid=int(lines[0]), data=data, sockets=lines[4])
        except (FileNotFoundError, NotADirectoryError, ValueError, IndexError):
            return None

    def accepts(self) -> bool:
        """Say hello as libpq does; a server that is ready asks for the password."""
        parameters = f"user\0{APP}\0database\0{DATABASE}\0\0".encode()
        hello = struct.pack("!ii", 8 + len(parameters), 3 << 16) + parameters
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(5)
                connection.connect(os.path.join(self.sockets, SOCKET_NAME))  # noqa: PTH118 - an address, no file
                connection.sendall(hello)
                return connection.recv(1024).startswith(b"R")
        except OSError:
            return False

    def exists(self) -> bool:
        """True when the process of that number is a server of this data folder.

        Numbers are used again, soonest in containers, so a living process proves nothing.
        """
        try:
            if Path("/proc/self/cmdline").exists():
                line = Path(f"/proc/{self.pid}/cmdline").read_bytes()
                return os.fsencode(self.data) in line.split(b"\0")
        except OSError:
            return False
        command = ["/bin/ps", "-ww", "-o", "command=", "-p", str(self.pid)]
        shown = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - fixed
        return os.fsencode(self.data) in shown.stdout


def create(cluster: Cluster, password: str, *, alive: int) -> None:
    """Make the data folder, with its superuser and the database, beside its place; then rename it.

    `alive`: as for `launch`; the programs outlive a process that is killed, and keep the next one
    out of the same folder until they have ended.
    """
    account, area = cluster.account, cluster.area
    fresh, secret = area / "data.new", area / "initdb.password"
    shutil.rmtree(fresh, ignore_errors=True)
    secret.unlink(missing_ok=True)
    account.write(secret, password)
    try:
        _run_program(
            cluster, "initdb", "-D", fresh, "-U", SUPERUSER, f"--pwfile={secret}", *INITDB_OPTIONS,
            keep_open=(alive,),
        )  # fmt: skip
    finally:
        secret.unlink(missing_ok=True)
    account.write(fresh / "postgresql.conf", SETTINGS)
    single = ("--single", "-D", fresh, "-c", "exit_on_error=on", "postgres")
    sql = f"CREATE DATABASE {DATABASE}\n"
    _run_program(cluster, "postgres", *single, text=sql, keep_open=(alive,))
    fresh.rename(cluster.data)


def settle(cluster: Cluster, *, app: str, owner: str, superuser: str, alive: int) -> None:
    """Give the three roles their rights and passwords; no server runs here.

    `alive`: as for `launch`.
    """
    _remove_leftover_files(cluster.data / "postmaster.pid")
    quiet = ("log_error_verbosity=terse", "log_min_error_statement=panic", "log_statement=none")
    settings = [part for setting in ("exit_on_error=on", *quiet) for part in ("-c", setting)]
    _run_program(
        cluster, "postgres", "--single", "-j", "-D", cluster.data, *settings, DATABASE,
        text=settling(app=app, owner=owner, superuser=superuser), keep_open=(alive,),
        hidden=(app, owner, superuser),
    )  # fmt: skip


def launch(cluster: Cluster, sockets: Path, *, alive: int) -> None:
    """Start the server and wait until it is ready.

    `alive` is an open, locked file that the server inherits and keeps for as long as it lives.
    """
    _remove_leftover_files(cluster.data / "postmaster.pid", sockets / f"{SOCKET_NAME}.lock")
    if cluster.log.is_fifo() or cluster.log.is_socket():
        what = f"{cluster.log} is a pipe or a socket, which the server would wait for"
        raise LocalServerError(what, folder=cluster.folder, fix="Remove it.")
    if cluster.log.exists() and cluster.log.stat().st_size > LOG_LIMIT:
        cluster.log.replace(cluster.log.with_name("server.log.1"))
    settings = {
        "listen_addresses": "",
        "port": str(PORT),
        "unix_socket_directories": f'"{sockets}"',
        "unix_socket_permissions": "0700",
    }
    options = shlex.join(part for name in settings for part in ("-c", f"{name}={settings[name]}"))
    where = ("-D", cluster.data, "-l", cluster.log)
    wait = ("-w", "-t", str(START_SECONDS))
    _run_program(cluster, "pg_ctl", "start", *where, *wait, "-o", options, keep_open=(alive,))


def _remove_leftover_files(*leftovers: Path) -> None:
    """Remove what a killed server left; the caller holds its lock, so that none lives here.

    PostgreSQL would respect the files when another process has got the number that is in them.
    """
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)


def _run_program(
    cluster: Cluster,
    program: str,
    *arguments: str | Path,
    text: str = "",
    keep_open: tuple[int, ...] = (),
    hidden: tuple[str, ...] = (),
) -> None:
    command = [cluster.binaries / program, *arguments]
    done = cluster.account.run(command, cwd=cluster.area, text=text, keep_open=keep_open)
    if done.returncode == 0:
        return
    written = done.stderr
    if program == "pg_ctl" and cluster.log.exists():
        with contextlib.suppress(OSError):  # a link may lead to what only root may read
            written += read_file(cluster.log, LOG_LIMIT).decode("utf-8", "replace")
    for secret in hidden:
        written = written.replace(secret, "***")
    tail = "\n".join(written.strip().splitlines()[-8:])
    what = f"{program} failed with exit status {done.returncode}"
    raise LocalServerError(what, folder=cluster.folder, log=tail)
