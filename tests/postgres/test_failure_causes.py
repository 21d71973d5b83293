"""Why a database failed, and what mends it, is told of a real server's errors."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import PoolTimeout

from cinatra_sdk.errors import StoreError, StoreUnreachable
from cinatra_sdk.local_postgres.programs import DEBIAN
from cinatra_sdk.local_postgres.supervisor import LocalServer
from cinatra_sdk.postgres.connection import connect, plain_error
from cinatra_sdk.postgres.failure_causes import find_cause
from tests.servers import ADMIN, Server, start_server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with start_server(max_connections="5", superuser_reserved_connections="1") as made:
        made.execute(
            "create role ann login password 'right'",
            "create table t (a int)",
            "insert into t values (1)",
        )
        yield made


def refuse(dsn: str) -> StoreError:
    with pytest.raises(StoreError) as refused:
        connect(dsn)
    assert "is it running" not in str(refused.value) or "nobody answers" in str(refused.value)
    return refused.value


def test_a_statement_that_waits_or_takes_too_long(server: Server) -> None:
    for limit, statement, cause, fix in (
        (
            "lock_timeout",
            "update t set a = 2",
            "a lock was not free within lock_timeout",
            "pg_locks",
        ),
        ("statement_timeout", "select pg_sleep(60)", "took longer than statement_timeout", "raise"),
    ):
        with psycopg.connect(server.dsn()) as holder:
            holder.execute("lock table t")
            asked = make_conninfo(server.dsn(), options=f"-c {limit}=50ms")
            with connect(asked) as rows, pytest.raises(psycopg.Error) as ended:
                rows.execute(statement.replace(" t ", " public.t ").encode())
        told = plain_error(asked, ended.value)
        assert cause in told.message
        assert fix in told.hint
        assert isinstance(told, StoreUnreachable), "a later try may help"


def test_a_server_without_a_free_connection(server: Server) -> None:
    refused = pytest.raises(StoreUnreachable, match="the server has no connection free")
    with ExitStack() as held, refused as told:
        for _ in range(10):
            held.enter_context(connect(server.dsn(user="ann")))
    assert "max_connections" in told.value.hint


def test_addresses_that_lead_nowhere(server: Server, tmp_path: Path) -> None:
    for dsn, cause, fix in (
        (server.dsn("nowhere"), "has no such database", "create database"),
        (server.dsn(user="nobody"), "does not let this role in", "pg_hba.conf"),
        (make_conninfo(server.dsn(), host=str(tmp_path)), "nobody answers there", "oasflow db status"),
        ("postgresql://ann@127.0.0.1:1/x", "nobody answers there", "is it running"),
        ("postgresql://ann@no-such-host.invalid/x", "no machine is known", "name of the host"),
        (
            "postgresql://ann@127.0.0.1:1/x?sslmode=verify-full&sslrootcert=/nowhere/ca.pem",
            "", "",
        ),
    ):  # fmt: skip
        told = refuse(dsn)
        assert cause in told.message
        assert fix in told.hint


def test_a_wrong_password(local_server: LocalServer) -> None:
    dsn = local_server.dsn()
    for password, cause in (("wrong", "the password is wrong"), ("", "the address has none")):
        parts = {**conninfo_to_dict(dsn), "password": password}
        told = refuse(make_conninfo(**parts))
        assert cause in told.message
        assert told.hint


def test_tls(tmp_path: Path) -> None:
    """Over TCP, where TLS is spoken at all."""
    with_tls = next(iter(DEBIAN.glob("[0-9]*/bin")), None)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if with_tls is None:
        pytest.skip("no PostgreSQL with TLS is installed: the wheel's has none")
    with start_server(with_tls, listen_addresses="127.0.0.1", port=str(port)) as server:
        there = make_conninfo("", host="127.0.0.1", port=port, user=ADMIN, dbname="postgres")
        told = refuse(make_conninfo(there, sslmode="require"))
        assert "demands TLS, and the server offers none" in told.message
        make_certificate(server)
        server.stop()
        server.start()
        missing = tmp_path / "ca.pem"
        told = refuse(make_conninfo(there, sslmode="verify-full", sslrootcert=str(missing)))
        assert "the file with the certificate of the server's authority is missing" in told.message
        assert "sslrootcert" in told.hint
        shutil.copy(server.data / "server.crt", missing)
        told = refuse(make_conninfo(there, sslmode="verify-full", sslrootcert=str(missing)))
        assert "the certificate of the server is not trusted" in told.message
        connect(make_conninfo(there, sslmode="verify-ca", sslrootcert=str(missing))).close()


def make_certificate(server: Server) -> None:
    """Signed by itself, for another name."""
    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "elsewhere.example.org")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, None)
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    server.account.write(server.data / "server.key", private.decode())
    server.account.write(server.data / "server.crt", made.public_bytes(pem).decode())
    server.account.write(server.data / "postgresql.conf", "ssl = on\n")


def test_a_connection_that_the_server_ended(server: Server) -> None:
    with connect(server.dsn()) as rows:
        server.execute(
            f"select pg_terminate_backend({rows.info.backend_pid}, 5000)",
        )
        with pytest.raises(psycopg.Error) as ended:
            rows.execute("select 1")
        told = plain_error(server.dsn(), ended.value)
        assert "the server ended the connection" in told.message
        assert "what was committed is kept" in told.hint


def test_a_pool_without_a_free_connection_and_what_nobody_knows() -> None:
    assert "no connection was free in time" in plain_error("", PoolTimeout("x")).message
    # Control: of what is not known, nothing is made up.
    assert find_cause(psycopg.OperationalError("the moon is full")) is None
    told = plain_error("postgresql://ann@h/x", psycopg.OperationalError("the moon is full"))
    assert (told.message, told.hint) == (
        "the database x at h failed: OperationalError: the moon is full", "",
    )  # fmt: skip
