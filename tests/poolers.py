"""PgBouncer before a test's server.

    with Pooler.before(local_server, mode="transaction", size=4) as pooler:
        pooler.address_of(dsn)       # the same database and role, through the pooler

`OASFLOW_TEST_POOLER=session|transaction` puts one before every `fresh_database`; see `scripts/test-poolers`.
Tests marked `own_session` are left out then: they look on purpose into what belongs to one connection.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from cinatra_sdk.local_postgres.supervisor import LocalServer
from cinatra_sdk.postgres.pooler import BEGIN, list_statements

POOLER_VARIABLE = "OASFLOW_TEST_POOLER"
PROGRAM = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
SIZES: Mapping[str, int] = {"transaction": 4, "session": 40}
"""Connections to the server for each database.  In session mode each connection of a process keeps one."""


SWALLOWS: Mapping[str, str] = {"ignore_startup_parameters": "options"}
"""A pooler that takes `options` and forgets them: tests that connect by themselves bring some."""


def is_installed() -> bool:
    return Path(PROGRAM).is_file()


@dataclass(frozen=True, slots=True)
class Pooler:
    port: int
    process: int
    log: Path

    def address_of(self, dsn: str) -> str:
        return make_conninfo(dsn, host="127.0.0.1", port=self.port)

    @classmethod
    @contextmanager
    def before(
        cls,
        server: LocalServer,
        *,
        mode: str,
        size: int = 4,
        query: str = BEGIN,
        settings: Mapping[str, str] | None = None,
    ) -> Iterator[Pooler]:
        """query: `connect_query`; settings: further ones of the section `[pgbouncer]`."""
        if not is_installed():
            pytest.skip("PgBouncer is not installed (Debian, Ubuntu: apt install pgbouncer)")
        folder, port = Path(tempfile.mkdtemp(prefix="oft-pooler-")), _find_port()
        lines = {
            "listen_addr": "127.0.0.1", "listen_port": port, "unix_socket_dir": "",
            "auth_type": "plain", "auth_file": folder / "users", "logfile": folder / "log",
            "pool_mode": mode, "default_pool_size": size, "max_client_conn": 500,
            "server_login_retry": 1, "server_idle_timeout": 5, **(settings or {}),
        }  # fmt: skip
        own = conninfo_to_dict(server.dsn())
        ini = _write_files(folder, server, query, lines)
        process = subprocess.Popen([PROGRAM, "-q", *_be_nobody(folder, str(own["host"])), str(ini)])
        try:
            _wait_for(port, process)
            yield cls(port=port, process=process.pid, log=folder / "log")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)
            shutil.rmtree(folder, ignore_errors=True)


def _write_files(
    folder: Path, server: LocalServer, query: str, lines: Mapping[str, object]
) -> Path:
    accounts = [conninfo_to_dict(dsn) for dsn in (server.dsn(), server.owner_dsn())]
    users = [f'"{account["user"]}" "{account["password"]}"\n' for account in accounts]
    folder.joinpath("users").write_text("".join(users))
    begins = f" connect_query='{query}'" if query else ""
    where = f"* = host={accounts[0]['host']} port={accounts[0].get('port', 5432)}{begins}\n"
    ini = folder / "pgbouncer.ini"
    settings = "".join(f"{name} = {value}\n" for name, value in lines.items())
    ini.write_text(f"[databases]\n{where}[pgbouncer]\n{settings}")
    return ini


def _be_nobody(folder: Path, sockets: str) -> list[str]:
    """PgBouncer refuses to be root: then it is somebody else, who has to reach the server's socket."""
    if os.geteuid() != 0:
        return []
    folder.chmod(0o777)
    for place in (Path(sockets), *Path(sockets).parents):
        if place == Path(tempfile.gettempdir()):
            break
        place.chmod(place.stat().st_mode | 0o011)
    for one in Path(sockets).glob(".s.PGSQL.*"):
        if not one.name.endswith(".lock"):
            one.chmod(0o777)
    return ["-u", "nobody"]


def _find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(500):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, "PgBouncer did not start"
        time.sleep(0.01)
    raise AssertionError("PgBouncer does not answer")


def keep_settings(server: LocalServer) -> None:
    """Give the role that runs flows its settings for good, in all databases, which tests have many of.

    Between two sessions PgBouncer takes away what its `connect_query` has set.
    """
    role = str(conninfo_to_dict(server.dsn())["user"])
    with psycopg.connect(server.superuser_dsn(), autocommit=True) as connection:
        for statement in list_statements(role, "anywhere"):
            text = statement.as_string().replace(' in database "anywhere"', "")
            connection.execute(text.encode())


_GONE = """
update oasflow.work set lease_until = clock_timestamp()
where run_id in (select run_id from oasflow.work where lease_until > clock_timestamp()
                 and worker = any(%s) for update skip locked)
"""
_WORKERS = "select distinct worker from oasflow.work where lease_until > clock_timestamp()"


@contextmanager
def letting_leases_run_out(dsn: str) -> Iterator[None]:
    """Behind a pooler nobody sees that a process died; so that no test waits for it, its leases end at once.

    dsn: at the server's own address.
    """
    over = threading.Event()

    def look() -> None:
        with psycopg.connect(dsn, autocommit=True) as rows:
            while not over.wait(0.2):
                gone = [name for (name,) in rows.execute(_WORKERS) if _is_gone(name)]
                if gone:
                    rows.execute(_GONE, (gone,))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _is_gone(worker: str) -> bool:
    """worker: `host:pid`, as claims write it."""
    host, _, process = worker.rpartition(":")
    if host != socket.gethostname() or not process.isdecimal():
        return False
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"
