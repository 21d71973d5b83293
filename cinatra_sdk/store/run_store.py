"""Durable runs: every run in Postgres, so that any process can continue it.

    with RunStore.open() as store:                       # DATABASE_URL, or the embedded server
        run = store.start(flow, {"topic": "x"})          # returns when finished or waiting
        for gate in run.waiting:
            run = store.answer(run.id, gate.id, Decision.approve(by="ann@example.org"))

`start` is `create` (store the run) and `work` (drive it to its next stop); `answer` is `decide`
(record decisions) and `work`.  `create` and `decide` are short, and wait for nobody's work.

Guarantees, and the mechanism of each:
* one activation of a run at a time: a lock, a lease, and a fence that every write compares, so that
  a process that lost the run cannot write (`work/`);
* one decision per visit of a gate: the first row in an append-only table; the run is resumed
  from that row, never from the request; an open gate takes its decision whoever works on the run;
* a run stays on its flow: the sha256 of the file is in the row, and another flow is refused;
* a run stays with its owner: a context of another run or tenant is refused (`store/flows/context_owner.py`);
* a row grants nothing: variables, addresses and files come from this process (`store/flows/flow_protocol.py`);
* a run is completed only when the flow's own end says so, never because the engine is idle.

The `a…` twins run the same code in threads of the store: work on runs in some, all else in others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, Unpack

from cinatra_sdk.contract import ENDED
from cinatra_sdk.errors import FlowError, RunBusy, RunEnded
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.governed.person import Person
from cinatra_sdk.host_parts.host_parts import HostParts, Parts, join_parts
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.postgres.connection import run as execute
from cinatra_sdk.runs import OnEvent, Run
from cinatra_sdk.store.arguments import check_arguments, check_kinds, check_names, read_actor
from cinatra_sdk.store.async_twins import WORKERS, Threads, in_thread
from cinatra_sdk.store.database import Database, Durability
from cinatra_sdk.store.decisions.decision_entry import (
    Decisions,
    Named,
    decide_gates,
    list_decisions,
    list_seen,
)
from cinatra_sdk.store.flows.context_owner import bound_context, refuse_strangers
from cinatra_sdk.store.flows.flow_protocol import DurableFlow
from cinatra_sdk.store.runs.activation import activate
from cinatra_sdk.store.runs.creation import NewRun, create_run
from cinatra_sdk.store.runs.flow_cache import KnownFlows, refuse_other_names
from cinatra_sdk.store.runs.layouts import OtherLayout
from cinatra_sdk.store.runs.rebuilding import Forecast
from cinatra_sdk.store.runs.retries import RetryPolicy
from cinatra_sdk.store.runs.run_rows import identity_of, load_row, refuse_ended, run_of
from cinatra_sdk.store.runs.upgrades import RunUpgrader
from cinatra_sdk.store.work.claims import LEASE_SECONDS, Claims
from cinatra_sdk.store.work.due_runs import DueRun, is_due
from cinatra_sdk.store.work.sweep import SweepOptions, SweptRun, sweep_runs

if TYPE_CHECKING:
    from cinatra_sdk.governance.records.record_maker import Signer

log = logging.getLogger("oasflow.store")
SweptRuns: TypeAlias = list[SweptRun]
WAIT_SECONDS: Final = 30.0
"""How long an answer waits for another process that works on the same run."""


@check_arguments
class RunStore(RunUpgrader):
    """Runs on one Postgres database; safe to share between threads."""

    def __init__(
        self,
        database: Database,
        *,
        host: HostParts | None = None,
        lease: float = LEASE_SECONDS,
        retries: RetryPolicy | None = None,
        workers: int = WORKERS,
        **parts: Unpack[Parts],
    ) -> None:
        check_kinds(lease=lease, workers=workers)
        self._database = database
        self._flows = KnownFlows(database, join_parts(host, parts, "RunStore()"))
        self._claims = Claims(database, lease=lease)
        self._brakes = self._claims.brakes
        self._retries = RetryPolicy() if retries is None else retries
        self._person: Person | None = None
        self._threads = Threads(workers)

    @classmethod
    def open(
        cls,
        dsn: str | None = None,
        *,
        host: HostParts | None = None,
        lease: float = LEASE_SECONDS,
        retries: RetryPolicy | None = None,
        workers: int = WORKERS,
        durability: Durability | None = None,
        **parts: Unpack[Parts],
    ) -> Self:
        """Open the store; creates its tables in the schema `oasflow`.

        dsn:     a Postgres DSN; None takes DATABASE_URL, else the embedded server.
        host:    what this process lends to the runs that it drives.
        lease:   seconds after which others take over a run whose worker gives no sign of life.
        retries: which failed runs a sweep tries again, when and how often; None: `RetryPolicy()`.
        workers: runs that `awork` and its like work on at once, each in a thread; others wait.
        durability: when a start, a decision or a stop is acknowledged: once it is on the disk of the
                 server (`disk`), or of a synchronous standby, too (`standby`); None: OASFLOW_DURABILITY,
                 else `disk`.
        parts:   the same as `host`, part by part: `platform`, `tools`, `env`, `settings`, `record`,
                 `allow`.

        Raises: `StoreError` naming the database without its password, `NotReplicated` where a standby is
        demanded and none is named; `PlaceholderRefused` for a
        name in `env` that the runtime reads itself; `TypeError` for a part that is given twice.
        """
        check_names(dsn=dsn)
        check_kinds(lease=lease, workers=workers)
        lent = join_parts(host, parts, "RunStore.open()")
        database = Database.open(dsn, durability=durability)
        return cls(database, host=lent, lease=lease, retries=retries, workers=workers)

    @property
    def database(self) -> Database:
        """The database of the runs, which also holds the artifacts and their selections."""
        return self._database

    def lend_signer(self, signer: Signer) -> None:
        """Sign the records of governed runs that end here without their flow: stopped, or rejected where
        the flow cannot be made.  Without this, the signer of the host's governance signs them, if any.
        """
        self._flows.lent_signer = signer

    def close(self) -> None:
        self._threads.close()
        self._claims.close()
        self._flows.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ------------------------------------------------------------------ acting

    def create(
        self,
        flow: DurableFlow,
        params: Mapping[str, Any] | None = None,
        run_id: str | None = None,
        **about: Unpack[NewRun],
    ) -> Run:
        """Store a run that somebody is to work on (`work`); nothing of it is carried out here.

        The same again by the same person (`run_id`, `by`, tenant, flow and inputs) gives the run that is
        there, so that a client may send it twice; without a name nobody is the same person.

        Raises: `InputInvalid`, `PolicyInvalid`, `KindRefused`, `ContextMismatch` (the context is another
        run's or tenant's) before anything is stored; `RunExists` when the run id is taken.
        """
        refuse_other_names(about, NewRun, "RunStore.create()")
        flow = self._flows.govern(flow)
        made = create_run(
            self._database, self._flows, flow, params=params, run_id=run_id, about=about
        )
        return self._get(made.run_id)

    def decide(
        self,
        run_id: str,
        gate_id: Named | Decisions,
        decision: Decision | None = None,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
    ) -> Run:
        """Record a decision, or several (`{gate_id: decision}`): all of them or none.

        gate_id: the id, or the `Gate` itself; then the decision is about the payload that this `Gate` shows.

        The same answer again by the same person gives the run, and writes nothing; another one is
        `GateClosed`, with the `decision` that counts.

        Nothing of the flow is needed here, neither its tools nor its code: the gate's row has the form of the
        answer.  What a process that lacks them cannot look up is left to the run: artifacts that were
        withdrawn since, which the gate then asks for again.

        Only the gates have to be open; a worker may have the run meanwhile.  `work` carries the decisions out, or
        the worker that has the run.

        Raises: as `answer`, without `RunBusy`; `NotConfigured` only where a rule of packs asks for a role
        that nobody here knows, and where a function of the host fails.
        """
        decide_gates(
            self._database, self._flows, run_id, list_decisions(gate_id, decision),
            seen=list_seen(gate_id), flow=flow, tenant=tenant, context=context, person=self._person,
            goes_on=False,
        )  # fmt: skip
        return self._get(run_id)

    def work(
        self,
        run_id: str,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
        wait: float = WAIT_SECONDS,
        due: bool = False,
    ) -> Run:
        """Drive the run to its next stop: a new one, one with a decision, one whose process died.

        due: only if it is due: not a waiting run without a new decision, not a failed one before its
             `retry_at`, nor one that another process has; nothing of these is written, and one that has
             ended is given back as it is.

        A waiting run without a new decision stays as it is, and so does a paused one.  A node that fails
        does not raise: the run is `failed`, with its error, which the log also tells; `run.result()` raises
        it.  A run that is paused meanwhile, or left because this process ends (`drain`), comes back as
        `running`.

        A run that called an agent waits for that agent's run, and this call with it as long as somebody works
        there.  With `due` it returns at once, and whoever sweeps goes on with the run afterwards.

        Raises: `RunNotFound`, `RunEnded`, `FlowChanged` when `flow` is not the run's,
        `ContextMismatch` when `context` is another run's or tenant's, `NotConfigured` when the run
        asks for what this process was not given, `RunBusy` when another process holds the run for
        longer than `wait` seconds, `ProcessEnding` after `drain`.
        """
        return self._work(
            run_id, flow=flow, tenant=tenant, context=context, on_event=on_event, wait=wait, due=due
        )

    def _work(
        self,
        run_id: str,
        *,
        flow: DurableFlow | None,
        tenant: str | None,
        context: HostContext | None,
        on_event: OnEvent | None,
        wait: float,
        due: bool = False,
    ) -> Run:
        with self._database.connection() as connection:
            row = load_row(connection, run_id, tenant)
            if due and not is_due(row):
                return run_of(row)
            lent = self._flows.lend(context, identity_of(row), flow)
            host = bound_context(lent, run_id=run_id, tenant=row["tenant"], named=tenant)
            refuse_ended(row)
            flow = self._flows.flow_of(connection, row, flow)
            refuse_strangers(flow, host)
        if not due:
            return self._activate(run_id, flow, host, on_event=on_event, wait=wait)
        with suppress(RunBusy):
            return self._activate(
                run_id, flow, host, on_event=on_event, wait=0.0, attempts=row["attempts"],
                awaits_children=False,
            )  # fmt: skip
        return self._get(run_id)

    def start(
        self,
        flow: DurableFlow,
        params: Mapping[str, Any] | None = None,
        run_id: str | None = None,
        *,
        on_event: OnEvent | None = None,
        **about: Unpack[NewRun],
    ) -> Run:
        """`create`, then `work`: begin a run and drive it to its end or its first gate.

        After a repeat it goes on with the run where that has not ended.

        Raises: as `create` and `work`.
        """
        refuse_other_names(about, NewRun, "RunStore.start()")
        self._claims.refuse_drained()  # before anything is stored
        flow = self._flows.govern(flow)
        made = create_run(
            self._database, self._flows, flow, params=params, run_id=run_id, about=about,
            lasts=False,
        )  # fmt: skip
        if made.is_repeat:
            return self._go_on(
                made.run_id, flow=flow, tenant=made.host.tenant, context=about.get("context"),
                on_event=on_event, wait=WAIT_SECONDS,
            )  # fmt: skip
        return self._activate(made.run_id, flow, made.host, on_event=on_event, wait=WAIT_SECONDS)

    def answer(
        self,
        run_id: str,
        gate_id: Named,
        decision: Decision,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
        wait: float = WAIT_SECONDS,
    ) -> Run:
        """`decide`, then `work`: record the decision, then drive the run on.

        gate_id: the id, or the `Gate` itself; then the decision is about the payload that this `Gate` shows.

        Raises: `AnswerInvalid`, `GateClosed` (`GateChanged` where the gate shows something else than
        the decision is about), and what the platform's `withdrawn` raises (see
        `KeepsArtifacts`) before anything is written; so are `RunNotFound`, `RunEnded`,
        `FlowChanged` when `flow` is not the run's, `ContextMismatch` when `context` is another
        run's or tenant's, `NotConfigured` when the run asks for what this process was not given.  A
        rejection needs no flow: a run whose flow cannot be rebuilt ends all the same.  `RunBusy`
        when another process holds the run for longer than `wait` seconds (the decision is kept, and
        counts).
        """
        decided = decide_gates(
            self._database, self._flows, run_id, list_decisions(gate_id, decision),
            seen=list_seen(gate_id), flow=flow, tenant=tenant, context=context, person=self._person,
        )  # fmt: skip
        if decided.is_repeat:
            return self._go_on(
                run_id, flow=flow, tenant=tenant, context=context, on_event=on_event, wait=wait
            )
        if decided.flow is None or decided.host is None:
            return self._get(run_id)
        return self._activate(run_id, decided.flow, decided.host, on_event=on_event, wait=wait)

    def _go_on(self, run_id: str, **given: Any) -> Run:
        """As `work`, after a repeat: whoever did it first may have brought the run to its end."""
        with suppress(RunEnded):
            return self._work(run_id, **given)
        return self._get(run_id)

    def resume(
        self,
        run_id: str,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
        wait: float = WAIT_SECONDS,
        by: str | Person = "",
    ) -> Run:
        """As `work`, for a person: continue a run whose process died or that was paused, or retry a failed
        run from the node that failed; it may fail as often again.  An event says who resumed it: `by`.

        Raises: as `work`; `AnswerInvalid` for a name that a gate would refuse.
        """
        who = read_actor(by)
        with self._database.connection() as connection:
            load_row(connection, run_id, tenant)
            execute(connection, "resume_run", {"run_id": run_id, "by": who, "is_due": False})
        return self._work(
            run_id, flow=flow, tenant=tenant, context=context, on_event=on_event, wait=wait
        )

    def sweep(self, **told: Unpack[SweepOptions]) -> SweptRuns:
        """Go on with the runs that nobody works on and that can go on, the oldest first.

        Each of `workers` slots takes the next one as soon as it is free, until nothing is due any more; with
        `watch`, until `stop` is set.  Several processes may do this at once, again and again.

        Raises: `StoreError`.
        """
        refuse_other_names(told, SweepOptions, "RunStore.sweep()")
        credentials_for = told.get("credentials_for")

        def work(due: DueRun) -> Run:
            with self._database.connection() as connection:
                row = load_row(connection, due.run_id, due.tenant)
            if not is_due(row):
                raise RunBusy(f"another process has worked on run '{due.run_id}' since")
            given = None if credentials_for is None else credentials_for(run_of(row))
            lent = self._flows.lend(given, identity_of(row))
            host = bound_context(lent, run_id=due.run_id, tenant=due.tenant, named=due.tenant)
            with self._database.connection() as connection:
                flow = self._flows.flow_of(connection, row)
            refuse_strangers(flow, host)
            return self._activate(
                due.run_id, flow, host, wait=0.0, attempts=due.attempts, awaits_children=False
            )

        return sweep_runs(self._database, work, told)

    def drain(self, *, wait: float | None = None) -> bool:
        """Work on nothing any more, because this process ends: every run that this store works on stops
        before its next step and stays due, which counts as no failure.

        wait: seconds until they have stopped, at most; None: as long as their calls take; 0: none, for a
        handler of a signal.  Out: whether all have.  What is not done by then is left as a crash would
        leave it.  From here on `start`, `work`, `answer` (whose decision is kept) and `resume` raise
        `ProcessEnding`, and a sweep takes no further run; everything else goes on.
        """
        return self._brakes.drain(wait)

    def upgrade(self, *, tenant: str | None = None) -> tuple[Forecast, ...]:
        """Bring the runs that another version left into the layout of this one; what became of each.

        A run that waits for a person gets new checkpoints now, and waits on.  Any other run, and one with a
        decision to carry out, gets them from whoever works on it next, and is told of as
        `foretell_upgrades` does; so is a run that cannot go on.
        """
        return tuple(self._upgrade(row) for row in self._list_old_runs(tenant))

    def _upgrade(self, run: OtherLayout) -> Forecast:
        found = self._foretell_upgrade(run)
        if found.outcome == "cannot" or run.status != "waiting" or run.can_go_on:
            return found
        try:
            self.work(run.run_id, tenant=run.tenant, wait=0.0)
        except FlowError as problem:
            return Forecast(run_id=found.run_id, outcome="cannot", reason=str(problem))
        return found

    def _activate(
        self,
        run_id: str,
        flow: DurableFlow,
        host: HostContext,
        *,
        on_event: OnEvent | None = None,
        wait: float,
        attempts: int | None = None,
        awaits_children: bool = True,
    ) -> Run:
        ran = activate(
            self._claims, run_id, flow, host, retries=self._retries, on_event=on_event, wait=wait,
            attempts=attempts, awaits_children=awaits_children,
        )  # fmt: skip
        if awaits_children and ran.parent and ran.status in ENDED:
            self._go_on_above(ran.parent)
        return ran

    def _go_on_above(self, parent: str) -> None:
        """Go on with a run that waited for the end of one that it began, where this process can."""
        try:
            with self._database.connection() as connection:
                above = load_row(connection, parent)
            if above["can_go_on"]:
                self._work(parent, flow=None, tenant=None, context=None, on_event=None, wait=0.0)
        except FlowError as problem:
            log.info("run '%s' can go on, and not in this process: %s", parent, problem)

    # ------------------------------------------------------------------ async twins

    # Cancelling the caller of a twin does not stop the work in the thread: see `stop`.

    acreate = in_thread(create)
    adecide = in_thread(decide)
    awork = in_thread(work, long=True)
    astart = in_thread(start, long=True)
    aanswer = in_thread(answer, long=True)
    aresume = in_thread(resume, long=True)
    adrain = in_thread(drain)
    aupgrade = in_thread(upgrade, long=True)
    asweep = in_thread(sweep, long=True)

    async def aclose(self) -> None:
        """As `close`."""
        await asyncio.to_thread(self.close)

    @classmethod
    async def aopen(
        cls,
        dsn: str | None = None,
        *,
        host: HostParts | None = None,
        lease: float = LEASE_SECONDS,
        retries: RetryPolicy | None = None,
        workers: int = WORKERS,
        **parts: Unpack[Parts],
    ) -> Self:
        """As `open`."""
        return await asyncio.to_thread(
            cls.open, dsn, host=host, lease=lease, retries=retries, workers=workers, **parts
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
