"""A checkpoint that was read is not read again before the next write.

The engine reads the newest checkpoint for each look at the state and once more when it goes on from
there.  While one worker has the run nobody else writes to it, so the row is the same.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any

from langgraph.checkpoint.postgres.base import BasePostgresSaver
from psycopg import Cursor
from psycopg.rows import DictRow


class Rereading:
    """A cursor for LangGraph's saver that knows the rows of single checkpoints."""

    def __init__(self, cursor: Cursor[DictRow], known: MutableMapping[Any, Any]) -> None:
        self._cursor = cursor
        self._known = known
        self._asked: Any = None
        """The statement, where its row may be known."""

    @property
    def connection(self) -> Any:
        return self._cursor.connection

    def execute(self, query: Any, values: Sequence[Any] = (), **options: Any) -> Rereading:
        of_checkpoint = isinstance(query, str) and query.startswith(BasePostgresSaver.SELECT_SQL)
        self._asked = (query, tuple(values)) if of_checkpoint else None
        if self._asked not in self._known:
            self._cursor.execute(query, values, **options)
        return self

    def fetchone(self) -> DictRow | None:
        if self._asked is None:
            return self._cursor.fetchone()
        if self._asked not in self._known:
            self._known[self._asked] = self._cursor.fetchone()
        # The engine changes what it reads.
        row: DictRow | None = copy.deepcopy(self._known[self._asked])
        return row

    def fetchall(self) -> list[DictRow]:
        return self._cursor.fetchall()

    def __iter__(self) -> Iterator[DictRow]:
        return iter(self._cursor)
