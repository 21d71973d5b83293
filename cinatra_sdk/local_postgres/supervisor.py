"""A small supervisor of a PostgreSQL server, for one user on one machine.

In: a folder.  Out: a running server that only this user can reach, and its address.

    LocalServer().start().url  ->  "postgresql://oasflow:***@/oasflow?host=%2Fhome%2F…&port=5432"

The server listens on a socket in a 0700 folder, never on TCP, and asks for a password (scram).  The address
is that of a role with rows only; `owner_dsn` is for migrations.  The server outlives the process that
started it; the next process finds and reuses it.

Two locks tell processes apart.  The process that starts or stops the server holds `control/lock`.  The
server itself holds `control/alive`: it inherits the open file, and the kernel gives the lock back when the
last process of the server is gone.  So a `postmaster.pid` without that lock is a leftover.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import signal
import subprocess
import time
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path
from typing import NoReturn, TypeVar

from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.local_postgres.cluster import (
    APP,
    DATABASE,
    OWNER,
    PORT,
    SUPERUSER,
    Cluster,
    Postmaster,
    create,
    launch,
    settle,
)
from cinatra_sdk.local_postgres.programs import (
    BINARIES_VARIABLE,
    LocalServerError,
    choose_account,
    find_binaries,
    reachable_binaries,
)
from cinatra_sdk.local_postgres.server_folders import (
    UNSAFE_IN_PATHS,
    base_for,
    base_of,
    describe_os_error,
    find_fix,
    find_folder,
    give,
    private_folder,
    read_text,
    socket_folder,
)

__all__ = ["LocalServer", "LocalServerError", "LocalStatus"]

T = TypeVar("T")
USER_VARIABLE = "OASFLOW_PG_USER"
PATIENCE = 90.0
"""Seconds to wait for a start or a stop that another process does, or the server itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalStatus:
    """What a look at the server found."""

    running: bool
    """True when it accepts connections now."""
    folder: Path
    version: str
    """Major version of the data, e.g. `18`; empty before the first start."""
    pid: int | None
    """`None` unless running."""
    url: str
    """Address with `***` for the password; empty unless running."""
    dsn: str = field(repr=False)
    """Address with the password, for psycopg; empty unless running."""


