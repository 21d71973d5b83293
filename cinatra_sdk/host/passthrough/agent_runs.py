"""Agents that flows call by the name of their package, each as a run of its own.

    children = ChildAgents.keep(database, {"@acme/drafts": flow}, host)
    children.work_on(platform)
    children.tools()             one NamedTool for each package
    children.describe()          {"@acme/drafts": "<sha256 of the flow>"}, from which another process goes on

    {"tool": "@acme/drafts", "input": {"goal": "meet"}}   ->   {"drafts": […]}      the child's outputs
                                                          ->   409 child_waits      its run has not ended

A child's run is the parent's: of its tenant, and with the authority of its owner.  Its id follows from the
parent's and the key of the call, so a call that is made again finds the run that it began.

The call does not wait for the child: it begins the run, and answers 409 `child_waits`.  The parent's run then
waits as at a gate, and holds no thread and no connection; the end of the child wakes it, and the call is made
again, and finds the child's outputs.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from cinatra_sdk.contract import ENDED
from cinatra_sdk.errors import (
    ChildWaits,
    FlowError,
    InputInvalid,
    RunBusy,
    RunEnded,
    RunExists,
    RunNotFound,
)
from cinatra_sdk.host.passthrough.passthrough_route import NamedCall, NamedTool
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.routes import RouteError
from cinatra_sdk.postgres.connection import one, run
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.flows.flow_protocol import DurableFlow, load_flow
from cinatra_sdk.store.runs.run_rows import load_row, run_of

if TYPE_CHECKING:
    from cinatra_sdk.outside.http_calls.protocol import Platform
    from cinatra_sdk.postgres.connection import Row
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store import RunStore


log = logging.getLogger("oasflow.children")

MOST_DEEP: Final = 100
"""Runs above a child's, up to the one that a person started: an agent that calls itself ends there."""
WORKERS: Final = 8
"""Children that one platform works on at once; fewer than the connections that a process has for runs."""


