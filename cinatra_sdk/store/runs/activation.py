"""One activation of a run: driven from where its checkpoints stand to its next stop.

In: a run's id and its flow.  Out: the run as the activation left it.

Every write compares the fence of the claim (`work/`), so a process that lost the run writes nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg.types.json import Json

from cinatra_sdk.contract import ENDED
from cinatra_sdk.errors import (
    CheckpointsUnusable,
    ChildWaits,
    FenceLost,
    FlowError,
    ProcessEnding,
    RunBusy,
    StoreError,
)
from cinatra_sdk.events import RunEvent
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.governed.approval_policy import policy_hash
from cinatra_sdk.langgraph_threads.host_context import DERIVED, HostContext, listening
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.postgres.connection import run as execute
from cinatra_sdk.runs import OnEvent, Run, Stop
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.decisions.decision_rows import Answers, standing_of
from cinatra_sdk.store.evidence.record_writer import (
    end_record,
    find_signer,
    follow_record,
    restore_records,
    work_time,
)
from cinatra_sdk.store.flows.flow_protocol import DurableFlow
from cinatra_sdk.store.runs.rebuilding import RebuildReason, find_reason, rebuild_checkpoints
from cinatra_sdk.store.runs.retries import RetryPolicy, describe_exhausted, plan_retry
from cinatra_sdk.store.runs.run_rows import (
    describe_error,
    ending_of,
    explain_unrepeatable,
    failure_of,
    host_of,
    load_row,
    rejected_after_all,
    run_of,
)
from cinatra_sdk.store.work.brakes import PAUSED
from cinatra_sdk.store.work.checkpoint_damage import CheckpointDamaged, find_damage
from cinatra_sdk.store.work.claims import Claim, Claims, build_fence_error
from cinatra_sdk.store.work.event_rows import EventBuffer
from cinatra_sdk.store.work.run_ledger import RunLedger

if TYPE_CHECKING:
    from cinatra_sdk.activations import Graph
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
    awaits_children: bool = True,
) -> Run:
    """Drive the run to its next stop, then once more if a decision came in meanwhile.

    wait:     seconds to wait for another process that works on the same run.
    awaits_children: whether to go on when a run that this one began ends while somebody works on it.
    attempts: the run's number of attempts as the caller knows it; where it was worked on since,
              nothing is done.

    Raises: `RunBusy`, `StoreError`.
    """
    flow.graph()  # a run does not count as running in a process that cannot make its graph
    driven = False
    while True:
        claims.refuse_drained()
        row = None
        try:
            with claims.claim(run_id, wait=wait, attempts=attempts) as (connection, claim):
                if claim.has_begun:
                    activation = _Activation(
                        claims, connection, claim, flow, context, retries, on_event
                    )
                    row = activation.drive()
        except FenceLost as error:
            log.warning("%s", error)
            return run_of(_load_row(claims.database, run_id))
        except RunBusy:
            if not driven:
                raise
            return run_of(_load_row(claims.database, run_id))  # whoever has the run goes on with it
        # As the run was when it became nobody's: a process that recorded an answer before that found
        # it taken; this process goes on for it.
        row = row or _load_row(claims.database, run_id)
        is_let_go = claim.is_left and row["paused_at"] is None  # a person went on with it meanwhile
        goes_on = row["can_go_on"] or is_let_go
        if not goes_on and awaits_children and _waits_for_child(row):
            goes_on = _await_children(claims, run_id)
        if claims.brakes.is_draining or not goes_on:
            return run_of(row)
        driven, wait, attempts = True, 0.0, None


_CHILD_PAUSES: Final = (0.01, 0.02, 0.05, 0.1, 0.25)
"""Seconds between looks at the runs below; the last one repeats."""
_CHILD_PATIENCE: Final = 30.0
"""Seconds that a run below may be due while nobody takes it."""


def _waits_for_child(row: Row) -> bool:
    error = row["error"]
    return (
        row["status"] == "waiting"
        and isinstance(error, dict)
        and error.get("code") == ChildWaits.code
    )


def _await_children(claims: Claims, run_id: str) -> bool:
    """Whether the run can go on, once nobody works on the runs that it began; holds no connection."""
    looks, left_at = 0, time.monotonic()
    while True:
        with claims.database.connection() as connection:
            found = one(connection, "load_children_standing", {"run_id": run_id})
        if found is None or found["is_paused"] or claims.brakes.is_draining:
            return False
        if found["can_go_on"]:
            return True
        now = time.monotonic()
        if found["is_worked_on"]:
            left_at = now
        elif not found["is_due"] or now - left_at > _CHILD_PATIENCE:
            return False
        time.sleep(_CHILD_PAUSES[min(looks, len(_CHILD_PAUSES) - 1)])
        looks += 1


def _load_row(database: Database, run_id: str) -> Row:
    """The run's row, which says whether a recorded answer waits to be carried out."""
    with database.connection() as connection:
        return load_row(connection, run_id)


