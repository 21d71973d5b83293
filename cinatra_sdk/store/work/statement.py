"""The writes of the engine, gathered into the parameters of one statement.

In: the statements that LangGraph's own saver carries out, one by one.  Out: the parameters of the
statements `write_work` and `end_activation`, which carry out all of them, or none where the worker
has lost the run.

LangGraph's saver decides what is stored; only the number of statements differs.  Values are encoded when
they are gathered, so that a later change of an object changes nothing here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

from cinatra_sdk.errors import EngineUnsupported, ValueRefused
from cinatra_sdk.langgraph_internals.postgres_saver import is_own_write, read_write
from cinatra_sdk.store.work.event_rows import list_rows


class Blob(NamedTuple):
    """The value of a channel."""

    thread_id: str
    checkpoint_ns: str
    channel: str
    version: str
    type: str
    blob: bytes | None


class StoredCheckpoint(NamedTuple):
    """A checkpoint without its large values."""

    thread_id: str
    checkpoint_ns: str
    id: str
    parent: str | None
    checkpoint: str
    """JSON."""
    metadata: str
    """JSON."""


class TaskWrite(NamedTuple):
    """What a task wrote to one channel."""

    thread_id: str
    checkpoint_ns: str
    id: str
    task_id: str
    task_path: str
    place: int
    channel: str
    type: str
    blob: bytes

    @property
    def key(self) -> tuple[Any, ...]:
        """The path of the task is not part of it, but goes with the task."""
        return self.thread_id, self.checkpoint_ns, self.id, self.task_id, self.place


class Gathered:
    """Stands for a cursor while LangGraph's saver writes."""

    def __init__(self) -> None:
        self.blobs: dict[tuple[str, ...], Blob] = {}
        self.checkpoints: dict[tuple[str, ...], StoredCheckpoint] = {}
        self.writes: dict[tuple[Any, ...], TaskWrite] = {}
        self.replaced: set[tuple[Any, ...]] = set()
        """Keys of writes that take the place of earlier ones in the database."""
        self.bytes = 0
        """About how much was gathered."""

    def __bool__(self) -> bool:
        return bool(self.blobs or self.checkpoints or self.writes)

    def execute(self, query: str, row: Sequence[Any]) -> None:
        if read_write(query) != "checkpoint":
            raise _build_unknown_error()
        thread, namespace, own, parent, checkpoint, metadata = row
        texts = json.dumps(checkpoint.obj), json.dumps(metadata.obj)
        for text in texts:
            _refuse_unstorable(text)
        self._add_checkpoint(StoredCheckpoint(thread, namespace, own, parent, *texts))

    def executemany(self, query: str, rows: Iterable[Sequence[Any]]) -> None:
        write = read_write(query)
        if write == "blobs":
            for row in rows:
                self._add_blob(Blob(*row))
        elif write in {"new writes", "replacing writes"}:
            for row in rows:
                self._add_write(TaskWrite(*row), replaces=write == "replacing writes")
        else:
            raise _build_unknown_error()

    def add(self, later: Gathered) -> None:
        """Gather what was gathered later, as if it came here one by one."""
        for blob in later.blobs.values():
            self._add_blob(blob)
        for checkpoint in later.checkpoints.values():
            self._add_checkpoint(checkpoint)
        for key, write in later.writes.items():
            self._add_write(write, replaces=key in later.replaced)

    def _add_blob(self, blob: Blob) -> None:
        # The first one, as in the database: a version of a channel has one value.
        if self.blobs.setdefault(blob[:4], blob) is blob:
            self.bytes += len(blob.blob or b"")

    def _add_checkpoint(self, checkpoint: StoredCheckpoint) -> None:
        # The last one, under the parent of the first.
        before = self.checkpoints.get(checkpoint[:3])
        if before is not None:
            checkpoint = checkpoint._replace(parent=before.parent)
        self.checkpoints[checkpoint[:3]] = checkpoint
        self.bytes += len(checkpoint.checkpoint) + len(checkpoint.metadata)

    def _add_write(self, write: TaskWrite, *, replaces: bool) -> None:
        if replaces:
            before = self.writes.get(write.key)
            if before is not None:
                write = write._replace(task_path=before.task_path)
            self.writes[write.key] = write
            self.replaced.add(write.key)
        elif self.writes.setdefault(write.key, write) is not write:
            return
        self.bytes += len(write.blob)

    def columns(self) -> dict[str, Any]:
        """Parameters of the statements."""
        replaced = [write for key, write in self.writes.items() if key in self.replaced]
        kept = [write for key, write in self.writes.items() if key not in self.replaced]
        return {
            **_list_values("blob", self.blobs.values()),
            "checkpoint_rows": list_rows(StoredCheckpoint._fields, self.checkpoints.values()),
            **_list_values("write", kept),
            **_list_values("replaced", replaced),
        }


class UnknownWrites:
    """Stands for a cursor while a saver writes whose statements this version does not know: they are
    carried out as they are, in the transaction that compares the fence.
    """

    def __init__(self) -> None:
        self.statements: list[tuple[str, list[Sequence[Any]]]] = []

    def execute(self, query: str, row: Sequence[Any]) -> None:
        self.executemany(query, [row])

    def executemany(self, query: str, rows: Iterable[Sequence[Any]]) -> None:
        if not is_own_write(query):
            raise _build_unknown_error()
        found = [*rows]
        for value in (value for row in found for value in row):
            if (wrapped := getattr(value, "obj", None)) is not None:
                _refuse_unstorable(json.dumps(wrapped))
        self.statements.append((query, found))

    def carry_out(self, cursor: Any) -> None:
        """cursor: of the connection on which the fence is compared."""
        for query, rows in self.statements:
            cursor.executemany(query, rows)


def _list_values(of: str, rows: Collection[Blob | TaskWrite]) -> dict[str, Any]:
    """Rows whose last column is bytes, which JSON does not have."""
    names = next(iter(rows))._fields[:-1] if rows else ()
    return {f"{of}_rows": list_rows(names, rows), f"{of}_values": [row.blob for row in rows]}


_NUL: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def _refuse_unstorable(text: str) -> None:
    """Refuse JSON with characters that no database takes, before it waits with everything else: the
    statement that stores all of it would fail, again and again, and the run would never end.

    Raises: `ValueRefused`.
    """
    problem = "a NUL character" if "\\u0000" in text and _NUL.search(text) else ""
    if "\\ud" in text:
        try:
            json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            problem = "a lone surrogate"
    if problem:
        raise ValueRefused(
            f"the state of the run holds {problem}", hint="take it out of what a node gives"
        )


def _build_unknown_error() -> EngineUnsupported:
    return EngineUnsupported(
        "the installed LangGraph stores checkpoints by a statement that this version does not know",
        hint="install the version of langgraph-checkpoint-postgres that the lock file names",
    )
