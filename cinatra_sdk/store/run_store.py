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
* done means that the flow's own end wrote it, never that the engine has nothing left to do.

The `a…` twins run the same code in a thread: the database work is the same either way.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.types.json import Json
from pydantic import JsonValue

from cinatra_sdk.context import DERIVED, HostContext, host_context
from cinatra_sdk.decisions import Decision
from cinatra_sdk.errors import (
    AnswerInvalid,
    FlowChanged,
    FlowError,
    GateClosed,
    InputInvalid,
    RunBusy,
    RunEnded,
    RunNotFound,
    StoreError,
)
from cinatra_sdk.gates import Gate
from cinatra_sdk.hitl import now
from cinatra_sdk.platform.protocol import Platform, PlatformError
from cinatra_sdk.policy import policy_hash
from cinatra_sdk.runs import OnEvent, Run, Stop, advance, decisions_in, stop_of
from cinatra_sdk.secrets import cut_out, redact
from cinatra_sdk.state import Status
from cinatra_sdk.store.database import Database, Row, Rows, every, one
from cinatra_sdk.store.database import run as execute
from cinatra_sdk.store.flows import DurableFlow, load_flow

log = logging.getLogger("oasflow.store")

Runs: TypeAlias = list[Run]
DecisionRows: TypeAlias = list[dict[str, Any]]
ENDED: Final = ("completed", "rejected", "stopped")
KNOWN_FLOWS: Final = 128
"""Compiled flows that a store keeps, one per run it worked on lately."""
WAIT_SECONDS: Final = 30.0
"""How long an answer waits for another process that works on the same run."""


