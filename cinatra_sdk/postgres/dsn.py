"""A DSN as people may see it: host and database, and never a password.

    shown_name("postgresql://ann:s3cret@db.example.org/runs")     "runs at db.example.org"
    shown_name("postgresql://ann:s3/cret@db.example.org/runs")    "(its address cannot be read)"

Parsers, libpq among them, read a password with an unescaped slash, `@` or blank as a host, a port
or a database, and quote it in errors.  So a DSN, and libpq's messages about it, are shown only if
the DSN has exactly one reading.
"""

from __future__ import annotations

import re
from typing import Final

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict

from cinatra_sdk.governed.secret_values import cut_from, forms_of

UNREADABLE: Final = "(its address cannot be read)"
_HOSTS: Final = re.compile(r"[\w.:,-]*|/[^\s@?]*")
_NAME: Final = re.compile(r"[\w.-]*")
_PORTS: Final = re.compile(r"[0-9,]*")
_PLAIN: Final = {
    "host": _HOSTS, "hostaddr": _HOSTS, "dbname": _NAME, "user": _NAME, "port": _PORTS,
    "service": _NAME,
}  # fmt: skip
_URI: Final = re.compile(r"postgres(?:ql)?://")
_SETTING: Final = re.compile(r"(?:\A|\s)\w+\s*=")
_LINE: Final = 300
_USUAL_PORT: Final = "5432"


def is_address(dsn: str) -> bool:
    """Whether libpq can read it as the address of a database."""
    try:
        conninfo_to_dict(dsn)
    except (psycopg.Error, UnicodeError):
        return False
    return True


def shown_name(dsn: str) -> str:
    """Database, host and a port that is not the usual one, if the DSN has exactly one reading."""
    parts = _parse_dsn(dsn)
    if parts is None:
        return UNREADABLE
    host = parts.get("host") or parts.get("hostaddr") or "localhost"
    port = parts.get("port") or _USUAL_PORT
    host += "" if port == _USUAL_PORT else f":{port}"
    return f"{parts.get('dbname') or parts.get('user') or 'postgres'} at {host}"


def may_be_repeated(dsn: str) -> bool:
    """Whether the whole DSN may be shown: it has exactly one reading and no password."""
    parts = _parse_dsn(dsn)
    return parts is not None and not any(parts.get(name) for name in _list_hidden_settings())


def shown_detail(dsn: str, text: str) -> str:
    """The first line of a message of a server or libpq, if it cannot contain a secret of the
    DSN.
    """
    parts = _parse_dsn(dsn)
    if parts is None:
        return ""
    line = text.strip().split("\n")[0][:_LINE]
    secrets = [value for key, value in parts.items() if key in _list_hidden_settings() and value]
    said = any(secret in line for secret in secrets)
    return "" if said or cut_from(line, forms_of(tuple(secrets))) != line else line


def _parse_dsn(dsn: str) -> dict[str, str] | None:
    """The settings of a DSN with exactly one reading."""
    if not dsn.isprintable():
        return None
    try:
        parts = {key: str(value) for key, value in conninfo_to_dict(dsn).items()}
    except (psycopg.Error, UnicodeError):
        return None
    once = dsn.count("@") < 2 if _URI.match(dsn) else len(_SETTING.findall(dsn)) == len(parts)
    plain = all(_PLAIN[key].fullmatch(value) for key, value in parts.items() if key in _PLAIN)
    return parts if once and plain else None


def _list_hidden_settings() -> frozenset[str]:
    """The settings that libpq itself marks as secret."""
    return frozenset(
        option.keyword.decode() for option in pq.Conninfo.get_defaults() if option.dispchar
    )
