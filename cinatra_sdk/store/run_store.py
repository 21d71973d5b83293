"""Durable runs: every run in Postgres, so that any process can continue it.

    with RunStore.open() as store:                       # DATABASE_URL, or the embedded server
        run = store.start(flow, {"topic": "x"})          # returns when finished or waiting
        for gate in run.waiting:
            run = store.answer(run.id, gate.id, Decision.approve(by="ann@example.org"))

Guarantees, and the mechanism of each:
* one activation of a run at a time: an advisory lock, on the connection that the checkpoints go
  through, so that a process that lost its lock cannot write either;
* one decision per visit of a gate: the first row in an append-only table; the run is resumed
  from that row, never from the request;
* a run stays on its flow: the sha256 of the file is in the row, and another flow is refused;
* a run stays with its owner: a context of another run or tenant is refused (`contexts.py`);
* a row grants nothing: variables, addresses and files come from this process (`flows.py`);
* a run is completed only when the flow's own end says so, never because the engine is idle.

The `a…` twins run the same code in a thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, TypedDict, Unpack

from psycopg.types.json import Json

from cinatra_sdk.contract import Status
from cinatra_sdk.engine.runtime_context import DERIVED, HostContext
from cinatra_sdk.errors import (
    AnswerInvalid,
    StoreError,
)
from cinatra_sdk.gates.answers import check_answer_value
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.governed.placeholders import refuse_runtime_names
from cinatra_sdk.lending.host_parts import HostParts, Parts, RunIdentity, join_parts
from cinatra_sdk.postgres.connection import clock, every, one
from cinatra_sdk.postgres.connection import run as execute
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.runs import OnEvent, Run
from cinatra_sdk.store.activating import activate, tell_run
from cinatra_sdk.store.contexts import bound_context, refuse_strangers
from cinatra_sdk.store.decision_record import DecisionRecord
from cinatra_sdk.store.decisions import (
    decision_row,
    filled_in,
    gate_closed,
    open_gate,
    refuse_credentials,
    refuse_credentials_in_inputs,
    refuse_credentials_in_names,
    refuse_withdrawn,
)
from cinatra_sdk.store.flows import DurableFlow
from cinatra_sdk.store.in_thread import in_thread
from cinatra_sdk.store.known_flows import KnownFlows, refuse_other_names
from cinatra_sdk.store.rows import (
    file_label,
    identity_of,
    load_row,
    name_run,
    refuse_ended,
    run_of,
)
from cinatra_sdk.store.short_names import the_one_meant
from cinatra_sdk.text.people import person_name

log = logging.getLogger("oasflow.store")

Runs: TypeAlias = list[Run]
Names: TypeAlias = list[str]
DecisionRecords: TypeAlias = list[DecisionRecord]
WAIT_SECONDS: Final = 30.0
"""How long an answer waits for another process that works on the same run."""


class RunFilter(TypedDict, total=False):
    """A filter for runs; None sets no condition.  Each condition has an index."""

    status: Status | None
    tenant: str | None
    flow: str | None
    """The name of the flow, with any version of its file."""
    started_by: str | None
    older_than: timedelta | None
    """Runs without a change for at least this time, by the database's clock."""
    newer_than: timedelta | None
    limit: int


