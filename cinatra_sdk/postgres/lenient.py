"""Values of rows that Python cannot take: read all the same, so that one row hides no other.

    connect(dsn, context=LENIENT)
    outputs '111…' (5,000 digits), or 5,000 lists in each other     ->  UNREADABLE
    retry_at 'infinity', '4000-01-01 BC'                            ->  LATEST, EARLIEST

The database takes numbers, depths and moments that no process of this project writes and that the
role which runs flows may write.  A driver that raises at one of them lists no run of anybody.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import JsonLoader

EARLIEST: Final = datetime(2, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""Not the very last moment, of which other time zones have none."""


class Unreadable:
    """Stands for JSON that cannot be read; it is no JSON, and empty."""

    def __repr__(self) -> str:
        return "UNREADABLE"

    def __bool__(self) -> bool:
        return False


UNREADABLE: Final = Unreadable()


class _LenientJson(JsonLoader):
    def load(self, data: Buffer) -> Any:
        try:
            return json.loads(bytes(data))
        except (ValueError, RecursionError):
            return UNREADABLE


class _LenientMoment(TimestamptzLoader):
    def load(self, data: Buffer) -> datetime:
        try:
            return super().load(data)
        except (psycopg.DataError, OverflowError, ValueError):
            text = bytes(data)
            return EARLIEST if text.startswith(b"-") or text.endswith(b"BC") else LATEST


def _make_adapters() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    for kind in ("json", "jsonb"):
        adapters.register_loader(kind, _LenientJson)
    adapters.register_loader("timestamptz", _LenientMoment)
    return adapters


LENIENT: Final = _make_adapters()
