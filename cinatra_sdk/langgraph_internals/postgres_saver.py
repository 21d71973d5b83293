"""LangGraph's Postgres saver, opened: the purpose of each of its statements, its cursor and its rows.

In: a statement that the saver carries out.  Out: its purpose (`Write`), or None where this release does not
know the text of the statement.

    knows_statements()                                   ->  True with the versions of the lock file
    read_write(PostgresSaver.UPSERT_CHECKPOINTS_SQL)     ->  "checkpoint"
    read_write("delete from checkpoints …")              ->  None

A release of the saver with another text of a statement may have other columns, too.  Then
`knows_statements()` is False, and the saver of a run carries out LangGraph's own statements one by one:
slower, and right.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, Literal, TypeAlias

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.types import INTERRUPT

__all__ = ["INTERRUPT", "OpenedSaver", "Write", "is_own_write", "knows_statements", "read_write"]

Write: TypeAlias = Literal["checkpoint", "blobs", "new writes", "replacing writes"]

_WRITES: Final[dict[str, tuple[Write, str]]] = {
    "UPSERT_CHECKPOINTS_SQL": ("checkpoint", "5aff32b8b4006473"),
    "UPSERT_CHECKPOINT_BLOBS_SQL": ("blobs", "9ab52452c6f629f9"),
    "INSERT_CHECKPOINT_WRITES_SQL": ("new writes", "bd87184ba85a1cc5"),
    "UPSERT_CHECKPOINT_WRITES_SQL": ("replacing writes", "08f1f8b3140155e4"),
}
"""By the saver's name of the statement: what it does, and the digest of its text."""
_READ: Final = ("SELECT_SQL", "008509191b0426a2")


def hash_statement(text: str) -> str:
    """The digest of a statement, whatever its line breaks: 16 hexadecimal digits of its sha256."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


@functools.cache
def knows_statements() -> bool:
    """Whether the installed saver reads and writes by the statements that this release knows."""
    known = [(name, digest) for name, (_, digest) in _WRITES.items()]
    return all(
        hash_statement(str(getattr(PostgresSaver, name, ""))) == digest
        for name, digest in (*known, _READ)
    )


def read_write(statement: str) -> Write | None:
    """What a statement of the installed saver writes; None for any other statement."""
    return next(
        (
            write
            for name, (write, _) in _WRITES.items()
            if statement == getattr(PostgresSaver, name, None)
        ),
        None,
    )


def is_own_write(statement: str) -> bool:
    """Whether the installed saver has the statement among those that add or change rows."""
    return any(
        statement == getattr(PostgresSaver, name)
        for name in dir(PostgresSaver)
        if name.startswith(("INSERT_", "UPSERT_")) and name.endswith("_SQL")
    )


class OpenedSaver(PostgresSaver):
    """LangGraph's saver, for a subclass that says where its writes go (`gather_writes`)."""

    def gather_writes(self) -> AbstractContextManager[Any]:
        """Gives what takes the place of a cursor while LangGraph's saver writes."""
        raise NotImplementedError

    def require_open(self) -> None:
        """Called before each read and write; may raise."""

    def open_cursor(self) -> AbstractContextManager[Any]:
        """LangGraph's own cursor, with its lock; its rows are dicts."""
        cursors: AbstractContextManager[Any] = PostgresSaver._cursor(self)  # noqa: SLF001 - the saver's own
        return cursors

    @contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Iterator[Any]:
        self.require_open()
        # LangGraph's saver asks for a pipeline where it means to write, and nowhere else.
        with self.gather_writes() if pipeline else self.open_cursor() as cursor:
            yield cursor

    def read_row(self, row: Any) -> CheckpointTuple:
        """The checkpoint in a row of `read_statement`."""
        return self._load_checkpoint_tuple(row)

    @property
    def read_statement(self) -> str:
        """LangGraph's statement that reads checkpoints, without its conditions."""
        return self.SELECT_SQL
