"""What the engine writes at once, gathered into the parameters of one statement.

In: the statements that LangGraph's own saver carries out, one by one.  Out: columns for the
statement `write_work`, which carries out all of them, or none where the worker has lost the run.

LangGraph's saver decides what is stored; only the number of statements differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from langgraph.checkpoint.postgres.base import BasePostgresSaver

from cinatra_sdk.errors import EngineUnsupported
from cinatra_sdk.store.work.columns import turn_rows

_BLOB: Final = ("thread_id", "checkpoint_ns", "channel", "version", "type", "blob")
_CHECKPOINT: Final = ("thread_id", "checkpoint_ns", "id", "parent", "checkpoint", "metadata")
_WRITE: Final = (
    "thread_id", "checkpoint_ns", "id", "task_id", "task_path", "place", "channel", "type", "blob",
)  # fmt: skip
_WRITE_KEY: Final = 6
"""Columns that name a write; the path of its task is not one of them, but goes with the task."""


class Gathered:
    """Stands for a cursor while LangGraph's saver writes."""

    def __init__(self) -> None:
        self._blobs: list[tuple[Any, ...]] = []
        self._checkpoints: list[tuple[Any, ...]] = []
        self._writes: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self._replaces = False
        """Whether writes take the place of earlier ones."""

    def execute(self, query: str, row: Sequence[Any]) -> None:
        if query != BasePostgresSaver.UPSERT_CHECKPOINTS_SQL:
            raise _build_unknown_error()
        self._checkpoints.append(tuple(row))

    def executemany(self, query: str, rows: Iterable[Sequence[Any]]) -> None:
        if query == BasePostgresSaver.UPSERT_CHECKPOINT_BLOBS_SQL:
            self._blobs += map(tuple, rows)
        elif query == BasePostgresSaver.UPSERT_CHECKPOINT_WRITES_SQL:
            self._replaces = True
            for row in rows:  # the last write to a place counts, as it would one by one
                self._writes[tuple(row[:_WRITE_KEY])] = tuple(row)
        elif query == BasePostgresSaver.INSERT_CHECKPOINT_WRITES_SQL:
            for row in rows:  # the first one
                self._writes.setdefault(tuple(row[:_WRITE_KEY]), tuple(row))
        else:
            raise _build_unknown_error()

    def columns(self) -> dict[str, Any]:
        """Parameters of `write_work`, one list for each column."""
        return {
            **turn_rows("blob", _BLOB, self._blobs),
            **turn_rows("checkpoint", _CHECKPOINT, self._checkpoints),
            **turn_rows("write", _WRITE, self._writes.values()),
            "replaces": self._replaces,
        }


def _build_unknown_error() -> EngineUnsupported:
    return EngineUnsupported(
        "the installed LangGraph stores checkpoints by a statement that this version does not know",
        hint="install the version of langgraph-checkpoint-postgres that the lock file names",
    )