@dataclass(frozen=True, kw_only=True)
class ChildAgents:
    """The child agents of one platform; every process that has the database can run them."""

    database: Database = field(repr=False)
    digests: Mapping[str, str]
    """Name of the package → sha256 (hex) of its flow, which the database has."""
    host: HostParts = field(repr=False)
    _platforms: list[Platform] = field(default_factory=list, repr=False)

    @classmethod
    def keep(
        cls, database: Database, flows: Mapping[str, DurableFlow], host: HostParts
    ) -> ChildAgents:
        """Store the flows, so that their runs stay what they are when the files change."""
        with database.connection() as connection, connection.transaction():
            for flow in flows.values():
                about = {"digest": flow.digest, "name": flow.name, "source": flow.source}
                run(connection, "save_flow", {**about, "file": str(flow.file or "")})
        digests = {name: flow.digest for name, flow in flows.items()}
        return cls(database=database, digests=digests, host=host)

    def work_on(self, platform: Platform) -> None:
        """Let the children's runs call this platform, which is the parents' own."""
        self._platforms[:] = [platform]

    def tools(self) -> list[NamedTool]:
        return [
            NamedTool(name=name, description="Run this agent.", run=partial(self._call, name))
            for name in self.digests
        ]

    def describe(self) -> dict[str, JsonValue]:
        return dict(self.digests)

    async def _call(self, name: str, call: NamedCall) -> JsonValue:
        return await asyncio.to_thread(self._run, name, call)

    def _run(self, name: str, call: NamedCall) -> JsonValue:
        """The outputs of the child's run.  Raises: `RouteError`, 409 `child_waits` until it has ended."""
        parent = self._find_parent(call)
        # The key is the same for a call that is made again, and a caller over HTTP writes any: of
        # another run, it is another child.
        about = f"{parent.id}\n{call.key or uuid.uuid4().hex}\n{name}"
        run_id = f"child-{hashlib.sha256(about.encode()).hexdigest()[:24]}"
        problem: RouteError
        try:
            return self._read(name, self._find_or_begin(name, call, parent, run_id), call, parent)
        except InputInvalid as error:
            problem = RouteError(400, "invalid_input", f"{name}: {error.message}")
        except FlowError as error:
            problem = RouteError(500, "child_failed", f"{name}: {error.message}")
        raise problem

    def _find_parent(self, call: NamedCall) -> Run:
        call.require_tenant()
        problem: RouteError
        try:
            parent = self._store.get(call.owner.run_id)
            above, deep = parent, 0
            while above.parent and deep < MOST_DEEP:
                above, deep = self._store.get(above.parent), deep + 1
        except RunNotFound:
            problem = RouteError(
                404, "run_missing", "the host does not know the run that is calling"
            )
        else:
            if deep < MOST_DEEP:
                return parent
            problem = RouteError(
                409, "too_deep", f"more than {MOST_DEEP} agents call one another in a row"
            )
        raise problem

    def _find_or_begin(self, name: str, call: NamedCall, parent: Run, run_id: str) -> Row:
        try:
            return self._load_row(run_id, parent.tenant)
        except RunNotFound:
            with suppress(RunExists):  # the same call at the same moment
                self._store.create(
                    self._load(name), dict(call.input), run_id, tenant=parent.tenant,
                    by=call.owner.person or parent.started_by, parent=parent.id,
                )  # fmt: skip
        return self._load_row(run_id, parent.tenant)

    def _load_row(self, run_id: str, tenant: str | None = None) -> Row:
        with self.database.connection() as connection:
            return load_row(connection, run_id, tenant)

    def _load(self, name: str) -> DurableFlow:
        return self._load_digest(self.digests[name], name)

    def _load_digest(self, digest: str, name: str) -> DurableFlow:
        with self.database.connection() as connection:
            row = one(connection, "load_flow", {"digest": digest})
        if row is None:
            raise RouteError(404, "handler_missing", f"the database has no flow of {name}")
        parts = self.host.with_parts(platform=self._platforms[0])
        return load_flow(bytes(row["source"]), digest=digest, host=parts)

    def _read(self, name: str, row: Row, call: NamedCall, parent: Run) -> JsonValue:
        """The outputs of a run that is through.  Raises: `RouteError`."""
        ran = run_of(row)
        if ran.status == "completed":
            return dict(ran.outputs or {})
        if ran.status in ENDED:
            raise RouteError(409, f"child_{ran.status}", f"{name} was {ran.status} (run {ran.id})")
        if ran.status == "failed" and ran.retry_at is None:
            self._tell_failure(name, ran)
            by = call.owner.person or parent.started_by
            with self.database.connection() as connection:
                run(connection, "resume_run", {"run_id": ran.id, "by": by, "is_due": True})
        self._go_on_with(ran.id)
        gates = ", ".join(f"{ran.id}/{gate.id}" for gate in ran.waiting)
        waits = (
            f"waits for a person at {gates}" if gates else f"is {ran.status} in its run {ran.id}"
        )
        raise RouteError(409, ChildWaits.code, f"{name} {waits}")

    def _tell_failure(self, name: str, ran: Run) -> None:
        """Fail the call of a run that failed for good, once: a call after that tries the run again.

        Raises: `RouteError`.
        """
        with self.database.connection() as connection:
            if one(connection, "tell_failure", {"run_id": ran.id}) is None:
                return
        said = (ran.error or {}).get("message", "it was given up")
        raise RouteError(409, "child_failed", f"{name} failed in its run {ran.id}: {said}")

    # ------------------------------------------------------------------ the work on children

    def _go_on_with(self, run_id: str) -> None:
        self._workers.do(partial(self._work, run_id))

    def _work(self, run_id: str) -> None:
        """Work on a child where it can go on, and on the run above once it has ended, if that is a child."""
        row = self._load_row(run_id)
        if row["status"] in ENDED or (row["status"] == "waiting" and not row["can_go_on"]):
            return
        flow = self._load_digest(row["digest"], row["flow_name"])
        ran = self._store.work(run_id, flow=flow, due=True)
        if ran.status in ENDED or (ran.status == "failed" and ran.retry_at is None):
            above = self._load_row(ran.parent)
            if above["parent_run_id"] and above["digest"] in self.digests.values():
                self._go_on_with(above["run_id"])

    @cached_property
    def _workers(self) -> _Workers:
        return _Workers(WORKERS)

    @cached_property
    def _store(self) -> RunStore:
        from cinatra_sdk.store import RunStore  # late: most platforms run no children

        return RunStore(self.database, host=self.host)


class _Workers:
    """A bounded number of threads that end when nothing is left; the process does not wait for them.

    A process that ends leaves its children as a crash would: due, for whoever sweeps.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._due: deque[Callable[[], None]] = deque()
        self._busy = 0

    def do(self, work: Callable[[], None]) -> None:
        with self._lock:
            self._due.append(work)
            if self._busy >= self._most:
                return
            self._busy += 1
        threading.Thread(target=self._do_all, name="oasflow-child", daemon=True).start()

    def _do_all(self) -> None:
        while True:
            with self._lock:
                if not self._due:
                    self._busy -= 1
                    return
                work = self._due.popleft()
            try:
                work()
            except (RunBusy, RunEnded):
                pass  # somebody else was quicker
            except FlowError as problem:
                log.warning("a child is left: %s", problem)
            except Exception:
                log.exception("a child is left")