class LocalServer:
    """The server of one folder.  An object is cheap and holds nothing open."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        binaries: Path | None = None,
        run_as: str | None = None,
    ) -> None:
        """Name the server; nothing is touched yet.

        `folder`: default `$OASFLOW_HOME/postgres`, else in the data folder of the platform.
        `binaries`: a `bin` folder of PostgreSQL; default `$OASFLOW_PG_BIN`, the wheel, the system.
        `run_as`: whom root becomes at the first start; default `$OASFLOW_PG_USER`.
        Without it root keeps its files and runs the server in a user namespace, where permitted.

        Raises: LocalServerError for a folder whose path leads nowhere.
        """
        self.folder = find_folder(folder)
        self._control = self.folder / "control"
        self._binaries = binaries
        self._run_as = run_as or os.environ.get(USER_VARIABLE) or None

    @property
    def base(self) -> Path:
        """Where the server's files are: not always in `folder` (docs/local-postgres.md, "As root")."""
        return base_of(self.folder)

    def start(self) -> LocalStatus:
        """Start the server, or reuse the running one.  Any number of processes may call at once.

        Raises: LocalServerError.
        """
        status = self.status()
        if status.running and not self._unfinished.exists():
            return status
        if UNSAFE_IN_PATHS & set(str(self.folder)):
            self._raise_server_error(
                'its path holds one of " $ ` \\ or a line break', fix="Choose another."
            )
        with self._system_errors():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            private_folder(self._control, uid=os.geteuid(), gid=os.getegid(), folder=self.folder)
            with self._only_one():
                status, alive = self._wait_for_result(
                    self._running_or_free, "a server has its data and is not ready"
                )
                if alive is not None:
                    try:
                        self._launch_server(alive)
                    finally:
                        os.close(alive)
                if self._unfinished.exists():
                    self._set_up()
        return self.status()

    def stop(self) -> None:
        """Stop it, rolling back what is unfinished.  Nothing happens when it does not run.

        Raises: LocalServerError.
        """
        with self._system_errors():
            if self._control.is_dir():
                with self._only_one():
                    self._stop_server()

    def status(self) -> LocalStatus:
        """Raises: LocalServerError when it runs and its password is gone."""
        try:
            version = read_text(self._data / "PG_VERSION").strip()
            postmaster = Postmaster.of(self._data)
        except FileNotFoundError:
            version, postmaster = "", None
        except OSError as error:
            self._raise_for(error)
        running = postmaster is not None and postmaster.accepts()
        where = postmaster.sockets if running and postmaster else ""
        return LocalStatus(
            running=running,
            folder=self.folder,
            version=version,
            pid=postmaster.pid if where and postmaster else None,
            url=_format_dsn(where, "***") if where else "",
            dsn=_format_dsn(where, self._read_password()) if where else "",
        )

    def dsn(self) -> str:
        """Address of the running server with its password.  Never print it.

        Raises: LocalServerError when it does not run.
        """
        status = self.status()
        if not status.running:
            self._raise_server_error("it is not running", fix="Run `oasflow db start`.")
        return status.dsn

    def owner_dsn(self) -> str:
        """Address of the running server for the role that owns the tables: for migrations alone.

        Raises: LocalServerError when it does not run.
        """
        return self._dsn_of(OWNER, "owner-password")

    def superuser_dsn(self) -> str:
        """Address of the running server for its superuser, who can do everything the account can.

        Raises: LocalServerError when it does not run.
        """
        return self._dsn_of(SUPERUSER, "superuser-password")

    def _dsn_of(self, role: str, secret: str) -> str:
        self.dsn()  # says what is wrong where it does not run
        postmaster = Postmaster.of(self._data)
        path = self._control / secret
        if postmaster is None or not path.exists():
            self._raise_server_error(
                "it was started by a version without this role",
                fix="Run `oasflow db stop`, then `oasflow db start`.",
            )
        try:
            return _format_dsn(postmaster.sockets, read_text(path), role=role)
        except OSError as error:
            self._raise_for(error)

    @property
    def _data(self) -> Path:
        return self.base / "server" / "data"

    @property
    def _unfinished(self) -> Path:
        """There from before the data are made, or brought to other roles, until the tables are there."""
        return self._control / "unfinished"

    def _launch_server(self, alive: int) -> None:
        """First start or a later one; `alive` is the open lock that the server will keep."""
        area = self.base / "server"
        owner = (area.stat().st_uid, area.stat().st_gid) if area.is_dir() else None
        account = choose_account(folder=self.folder, owner=owner, run_as=self._run_as)
        base = base_for(self.folder, account)
        area = base / "server"
        if owner is not None and owner[0] == os.geteuid() != account.uid:
            give(area, account)  # made in a namespace, which is not permitted any more
        private_folder(area, uid=account.uid, gid=account.gid, folder=self.folder)
        binaries, version = reachable_binaries(
            find_binaries(self._binaries, folder=self.folder), account, base, folder=self.folder
        )
        cluster = Cluster(folder=self.folder, area=area, account=account, binaries=binaries)
        superuser = self._ensure_password("superuser-password")
        owner_secret = self._ensure_password("owner-password")
        if not cluster.data.is_dir():
            self._unfinished.touch(mode=0o600)
            self._write_new("password")
            create(cluster, superuser, alive=alive)
        self._check_version(cluster, version)
        app = self._read_password()
        settle(cluster, app=app, owner=owner_secret, superuser=superuser, alive=alive)
        launch(cluster, socket_folder(area, account, folder=self.folder), alive=alive)

    def _stop_server(self) -> None:
        postmaster = Postmaster.of(self._data)
        if postmaster is None or not postmaster.exists():
            if postmaster is not None and postmaster.accepts():
                self._raise_server_error("it runs in another container; stop it there")
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(postmaster.pid, signal.SIGINT)  # PostgreSQL calls this a fast shutdown
        os.close(self._wait_for_result(self._try_alive_lock, "it does not stop"))

    def _check_version(self, cluster: Cluster, version: str) -> None:
        of_data = read_text(cluster.data / "PG_VERSION").strip()
        if version.split(".", maxsplit=1)[0] != of_data:
            self._raise_server_error(
                f"its data are of PostgreSQL {of_data}, the programs in {cluster.binaries} "
                f"are of {version}",
                fix=f"Set {BINARIES_VARIABLE} to the bin folder of a PostgreSQL {of_data}; "
                "to move on, save the data with its pg_dump, move the folder away, start again "
                "and load them with psql.",
            )

    def _read_password(self) -> str:
        try:
            kept = read_text(self._control / "password")
        except FileNotFoundError:
            kept = ""
        except OSError as error:
            self._raise_for(error)
        if not kept:
            fix = f"Bring it back from a backup, or move {self._data} away to begin again."
            self._raise_server_error("there are data, but control/password is gone", fix=fix)
        return kept

    def _ensure_password(self, name: str) -> str:
        """The password in a file; a new one where there is none, as before the first start."""
        path = self._control / name
        kept = read_text(path) if path.exists() else ""
        if kept:
            return kept
        self._unfinished.touch(mode=0o600)
        return self._write_new(name)

    def _write_new(self, name: str) -> str:
        """Written before the data exist, so data never come without their password."""
        password = secrets.token_urlsafe(24)
        path = self._control / name
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(password)
            file.flush()
            os.fsync(file.fileno())
        return password

    def _set_up(self) -> None:
        """Make the tables, as their owner, so that whoever gets the address finds them."""
        try:
            from cinatra_sdk.postgres.migration import migrate
        except ImportError:
            return  # the server alone is installed: whoever opens a store on it makes its tables
        from cinatra_sdk.errors import StoreError

        problem = ""
        try:
            migrate(self.owner_dsn(), app_role=APP)
        except StoreError as error:
            problem = str(error)
        if problem:
            self._raise_server_error(problem)
        self._unfinished.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _only_one(self) -> Iterator[None]:
        """One process at a time starts or stops the server."""
        lock = self._wait_for_result(
            lambda: _try_lock(self._control / "lock"), "another process keeps it busy"
        )
        try:
            yield
        finally:
            os.close(lock)

    def _running_or_free(self) -> tuple[LocalStatus, int | None] | None:
        status = self.status()
        if status.running:
            return status, None
        alive = self._try_alive_lock()
        return None if alive is None else (status, alive)

    def _try_alive_lock(self) -> int | None:
        """The server's own lock, held by us from now on, when no server has it."""
        alive = _try_lock(self._control / "alive")
        if alive is None:
            return None
        postmaster = Postmaster.of(self._data)
        if postmaster is not None and postmaster.exists():  # where a lock is not inherited: NFS
            os.close(alive)
            return None
        return alive

    def _wait_for_result(self, attempt: Callable[[], T | None], failure: str) -> T:
        deadline = time.monotonic() + PATIENCE
        while (result := attempt()) is None:
            if time.monotonic() > deadline:
                self._raise_server_error(f"{failure}, for {PATIENCE:.0f} seconds")
            time.sleep(0.02)
        return result

    @contextlib.contextmanager
    def _system_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._raise_for(error)
        except subprocess.TimeoutExpired as error:
            what = f"{Path(str(error.cmd[0])).name} took longer than {error.timeout:.0f} seconds"
            raise LocalServerError(what, folder=self.folder) from error

    def _raise_for(self, error: OSError) -> NoReturn:
        self._raise_server_error(describe_os_error(error), fix=find_fix(error))

    def _raise_server_error(self, what: str, *, fix: str = "") -> NoReturn:
        raise LocalServerError(what, folder=self.folder, fix=fix)


def _try_lock(path: Path) -> int | None:
    """An open file that holds the lock, or `None` when somebody else holds it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def _format_dsn(sockets: str, password: str, *, role: str = APP) -> str:
    host = urllib.parse.quote(sockets, safe="")
    return f"postgresql://{role}:{password}@/{DATABASE}?host={host}&port={PORT}"