class RunStore:
    """Runs on one Postgres database; safe to share between threads."""

    def __init__(
        self, database: Database, *, host: HostParts | None = None, **parts: Unpack[Parts]
    ) -> None:
        self._database = database
        self._flows = KnownFlows(database, join_parts(host, parts, "RunStore()"))

    @classmethod
    def open(
        cls, dsn: str | None = None, *, host: HostParts | None = None, **parts: Unpack[Parts]
    ) -> Self:
        """Open the store; creates its tables in the schema `oasflow`.

        dsn:   a Postgres DSN; None takes DATABASE_URL, else the embedded server.
        host:  what this process lends to the runs that it drives.
        parts: the same, part by part: `platform`, `tools`, `env`, `settings`, `record`, `allow`.

        Raises: `StoreError` naming the database without its password; `PlaceholderRefused` for a
        name in `env` that the runtime reads itself; `TypeError` for a part that is given twice.
        """
        lent = join_parts(host, parts, "RunStore.open()")
        return cls(Database.open(dsn), host=lent)

    @property
    def database(self) -> Database:
        """The database of the runs, which also holds the artifacts and their selections."""
        return self._database

    def close(self) -> None:
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

    # ------------------------------------------------------------------ reading

    # `tenant=` restricts a method to that tenant's runs: other runs count as missing. None: every
    # tenant's runs.

    def get(self, run_id: str, *, tenant: str | None = None) -> Run:
        """Raises: `RunNotFound`."""
        with self._database.connection() as connection:
            return tell_run(connection, load_row(connection, run_id, tenant))

    def list(self, **wanted: Unpack[RunFilter]) -> Runs:
        """Runs, the latest change first; at most `limit`, by default 100."""
        refuse_other_names(wanted, RunFilter, "RunStore.list()")
        given = {**dict.fromkeys(RunFilter.__annotations__), "limit": 100, **wanted}
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

        Without a tenant, only ids of runs without a tenant may be shortened.  to_act: the caller
        will act on the run, so an id that a person chose must be written in full.

        Raises: `RunNotFound` when no run fits, or several do.
        """
        with self._database.connection() as connection:
            rows = every(connection, "find_runs", {"prefix": prefix, "tenant": tenant})
        return the_one_meant(prefix, rows, tenant=tenant, to_act=to_act)

    def decisions(self, run_id: str, *, tenant: str | None = None) -> DecisionRecords:
        """The decisions of a run, in order, with the skipped gates."""
        with self._database.connection() as connection:
            load_row(connection, run_id, tenant)
            rows = every(connection, "list_decisions", {"run_id": run_id})
        return [DecisionRecord.of(row) for row in rows]

    def flow(
        self, run_id: str, *, tenant: str | None = None, to_reject: bool = False
    ) -> DurableFlow:
        """The flow of a run, rebuilt from the stored bytes where this process has not cached it.

        to_reject: the flow then needs no resources of this process, and makes no calls.
        """
        with self._database.connection() as connection:
            row = load_row(connection, run_id, tenant)
            return self._flows.flow_of(connection, row, to_reject=to_reject)

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

        by: the person who starts the run, shown to people who are asked to continue it.

        Raises: `InputInvalid`, `PolicyInvalid`, `KindRefused`, `ContextMismatch` (the context is another
        run's or tenant's) before anything is stored; `StoreError` when the run id is taken.  A node that
        fails does not raise: the run is `failed`, with its error, which the log also tells;
        `run.result()` raises it.
        """
        given = flow.input(params)
        refuse_runtime_names(flow.env)
        if not flow.platform_given:
            log.warning(
                "flow '%s' was compiled without a platform: its calls are simulated", flow.name
            )
        name, whose = name_run(context, run_id, tenant)
        run = RunIdentity(
            id=name, tenant=whose, flow=flow.name, digest=flow.digest, started_by=person_name(by)
        )
        lent = self._flows.lend(context, run, flow)
        host = bound_context(lent, run_id=name, tenant=whose, named=tenant or None)
        refuse_strangers(flow, host)
        refuse_credentials_in_inputs(given, host)
        refuse_credentials_in_names(host, run_id=name, tenant=host.tenant, by=by)
        policy = flow.approval_policy if host.approval_policy is DERIVED else host.approval_policy
        flow.check_policy(policy)
        flow.graph()  # a flow whose graph cannot be made leaves no run behind
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
        self._flows.remember(name, flow)
        return activate(self._database, name, flow, host, on_event=on_event, wait=WAIT_SECONDS)

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
        run's or tenant's, `NotConfigured` when the run asks for what this process was not given.  A
        rejection needs no flow: a run whose flow cannot be rebuilt ends all the same.  `RunBusy`
        when another process holds the run for longer than `wait` seconds (the decision is kept, and
        counts).
        """
        with self._database.connection() as connection:
            row = load_row(connection, run_id, tenant)
            # Nothing runs after a rejection, and a broken part of the host must not prevent one.
            lent = (
                self._flows.lend(context, identity_of(row), flow) if decision.approved else context
            )
            host = bound_context(lent, run_id=run_id, tenant=row["tenant"], named=tenant)
            gate = open_gate(connection, row, gate_id)
            if not decision.by.strip():
                raise AnswerInvalid(
                    f"gate '{gate_id}': the decision does not say who decides", hint="give by=…"
                )
            refuse_credentials(decision, host)
            answer = gate.check(decision)
            made = (
                self._flows.flow_of(connection, row, flow)
                if decision.approved
                else self._flows.flow_to_reject(connection, row, flow)
            )
            if made is not None and decision.approved:
                refuse_strangers(made, host)
        if made is not None:
            refuse_withdrawn(made.platform, run_id, gate, answer)
        with self._database.connection() as connection, connection.transaction():
            # Under the row's lock: no process can stop the run between this check and the record.
            row = load_row(connection, run_id, row["tenant"], query="lock_row")
            gate = open_gate(connection, row, gate_id)
            kept = decision_row(row, gate, decision, made, clock(connection))
            if one(connection, "insert_decision", kept) is None:
                raise gate_closed(connection, run_id, gate_id)
            if made is None:
                execute(connection, "reject_run", {"run_id": run_id})
        if made is None:
            return self.get(run_id)
        return activate(self._database, run_id, made, host, on_event=on_event, wait=wait)

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
        """Continue a run whose process died, or retry a failed run from the node that failed.

        A waiting run without a new decision stays as it is.  Raises: as `answer`.
        """
        with self._database.connection() as connection:
            row = load_row(connection, run_id, tenant)
            lent = self._flows.lend(context, identity_of(row), flow)
            host = bound_context(lent, run_id=run_id, tenant=row["tenant"], named=tenant)
            refuse_ended(row)
            flow = self._flows.flow_of(connection, row, flow)
            refuse_strangers(flow, host)
        return activate(self._database, run_id, flow, host, on_event=on_event, wait=wait)

    def stop(
        self, run_id: str, *, by: str = "", reason: str = "", tenant: str | None = None
    ) -> Run:
        """End a run for good without a decision, in any status but completed or rejected.

        The flow and the gates are not read.  A process that drives the run right now makes no
        further call.  Who, why and when are kept in the run's row; stopping a stopped run changes
        nothing.

        Raises: `RunEnded` for a run that is completed or rejected; `AnswerInvalid` for a name or a
        reason that a gate would refuse too.
        """
        said = {"run_id": run_id, "tenant": tenant, "by": person_name(by), "reason": reason}
        check_answer_value(reason)
        with self._database.connection() as connection:
            stopped = one(connection, "stop_run", said) is not None
            row = load_row(connection, run_id, tenant)
            if not stopped and row["status"] != "stopped":
                refuse_ended(row)
            return tell_run(connection, row)

    # ------------------------------------------------------------------ async twins

    # Cancelling the caller of a twin does not stop the work in the thread: see `stop`.

    aget = in_thread(get)
    alist = in_thread(list)  # noqa: A003 - the method above
    aflow_names = in_thread(flow_names)
    afind = in_thread(find)
    adecisions = in_thread(decisions)
    aflow = in_thread(flow)
    astart = in_thread(start)
    aanswer = in_thread(answer)
    aresume = in_thread(resume)
    astop = in_thread(stop)
    aclose = in_thread(close)

    @classmethod
    async def aopen(
        cls, dsn: str | None = None, *, host: HostParts | None = None, **parts: Unpack[Parts]
    ) -> Self:
        """As `open`."""
        return await asyncio.to_thread(cls.open, dsn, host=host, **parts)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
