"""The engine's checkpoints in Postgres, written only while this worker has the run.

    saver = RunSaver(connection, run_id="r1", tenant="acme", fence=7, events=buffer)
    graph = flow.graph(saver)
    saver.flush()

Writes of the engine wait here, together with events and gates of the run.  A flush stores all of them in
one statement, and so in one transaction that compares the fence: a worker that was overtaken while it was
stopped writes nothing (`FenceLost`).  Three things flush: the end of the activation; a thread (`flushing`),
once a write has waited for a moment, so that a gate is soon open for people and a follower sees a long
call; and a large number of waiting writes.

A process that dies loses its waiting writes.  The next worker repeats those steps from the last stored
checkpoint: the ledger has their calls, which are not made again, and the rest only computes.  Where that
is not so (`is_eager`), each write is stored before the engine goes on.

With a LangGraph whose statements this version does not know (`knows_statements`) nothing waits and nothing
is remembered: LangGraph's own statements are carried out one by one, in a transaction that compares the
fence.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
)

from cinatra_sdk.errors import GateUnreadable
from cinatra_sdk.gates.gate import Gate, gate_of
from cinatra_sdk.langgraph_internals.checkpoint_ids import (
    CheckpointLink,
    fetch_links,
    fetch_namespaces,
)
from cinatra_sdk.langgraph_internals.postgres_saver import (
    INTERRUPT,
    OpenedSaver,
    knows_statements,
)
from cinatra_sdk.langgraph_threads.serializer import STRICT_SERIALIZER
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.store.work.checkpoint_cache import LINE, NewestCheckpoints
from cinatra_sdk.store.work.checkpoint_damage import count_values, require_whole
from cinatra_sdk.store.work.claims import build_fence_error
from cinatra_sdk.store.work.event_rows import (
    EventBuffer,
    list_event_columns,
    list_gate_columns,
    list_opened,
)
from cinatra_sdk.store.work.statement import Gathered, UnknownWrites

MOST_BYTES: Final = 1_000_000
"""That wait for a flush."""
SKIP: Final = ("decision", "auto_skipped")
"""Kind and name of the event that the policy skipped a gate."""
MOST_ROWS: Final = 500
"""Checkpoints and writes that wait for a flush."""


class RunSaver(OpenedSaver):
    """Checkpoints of one activation of one run; safe to share between threads."""

    def __init__(
        self,
        connection: Rows,
        *,
        run_id: str,
        tenant: str,
        fence: int,
        events: EventBuffer,
        policy_sha256: str = "",
        wake: Callable[[], None] = lambda: None,
        on_pause: Callable[[], None] = lambda: None,
        is_new: bool = False,
        is_eager: bool = False,
    ) -> None:
        """policy_sha256: of the approval policy in force.  wake: called when events were stored.
        on_pause: called when something was stored of a run that somebody paused.  is_new: whether the run has no checkpoint yet.  is_eager: whether each write is stored at once.
        """
        super().__init__(connection, serde=STRICT_SERIALIZER)
        self.lock = threading.RLock()  # type: ignore[assignment]  # a flush may be a part of a read
        self.connection = connection
        self.run_id = run_id
        self.tenant = tenant
        self.fence = fence
        self.events = events
        self.policy_sha256 = policy_sha256
        self._wake = wake
        self._on_pause = on_pause
        self._is_known_engine = knows_statements()
        self.is_eager = is_eager
        self.lost = False
        """Whether another worker has the run; then nothing is written or read any more."""
        self._is_closed = False
        self._has_checkpoint = not is_new
        self._known = NewestCheckpoints(run_id, is_new=is_new)
        self._waiting = Gathered()
        self._parked: dict[tuple[str, str], Gate] = {}
        """Gates whose writes wait, by gate and payload."""

    # ------------------------------------------------------------------ what the engine writes

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """As LangGraph's saver; with the number of values, by which a lost one is noticed."""
        return super().put(config, checkpoint, count_values(checkpoint, metadata), new_versions)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """As LangGraph's saver; gates among the writes get their rows in the same transaction."""
        with self.lock:
            for gate in find_parked_gates(writes):
                self._parked[gate.id, gate.payload_sha256] = gate
            super().put_writes(config, writes, task_id, task_path)

    @contextmanager
    def gather_writes(self) -> Iterator[Any]:
        """Gives what stands for a cursor while LangGraph's saver writes."""
        if not self._is_known_engine:
            collected = UnknownWrites()
            yield collected
            self._carry_out(collected)
            return
        gathered = Gathered()
        yield gathered
        with self.lock:
            self._known.take(gathered)
            self._waiting.add(gathered)
            if self.is_eager or self._is_full():
                self.flush()

    def _carry_out(self, collected: UnknownWrites) -> None:
        """Store statements that this version does not know, with whatever waits beside them."""
        with self.lock, self.connection.transaction():
            with self.open_cursor() as cursor:
                collected.carry_out(cursor)
            self._store("write_work", {}, [*self._parked.values()])
        self._wake()  # what was stored can be read only now

    def _is_full(self) -> bool:
        waiting = self._waiting
        rows = len(waiting.checkpoints) + len(waiting.writes)
        return rows > MOST_ROWS or waiting.bytes > MOST_BYTES

    # ------------------------------------------------------------------ storing

    def store_each_write(self) -> None:
        """From now on: a step that is carried out may not be repeated."""
        self.is_eager = True

    def store_skips(self) -> None:
        """Store what waits where it tells that the policy skipped a gate: after a stop nobody can.

        Raises: `FenceLost`.
        """
        if any((one.kind, one.name) == SKIP for one in self.events.read_all()):
            self.flush()

    def flush(self) -> None:
        """Store what waits.

        Raises: `FenceLost`.
        """
        with self.lock:
            if self._is_closed or not self._has_news():
                return
            if self.lost:
                raise build_fence_error(self.run_id)
            self._store("write_work", {}, [*self._parked.values()])

    def _has_news(self) -> bool:
        # Events of a run without a checkpoint wait for its first one: see `claim_run`.
        return bool(self._waiting or (self._has_checkpoint and self.events.read_all()))

    def end(self, parameters: Mapping[str, Any], gates: Sequence[Gate]) -> Row:
        """Store what waits and what the activation came to; gates: those that the run stands at.

        Out: the run's row from then on; without a run id where somebody stopped it meanwhile.
        Raises: `FenceLost`.
        """
        with self.lock:
            row = self._store("end_activation", parameters, gates)
            self._is_closed = True
            return row

    def close(self) -> None:
        """Write nothing any more: what waits is given up."""
        with self.lock:
            self._is_closed = True

    def _store(self, query: str, parameters: Mapping[str, Any], gates: Sequence[Gate]) -> Row:
        waiting = self.events.read_all()
        about = {
            "run_id": self.run_id, "tenant": self.tenant, "fence": self.fence,
            "policy_sha256": self.policy_sha256, **self._waiting.columns(),
            **list_event_columns([*waiting, *list_opened(gates)]), **list_gate_columns(gates),
        }  # fmt: skip
        row = one(self.connection, query, {**about, **parameters})
        if row is None:
            self.lost = True
            raise build_fence_error(self.run_id)
        self.events.drop(len(waiting))
        self._waiting = Gathered()
        self._parked = {}
        self._has_checkpoint = True
        if row["events"]:
            self._wake()
        if row.get("paused"):
            self._on_pause()
        return row

    # ------------------------------------------------------------------ what the engine reads

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As LangGraph's saver; the newest checkpoint of a graph is read once at most."""
        about = config["configurable"]
        namespace, own = about.get("checkpoint_ns", ""), get_checkpoint_id(config)
        with self.lock:
            if self.lost:
                raise build_fence_error(self.run_id)
            if about["thread_id"] != self.run_id or not self._is_known_engine:
                return super().get_tuple(config)
            self._learn_newest(namespace)
            row = self._known.find(namespace, own or None)
            if row is not None:
                return require_whole(self.read_row(row))
            if self._known.is_without(namespace):
                return None
            self.flush()
            return super().get_tuple(config)

    def _learn_newest(self, namespace: str) -> None:
        """Read the newest checkpoint of a graph where it is not known."""
        if self._known.is_known(namespace):
            return
        if self._known.has_changed(namespace):
            self.flush()
        with self.open_cursor() as cursor:
            about = {"thread": self.run_id, "namespace": namespace, "line": LINE}
            cursor.execute(_NEWEST.format(select=self.read_statement), about)
            row = cursor.fetchone()
        self._known.learn(row, namespace)
        if row is None:
            self._learn_namespaces()  # so that nobody asks for the next new graph

    def _learn_namespaces(self) -> None:
        """Read which graphs of the run have checkpoints, once."""
        if self._known.stored is None:
            found = fetch_namespaces(self.open_cursor, self.run_id)
            self._known.stored = frozenset(found)

    def get_delta_channel_history(self, **kwargs: Any) -> Any:
        """As LangGraph's saver."""
        self.flush()
        return super().get_delta_channel_history(**kwargs)

    def read_links(
        self, thread: str, namespace: str, *, before: str, limit: int
    ) -> list[CheckpointLink]:
        """See `langgraph_internals.checkpoint_ids`."""
        with self.lock:
            if self.lost:
                raise build_fence_error(self.run_id)
            if thread != self.run_id or not self._is_known_engine:
                return fetch_links(self.open_cursor, thread, namespace, before, limit)
            self._learn_newest(namespace)
            found, has_more = self._known.list_links(namespace, before, limit)
            if not has_more:
                return found
            below, missing = found[-1].id if found else before, limit - len(found)
            page = fetch_links(self.open_cursor, thread, namespace, below, missing)
            self._known.learn_links(namespace, below, page, is_last=len(page) < missing)
            return found + page

    def read_namespaces(self, thread: str) -> set[str]:
        """See `langgraph_internals.checkpoint_ids`."""
        with self.lock:
            if thread != self.run_id or not self._is_known_engine:
                return fetch_namespaces(self.open_cursor, thread)
            self._learn_namespaces()
            return self._known.list_namespaces()

    def list(self, *args: Any, **kwargs: Any) -> Iterator[CheckpointTuple]:
        """As LangGraph's saver."""
        self.flush()
        return super().list(*args, **kwargs)


_NEWEST: Final = """
select newest.*, (
    select json_agg(array[p.id, coalesce(p.parent, '')] order by p.id desc)
    from (select checkpoint_id as id, parent_checkpoint_id as parent from checkpoints
          where thread_id = %(thread)s and checkpoint_ns = %(namespace)s
          order by checkpoint_id desc limit %(line)s) as p
) as line
from ({select} where thread_id = %(thread)s and checkpoint_ns = %(namespace)s
      order by checkpoint_id desc limit 1) as newest
"""


def find_parked_gates(writes: Sequence[tuple[str, Any]]) -> Iterator[Gate]:
    """The gates among a task's writes; what cannot be read fails the run when it is driven on."""
    for channel, value in writes:
        if channel != INTERRUPT:
            continue
        for interrupt in value if isinstance(value, (list, tuple)) else (value,):
            try:
                gate = gate_of(interrupt)
            except (GateUnreadable, AttributeError):
                continue
            if gate is not None:
                yield gate
