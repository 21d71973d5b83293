"""The engine's checkpoints in Postgres, written only while this worker has the run.

    saver = RunSaver(connection, run_id="r1", tenant="acme", fence=7, events=buffer)
    graph = flow.graph(saver)

Each write is one statement, and so one transaction: it compares the fence, stores what LangGraph's
own saver would store, the events that wait in the buffer, and the gates that the write parks.  So a
gate is open for people as soon as its branch stops there, and a worker that was overtaken while it
was stopped writes nothing: `FenceLost`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.types import INTERRUPT

from cinatra_sdk.engine.checkpoints import STRICT
from cinatra_sdk.errors import GateUnreadable
from cinatra_sdk.gates.gate import Gate, gate_of
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.store.work.claims import build_fence_error
from cinatra_sdk.store.work.columns import list_event_columns, list_gate_columns
from cinatra_sdk.store.work.events import EventBuffer, list_opened
from cinatra_sdk.store.work.gathered import Gathered
from cinatra_sdk.store.work.rereading import Rereading


class RunSaver(PostgresSaver):
    """Checkpoints of one activation of one run."""

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
    ) -> None:
        """policy_sha256: of the approval policy in force.  wake: called when events were stored."""
        super().__init__(connection, serde=STRICT)
        self.connection = connection
        self.run_id = run_id
        self.tenant = tenant
        self.fence = fence
        self.events = events
        self.policy_sha256 = policy_sha256
        self._wake = wake
        self.lost = False
        """Whether another worker has the run; then nothing is written or read any more."""
        self._parking = threading.local()
        self._read: dict[Any, Any] = {}
        """Rows of checkpoints since the last write; nobody else writes to the run."""

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """As LangGraph's saver; gates among the writes get their rows in the same transaction."""
        self._parking.gates = list(find_parked_gates(writes))
        try:
            super().put_writes(config, writes, task_id, task_path)
        finally:
            self._parking.gates = []

    @contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Iterator[Any]:
        """A cursor for LangGraph's saver; where it means to write, one that gathers."""
        if self.lost:
            raise build_fence_error(self.run_id)
        if not pipeline:
            with super()._cursor() as cursor:
                yield Rereading(cursor, self._read)
            return
        gathered = Gathered()
        yield gathered
        gates = getattr(self._parking, "gates", [])
        with self.lock:
            self.write("write_work", gathered.columns(), gates)

    def write(self, query: str, parameters: Mapping[str, Any], gates: Sequence[Gate]) -> Row:
        """Carry out a statement that compares the fence, with the events that wait and the gates
        that open; its one row.

        Raises: `FenceLost`.
        """
        waiting = self.events.read_all()
        about = {
            "run_id": self.run_id, "tenant": self.tenant, "fence": self.fence,
            "policy_sha256": self.policy_sha256,
            **list_event_columns([*waiting, *list_opened(gates)]), **list_gate_columns(gates),
        }  # fmt: skip
        row = one(self.connection, query, {**about, **parameters})
        self._read.clear()
        if row is None:
            self.lost = True
            raise build_fence_error(self.run_id)
        self.events.drop(len(waiting))
        if row["events"]:
            self._wake()
        return row


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
