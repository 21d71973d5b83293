"""What the engine writes at once, gathered into the parameters of one statement.

In: the statements that LangGraph's own saver carries out, one by one.  Out: columns for the
statement `write_work`, which carries out all of them, or none where the worker has lost the run.

LangGraph's saver decides what is stored; only the number of statements differs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from langgraph.checkpoint.postgres.base import BasePostgresSaver

from cinatra_sdk.errors import EngineUnsupported
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.store.work.events import NewEvent

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
            **_turn("blob", _BLOB, self._blobs),
            **_turn("checkpoint", _CHECKPOINT, self._checkpoints),
            **_turn("write", _WRITE, self._writes.values()),
            "replaces": self._replaces,
        }


def list_gate_columns(gates: Iterable[Gate]) -> dict[str, Any]:
    """The gates as parameters of a statement; a gate that is named twice counts once."""
    names = ("id", "sha256", "node", "visit", "step", "interrupt", "payload", "schema")
    rows = {
        (gate.id, gate.payload_sha256): (
            gate.id, gate.payload_sha256, gate.node, gate.visit, gate.step, gate.interrupt,
            json.dumps(gate.payload), json.dumps(gate.asked),
        )
        for gate in gates
    }  # fmt: skip
    return _turn("gate", names, rows.values())


def list_event_columns(events: Sequence[NewEvent]) -> dict[str, Any]:
    """The events as parameters of a statement, with their number as `events`."""
    rows = [(one.kind, one.path, one.visit, json.dumps(dict(one.data))) for one in events]
    return {"events": len(rows), **_turn("event", ("kind", "path", "visit", "data"), rows)}


def _turn(of: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Rows as columns: `{"gate_id": ["a", "b"], …}`."""
    kept = list(rows)
    return {f"{of}_{name}": [row[place] for row in kept] for place, name in enumerate(names)}


def _build_unknown_error() -> EngineUnsupported:
    return EngineUnsupported(
        "the installed LangGraph stores checkpoints by a statement that this version does not know",
        hint="install the version of langgraph-checkpoint-postgres that the lock file names",
    )
