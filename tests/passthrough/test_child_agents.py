"""Child agents as the platform calls them: whose child a run is, and a call that does not wait for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from cinatra_sdk import HostParts, RunStore
from cinatra_sdk.host.passthrough.agent_runs import ChildAgents
from cinatra_sdk.host.passthrough.passthrough_route import NamedCall, NamedTool
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.outside.routes import RouteError, RunOwner
from oas_compiler import compile_flow
from tests.flows import end, flow_of, port, start, tool

CHILD = "@x/child"
started, may_end = threading.Event(), threading.Event()


def wait() -> str:
    started.set()
    assert may_end.wait(30)
    return "done"


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


@pytest.fixture
def child(store: RunStore) -> NamedTool:
    host = HostParts(tools={"wait": wait})
    flow = compile_flow(
        flow_of(start(), tool("step", "wait", [], [port("said")]), end()), host=host
    )
    children = ChildAgents.keep(store.database, {CHILD: flow}, host)
    children.work_on(SimulatedPlatform())
    (made,) = children.tools()
    return made


async def call_from(child: NamedTool, parent: str) -> Any:
    owner = RunOwner(run_id=parent, tenant="acme", person="ann")
    return await child.call(NamedCall(tool=CHILD, input={}, owner=owner, key="the same key"))


def start_parent(store: RunStore, run_id: str) -> None:
    store.create(compile_flow(flow_of(start(), end())), {}, run_id, tenant="acme")


def test_two_runs_that_call_by_the_same_key_have_a_child_each(
    store: RunStore, child: NamedTool
) -> None:
    may_end.set()
    for parent in ("r1", "r2"):
        start_parent(store, parent)
        for _ in range(2):  # the same child again
            with suppress(RouteError):
                asyncio.run(call_from(child, parent))
    found = [run.parent for run in store.list(tenant="acme") if run.parent]
    assert sorted(found) == ["r1", "r2"]


def test_a_call_begins_its_child_and_does_not_wait_for_it(
    store: RunStore, child: NamedTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    started.clear()
    may_end.clear()
    failed: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", failed.append)
    start_parent(store, "r1")
    with pytest.raises(RouteError, match="child_waits"):
        asyncio.run(call_from(child, "r1"))
    assert started.wait(30)
    thread = next(one for one in threading.enumerate() if one.name == "oasflow-child")
    may_end.set()
    thread.join(30)
    assert failed == []
    (made,) = (run for run in store.list(tenant="acme") if run.parent)
    assert made.status == "completed"
    assert asyncio.run(call_from(child, "r1")) == {}
