"""Durable runs: every run in Postgres, so that any process can go on with it.

    with RunStore.open() as store:                       # DATABASE_URL, or the embedded server
        run = store.start(flow, {"topic": "x"})          # returns when finished or waiting
        for gate in run.waiting:
            run = store.answer(run.id, gate.id, Decision.approve(by="ann@example.org"))

What holds, and by what:
* one activation of a run at a time: an advisory lock, on the connection that the checkpoints go
  through, so that a process that lost its lock cannot write either;
* one decision per visit of a gate: the first row in an append-only table; the run is resumed
  from that row, never from the request;
* a run stays on its flow: the sha256 of the file is in the row, and another flow is refused;
* a run stays with its owner: a context of another run or tenant is refused (`contexts.py`);
* a row asks and never takes: variables, addresses and files are this process's own (`flows.py`);
* done means that the flow's own end wrote it, never that the engine has nothing left to do.

The `a…` twins run the same code in a thread: the database work is the same either way.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, TypedDict, Unpack
from weakref import WeakSet

import psycopg
from psycopg.types.json import Json

from cinatra_sdk.engine.runtime_context import DERIVED, HostContext
from cinatra_sdk.errors import (
    AnswerInvalid,
    FlowError,
    GateUnreadable,
    NotConfigured,
    RunEnded,
    RunNotFound,
    StoreError,
)
from cinatra_sdk.gates.answers import check_answer_value
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.governed.placeholders import refuse_runtime_names
from cinatra_sdk.platform.nowhere import Nowhere
from cinatra_sdk.platform.protocol import Platform
from cinatra_sdk.postgres.connection import Row, Rows, clock, every, one
from cinatra_sdk.postgres.connection import run as execute
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.runs import OnEvent, Run, Stop
from cinatra_sdk.statuses import Status
from cinatra_sdk.store.contexts import bound_context, is_host_context, refuse_strangers
from cinatra_sdk.store.decisions import (
    decision_row,
    filled_in,
    gate_closed,
    is_decided,
    keep_skips,
    open_gate,
    recorded_answer,
    refuse_credentials,
    refuse_credentials_in_inputs,
    refuse_credentials_in_names,
    refuse_withdrawn,
    standing_of,
)
from cinatra_sdk.store.flows import DurableFlow, load_flow, platform_of, unfilled, values_of
from cinatra_sdk.store.lock import is_free, locked
from cinatra_sdk.store.rows import (
    ENDED,
    checked_run_id,
    ending_of,
    failure_of,
    file_label,
    gates_in,
    host_of,
    refuse_ended,
    refuse_other_flow,
    refuse_other_lowering,
    rejected_after_all,
    run_of,
)
from cinatra_sdk.store.short_names import the_one_meant
from cinatra_sdk.text.people import person_name

log = logging.getLogger("oasflow.store")

Runs: TypeAlias = list[Run]
Names: TypeAlias = list[str]
DecisionRows: TypeAlias = list[dict[str, Any]]
KNOWN_FLOWS: Final = 128
"""Compiled flows that a store keeps, one per run it worked on lately."""
WAIT_SECONDS: Final = 30.0
"""How long an answer waits for another process that works on the same run."""


class Wanted(TypedDict, total=False):
    """Which runs are listed; None asks for all.  Each condition has an index."""

    status: Status | None
    tenant: str | None
    flow: str | None
    """The name of the flow, whichever version of its file."""
    started_by: str | None
    older_than: timedelta | None
    """Since when the run has not changed, by the database's clock."""
    newer_than: timedelta | None
    limit: int


