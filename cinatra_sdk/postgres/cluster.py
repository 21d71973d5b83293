"""What PostgreSQL is told: make a data folder, start a server on it, is it there.

In: an account, programs, folders.  Out: files and a process.

    create(cluster, password, …)   area/data exists, complete or not at all
    settle(cluster, …)          its roles are what `local_roles` says
    launch(cluster, sockets)    a server of its own session, ready for connections

All raise `LocalServerError` with the last lines of what PostgreSQL wrote.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import socket
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cinatra_sdk.postgres.folders import SOCKET_NAME, read_file
from cinatra_sdk.postgres.process import Account, LocalServerError
from cinatra_sdk.postgres.roles import APP, DATABASE, SUPERUSER, settling

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
    """Bring roles, rights and passwords to what `local_roles` says; no server runs here.

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
