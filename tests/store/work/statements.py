"""Counts the statements that this process sends, by what they begin with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every statement, one for each row of an `executemany`; also those of transactions."""
    seen: list[str] = []
    with monkeypatch.context() as patch:

        def tap(name: str) -> None:
            original = getattr(psycopg.Cursor, name)

            def tapped(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
                seen.append(str(query))
                return original(self, query, *args, **kwargs)

            patch.setattr(psycopg.Cursor, name, tapped)

        tap("execute")
        tap("executemany")
        begun = psycopg.Connection.transaction

        @contextmanager
        def transaction(self: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
            seen.extend(["begin", "commit"])
            with begun(self, *args, **kwargs) as inside:
                yield inside

        patch.setattr(psycopg.Connection, "transaction", transaction)
        yield seen