class RunStore:
    """Runs on one Postgres database; safe to share between threads."""

    def __init__(
        self,
        database: Database,
        *,
        platform: Platform | None = None,
        tools: Mapping[str, Callable[..., Any]] | None = None,
        env: Mapping[str, str] | None = None,
        settings: Mapping[str, str] | None = None,
        record: str | os.PathLike[str] | None = None,
        allow: Sequence[str] = (),
    ) -> None:
        refuse_runtime_names(env or {})
        self._database = database
        self._platform = platform
        self._tools = dict(tools or {})
        self._env = dict(env or {})
        self._settings = settings
        self._record = None if record is None else os.fspath(record)
        self._allow = tuple(allow)
        # By run and not by file: two tenants' flows may have the same bytes and other placeholder
        # values, tools and credentials.
        self._flows: OrderedDict[str, DurableFlow] = OrderedDict()
        self._made: WeakSet[Platform] = WeakSet()
        """Platforms made again from rows: their connections end with the store."""

    @classmethod
    def open(
        cls,
        dsn: str | None = None,
        *,
        platform: Platform | None = None,
        tools: Mapping[str, Callable[..., Any]] | None = None,
        env: Mapping[str, str] | None = None,
        settings: Mapping[str, str] | None = None,
        record: str | os.PathLike[str] | None = None,
        allow: Sequence[str] = (),
    ) -> RunStore:
        """Open the store; creates its tables in the schema `oasflow`.

        dsn:      a Postgres DSN; None takes DATABASE_URL, else the embedded server.
        platform: for runs that this process goes on with; None makes each run's own again.
        tools:    Python functions of flows that this process goes on with.
        env:      what runs that this process goes on with may read of it: values of placeholders,
                  by name.  They may be secrets, so the database keeps only the names.
        settings: where those runs may call and with which secrets, as `platform_from` reads it;
                  None takes the environment.
        record:   the file to which calls that are simulated for those runs are appended.
        allow:    addresses that those runs may call beside what they were started with.

        Raises: `StoreError` naming the database without its password; `PlaceholderRefused` for a
        name in `env` that the runtime reads itself.
        """
        refuse_runtime_names(env or {})
        return cls(
            Database.open(dsn),
            platform=platform,
            tools=tools,
            env=env,
            settings=settings,
            record=record,
            allow=allow,
        )

    @property
    def database(self) -> Database:
        """Where the runs are, for what lives beside them: artifacts and what was chosen of them."""
        return self._database

    def close(self) -> None:
        for platform in list(self._made):
            if callable(close := getattr(platform, "close", None)):
                close()
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

    # ------------------------------------------------------------------ reading

    # `tenant=` names whose run it has to be; to others it is not there.  None asks for anybody's.

    def get(self, run_id: str, *, tenant: str | None = None) -> Run:
        """Raises: `RunNotFound`."""
        with self._database.connection() as connection:
            return _told(connection, self._row(connection, run_id, tenant))

    def list(self, **wanted: Unpack[Wanted]) -> Runs:
        """Runs, the latest change first; without `limit` 100 of them."""
        given = {**dict.fromkeys(Wanted.__annotations__), "limit": 100, **wanted}
        with self._database.connection() as connection:
            rows = every(connection, "list_runs", given)
            filled = filled_in(connection, [row["run_id"] for row in rows])
        return [run_of(row, filled.get(row["run_id"], {})) for row in rows]

    def flow_names(self, *, limit: int = 1000) -> Names:
        """Names of the flows that runs were started with, in their order."""
        with self._database.connection() as connection:
            rows = every(connection, "list_flow_names", {"limit": limit})
        return [row["name"] for row in rows]

    def find(self, prefix: str, *, tenant: str | None = None, to_act: bool = False) -> str:
        """The one run whose id is `prefix`, or begins with it; see `short_names.py`.

        Without a tenant only the ids of runs of no tenant may be shortened.
        to_act: something is done to the run, so that an id that somebody gave counts only whole.

        Raises: `RunNotFound` when there is none, or are several.
        """
        with self._database.connection() as connection:
            rows = every(connection, "find_runs", {"prefix": prefix, "tenant": tenant})
        return the_one_meant(prefix, rows, tenant=tenant, to_act=to_act)

    def decisions(self, run_id: str, *, tenant: str | None = None) -> DecisionRows:
        """Who decided what, when and why, in order; skipped gates too."""
        with self._database.connection() as connection:
            self._row(connection, run_id, tenant)
            return every(connection, "list_decisions", {"run_id": run_id})

    def flow(
        self, run_id: str, *, tenant: str | None = None, to_reject: bool = False
    ) -> DurableFlow:
        """The flow of a run, made again from the stored bytes where this process lacks it.

        to_reject: what the run asks for need not be lent to it, and the flow then calls nothing.
        """
        with self._database.connection() as connection:
            row = self._row(connection, run_id, tenant)
            return self._flow(connection, row, None, to_reject=to_reject)

    # ------------------------------------------------------------------ acting

    def start(
        self,
        flow: DurableFlow,
        params: Mapping[str, Any] | None = None,
        run_id: str | None = None,
        *,
        tenant: str = "",
        by: str = "",
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
    ) -> Run:
        """Begin a run and drive it to its end or its first gate.

        by: who starts it, for whoever is asked to go on with it.

        Raises: `InputInvalid`, `PolicyInvalid`, `ContextMismatch` (the context is another run's or
        tenant's) before anything is stored; `StoreError` when the run id is taken.  A node that
        fails does not raise: the run is `failed`, with its error, which the log also tells;
        `run.result()` raises it.
        """
        given = flow.input(params)
        refuse_runtime_names(flow.env)
        if not flow.platform_given:
            log.warning(
                "flow '%s' was compiled without a platform: its calls are simulated", flow.name
            )
        host, name = self._starting(context, run_id, tenant)
        refuse_strangers(flow, host)
        refuse_credentials_in_inputs(given, host)
        refuse_credentials_in_names(host, run_id=name, tenant=host.tenant, by=by)
        policy = flow.approval_policy if host.approval_policy is DERIVED else host.approval_policy
        flow.check_policy(policy)
        row = {
            "run_id": name,
            "tenant": host.tenant,
            "digest": flow.digest,
            "input": Json(given),
            "env_names": sorted(flow.env),
            "lowering": flow.lowering,
            "platform": Json(flow.platform.describe()),
            "policy": None if host.approval_policy is DERIVED else Json({"policy": policy}),
            "started_by": person_name(by),
            "file": file_label(flow.file),
        }
        with self._database.connection() as connection, connection.transaction():
            execute(
                connection,
                "save_flow",
                {
                    "digest": flow.digest,
                    "name": flow.name,
                    "file": row["file"],
                    "source": flow.source,
                },
            )
            if one(connection, "insert_run", row) is None:
                raise StoreError(f"there is a run '{name}' already", hint="choose another run id")
        self._remember(name, flow)
        return self._activate(name, flow, host, on_event)

    def _starting(
        self, context: HostContext | None, run_id: str | None, tenant: str
    ) -> tuple[HostContext, str]:
        """The context of a run that begins, and the run's id; raises `ContextMismatch`."""
        said = context if is_host_context(context) else None
        name = checked_run_id(run_id or (said.run_id if said else "") or uuid.uuid4().hex)
        whose = tenant or (said.tenant if said else "")
        return bound_context(context, run_id=name, tenant=whose, named=tenant or None), name

    def answer(
        self,
        run_id: str,
        gate_id: str,
        decision: Decision,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
        wait: float = WAIT_SECONDS,
    ) -> Run:
        """Record the decision, then drive the run on.

        Raises: `AnswerInvalid`, `GateClosed`, and what the platform's `withdrawn` raises (see
        `KeepsArtifacts`) before anything is written; so are `RunNotFound`, `RunEnded`,
        `FlowChanged` when `flow` is not the run's, `ContextMismatch` when `context` is another
        run's or tenant's, `NotConfigured` when the run asks for what this process was not given.
        A rejection needs no flow: where none can be made again, the run ends all the same.
        `RunBusy` when another process holds the run for longer than `wait` seconds (the decision
        is kept, and counts).
        """
        with self._database.connection() as connection:
            row = self._row(connection, run_id, tenant)
            host = bound_context(context, run_id=run_id, tenant=row["tenant"], named=tenant)
            gate = open_gate(connection, row, gate_id)
            if not decision.by.strip():
                raise AnswerInvalid(
                    f"gate '{gate_id}': the decision does not say who decides", hint="give by=…"
                )
            refuse_credentials(decision, host)
            answer = gate.check(decision)
            made = (
                self._flow(connection, row, flow)
                if decision.approved
                else self._flow_to_reject(connection, row, flow)
            )
            if made is not None and decision.approved:
                refuse_strangers(made, host)
        if made is not None:
            refuse_withdrawn(made.platform, run_id, gate, answer)
        with self._database.connection() as connection, connection.transaction():
            # Under the row's lock: nobody stops the run between this look and the record.
            row = self._row(connection, run_id, row["tenant"], query="lock_row")
            gate = open_gate(connection, row, gate_id)
            kept = decision_row(row, gate, decision, made, clock(connection))
            if one(connection, "insert_decision", kept) is None:
                raise gate_closed(connection, run_id, gate_id)
            if made is None:
                execute(connection, "reject_run", {"run_id": run_id})
        if made is None:
            return self.get(run_id)
        return self._activate(run_id, made, host, on_event, wait=wait)

    def resume(
        self,
        run_id: str,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
        wait: float = WAIT_SECONDS,
    ) -> Run:
        """Go on with a run whose process died, or try a failed one again from where it failed.

        A waiting run without a new decision stays as it is.  Raises: as `answer`.
        """
        with self._database.connection() as connection:
            row = self._row(connection, run_id, tenant)
            host = bound_context(context, run_id=run_id, tenant=row["tenant"], named=tenant)
            refuse_ended(row)
            flow = self._flow(connection, row, flow)
            refuse_strangers(flow, host)
        return self._activate(run_id, flow, host, on_event, wait=wait)

    def stop(
        self, run_id: str, *, by: str = "", reason: str = "", tenant: str | None = None
    ) -> Run:
        """End a run for good without a decision, whatever it is doing and whatever is wrong with it.

        Neither its flow nor its gates are looked at.  A process that drives the run right now makes
        no further call.  Who, why and when stay in the run's row; one that is stopped stays as it was
        stopped first.

        Raises: `RunEnded` for a run that is completed or rejected; `AnswerInvalid` for a name or a
        reason that is refused at a gate, too.
        """
        said = {"run_id": run_id, "tenant": tenant, "by": person_name(by), "reason": reason}
        check_answer_value(reason)
        with self._database.connection() as connection:
            stopped = one(connection, "stop_run", said) is not None
            row = self._row(connection, run_id, tenant)
            if not stopped and row["status"] != "stopped":
                refuse_ended(row)
            return _told(connection, row)

    # ------------------------------------------------------------------ async twins

    @classmethod
    async def aopen(
        cls,
        dsn: str | None = None,
        *,
        platform: Platform | None = None,
        tools: Mapping[str, Callable[..., Any]] | None = None,
        env: Mapping[str, str] | None = None,
        settings: Mapping[str, str] | None = None,
        record: str | os.PathLike[str] | None = None,
        allow: Sequence[str] = (),
    ) -> RunStore:
        """As `open`."""
        return await asyncio.to_thread(
            cls.open,
            dsn,
            platform=platform,
            tools=tools,
            env=env,
            settings=settings,
            record=record,
            allow=allow,
        )

    async def astart(
        self,
        flow: DurableFlow,
        params: Mapping[str, Any] | None = None,
        run_id: str | None = None,
        *,
        tenant: str = "",
        by: str = "",
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
    ) -> Run:
        """As `start`.  Cancelling the caller does not stop the run: see `astop`."""
        return await asyncio.to_thread(
            self.start,
            flow,
            params,
            run_id,
            tenant=tenant,
            by=by,
            context=context,
            on_event=on_event,
        )

    async def aanswer(
        self,
        run_id: str,
        gate_id: str,
        decision: Decision,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
        wait: float = WAIT_SECONDS,
    ) -> Run:
        """As `answer`."""
        return await asyncio.to_thread(
            self.answer,
            run_id,
            gate_id,
            decision,
            flow=flow,
            tenant=tenant,
            context=context,
            on_event=on_event,
            wait=wait,
        )

    async def aresume(
        self,
        run_id: str,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
        wait: float = WAIT_SECONDS,
    ) -> Run:
        """As `resume`."""
        return await asyncio.to_thread(
            self.resume,
            run_id,
            flow=flow,
            tenant=tenant,
            context=context,
            on_event=on_event,
            wait=wait,
        )

    async def aget(self, run_id: str, *, tenant: str | None = None) -> Run:
        """As `get`."""
        return await asyncio.to_thread(self.get, run_id, tenant=tenant)

    async def alist(self, **wanted: Unpack[Wanted]) -> Runs:
        """As `list`."""
        return await asyncio.to_thread(self.list, **wanted)

    async def aflow_names(self, *, limit: int = 1000) -> Names:
        """As `flow_names`."""
        return await asyncio.to_thread(self.flow_names, limit=limit)

    async def adecisions(self, run_id: str, *, tenant: str | None = None) -> DecisionRows:
        """As `decisions`."""
        return await asyncio.to_thread(self.decisions, run_id, tenant=tenant)

    async def afind(self, prefix: str, *, tenant: str | None = None, to_act: bool = False) -> str:
        """As `find`."""
        return await asyncio.to_thread(self.find, prefix, tenant=tenant, to_act=to_act)

    async def aflow(
        self, run_id: str, *, tenant: str | None = None, to_reject: bool = False
    ) -> DurableFlow:
        """As `flow`."""
        return await asyncio.to_thread(self.flow, run_id, tenant=tenant, to_reject=to_reject)

    async def astop(
        self, run_id: str, *, by: str = "", reason: str = "", tenant: str | None = None
    ) -> Run:
        """As `stop`."""
        return await asyncio.to_thread(self.stop, run_id, by=by, reason=reason, tenant=tenant)

    async def aclose(self) -> None:
        """As `close`."""
        await asyncio.to_thread(self.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    # ------------------------------------------------------------------ inside

    def _row(
        self, connection: Rows, run_id: str, tenant: str | None = None, *, query: str = "load_run"
    ) -> Row:
        row = one(connection, query, {"run_id": run_id, "tenant": tenant})
        if row is None:
            raise RunNotFound(f"there is no run '{run_id}'", hint="see oasflow runs")
        return row

    def _refuse_effects(self, run_id: str) -> None:
        """Asked before every call of a run: one that was stopped or rejected makes none.

        Its decisions are asked too: a checkpoint that somebody wrote may lead past a rejection.
        """
        with self._database.connection() as connection:
            status, rejected_at = standing_of(connection, run_id)
        if rejected_at:
            raise RunEnded(
                f"run '{run_id}' was rejected at gate '{rejected_at}'",
                hint="no further call is made",
            )
        if status in ENDED:
            raise RunEnded(f"run '{run_id}' is {status}", hint="no further call is made")

    def _flow(
        self,
        connection: Rows,
        row: Row,
        given: DurableFlow | None,
        *,
        to_reject: bool = False,
    ) -> DurableFlow:
        """The run's flow: the one given, one known here, or the stored bytes compiled again."""
        if given is not None:
            refuse_runtime_names(given.env)
            refuse_other_flow(row, given)
            refuse_other_lowering(row, given)
            return self._remember(row["run_id"], given)
        known = self._flows.get(row["run_id"])
        if known is not None:
            return known
        stored = one(connection, "load_flow", {"digest": row["digest"]})
        assert stored is not None  # the run's row refers to it
        make = functools.partial(
            load_flow, bytes(stored["source"]), digest=row["digest"], tools=self._tools
        )
        try:
            env = values_of(row, self._env)
            flow = make(env=env, platform=self._platform or self._own_platform(row))
        except NotConfigured:
            if not to_reject:
                raise
            # Nothing runs after a rejection, and nobody has to lend a hostile run anything for it.
            flow = make(env=unfilled(row), platform=Nowhere())
            refuse_other_lowering(row, flow)
            return flow
        refuse_other_lowering(row, flow)
        return self._remember(row["run_id"], flow)

    def _flow_to_reject(
        self, connection: Rows, row: Row, given: DurableFlow | None
    ) -> DurableFlow | None:
        """The run's flow; None where none can be made: nobody is kept from ending a run by its file.

        Raises: `FlowChanged` where `given` is another flow.
        """
        if given is not None:
            refuse_other_flow(row, given)
        try:
            return self._flow(connection, row, given, to_reject=True)
        except psycopg.Error:
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the flow, it is not needed
            why = str(error) if isinstance(error, FlowError) else "it does not compile any more"
            log.warning("run '%s' is rejected without its flow: %s", row["run_id"], why)
            return None

    def _own_platform(self, row: Row) -> Platform:
        settings = os.environ if self._settings is None else self._settings
        made = platform_of(
            row, self._database, settings=settings, record=self._record, allow=self._allow
        )
        self._made.add(getattr(made, "beyond", None) or made)
        return made

    def _remember(self, run_id: str, flow: DurableFlow) -> DurableFlow:
        """Keep the flow of a run that this process worked on lately; the oldest go first."""
        self._flows[run_id] = flow
        self._flows.move_to_end(run_id)
        while len(self._flows) > KNOWN_FLOWS:
            self._flows.popitem(last=False)
        return flow

    def _activate(
        self,
        run_id: str,
        flow: DurableFlow,
        context: HostContext,
        on_event: OnEvent | None,
        *,
        wait: float = WAIT_SECONDS,
    ) -> Run:
        """Drive the run under its lock, then once more if a decision came in meanwhile."""
        with self._database.own_connection() as connection:
            while True:
                with locked(connection, run_id, wait):
                    row = self._row(connection, run_id)
                    if row["status"] not in ENDED:
                        self._drive(connection, row, flow, context, on_event)
                row = self._row(connection, run_id)
                # Whoever answered while we held the lock found it taken; the answer is ours to
                # carry out.
                if not any(is_decided(connection, row, gate) for gate in gates_in(row)[0]):
                    return _told(connection, row)
                wait = 0.0  # and where another process has the lock by now, it is theirs
                if not is_free(connection, run_id):
                    return _told(connection, row)

    def _drive(
        self,
        connection: Rows,
        row: Row,
        flow: DurableFlow,
        context: HostContext,
        on_event: OnEvent | None,
    ) -> None:
        # Whoever only looks at runs loads no engine.
        from langgraph.checkpoint.postgres import PostgresSaver

        from cinatra_sdk.advancing import advance, decisions_in, stop_of
        from cinatra_sdk.engine.checkpoints import STRICT
        from cinatra_sdk.store.clocks import await_clock

        run_id = row["run_id"]
        host = host_of(row, context, lambda: self._refuse_effects(run_id))
        try:
            await_clock(connection, run_id)
        except StoreError:
            if not standing_of(connection, run_id)[1]:
                raise
            execute(connection, "reject_run", {"run_id": run_id})  # needs no checkpoint
            return
        begun = one(connection, "begin_activation", {"run_id": run_id})
        if begun is None:
            return
        graph = flow.graph(PostgresSaver(connection, serde=STRICT))
        config = flow.config(run_id=run_id)
        failed: Exception | None = None
        try:
            advance(
                graph,
                row["input"],
                config,
                context=host,
                answer=functools.partial(recorded_answer, connection, run_id),
                on_event=on_event,
            )
        except psycopg.Error:
            raise  # the run is not failed: whoever reaches the database again can go on with it
        except Exception as error:  # noqa: BLE001 - a run must not be left as running by a bug
            failed = error
        snapshot = graph.get_state(config, subgraphs=True)
        try:
            ending = ending_of(stop_of(snapshot))
        except GateUnreadable as error:
            failed, ending = failed or error, ending_of(Stop(status="failed"))
        if failed is not None:
            ending |= failure_of(failed, host)
            told = ending["error"].obj
            log.error("run '%s' failed at '%s': %s", run_id, told["node"], told["message"])
        if ending["status"] != "rejected" and standing_of(connection, run_id)[1]:
            log.error("run '%s' was rejected, and its checkpoints say otherwise", run_id)
            ending = rejected_after_all(ending)
        keep_skips(connection, row, decisions_in(snapshot), host, flow)
        execute(
            connection,
            "end_activation",
            {"run_id": run_id, "fence": begun["fence"], **ending},
        )


def _told(connection: Rows, row: Row) -> Run:
    run_id = row["run_id"]
    return run_of(row, filled_in(connection, [run_id]).get(run_id, {}))
