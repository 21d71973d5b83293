"""The checkpoints of a run as its worker knows them: the newest two of each graph, and the run's line.

In: the worker's reads and writes.  Out: the rows that LangGraph's saver would read.

    known.take(gathered)             the writes, stored already or not
    known.find("", None)             the newest checkpoint of the outermost graph, as a row

Only the worker of a run writes its checkpoints.  So the cache equals the database, as it is or as it will
be after the next flush.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from cinatra_sdk.langgraph_internals.checkpoint_ids import CheckpointLink
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.store.work.statement import Gathered, StoredCheckpoint, TaskWrite

LINE: Final = 16
"""Links that are read with the newest checkpoint of a graph."""
_WHOLE: Final = 4
"""Version from which a checkpoint has all that LangGraph reads of it."""
MOST_LINKS: Final = 1_000
"""Links of one graph that are kept; older ones are read again."""
MOST_BYTES: Final = 8_000_000
"""Written since values were last let go."""
MOST_GRAPHS: Final = 16
"""Graphs whose values are kept then: the outermost one, and those that were written last."""


@dataclass(slots=True)
class _Checkpoint:
    id: str = ""
    """Empty where there is none."""
    parent: str | None = None
    checkpoint: str = ""
    metadata: str = ""
    blobs: dict[str, tuple[str, str, bytes | None]] = field(default_factory=dict)
    """channel → version, type, value."""
    writes: dict[tuple[str, int], TaskWrite] = field(default_factory=dict)
    """By task and place."""


@dataclass(slots=True)
class _Graph(_Checkpoint):
    """What is known of one namespace: its newest checkpoint, and more."""

    before: _Checkpoint = field(default_factory=_Checkpoint)
    """The one that the newest took the place of: a node that begins looks at it."""
    is_whole: bool = True
    """Whether every value of these checkpoints is known."""
    early: dict[str, dict[tuple[str, int], TaskWrite]] = field(default_factory=dict)
    """Those of a checkpoint that another thread of the engine is about to write, by its id."""
    links: list[CheckpointLink] = field(default_factory=list)
    """From the newest on, without a gap, the newest last."""
    is_begun_here: bool = False
    """Whether `links` reach its first checkpoint."""


class NewestCheckpoints:
    """Of one run; not safe to share between threads."""

    def __init__(self, run_id: str, *, is_new: bool) -> None:
        """is_new: whether the run has no checkpoint at all."""
        self._run_id = run_id
        self._graphs: dict[str, _Graph] = {}
        self.stored: frozenset[str] | None = frozenset() if is_new else None
        """Namespaces that had checkpoints when this work began; None: not known yet."""
        self._bytes = 0
        """Written since values were last let go."""

    # ------------------------------------------------------------------ learning

    def learn(self, row: Mapping[str, Any] | None, namespace: str) -> None:
        """Take in the newest checkpoint of a graph as it was read; None: it has none.

        row: of LangGraph's `SELECT_SQL`, with `line`: ids and parents of the newest `LINE`.
        """
        if row is None:
            self._graphs[namespace] = _Graph(is_begun_here=True)
            return
        versions = row["checkpoint"].get("channel_versions", {})
        own, parent = row["checkpoint_id"], row["parent_checkpoint_id"]
        self._graphs[namespace] = _Graph(
            id=own,
            parent=parent,
            checkpoint=json.dumps(row["checkpoint"]),
            metadata=json.dumps(row["metadata"]),
            blobs={
                channel.decode(): (versions.get(channel.decode(), ""), kind.decode(), blob)
                for channel, kind, blob in row["channel_values"] or ()
            },
            writes={
                (write.task_id, write.place): write
                for write in map(self._read_write(namespace, own), row["pending_writes"] or ())
            },
            links=[CheckpointLink(*link) for link in reversed(row["line"])],
            is_begun_here=len(row["line"]) < LINE,
        )

    def _read_write(self, namespace: str, own: str) -> Any:
        def read(columns: Sequence[bytes]) -> TaskWrite:
            task, channel, kind, blob, path, place = columns
            return TaskWrite(
                self._run_id, namespace, own, task.decode(), path.decode(), int(place),
                channel.decode(), kind.decode(), blob,
            )  # fmt: skip

        return read

    def take(self, written: Gathered) -> None:
        """Take in what the engine writes."""
        for checkpoint in written.checkpoints.values():
            self._take_checkpoint(checkpoint)
        for blob in written.blobs.values():
            graph = self._graphs[blob.checkpoint_ns]
            graph.blobs.setdefault(blob.channel, ("", "", None))
            if graph.blobs[blob.channel][0] != blob.version:
                graph.blobs[blob.channel] = (blob.version, blob.type, blob.blob)
        for key, write in written.writes.items():
            graph = self._open_graph(write.checkpoint_ns)
            if write.id < graph.id:
                graph.before = _Checkpoint()
                continue
            writes = graph.writes if write.id == graph.id else graph.early.setdefault(write.id, {})
            if key in written.replaced:
                writes[write.task_id, write.place] = write
            else:
                writes.setdefault((write.task_id, write.place), write)
        self._bytes += written.bytes
        if self._bytes > MOST_BYTES:
            self._let_go()

    def _let_go(self) -> None:
        """Forget values of graphs inside, most of which have ended: a loop, or a map of many items,
        makes a new one each time.  Whatever is asked of them again is read from the database.
        """
        self._bytes = 0
        inside = [namespace for namespace in self._graphs if namespace]
        for namespace in inside[: max(0, len(inside) - MOST_GRAPHS)]:
            graph = self._graphs[namespace]
            if graph.id:
                graph.is_whole = False
                graph.checkpoint = graph.metadata = ""
                graph.blobs, graph.writes, graph.early = {}, {}, {}
                graph.before = _Checkpoint()

    def _take_checkpoint(self, checkpoint: StoredCheckpoint) -> None:
        graph = self._open_graph(checkpoint.checkpoint_ns)
        if checkpoint.id == graph.id:
            graph.checkpoint, graph.metadata = checkpoint.checkpoint, checkpoint.metadata
            return
        if checkpoint.id < graph.id:
            graph.is_whole = False  # older than the newest: no engine does this; read it anew
            graph.links, graph.is_begun_here = [], False
            return
        self._graphs[checkpoint.checkpoint_ns] = self._graphs.pop(checkpoint.checkpoint_ns)
        graph.before = _Checkpoint(
            graph.id, graph.parent, graph.checkpoint, graph.metadata, {**graph.blobs}, graph.writes
        )
        graph.id, graph.parent = checkpoint.id, checkpoint.parent
        graph.checkpoint, graph.metadata = checkpoint.checkpoint, checkpoint.metadata
        graph.writes = graph.early.pop(checkpoint.id, {})
        graph.early = {own: found for own, found in graph.early.items() if own > checkpoint.id}
        graph.links.append(CheckpointLink(checkpoint.id, checkpoint.parent or ""))
        if len(graph.links) > MOST_LINKS:
            del graph.links[: MOST_LINKS // 2]
            graph.is_begun_here = False

    def _open_graph(self, namespace: str) -> _Graph:
        if namespace not in self._graphs:
            known = self.is_without(namespace)
            self._graphs[namespace] = _Graph(is_whole=known, is_begun_here=known)
        return self._graphs[namespace]

    # ------------------------------------------------------------------ telling

    def is_known(self, namespace: str) -> bool:
        """Whether its newest checkpoint, or that it has none, is known."""
        graph = self._graphs.get(namespace)
        if graph is None:
            return self.is_without(namespace)
        return bool(graph.links) or graph.is_begun_here

    def has_changed(self, namespace: str) -> bool:
        """Whether there may be something of it that is not stored."""
        return namespace in self._graphs

    def is_without(self, namespace: str) -> bool:
        """Whether the graph is known to have no checkpoint."""
        graph = self._graphs.get(namespace)
        if graph is not None:
            return not graph.id and graph.is_begun_here
        return self.stored is not None and namespace not in self.stored

    def find(self, namespace: str, checkpoint: str | None) -> dict[str, Any] | None:
        """A checkpoint as a row of LangGraph's `SELECT_SQL`; checkpoint: its id, None for the newest.
        None where it is not known.
        """
        graph = self._graphs.get(namespace)
        if graph is None or not graph.is_whole:
            return None
        kept: _Checkpoint = graph.before if checkpoint == graph.before.id else graph
        if not kept.id or checkpoint not in {None, kept.id}:
            return None
        return self._build_row(namespace, kept)

    def _build_row(self, namespace: str, kept: _Checkpoint) -> dict[str, Any] | None:
        checkpoint = json.loads(kept.checkpoint)
        if checkpoint.get("v", 1) < _WHOLE and kept.parent:
            return None
        versions = checkpoint.get("channel_versions", {})
        return {
            "thread_id": self._run_id,
            "checkpoint": checkpoint,
            "checkpoint_ns": namespace,
            "checkpoint_id": kept.id,
            "parent_checkpoint_id": kept.parent,
            "metadata": json.loads(kept.metadata),
            "channel_values": [
                (channel.encode(), kind.encode(), blob)
                for channel, (version, kind, blob) in kept.blobs.items()
                if versions.get(channel) == version
            ],
            "pending_writes": [
                (w.task_id.encode(), w.channel.encode(), w.type.encode(), w.blob,
                 w.task_path.encode(), str(w.place).encode())
                for w in kept.writes.values()
            ],
        }  # fmt: skip

    def list_links(
        self, namespace: str, before: str, limit: int
    ) -> tuple[list[CheckpointLink], bool]:
        """Checkpoints below `before` (empty: from the newest on), the newest first; and whether there
        may be more of them that are not known.
        """
        graph = self._graphs.get(namespace)
        if graph is None:
            return [], not self.is_without(namespace)
        found: list[CheckpointLink] = []
        for link in reversed(graph.links):
            if len(found) == limit:
                return found, False
            if not before or link.id < before:
                found.append(link)
        return found, len(found) < limit and not graph.is_begun_here

    def learn_links(
        self, namespace: str, below: str, page: Iterable[CheckpointLink], *, is_last: bool
    ) -> None:
        """Take in older links as they were read: those below `below`, the newest first."""
        graph = self._graphs.get(namespace)
        if graph is None or not graph.links or graph.links[0].id != below:
            return
        if len(graph.links) >= MOST_LINKS:
            return
        graph.links[:0] = list(page)[::-1]
        graph.is_begun_here = is_last

    def list_namespaces(self) -> set[str]:
        """Of every graph that has a checkpoint; `stored` has to be known."""
        assert self.stored is not None
        return {*self.stored, *(name for name, graph in self._graphs.items() if graph.id)}
