"""One activation of a run: driven from where its checkpoints stand to its next stop.

In: a run's id and its flow.  Out: the run as the activation left it.

Every write compares the fence of the claim (`work/`), so a process that lost the run writes nothing.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.json import Json

from cinatra_sdk.contract import ENDED
from cinatra_sdk.engine.runtime_context import DERIVED, HostContext, listening
from cinatra_sdk.errors import FenceLost, GateUnreadable, RunBusy, StoreError
from cinatra_sdk.events.event import RunEvent
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.governed.policy import policy_hash
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.postgres.connection import run as execute
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.runs import OnEvent, Run, Stop
from cinatra_sdk.store.decisions import Answers, standing_of
from cinatra_sdk.store.flows import DurableFlow
from cinatra_sdk.store.retrying import RetryPolicy, describe_exhausted, plan_retry
from cinatra_sdk.store.rows import (
    describe_error,
    ending_of,
    failure_of,
    host_of,
    load_row,
    rejected_after_all,
    run_of,
)
from cinatra_sdk.store.work.claims import Claim, Claims, build_fence_error
from cinatra_sdk.store.work.events import EventBuffer
from cinatra_sdk.store.work.going_on import find_unusable_checkpoints
from cinatra_sdk.store.work.ledger import RunLedger

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.types import StateSnapshot

    from cinatra_sdk.advancing import Graph
    from cinatra_sdk.store.work.saver import RunSaver

log = logging.getLogger("oasflow.store")


def activate(
    claims: Claims,
    run_id: str,
    flow: DurableFlow,
    context: HostContext,
    *,
    retries: RetryPolicy,
    on_event: OnEvent | None,
    wait: float,
    attempts: int | None = None,
) -> Run:
    """Drive the run to its next stop, then once more if a decision came in meanwhile.

    wait:     seconds to wait for another process that works on the same run.
    attempts: the run's number of attempts as the caller knows it; where it was worked on since,
              nothing is done.

    Raises: `RunBusy`, `StoreError`.
    """
    driven = False
    while True:
        try:
            with claims.claim(run_id, wait=wait) as (connection, claim):
                if claim.row["status"] not in ENDED:
                    _Activation(
                        claims.database, connection, claim, flow, context, retries, on_event
                    ).drive(attempts)
        except FenceLost as error:
            log.warning("%s", error)
            return _load_run(claims.database, run_id)[0]
        except RunBusy:
            if not driven:
                raise
            return _load_run(claims.database, run_id)[0]  # whoever has the run goes on with it
        # Looked at once the run is nobody's: a process that recorded an answer meanwhile found it
        # taken; this process goes on for it.
        run, can_go_on = _load_run(claims.database, run_id)
        if not can_go_on:
            return run
        driven, wait, attempts = True, 0.0, None


def _load_run(database: Database, run_id: str) -> tuple[Run, bool]:
    """The run, and whether a recorded answer waits to be carried out."""
    with database.connection() as connection:
        row = load_row(connection, run_id)
    return run_of(row), row["can_go_on"]


@dataclass(frozen=True, slots=True)
class _Activation:
    database: Database
    connection: Rows
    """The activation's own connection: it holds the run's lock and writes the checkpoints."""
    claim: Claim
    flow: DurableFlow
    context: HostContext
    retries: RetryPolicy
    on_event: OnEvent | None

    @property
    def run_id(self) -> str:
        return self.claim.run_id

    def drive(self, attempts: int | None) -> None:
        """Drive the run to its next stop, and write the result into its rows.

        Raises: `FenceLost` where another worker has the run by now.
        """
        try:
            self._drive(attempts)
        except psycopg.Error:
            # Whoever takes a run over ends the connection of the worker before.
            if self._is_overtaken():
                raise build_fence_error(self.run_id) from None
            raise

    def _drive(self, attempts: int | None) -> None:
        # Imported late: listing runs must not load the engine.
        from cinatra_sdk.store.work.saver import RunSaver

        row = self.claim.row
        if self._end_without_checkpoints():
            return
        ledger = RunLedger(self.database, run_id=self.run_id, fence=self.claim.fence)
        news = self.database.news
        events = EventBuffer(live=partial(news.tell, self.run_id))
        host = listening(host_of(row, self.context, ledger), events.add)
        saver = RunSaver(
            self.connection, run_id=self.run_id, tenant=row["tenant"], fence=self.claim.fence,
            events=events, policy_sha256=self._hash_policy(host),
            wake=partial(news.wake, self.run_id),
        )  # fmt: skip
        # Made first: a run does not count as running in a process that cannot make its graph.
        graph = self.flow.graph(saver)
        begun = self._begin(attempts)
        if begun is None:
            return
        attempt = {"attempt": row["attempts"] + 1}
        events.add(RunEvent(kind="run", name="started", data=attempt))
        config = self.flow.config(run_id=self.run_id)
        failed = self._advance_graph(graph, config, host, Answers(row["answers"]))
        snapshot = graph.get_state(config, subgraphs=True)
        self._end(saver, snapshot, failed, host, failures=begun["failures"] + 1)

    def _begin(self, attempts: int | None) -> Row | None:
        """The run's failures in a row before this activation; None where nothing is to be done:
        it has ended meanwhile, is another worker's, or died as often as it may.
        """
        where = {"run_id": self.run_id, "fence": self.claim.fence, "attempts": attempts}
        begun = one(self.connection, "begin_activation", where)
        if begun is None or not begun["died"] or self.claim.row["rejected_at_gate"]:
            return begun
        if begun["failures"] < self.retries.most:
            return begun
        log.error("run '%s' died %d times in a row", self.run_id, begun["failures"])
        told = describe_exhausted(begun["failures"], None)
        execute(self.connection, "fail_run", {**where, "error": told})
        return None

    def _end_without_checkpoints(self) -> bool:
        """End a run whose checkpoints cannot be gone on from: rejected where it was, else failed."""
        problem = find_unusable_checkpoints(self.claim.row)
        if problem is None:
            return False
        log.error("%s", problem)
        about = {"run_id": self.run_id, "fence": self.claim.fence}
        if self.claim.row["rejected_at_gate"]:
            execute(self.connection, "reject_run", about)  # needs no checkpoint
        else:
            execute(self.connection, "fail_run", {**about, "error": describe_error(problem)})
        return True

    def _end(
        self,
        saver: RunSaver,
        snapshot: StateSnapshot,
        failed: Exception | None,
        host: HostContext,
        *,
        failures: int,
    ) -> None:
        """Write what the activation came to; failures: in a row, if it failed."""
        ending, gates = self._build_ending(snapshot, failed, host, failures)
        if ending["status"] != "rejected" and self.claim.row["rejected_at_gate"]:
            log.error("run '%s' was rejected, and its checkpoints say otherwise", self.run_id)
            ending, gates = rejected_after_all(ending), ()
        told = ending["error"].obj if ending["error"] is not None else {}
        saver.write("end_activation", {**ending, "ending": Json(told)}, gates)
        self.claim.is_released = True

    def _advance_graph(
        self, graph: Graph, config: RunnableConfig, host: HostContext, answers: Answers
    ) -> Exception | None:
        """The error that stopped the graph before its next stop; None where it got there."""
        from cinatra_sdk.advancing import advance

        start = self.claim.row["input"]
        try:
            advance(
                graph, start, config, context=host, answer=answers.answer, on_event=self.on_event
            )
        except (psycopg.Error, FenceLost):
            raise  # the run does not count as failed: it can be resumed once the database is reachable
        except Exception as error:  # noqa: BLE001 - a run must not be left as running by a bug
            return error
        return None

    def _build_ending(
        self, snapshot: StateSnapshot, failed: Exception | None, host: HostContext, failures: int
    ) -> tuple[dict[str, Any], tuple[Gate, ...]]:
        """The run's row after the activation, and the gates that it stands at."""
        from cinatra_sdk.advancing import stop_of

        try:
            stop = stop_of(snapshot)
        except GateUnreadable as error:
            failed, stop = failed or error, Stop(status="failed")
        ending = ending_of(stop)
        if failed is not None:
            ending |= failure_of(failed, host)
            if ending["status"] == "failed":
                ending |= plan_retry(self.retries, failed, failures=failures, told=ending["error"])
            told = ending["error"].obj
            log.error("run '%s' failed at '%s': %s", self.run_id, told["node"], told["message"])
        return ending, stop.gates

    def _hash_policy(self, host: HostContext) -> str:
        given = host.approval_policy
        return policy_hash(self.flow.approval_policy if given is DERIVED else given)

    def _is_overtaken(self) -> bool:
        try:
            with self.database.connection() as connection:
                return standing_of(connection, self.run_id).fence != self.claim.fence
        except StoreError:
            return False  # the database cannot be reached: nobody knows
