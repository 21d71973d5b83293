"""One activation of a run: driven under its lock, from where its checkpoints stand to its next stop.

In: a run's row and its flow.  Out: the row as the activation left it.

A process that loses the lock cannot write checkpoints: they go through the connection that holds
the lock.
"""

from __future__ import annotations

import functools
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg

from cinatra_sdk.contract import ENDED
from cinatra_sdk.effects.effect import Effect
from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.errors import GateUnreadable, RunEnded, StoreError
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.postgres.connection import run as execute
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.runs import OnEvent, Run, Stop
from cinatra_sdk.store.decisions import (
    filled_in,
    is_decided,
    keep_skips,
    recorded_answer,
    standing_of,
)
from cinatra_sdk.store.flows import DurableFlow
from cinatra_sdk.store.lock import is_free, locked
from cinatra_sdk.store.rows import (
    ending_of,
    failure_of,
    gates_in,
    host_of,
    load_row,
    rejected_after_all,
    run_of,
)

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.types import StateSnapshot

    from cinatra_sdk.advancing import Graph

log = logging.getLogger("oasflow.store")


def activate(
    database: Database,
    run_id: str,
    flow: DurableFlow,
    context: HostContext,
    *,
    on_event: OnEvent | None,
    wait: float,
) -> Run:
    """Drive the run under its lock, then once more if a decision came in meanwhile.

    wait: seconds to wait for another process that works on the same run.

    Raises: `RunBusy`, `StoreError`.
    """
    with database.own_connection() as connection:
        activation = _Activation(database, connection, run_id, flow, context, on_event)
        while True:
            with locked(connection, run_id, wait):
                row = load_row(connection, run_id)
                if row["status"] not in ENDED:
                    activation.drive(row)
            row = load_row(connection, run_id)
            # A process that recorded an answer meanwhile found the lock taken; this process
            # continues the run for it.
            if not any(is_decided(connection, row, gate) for gate in gates_in(row)[0]):
                return tell_run(connection, row)
            wait = 0.0  # if another process has the lock by now, that process continues the run
            if not is_free(connection, run_id):
                return tell_run(connection, row)


def tell_run(connection: Rows, row: Row) -> Run:
    """The run of a row, with the inputs that were answered at its setup gates."""
    run_id = row["run_id"]
    return run_of(row, filled_in(connection, [run_id]).get(run_id, {}))


@dataclass(frozen=True, slots=True)
class _Activation:
    database: Database
    connection: Rows
    """The activation's own connection: it holds the run's lock and writes the checkpoints."""
    run_id: str
    flow: DurableFlow
    context: HostContext
    on_event: OnEvent | None

    def drive(self, row: Row) -> None:
        """Drive the run to its next stop, and write the result into the run's row."""
        # Imported late: listing runs must not load the engine.
        from langgraph.checkpoint.postgres import PostgresSaver

        from cinatra_sdk.advancing import decisions_in
        from cinatra_sdk.engine.checkpoints import STRICT
        from cinatra_sdk.store.clocks import await_clock

        try:
            await_clock(self.connection, self.run_id)
        except StoreError:
            if not standing_of(self.connection, self.run_id)[1]:
                raise
            execute(self.connection, "reject_run", {"run_id": self.run_id})  # needs no checkpoint
            return
        host = host_of(row, self.context, self._refuse_effects)
        # Made first: a run does not count as running in a process that cannot make its graph.
        graph = self.flow.graph(PostgresSaver(self.connection, serde=STRICT))
        begun = one(self.connection, "begin_activation", {"run_id": self.run_id})
        if begun is None:
            return
        config = self.flow.config(run_id=self.run_id)
        failed = self._advance_graph(graph, row, config, host)
        snapshot = graph.get_state(config, subgraphs=True)
        ending = self._build_ending(snapshot, failed, host)
        keep_skips(self.connection, row, decisions_in(snapshot), host, self.flow)
        where = {"run_id": self.run_id, "fence": begun["fence"]}
        execute(self.connection, "end_activation", {**where, **ending})

    def _advance_graph(
        self, graph: Graph, row: Row, config: RunnableConfig, host: HostContext
    ) -> Exception | None:
        """The error that stopped the graph before its next stop; None where it got there."""
        from cinatra_sdk.advancing import advance

        answer = functools.partial(recorded_answer, self.connection, self.run_id)
        try:
            advance(
                graph, row["input"], config, context=host, answer=answer, on_event=self.on_event
            )
        except psycopg.Error:
            raise  # the run does not count as failed: it can be resumed once the database is reachable
        except Exception as error:  # noqa: BLE001 - a run must not be left as running by a bug
            return error
        return None

    def _build_ending(
        self, snapshot: StateSnapshot, failed: Exception | None, host: HostContext
    ) -> dict[str, Any]:
        """The run's row after the activation."""
        from cinatra_sdk.advancing import stop_of

        try:
            ending = ending_of(stop_of(snapshot))
        except GateUnreadable as error:
            failed, ending = failed or error, ending_of(Stop(status="failed"))
        if failed is not None:
            ending |= failure_of(failed, host)
            told = ending["error"].obj
            log.error("run '%s' failed at '%s': %s", self.run_id, told["node"], told["message"])
        if ending["status"] != "rejected" and standing_of(self.connection, self.run_id)[1]:
            log.error("run '%s' was rejected, and its checkpoints say otherwise", self.run_id)
            ending = rejected_after_all(ending)
        return ending

    def _refuse_effects(self, _effect: Effect) -> None:
        """Called before every effect of a run: a stopped or rejected run makes no call.

        The decisions are read too, because a tampered checkpoint may lead past a rejection.
        """
        with self.database.connection() as connection:
            status, rejected_at = standing_of(connection, self.run_id)
        if rejected_at:
            raise RunEnded(
                f"run '{self.run_id}' was rejected at gate '{rejected_at}'",
                hint="no further call is made",
            )
        if status in ENDED:
            raise RunEnded(f"run '{self.run_id}' is {status}", hint="no further call is made")