class RunStore:
    """Runs on one Postgres database; safe to share between threads."""

    def __init__(
        self,
        database: Database,
        *,
        platform: Platform | None = None,
        tools: Mapping[str, Callable[..., Any]] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._database = database
        self._platform = platform
        self._tools = dict(tools or {})
        self._env = dict(env or {})
        # By run and not by file: two tenants' flows may have the same bytes and other placeholder
        # values, tools and credentials.
        self._flows: OrderedDict[str, DurableFlow] = OrderedDict()

    @classmethod
    def open(
        cls,
        dsn: str | None = None,
        *,
        platform: Platform | None = None,
        tools: Mapping[str, Callable[..., Any]] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> RunStore:
        """Open the store; creates its tables in the schema `oasflow`.

        dsn:      a Postgres DSN; None takes DATABASE_URL, else the embedded server.
        platform: for runs that this process goes on with; None makes each run's own again.
        tools:    Python functions of flows that this process goes on with.
        env:      placeholders of flows that this process goes on with; their values may be
                  secrets, so the database keeps only their names.

        Raises: `StoreError` naming the database without its password.
        """
        return cls(Database.open(dsn), platform=platform, tools=tools, env=env)

    def close(self) -> None:
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

    def get(self, run_id: str) -> Run:
        """Raises: `RunNotFound`."""
        with self._database.connection() as connection:
            return _run(self._row(connection, run_id))

    def list(
        self, *, status: Status | None = None, tenant: str | None = None, limit: int = 100
    ) -> Runs:
        """Runs, the latest change first."""
        with self._database.connection() as connection:
            wanted = {"status": status, "tenant": tenant, "limit": limit}
            return [_run(row) for row in every(connection, "list_runs", wanted)]

    def find(self, prefix: str) -> str:
        """The one run id that begins with `prefix`; raises `RunNotFound` when none or several do."""
        with self._database.connection() as connection:
            ids = [row["run_id"] for row in every(connection, "find_runs", {"prefix": prefix})]
        if prefix in ids or len(ids) == 1:
            return prefix if prefix in ids else ids[0]
        how = "several runs begin" if ids else "no run begins"
        raise RunNotFound(f"{how} with '{prefix}'", hint="see oasflow runs")

    def decisions(self, run_id: str) -> DecisionRows:
        """Who decided what, when and why, in order; skipped gates too."""
        with self._database.connection() as connection:
            self._row(connection, run_id)
            return every(connection, "list_decisions", {"run_id": run_id})

    def flow(self, run_id: str) -> DurableFlow:
        """The flow of a run, made again from the stored bytes where this process lacks it."""
        with self._database.connection() as connection:
            return self._flow(connection, self._row(connection, run_id), None)

    # ------------------------------------------------------------------ acting

    def start(
        self,
        flow: DurableFlow,
        params: Mapping[str, Any] | None = None,
        run_id: str | None = None,
        *,
        tenant: str = "",
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
    ) -> Run:
        """Begin a run and drive it to its end or its first gate.

        Raises: `InputInvalid`, `PolicyInvalid` before anything is stored; `StoreError` when the
        run id is taken.  A node that fails does not raise: the run is `failed`, with its error.
        """
        given = flow.input(params)
        if not flow.platform_given:
            log.warning(
                "flow '%s' was compiled without a platform: its calls are simulated", flow.name
            )
        host = context or host_context()
        policy = flow.approval_policy if host.approval_policy is DERIVED else host.approval_policy
        flow.check_policy(policy)
        name = _run_id(run_id or host.run_id or uuid.uuid4().hex)
        row = {
            "run_id": name,
            "tenant": tenant or host.tenant,
            "digest": flow.digest,
            "input": Json(given),
            "env_names": sorted(flow.env),
            "lowering": flow.lowering,
            "platform": Json(flow.platform.describe()),
            "policy": None if host.approval_policy is DERIVED else Json({"policy": policy}),
        }
        with self._database.connection() as connection, connection.transaction():
            execute(
                connection,
                "save_flow",
                {
                    "digest": flow.digest,
                    "name": flow.name,
                    "file": flow.file,
                    "source": flow.source,
                },
            )
            if one(connection, "insert_run", row) is None:
                raise StoreError(f"there is a run '{name}' already", hint="choose another run id")
        self._remember(name, flow)
        return self._activate(name, flow, context, on_event)

    def answer(
        self,
        run_id: str,
        gate_id: str,
        decision: Decision,
        *,
        flow: DurableFlow | None = None,
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
        wait: float = WAIT_SECONDS,
    ) -> Run:
        """Record the decision, then drive the run on.

        Raises: `AnswerInvalid` and `GateClosed` before anything is written; `RunNotFound`,
        `RunEnded`; `FlowChanged` when `flow` is not the run's; `RunBusy` when another process
        holds the run for longer than `wait` seconds (the decision is kept, and counts).
        """
        with self._database.connection() as connection:
            row = self._row(connection, run_id)
            gate = _open_gate(connection, row, gate_id)
            if not decision.by.strip():
                raise AnswerInvalid("the decision does not say who decides", hint="give by=…")
            gate.check(decision)
            _refuse_credentials(decision, context)
            flow = self._flow(connection, row, flow)
            with connection.transaction():
                # Under the row's lock: nobody stops the run between this look and the record.
                row = self._row(connection, run_id, query="lock_row")
                gate = _open_gate(connection, row, gate_id)
                if (
                    one(connection, "insert_decision", _decision_row(row, gate, decision, flow))
                    is None
                ):
                    raise _closed(connection, run_id, gate_id)
        return self._activate(run_id, flow, context, on_event, wait=wait)

    def resume(
        self,
        run_id: str,
        *,
        flow: DurableFlow | None = None,
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
        wait: float = WAIT_SECONDS,
    ) -> Run:
        """Go on with a run whose process died, or try a failed one again from where it failed.

        A waiting run without a new decision stays as it is.  Raises: as `answer`.
        """
        with self._database.connection() as connection:
            row = self._row(connection, run_id)
            _refuse_ended(row)
            flow = self._flow(connection, row, flow)
        return self._activate(run_id, flow, context, on_event, wait=wait)

    def stop(self, run_id: str) -> Run:
        """End a run for good without a decision; raises `RunEnded` when it has ended."""
        with self._database.connection() as connection:
            if one(connection, "stop_run", {"run_id": run_id}) is None:
                _refuse_ended(self._row(connection, run_id))
            return _run(self._row(connection, run_id))

    # ------------------------------------------------------------------ async twins

    @classmethod
    async def aopen(
        cls,
        dsn: str | None = None,
        *,
        platform: Platform | None = None,
        tools: Mapping[str, Callable[..., Any]] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> RunStore:
        """As `open`."""
        return await asyncio.to_thread(cls.open, dsn, platform=platform, tools=tools, env=env)

    async def astart(
        self,
        flow: DurableFlow,
        params: Mapping[str, Any] | None = None,
        run_id: str | None = None,
        *,
        tenant: str = "",
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
    ) -> Run:
        """As `start`.  Cancelling the caller does not stop the run: see `astop`."""
        return await asyncio.to_thread(
            self.start, flow, params, run_id, tenant=tenant, context=context, on_event=on_event
        )

    async def aanswer(
        self,
        run_id: str,
        gate_id: str,
        decision: Decision,
        *,
        flow: DurableFlow | None = None,
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
            context=context,
            on_event=on_event,
            wait=wait,
        )

    async def aresume(
        self,
        run_id: str,
        *,
        flow: DurableFlow | None = None,
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
        wait: float = WAIT_SECONDS,
    ) -> Run:
        """As `resume`."""
        return await asyncio.to_thread(
            self.resume, run_id, flow=flow, context=context, on_event=on_event, wait=wait
        )

    async def aget(self, run_id: str) -> Run:
        """As `get`."""
        return await asyncio.to_thread(self.get, run_id)

    async def alist(
        self, *, status: Status | None = None, tenant: str | None = None, limit: int = 100
    ) -> Runs:
        """As `list`."""
        return await asyncio.to_thread(self.list, status=status, tenant=tenant, limit=limit)

    async def adecisions(self, run_id: str) -> DecisionRows:
        """As `decisions`."""
        return await asyncio.to_thread(self.decisions, run_id)

    async def astop(self, run_id: str) -> Run:
        """As `stop`."""
        return await asyncio.to_thread(self.stop, run_id)

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

    def _row(self, connection: Rows, run_id: str, *, query: str = "load_run") -> Row:
        row = one(connection, query, {"run_id": run_id})
        if row is None:
            raise RunNotFound(f"there is no run '{run_id}'", hint="see oasflow runs")
        return row

    def _refuse_effects(self, run_id: str) -> None:
        """Asked before every call of a run: one that was stopped in the meantime makes none."""
        with self._database.connection() as connection:
            row = one(connection, "load_status", {"run_id": run_id})
        if row is not None and row["status"] in ENDED:
            raise RunEnded(f"run '{run_id}' is {row['status']}", hint="no further call is made")

    def _flow(self, connection: Rows, row: Row, given: DurableFlow | None) -> DurableFlow:
        """The run's flow: the one given, one known here, or the stored bytes compiled again."""
        if given is not None:
            if given.digest != row["digest"]:
                raise FlowChanged(
                    f"run '{row['run_id']}' was started with flow '{row['flow_name']}' "
                    f"({row['digest'][:12]}…), not with this one ({given.digest[:12]}…)",
                    hint="go on with the file as it was, or start a new run",
                )
            if sorted(given.env) != sorted(row["env_names"]):
                raise FlowChanged(
                    f"run '{row['run_id']}' was compiled with values for "
                    f"{', '.join(row['env_names']) or 'no placeholders'}, not for "
                    f"{', '.join(sorted(given.env)) or 'none'}",
                    hint="compile the flow with the same names in env=…",
                )
            _refuse_other_lowering(row, given)
            return self._remember(row["run_id"], given)
        known = self._flows.get(row["run_id"])
        if known is not None:
            return known
        stored = one(connection, "load_flow", {"digest": row["digest"]})
        assert stored is not None  # the run's row refers to it
        missing = [name for name in row["env_names"] if name not in self._env]
        if missing:
            raise StoreError(
                f"run '{row['run_id']}' was compiled with a value for '{missing[0]}', "
                "which this process does not have",
                hint="open the store with env=…, or give the flow",
            )
        flow = load_flow(
            bytes(stored["source"]),
            digest=row["digest"],
            env={name: self._env[name] for name in row["env_names"]},
            platform=self._platform or row["platform"],
            tools=self._tools,
        )
        _refuse_other_lowering(row, flow)
        return self._remember(row["run_id"], flow)

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
        context: HostContext | None,
        on_event: OnEvent | None,
        *,
        wait: float = WAIT_SECONDS,
    ) -> Run:
        """Drive the run under its lock, then once more if a decision came in meanwhile."""
        with self._database.own_connection() as connection:
            while True:
                with _locked(connection, run_id, wait):
                    row = self._row(connection, run_id)
                    if row["status"] not in ENDED:
                        self._drive(connection, row, flow, context, on_event)
                row = self._row(connection, run_id)
                # Whoever answered while we held the lock found it taken; the answer is ours to
                # carry out.
                if not any(
                    _decided(connection, row, Gate.from_json(gate)) for gate in row["waiting"]
                ):
                    return _run(row)
                wait = 0.0  # and where another process has the lock by now, it is theirs
                if not _is_free(connection, run_id):
                    return _run(row)

    def _drive(
        self,
        connection: Rows,
        row: Row,
        flow: DurableFlow,
        context: HostContext | None,
        on_event: OnEvent | None,
    ) -> None:
        run_id = row["run_id"]
        begun = one(connection, "begin_activation", {"run_id": run_id})
        if begun is None:
            return
        host = _host_of(row, context, lambda: self._refuse_effects(run_id))

        def answer(gate: Gate) -> Mapping[str, JsonValue] | None:
            kept = _decision(connection, run_id, gate)
            return None if kept is None else kept["answer"]

        graph = flow.graph(PostgresSaver(connection))
        config = flow.config(run_id=run_id)
        failed: Exception | None = None
        try:
            advance(graph, row["input"], config, context=host, answer=answer, on_event=on_event)
        except psycopg.Error:
            raise  # the run is not failed: whoever reaches the database again can go on with it
        except Exception as error:  # noqa: BLE001 - a run must not be left as running by a bug
            failed = error
        snapshot = graph.get_state(config, subgraphs=True)
        ending = _ending(stop_of(snapshot))
        if failed is not None:
            ending |= _failure(failed, host)
        _keep_skips(connection, row, decisions_in(snapshot), host, flow)
        execute(
            connection,
            "end_activation",
            {"run_id": run_id, "fence": begun["fence"], **ending},
        )


# ------------------------------------------------------------------------ pieces


@contextmanager
def _locked(connection: Rows, run_id: str, wait: float) -> Iterator[None]:
    """Hold the run's lock; raises `RunBusy` after `wait` seconds."""
    deadline = time.monotonic() + wait
    pause = 0.01
    while not (one(connection, "lock_run", {"run_id": run_id}) or {}).get("locked"):
        if time.monotonic() >= deadline:
            raise RunBusy(
                f"another process is working on run '{run_id}'",
                hint="what was decided is kept; try again, or see oasflow show",
            )
        time.sleep(pause)
        pause = min(pause * 2, 0.5)
    try:
        yield
    finally:
        if not connection.closed and not connection.broken:
            execute(connection, "unlock_run", {"run_id": run_id})


def _run_id(text: str) -> str:
    if len(text) > 200 or not text.isprintable() or text != text.strip() or "/" in text:
        raise InputInvalid(
            "the run id is not usable", hint="up to 200 printable characters, no slash"
        )
    return text


def _is_free(connection: Rows, run_id: str) -> bool:
    """Whether nobody holds the run's lock right now."""
    key = {"run_id": run_id}
    if not (one(connection, "lock_run", key) or {}).get("locked"):
        return False
    execute(connection, "unlock_run", key)
    return True


def _refuse_credentials(decision: Decision, context: HostContext | None) -> None:
    """A decision is kept: one of the host's own tokens must not be in it."""
    held = (context or host_context()).credentials
    wire = decision.wire()
    if cut_out(wire, (held.run_token, held.bearer_token)) != wire:
        raise AnswerInvalid("the answer holds a credential of this run", hint="leave it out")


def _host_of(row: Row, given: HostContext | None, before_effect: Callable[[], None]) -> HostContext:
    """The context of this activation: identity from the row, credentials from the host."""
    policy = DERIVED if row["policy"] is None else row["policy"]["policy"]
    host = given or host_context()
    return host_context(
        run_id=row["run_id"],
        tenant=row["tenant"],
        context_id=host.context_id,
        approval_policy=policy,
        run_token=host.credentials.run_token,
        bearer_token=host.credentials.bearer_token,
        before_effect=before_effect,
    )


def _ending(stop: Stop) -> dict[str, Any]:
    outputs = None if stop.outputs is None else Json(dict(stop.outputs))
    return {
        "status": stop.status,
        "waiting": Json([gate.to_json() for gate in stop.gates]),
        "outputs": outputs,
        "branch": stop.branch,
        "messages": Json([dict(message) for message in stop.messages]),
        "error": None,
    }


def _failure(error: Exception, host: HostContext) -> dict[str, Any]:
    secrets = (host.credentials.run_token, host.credentials.bearer_token)
    text = str(error) if isinstance(error, (FlowError, PlatformError)) else repr(error)
    described = {
        "code": getattr(error, "code", type(error).__name__),
        "message": redact(_storable(text[:2000]), secrets),
        "node": getattr(error, "node", ""),
    }
    return {
        "status": "failed",
        "waiting": Json([]),
        "error": Json(cut_out(described, secrets)),
    }


def _storable(text: str) -> str:
    """`text` without what no database takes."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def _keep_skips(
    connection: Rows,
    row: Row,
    decisions: Iterable[Mapping[str, Any]],
    host: HostContext,
    flow: DurableFlow,
) -> None:
    """An audit row for every gate that the policy skipped: "no human" must be provable."""
    skipped = [decided for decided in decisions if decided["skipped"]]
    if not skipped:
        return
    policy = flow.approval_policy if host.approval_policy is DERIVED else host.approval_policy
    kept = {row["gate_id"] for row in every(connection, "list_skips", {"run_id": row["run_id"]})}
    for decided in skipped:
        if decided["gate"] not in kept:
            execute(
                connection,
                "insert_decision",
                {
                    "run_id": row["run_id"],
                    "gate_id": decided["gate"],
                    "tenant": row["tenant"],
                    "node": decided["node"],
                    "visit": decided["visit"],
                    "step": decided["step"],
                    "kind": "auto_skipped",
                    "answer": Json({}),
                    "decided_by": "policy",
                    "reason": "the approval policy asks for no approval at this step",
                    "payload_sha256": "",
                    "policy_sha256": policy_hash(policy),
                    "decided_at": datetime.fromisoformat(str(decided["at"])),
                },
            )


def _decision_row(row: Row, gate: Gate, decision: Decision, flow: DurableFlow) -> dict[str, Any]:
    at = now()
    stamped = Decision(
        approved=decision.approved,
        by=decision.by,
        reason=decision.reason,
        value=decision.value,
        at=at,
    )
    policy = flow.approval_policy if row["policy"] is None else row["policy"]["policy"]
    return {
        "run_id": row["run_id"],
        "gate_id": gate.id,
        "tenant": row["tenant"],
        "node": gate.node,
        "visit": gate.visit,
        "step": gate.step,
        "kind": "approved" if decision.approved else "rejected",
        "answer": Json(stamped.wire()),
        "decided_by": decision.by,
        "reason": decision.reason,
        "payload_sha256": _payload_hash(gate),
        "policy_sha256": policy_hash(policy),
        "decided_at": datetime.fromisoformat(at),
    }


def _payload_hash(gate: Gate) -> str:
    """sha256 (hex) of what the gate shows, in canonical JSON."""
    shown = json.dumps(gate.payload, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(shown.encode()).hexdigest()


def _decision(connection: Rows, run_id: str, gate: Gate) -> Row | None:
    """What was decided on this visit of the gate and on what it shows."""
    key = {"run_id": run_id, "gate_id": gate.id, "payload_sha256": _payload_hash(gate)}
    return one(connection, "load_decision", key)


def _open_gate(connection: Rows, row: Row, gate_id: str) -> Gate:
    """The waiting gate with this id; raises `GateClosed` or `RunEnded`."""
    for data in row["waiting"]:
        gate = Gate.from_json(data)
        if gate.id == gate_id:
            if _decided(connection, row, gate):
                raise _closed(connection, row["run_id"], gate_id)
            return gate
    if one(connection, "last_decision", {"run_id": row["run_id"], "gate_id": gate_id}):
        raise _closed(connection, row["run_id"], gate_id)
    _refuse_ended(row)
    waiting = ", ".join(Gate.from_json(data).id for data in row["waiting"]) or "none"
    raise GateClosed(
        f"gate '{gate_id}' is not waiting in run '{row['run_id']}'; waiting: {waiting}"
    )


def _decided(connection: Rows, row: Row, gate: Gate) -> bool:
    return _decision(connection, row["run_id"], gate) is not None


def _closed(connection: Rows, run_id: str, gate_id: str) -> GateClosed:
    kept = one(connection, "last_decision", {"run_id": run_id, "gate_id": gate_id})
    assert kept is not None  # decisions are never removed
    at = kept["decided_at"].isoformat(timespec="seconds")
    return GateClosed(
        f"gate '{gate_id}' of run '{run_id}' was already {kept['kind']} "
        f"by {kept['decided_by']} at {at}"
    )


def _refuse_other_lowering(row: Row, flow: DurableFlow) -> None:
    """A parked run resumed on a graph laid out otherwise would end silently as done."""
    if flow.lowering != row["lowering"]:
        raise FlowChanged(
            f"run '{row['run_id']}' was started by another version of the compiler "
            f"(layout {row['lowering']}, this is {flow.lowering})",
            hint="finish it with the version that started it",
        )


def _refuse_ended(row: Row) -> None:
    if row["status"] in ENDED:
        raise RunEnded(f"run '{row['run_id']}' is {row['status']}", hint="start a new run instead")


def _run(row: Row) -> Run:
    return Run(
        id=row["run_id"],
        status=row["status"],
        tenant=row["tenant"],
        flow=row["flow_name"],
        file=row["flow_file"],
        digest=row["digest"],
        input=row["input"].get("inputs", {}),
        outputs=row["outputs"],
        branch=row["branch"],
        messages=tuple(row["messages"]),
        waiting=tuple(Gate.from_json(gate) for gate in row["waiting"]),
        error=row["error"],
        attempts=row["attempts"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