_ENDINGS: Final = (
    "cannot schedule new futures after",
    "can't start new thread at interpreter shutdown",
    "can't create new thread at interpreter shutdown",
)
"""How Python says that a process, or an event loop of it, is about to end."""


def is_process_ending(error: BaseException) -> bool:
    """Whether `error`, or what it comes from, is the end of the process and nothing that the run did."""
    one_error: BaseException | None = error
    while one_error is not None:
        if isinstance(one_error, RuntimeError) and str(one_error).startswith(_ENDINGS):
            return True
        one_error = one_error.__cause__ or one_error.__context__
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drive:
    """A graph that is driven, with what keeps what it does."""

    graph: Graph
    host: HostContext
    ledger: RunLedger
    saver: RunSaver


@dataclass(frozen=True, slots=True)
class _Activation:
    claims: Claims
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

    @property
    def database(self) -> Database:
        return self.claims.database

    def drive(self) -> Row | None:
        """Drive the run to its next stop, and write the result into its rows.

        Out: the run's row from then on; None where it has to be read.
        Raises: `FenceLost` where another worker has the run by now.
        """
        try:
            return self._drive()
        except psycopg.Error:
            # Whoever takes a run over ends the connection of the worker before.
            if self._is_overtaken():
                raise build_fence_error(self.run_id) from None
            raise

    def _drive(self) -> Row | None:
        row = self.claim.row
        if self._end_after_deaths() or self._end_without_checkpoints():
            return None
        try:
            try:
                return self._drive_graph()
            except CheckpointDamaged as damage:
                log.error("run '%s': %s", self.run_id, damage.message)  # noqa: TRY400 - what damaged it is not in the traceback
            return self._drive_graph(is_rebuilt=True) if self._rebuild("damaged") else None
        except (psycopg.Error, FenceLost):
            raise
        except Exception as error:
            # What a part of the host raises, in whatever form: a rejection ends the run all the same.
            if not row["rejected_at_gate"]:
                raise
            why = str(error) if isinstance(error, FlowError) else type(error).__name__
            log.warning("run '%s' is rejected without its flow: %s", self.run_id, why)
        with self.connection.transaction():
            one(self.connection, "lock_run_row", {"run_id": self.run_id})
            standing = one(self.connection, "load_standing", {"run_id": self.run_id})
            if standing is not None and standing["status"] not in ENDED:
                self._end_early("reject_run", "rejected", {"run_id": self.run_id})
        return None

    def _drive_graph(self, *, is_rebuilt: bool = False) -> Row | None:
        """Raises: `CheckpointDamaged` where a step failed because of its checkpoints, unless they are just
        rebuilt.
        """
        from langgraph.errors import GraphDrained  # late: listing runs must not load the engine

        row = self.claim.row
        restore_records(self.connection, self.flow, row)
        drive = self._prepare_drive()
        try:
            with (
                self.claims.flushing.watching(drive.saver),
                _storing_what_an_interruption_leaves(drive.saver),
            ):
                with work_time(self.flow, row):
                    stop, failed = self._advance_graph(drive, is_rebuilt=is_rebuilt)
                return self._end(drive, stop, failed)
        except GraphDrained:
            self._leave()
            return None

    def _prepare_drive(self) -> _Drive:
        """The graph on the run's checkpoints; the start of the attempt is told."""
        ledger = RunLedger(
            self.database, run_id=self.run_id, fence=self.claim.fence, brake=self.claim.brake,
            ends_nodes=not self.flow.is_repeatable,
        )  # fmt: skip
        events = EventBuffer(live=partial(self.database.news.tell, self.run_id))
        host = listening(host_of(self.claim.row, self.context, ledger), events.add)
        saver = self._make_saver(events, host, ledger)
        graph = self.flow.graph(saver)
        attempt = {"attempt": self.claim.row["begun_attempts"]}
        events.add(RunEvent(kind="run", name="started", data=attempt))
        return _Drive(graph=graph, host=host, ledger=ledger, saver=saver)

    def _leave(self) -> None:
        """Let go of the run before its next step; it stands as a crash would leave it, which no failure is."""
        about = {
            "run_id": self.run_id,
            "fence": self.claim.fence,
            "reason": self.claim.brake.reason,
        }
        execute(self.connection, "leave_run", about)
        self.claim.is_released = self.claim.is_left = True
        self.database.news.wake(self.run_id)

    def _refuse_damage(self, saver: RunSaver, failed: Exception) -> None:
        """Raises: `CheckpointDamaged` where the checkpoints are why it failed, and can be made again."""
        if explain_unrepeatable(self.claim.row, self.flow):
            return
        damage = find_damage(saver, self.run_id)
        if damage:
            raise CheckpointDamaged(damage) from failed

    def _read_values(self, graph: Graph) -> Mapping[str, Any]:
        """The state of the graph of a governed run, for its record."""
        if not self.claim.row["governed"]:
            return {}
        config = self.flow.config(run_id=self.run_id)
        return graph.get_state(config).values or {}

    def _make_saver(self, events: EventBuffer, host: HostContext, ledger: RunLedger) -> RunSaver:
        # Imported late: listing runs must not load the engine.
        from cinatra_sdk.store.work.saver import RunSaver

        row = self.claim.row
        saver = RunSaver(
            self.connection, run_id=self.run_id, tenant=row["tenant"], fence=self.claim.fence,
            events=events, policy_sha256=self._hash_policy(host),
            wake=partial(self.database.news.wake, self.run_id),
            on_pause=partial(self.claim.brake.pull, PAUSED), is_new=row["newest"] is None,
            is_eager=not (self.flow.is_repeatable and host.door.ledger is ledger),
        )  # fmt: skip
        ledger.on_admitted = saver.store_each_write
        ledger.before_call = saver.store_skips
        return saver

    def _end_after_deaths(self) -> bool:
        """End a run whose workers died as often in a row as they may; a person may resume it."""
        row = self.claim.row
        if not row["died"] or row["rejected_at_gate"]:
            return False
        failures = row["begun_failures"]
        if failures < self.retries.most:
            return False
        log.error("run '%s' died %d times in a row", self.run_id, failures)
        about = {"run_id": self.run_id, "fence": self.claim.fence}
        self._end_early(
            "fail_run", "failed", {**about, "error": describe_exhausted(failures, None)}
        )
        return True

    def _end_without_checkpoints(self) -> bool:
        """End a run that cannot go on from its checkpoints, nor from its evidence."""
        try:
            reason = find_reason(self.claim.row, self.flow)
        except CheckpointsUnusable as problem:
            self._end_unusable(problem)
            return True
        return reason is not None and not self._rebuild(reason)

    def _rebuild(self, reason: RebuildReason) -> bool:
        """Make the checkpoints again from the evidence; False where that cannot be, and the run has ended."""
        try:
            self.claim.row["newest"] = rebuild_checkpoints(
                self.connection, self.claim, self.flow, self.context, reason=reason
            )
        except CheckpointsUnusable as problem:
            self._end_unusable(problem)
            return False
        return True

    def _end_unusable(self, problem: CheckpointsUnusable) -> None:
        """Rejected where the run was, which needs no checkpoint; else failed."""
        log.error("%s", problem)
        about = {"run_id": self.run_id, "fence": self.claim.fence}
        if self.claim.row["rejected_at_gate"]:
            self._end_early("reject_run", "rejected", about)
        else:
            self._end_early("fail_run", "failed", {**about, "error": describe_error(problem)})

    def _end_early(self, query: str, status: str, about: Mapping[str, Any]) -> None:
        """End an activation that could not begin."""
        row = self.claim.row
        if not row["governed"]:
            execute(self.connection, query, about)
            return
        with self.connection.transaction():
            one(self.connection, "lock_run_row", {"run_id": self.run_id})
            reason = about["error"].obj["message"] if "error" in about else "a person rejected it"
            follow_record(
                self.connection, row, status, reason=reason, signer=find_signer(self.flow)
            )
            execute(self.connection, query, about)

    def _end(self, drive: _Drive, stop: Stop, failed: Exception | None) -> Row | None:
        """Write what the activation came to.

        Out: as `drive`.
        """
        values = self._read_values(drive.graph)
        ending = self._build_ending(stop, failed, drive.host)
        gates = stop.gates
        if self._is_rejected_after_all(ending, failed):
            ending, gates = rejected_after_all(ending), ()
        if self.claim.row["governed"]:
            try:
                row = self._end_with_record(drive.saver, ending, gates, values)
            except (psycopg.Error, FenceLost):
                raise
            except Exception as error:
                # What a part of the host raises, in whatever form, for example its signer.
                if self.claim.row["rejected_at_gate"]:
                    raise
                row = self._end_without_host(drive, stop, error)
        else:
            row = drive.saver.end(self._list_ending(ending), gates)
        self.claim.is_released = True
        if row["run_id"] is None:
            return None
        return {**row, **{name: self.claim.row[name] for name in ("flow_name", "flow_file")}}

    def _is_rejected_after_all(self, ending: Mapping[str, Any], failed: Exception | None) -> bool:
        """Whether a person rejected the run, though the activation came to something else."""
        if ending["status"] != "rejected" and self.claim.row["rejected_at_gate"]:
            log.error("run '%s' was rejected, and its checkpoints say otherwise", self.run_id)
            return True
        # Its next call was refused for that: a rejection is no failure.
        return failed is not None and self._is_rejected_meanwhile()

    def _end_with_record(
        self,
        saver: RunSaver,
        ending: dict[str, Any],
        gates: Sequence[Gate],
        values: Mapping[str, Any],
    ) -> Row:
        """Write the record and the change that it tells of, or neither; values: the state of the graph."""
        with self.connection.transaction():
            told = end_record(self.connection, self.flow, self.claim.row, values, ending)
            return saver.end({**self._list_ending(ending), **told}, gates)

    def _end_without_host(self, drive: _Drive, stop: Stop, error: Exception) -> Row:
        """Write that the activation failed, where the host kept its record from being made.

        What it did is stored, so that whoever resumes the run does nothing of it again; the record of
        this stop needs nothing of the host, and has no signature where its signer fails.
        """
        ending = self._build_ending(stop, error, drive.host)
        with self.connection.transaction():
            one(self.connection, "lock_run_row", {"run_id": self.run_id})
            standing = one(self.connection, "load_standing", {"run_id": self.run_id})
            if standing is not None and standing["status"] not in ENDED:
                follow_record(
                    self.connection, self.claim.row, "failed",
                    reason=ending["error"].obj["message"], signer=find_signer(self.flow),
                )  # fmt: skip
            return drive.saver.end(self._list_ending(ending), stop.gates)

    def _list_ending(self, ending: dict[str, Any]) -> dict[str, Any]:
        """The parameters of the statement that ends an activation."""
        problem = ending["error"].obj if ending["error"] is not None else {}
        return {**ending, "ending": Json(problem), "answers": Json(self.claim.row["answers"])}

    def _advance_graph(self, drive: _Drive, *, is_rebuilt: bool) -> tuple[Stop, Exception | None]:
        """Where the run stops, and the error that stopped it there.

        Raises: as `_refuse_interruption`; `CheckpointDamaged`, as `_drive_graph`.
        """
        from cinatra_sdk.activations import advance, find_stop_of_failure

        row, config = self.claim.row, self.flow.config(run_id=self.run_id)
        try:
            stop = advance(
                drive.graph, row["input"], config, context=drive.host,
                answer=Answers(row["answers"]).answer, on_event=self.on_event,
                control=self.claim.brake.make_control(),
            )  # fmt: skip
        except Exception as error:  # noqa: BLE001 - what the run does not fail with is raised again
            self._refuse_interruption(error, drive.ledger)
            failed = error
        else:
            return stop, None
        if not is_rebuilt:
            self._refuse_damage(drive.saver, failed)
        return find_stop_of_failure(drive.graph, config), failed

    def _refuse_interruption(self, error: Exception, ledger: RunLedger) -> None:
        """Nothing where the run failed with `error`; whatever else kept it from going on is raised.

        Raises: `psycopg.Error` and `FenceLost`, as they are: it can be resumed once the database is
        reachable; `GraphDrained` where it stopped at its brake; `StoreUnreachable` where the ledger could
        not be asked; `ProcessEnding`.
        """
        from langgraph.errors import GraphDrained

        if isinstance(error, (psycopg.Error, FenceLost)):
            raise error
        if isinstance(error, GraphDrained) and self.claim.brake.reason is not None:
            raise error
        if ledger.unreachable is not None:
            raise ledger.unreachable from None
        if is_process_ending(error):
            raise ProcessEnding(
                f"this process ends while it works on run '{self.run_id}'",
                hint="nothing is lost: whoever works on the run next goes on with it",
            ) from error

    def _build_ending(
        self, stop: Stop, failed: Exception | None, host: HostContext
    ) -> dict[str, Any]:
        """The run's row after the activation."""
        ending = ending_of(stop)
        if failed is None:
            return ending
        ending |= failure_of(failed, host)
        if isinstance(failed, ChildWaits) and not self._has_children():
            # A host's word for a run that nobody here began: no end of it would wake this one.
            ending["status"] = "failed"
        if ending["status"] == "failed":
            failures = self.claim.row["begun_failures"] + 1
            ending |= plan_retry(self.retries, failed, failures=failures, told=ending["error"])
        told = ending["error"].obj
        if ending["status"] == "waiting" and isinstance(failed, ChildWaits):
            log.info("run '%s' waits at '%s': %s", self.run_id, told["node"], told["message"])
            return ending
        log.error("run '%s' failed at '%s': %s", self.run_id, told["node"], told["message"])
        return ending

    def _hash_policy(self, host: HostContext) -> str:
        given = host.approval_policy
        return policy_hash(self.flow.approval_policy if given is DERIVED else given)

    def _has_children(self) -> bool:
        found = one(self.connection, "has_children", {"run_id": self.run_id})
        return found is not None and bool(found["has_children"])

    def _is_rejected_meanwhile(self) -> bool:
        """Whether a person rejected the run while this activation worked on it."""
        standing = one(self.connection, "load_standing", {"run_id": self.run_id})
        return standing is not None and bool(standing["rejected_at_gate"])

    def _is_overtaken(self) -> bool:
        try:
            with self.database.connection() as connection:
                return standing_of(connection, self.run_id).fence != self.claim.fence
        except StoreError:
            return False  # the database cannot be reached: nobody knows


@contextmanager
def _storing_what_an_interruption_leaves(saver: RunSaver) -> Iterator[None]:
    """Keep what was done until somebody interrupted the process (Ctrl-C)."""
    try:
        yield
    except (psycopg.Error, FenceLost):
        raise
    except BaseException:
        with suppress(psycopg.Error, FenceLost):
            saver.flush()
        raise
