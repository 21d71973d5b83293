"""PostgreSQL servers of a test's own: with standbys, restarts and failovers.

    with start_server(folder / "a") as first:
        second = first.make_standby(folder / "b", name="b")     # follows, asynchronously
        first.kill(); second.promote()

Each listens on a socket in its own folder, and asks for no password.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from cinatra_sdk.local_postgres.programs import (
    Account,
    choose_account,
    find_binaries,
    reachable_binaries,
)

SETTINGS = """
listen_addresses = ''
max_connections = 40
autovacuum = off
fsync = off
full_page_writes = off
jit = off
wal_level = replica
hot_standby = on
wal_receiver_status_interval = 1s
"""
ADMIN = "admin"


@dataclass
class Server:
    """A server that runs, or ran."""

    folder: Path
    account: Account
    binaries: Path
    standbys: list[Server] = field(default_factory=list)

    port: int = 5432

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def dsn(self, database: str = "postgres", user: str = ADMIN, **more: Any) -> str:
        return make_conninfo(
            "", host=str(self.folder), port=self.port, dbname=database, user=user, **more
        )

    def execute(self, *statements: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Rows of the last one."""
        with psycopg.connect(self.dsn(database), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def set(self, **settings: str) -> None:
        """Settings that a reload brings into force."""
        self.execute(
            *(f"alter system set {name} = '{value}'" for name, value in settings.items()),
            "select pg_reload_conf()",
        )
        for name, value in settings.items():
            wait_for(lambda n=name, v=value: self.execute(f"show {n}") == [(v,)])  # type: ignore[misc]

    def start(self) -> None:
        options = f"-c unix_socket_directories='{self.folder}'"
        self._call(
            "pg_ctl", "start", "-w", "-D", self.data, "-l", self.folder / "log", "-o", options
        )

    def stop(self, mode: str = "fast") -> None:
        if (self.data / "postmaster.pid").exists():
            self._call("pg_ctl", "stop", "-w", "-m", mode, "-D", self.data)

    def promote(self) -> None:
        self._call("pg_ctl", "promote", "-w", "-D", self.data)

    def make_standby(self, folder: Path, *, name: str) -> Server:
        """A server that follows this one under the name, and runs."""
        made = Server(make_folder(folder, self.account), self.account, self.binaries)
        where = self.dsn(application_name=name)
        self._call(
            "pg_basebackup", "-D", made.data, "-R", "-X", "stream", "-c", "fast", "-d", where
        )
        made.start()
        self.standbys.append(made)
        wait_for(lambda: bool(self.execute("select 1 from pg_stat_replication")))
        return made

    def catch_up(self) -> None:
        """Until every standby has replayed what stands here now."""
        (position,) = self.execute("select pg_current_wal_lsn()::text")[0]
        for standby in self.standbys:
            asked = f"select pg_last_wal_replay_lsn() >= '{position}'::pg_lsn"
            wait_for(lambda s=standby, a=asked: s.execute(a) == [(True,)])  # type: ignore[misc]

    def _call(self, program: str, *arguments: str | Path) -> None:
        done = self.account.run([self.binaries / program, *arguments], cwd=self.folder)
        log = self.folder / "log"
        assert done.returncode == 0, (program, done.stderr, log.read_text() if log.exists() else "")


@contextmanager
def start_server(binaries: Path | None = None, **settings: str) -> Iterator[Server]:
    """A new one in a folder of its own; gone in the end, and its standbys too.

    binaries: of another version than the usual one.
    """
    area = Path(tempfile.mkdtemp(prefix="ofs-"))
    account = choose_account(folder=area, owner=None)
    area.chmod(0o755)
    found, _version = reachable_binaries(
        find_binaries(binaries, folder=area), account, area, folder=area
    )
    made = Server(make_folder(area / "first", account), account, found)
    made.port = int(settings.get("port", made.port))
    try:
        made._call(
            "initdb", "-D", made.data, "-U", ADMIN, "-A", "trust", "-E", "UTF8", "--locale=C", "-N"
        )
        more = "".join(f"{name} = '{value}'\n" for name, value in settings.items())
        account.write(made.data / "postgresql.conf", SETTINGS + more)
        made.start()
        yield made
    finally:
        for server in (made, *made.standbys):
            server.stop("immediate")
        shutil.rmtree(area, ignore_errors=True)


def make_folder(folder: Path, account: Account) -> Path:
    folder.mkdir(mode=0o700)
    if account.switch:
        shutil.chown(folder, account.uid, account.gid)
    return folder


def wait_for(holds: Any, *, seconds: float = 60) -> None:
    """Until it holds; fails where it never does."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "nothing came of it"
        time.sleep(0.02)


def dump_database(dsn: str) -> str:
    """All that `pg_dump` writes of it."""
    area = Path("/")
    account = choose_account(folder=area, owner=None)
    program = find_binaries(None, folder=area) / "pg_dump"
    done = account.run([program, "-d", dsn], cwd=area)
    assert done.returncode == 0, done.stderr
    return done.stdout
