"""Why a database could not be reached, or ended a statement, and what mends it.

    find_cause(error)  ->  Cause(what="a lock was not free within lock_timeout", fix="see who holds it: …")

Known by the SQLSTATE, or by libpq's words where the connection was not made: then there is no SQLSTATE.
"""

from __future__ import annotations

from typing import Final

from psycopg_pool import PoolTimeout

from cinatra_sdk.light_imports.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Both are parts of sentences, without a value of the error."""

    what: str
    """Why it failed."""
    fix: str
    """What somebody can do about it."""


_FULL: Final = Cause(
    what="the server has no connection free",
    fix="raise max_connections, end what is idle (pg_stat_activity), or put a pooler before the server",
)
_PASSWORD: Final = Cause(
    what="the password is wrong, or the role does not exist",
    fix="correct the address; of the local server, oasflow db stop and oasflow db start give its role "
    "the password in control/password again",
)
_NO_PASSWORD: Final = Cause(
    what="the server asks for a password, and the address has none",
    fix="put it into the address, into PGPASSWORD, or into the file ~/.pgpass",
)
_NO_DATABASE: Final = Cause(
    what="the server has no such database",
    fix="correct the address, or make it (create database NAME), then oasflow db migrate",
)
_NOT_LET_IN: Final = Cause(
    what="the server does not let this role in from here",
    fix="an administrator adds a line to pg_hba.conf, or creates the role; or correct the address",
)
_STARTING: Final = Cause(
    what="the server is starting, stopping, or being restored", fix="try again in a moment"
)
_ENDED: Final = Cause(
    what="the server ended the connection: it was restarted, or an administrator ended it",
    fix="try again; what was committed is kept",
)
_NO_CA: Final = Cause(
    what="the file with the certificate of the server's authority is missing",
    fix="put it there, name it with sslrootcert=FILE in the address, or use sslrootcert=system",
)
_NOT_TRUSTED: Final = Cause(
    what="the certificate of the server is not trusted",
    fix="name the right authority with sslrootcert=FILE, and the server by the name in its certificate",
)
_NO_TLS: Final = Cause(
    what="the address demands TLS, and the server offers none",
    fix="turn ssl on in the server, or ask for less with sslmode= in the address",
)
_NO_HOST: Final = Cause(
    what="no machine is known under the name in the address", fix="correct the name of the host"
)
_NOBODY: Final = Cause(
    what="nobody answers there",
    fix="is it running? see oasflow db status for the local server, or name one that is with --db or "
    "in DATABASE_URL",
)
_NO_WAY: Final = Cause(
    what="the server did not answer in time",
    fix="see whether a firewall stands between, and whether it runs; connect_timeout= in the address "
    "gives it longer",
)
_READ_ONLY: Final = Cause(
    what="the server takes no writes: it is a standby, or the database is read-only",
    fix="give the address of the server that leads (several hosts and "
    "target_session_attrs=read-write find it)",
)
_CUT_OFF: Final = Cause(
    what="the connection was cut off", fix="try again; what was committed is kept"
)

_BY_STATE: Final = {
    "25006": _READ_ONLY,
    "25P03": Cause(
        what="a transaction was idle for longer than idle_in_transaction_session_timeout",
        fix="try again; if it comes again, raise that limit",
    ),
    "25P04": Cause(
        what="a transaction took longer than transaction_timeout",
        fix="raise it (options=-c transaction_timeout=… in the address, or of the database)",
    ),
    "28000": _NOT_LET_IN,
    "28P01": _PASSWORD,
    "3D000": _NO_DATABASE,
    "40001": Cause(what="it came into conflict with another transaction", fix="try again"),
    "40P01": Cause(what="it waited for another transaction that waited for it", fix="try again"),
    "53100": Cause(what="the disk of the server is full", fix="free some of it, then try again"),
    "53200": Cause(what="the server has no memory left", fix="give it more, or let it do less at once"),
    "53300": _FULL,
    "55P03": Cause(
        what="a lock was not free within lock_timeout",
        fix="see who holds it (pg_locks, pg_stat_activity), or raise lock_timeout in the address",
    ),
    "57014": Cause(
        what="it took longer than statement_timeout, or somebody cancelled it",
        fix="raise statement_timeout in the address, or see what it waits for (pg_stat_activity)",
    ),
    "57P01": _ENDED,
    "57P02": _ENDED,
    "57P03": _STARTING,
    "57P05": Cause(
        what="the server ended a connection that was idle for longer than idle_session_timeout",
        fix="try again; if it comes again, raise that limit",
    ),
    "58030": Cause(
        what="the server cannot read or write its files",
        fix="look at its disk and its log before anything else",
    ),
}  # fmt: skip

_BY_WORDS: Final = (
    ("too many clients", _FULL),
    ("too many connections", _FULL),
    ("connection slots are reserved", _FULL),
    ("no password supplied", _NO_PASSWORD),
    ("password authentication failed", _PASSWORD),
    ("no pg_hba.conf entry", _NOT_LET_IN),
    ("authentication failed", _NOT_LET_IN),
    ("root certificate file", _NO_CA),
    ("certificate verify failed", _NOT_TRUSTED),
    ("does not match host name", _NOT_TRUSTED),
    ("server does not support ssl", _NO_TLS),
    ("starting up", _STARTING),
    ("shutting down", _STARTING),
    ("recovery mode", _STARTING),
    ("not yet accepting connections", _STARTING),
    ("not currently accepting connections", _NOT_LET_IN),
    ("could not translate host name", _NO_HOST),
    ("failed to resolve host", _NO_HOST),
    ("session is read-only", _READ_ONLY),
    ("timeout expired", _NO_WAY),
    ("connection timed out", _NO_WAY),
    ("connection refused", _NOBODY),
    ("no such file or directory", _NOBODY),
    ("server closed the connection", _CUT_OFF),
    ("the server has ended this connection", _CUT_OFF),
    ("terminating connection", _ENDED),
    ("connection is closed", _CUT_OFF),
    ("connection is lost", _CUT_OFF),
)
"""The first that is there counts."""


def find_cause(error: Exception) -> Cause | None:
    """None where nothing is known of it."""
    state = getattr(error, "sqlstate", None)
    if state:
        return _BY_STATE.get(str(state))
    if isinstance(error, PoolTimeout):
        return Cause(
            what="no connection was free in time",
            fix="this process does too much at once, or the server does not answer: see oasflow doctor",
        )
    text = str(error).lower()
    for words, cause in _BY_WORDS:
        if words in text:
            return cause
    if 'database "' in text and "does not exist" in text:
        return _NO_DATABASE
    if 'role "' in text and ("does not exist" in text or "not permitted to log in" in text):
        return _NOT_LET_IN
    return None
