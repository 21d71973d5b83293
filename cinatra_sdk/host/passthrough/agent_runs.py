"""Agents that flows call by the name of their package, each as a run of its own.

    children = ChildAgents.keep(database, {"@acme/drafts": flow}, host)
    children.work_on(platform)
    children.tools()             one NamedTool for each package
    children.describe()          {"@acme/drafts": "<sha256 of the flow>"}, from which another process goes on

    {"tool": "@acme/drafts", "input": {"goal": "meet"}}   ->   {"drafts": […]}      the child's outputs

A child's run is the parent's: of its tenant, and with the authority of its owner.  Its id follows from the
parent's and the key of the call, so a call that is made again finds the run that it began.  A child that waits for a person
fails the parent's node with 409 `child_waits`: once the gate is answered, the parent is resumed, and
finds the child's outputs.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from pydantic import JsonValue

from cinatra_sdk.contract import ENDED
from cinatra_sdk.errors import FlowError, InputInvalid, RunNotFound
from cinatra_sdk.host.passthrough.passthrough_route import NamedCall, NamedTool
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.routes import RouteError
from cinatra_sdk.postgres.connection import one, run
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.flows.flow_protocol import DurableFlow, load_flow

if TYPE_CHECKING:
    from cinatra_sdk.outside.http_calls.protocol import Platform
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store import RunStore


MOST_DEEP: Final = 4
"""Runs above a child's, up to the one that a person started: each of them holds a connection while it
waits for the next.
"""


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
        # A thread of its own: children of children would use up the threads that the loop has.
        return await asyncio.wrap_future(_begin(lambda: self._run(name, call)))

    def _run(self, name: str, call: NamedCall) -> JsonValue:
        parent = self._find_parent(call)
        # The key is the same for a call that is made again, and a caller over HTTP writes any: of
        # another run, it is another child.
        about = f"{parent.id}\n{call.key or uuid.uuid4().hex}\n{name}"
        run_id = f"child-{hashlib.sha256(about.encode()).hexdigest()[:24]}"
        problem: RouteError
        try:
            return self._read(name, self._drive(name, call, parent, run_id))
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

    def _drive(self, name: str, call: NamedCall, parent: Run, run_id: str) -> Run:
        store, tenant = self._store, parent.tenant
        try:
            found = store.get(run_id, tenant=tenant)
        except RunNotFound:
            flow = self._load(name)
            return store.start(
                flow,
                dict(call.input),
                run_id,
                tenant=tenant,
                by=call.owner.person or parent.started_by,
                parent=parent.id,
            )
        if found.status in ENDED or found.waiting:
            return found
        return store.resume(run_id, tenant=tenant, by=call.owner.person or parent.started_by)

    def _load(self, name: str) -> DurableFlow:
        digest = self.digests[name]
        with self.database.connection() as connection:
            row = one(connection, "load_flow", {"digest": digest})
        if row is None:
            raise RouteError(404, "handler_missing", f"the database has no flow of {name}")
        parts = self.host.with_parts(platform=self._platforms[0])
        return load_flow(bytes(row["source"]), digest=digest, host=parts)

    def _read(self, name: str, ran: Run) -> JsonValue:
        """The outputs of a run that is through.  Raises: `RouteError`."""
        if ran.status == "completed":
            return dict(ran.outputs or {})
        if ran.waiting:
            gates = ", ".join(f"{ran.id}/{gate.id}" for gate in ran.waiting)
            raise RouteError(
                409, "child_waits",
                f"{name} waits for a person at {gates}: answer it, then resume the run that called",
            )  # fmt: skip
        if ran.status in ENDED:
            raise RouteError(409, f"child_{ran.status}", f"{name} was {ran.status} (run {ran.id})")
        said = (ran.error or {}).get("message", f"its run {ran.id} is {ran.status}")
        raise RouteError(500, "child_failed", f"{name} failed in its run {ran.id}: {said}")

    @cached_property
    def _store(self) -> RunStore:
        from cinatra_sdk.store import RunStore  # late: most platforms run no children

        return RunStore(self.database, host=self.host)


def _begin(work: Callable[[], Any]) -> Future[Any]:
    """Do the work in a new thread."""
    future: Future[Any] = Future()
    # From now on it cannot be cancelled, only left alone: the work goes on to its end.
    future.set_running_or_notify_cancel()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - whoever waits is told
            future.set_exception(error)

    threading.Thread(target=do, name="oasflow-child", daemon=True).start()
    return future
