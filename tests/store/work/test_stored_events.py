"""Events of stored runs: numbered without a gap, stored with what they tell of, followed by anybody."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, RunNotFound, RunStore, SimulatedPlatform, host_context
from cinatra_sdk.events import RunEvent
from oas_compiler import compile_flow
from tests.flows import end, flow_node, flow_of, gate, start
from tests.store.work.branches import Branches
from tests.warm import FORKED

FLOW = compile_flow(flow_of(start(), gate("ok"), end()), platform=SimulatedPlatform())
ANN = Decision.approve(by="ann", reason="fine")


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


def names(events: Any) -> list[str]:
    return [f"{event.kind} {event.name} {event.path}".rstrip() for event in events]


def require_no_gap(events: list[RunEvent]) -> None:
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


def test_a_run_tells_its_whole_life(store: RunStore) -> None:
    store.start(FLOW, run_id="r1", by="bob")
    store.answer("r1", "ok", ANN)
    events = store.told("r1")
    require_no_gap(events)
    assert names(events) == [
        "run created", "run started", "node started start", "node finished start", "node started ok",
        "node paused ok", "gate opened ok", "run waiting", "decision approved ok", "run started",
        "node started ok", "node finished ok", "message said ok", "message said ok",
        "node started end", "node finished end",
        "run completed",
    ]  # fmt: skip
    assert events[8].data == {"gate": "ok", "by": "ann", "reason": "fine"}
    assert all(event.run_id == "r1" and event.at is not None for event in events)
    assert events == list(store.events("r1"))
    assert events[10:] == list(store.events("r1", after=10))


def test_events_are_those_of_one_tenants_run(store: RunStore) -> None:
    store.start(FLOW, run_id="r1", tenant="acme")
    for ask in (store.told, store.events, lambda *a, **k: asyncio.run(_collect(store, *a, **k))):
        with pytest.raises(RunNotFound):
            ask("r1", tenant="other")


async def _collect(store: RunStore, run_id: str, **how: Any) -> list[RunEvent]:
    return [event async for event in store.aevents(run_id, **how)]


def test_a_rejection_tells_of_the_gates_that_it_closes(store: RunStore) -> None:
    store.start(Branches(("a", "b", "c")), run_id="r1")
    before = len(store.told("r1"))
    store.decide("r1", {"a": ANN, "b": Decision.reject(by="bob", reason="no")})
    assert names(store.told("r1")[before:]) == [
        "decision approved a", "decision rejected b", "gate closed c",
    ]  # fmt: skip
    store.work("r1")
    assert names(store.told("r1"))[-1] == "run rejected"
    require_no_gap(store.told("r1"))


def test_a_stop_tells_of_itself(store: RunStore) -> None:
    store.start(Branches(("a", "b")), run_id="r1")
    store.stop("r1", by="ann", reason="late")
    store.stop("r1", by="bob")
    assert names(store.told("r1"))[-3:] == ["gate closed a", "gate closed b", "run stopped"]
    assert store.told("r1")[-1].data == {"by": "ann", "reason": "late"}
    require_no_gap(store.told("r1"))


def test_a_gate_that_stays_open_opens_once(store: RunStore) -> None:
    store.start(Branches(("a", "b")), run_id="r1")
    store.answer("r1", "a", ANN)
    opened = [event.path for event in store.told("r1") if event.name == "opened"]
    assert sorted(opened) == ["a", "b"]


def test_gates_that_the_policy_skips_are_decisions_and_events(store: RunStore) -> None:
    waived = {"steps": [{"stepNumber": 1, "requiresApproval": False}]}
    flow = compile_flow(flow_of(start(), gate("ok"), end()), platform=SimulatedPlatform())
    run = store.start(flow, run_id="r1", context=host_context(run_id="r1", approval_policy=waived))
    assert run.status == "completed"
    (record,) = store.decisions("r1")
    assert (record.kind, record.gate_id, record.node, record.visit, record.step) == (
        "auto_skipped", "ok", "ok", 1, 1,
    )  # fmt: skip
    assert record.policy_sha256
    assert names(store.told("r1")).count("decision auto_skipped ok") == 1


def test_a_skip_inside_of_a_subflow_that_waits_is_recorded_at_once(store: RunStore) -> None:
    inner = flow_of(start(), gate("first"), gate("second"), end(), id_="inner")
    entries = [{"name": "First"}, {"name": "Second"}]
    outer = flow_of(start(), flow_node("sub", inner, gateSteps=entries), end())
    flow = compile_flow(outer, platform=SimulatedPlatform())
    assert [asked.step for asked in flow.gates] == [1, 2]
    steps = [
        {"stepNumber": 1, "requiresApproval": False},
        {"stepNumber": 2, "requiresApproval": True},
    ]
    context = host_context(run_id="r1", approval_policy={"steps": steps})
    run = store.start(flow, run_id="r1", context=context)
    assert [waits.id for waits in run.waiting] == ["sub/second"]
    kept = [(record.gate_id, record.kind) for record in store.decisions("r1")]
    assert kept == [("sub/first", "auto_skipped")]
    assert names(store.told("r1")).count("decision auto_skipped sub/first") == 1
    require_no_gap(store.told("r1"))


# ------------------------------------------------------------------ followers


def test_a_follower_sees_a_run_of_another_thread_to_its_end(store: RunStore) -> None:
    store.create(FLOW, run_id="r1")
    seen: list[RunEvent] = []
    follower = threading.Thread(target=lambda: seen.extend(store.events("r1", follow=True)))
    follower.start()
    store.work("r1")
    store.answer("r1", "ok", ANN)
    follower.join(10)
    assert not follower.is_alive()
    assert seen == store.told("r1")


def test_a_follower_on_a_loop_sees_the_same(store: RunStore) -> None:
    store.create(FLOW, run_id="r1")

    async def follow() -> list[RunEvent]:
        task = asyncio.create_task(_collect(store, "r1", follow=True))
        await asyncio.to_thread(store.work, "r1")
        await asyncio.to_thread(store.answer, "r1", "ok", ANN)
        return await asyncio.wait_for(task, 10)

    assert asyncio.run(follow()) == store.told("r1")


def answer_elsewhere(dsn: str) -> None:
    with RunStore.open(dsn) as other:
        other.answer("r1", "ok", ANN, flow=FLOW)


def test_news_of_another_process_wakes_a_follower(
    store: RunStore, fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cinatra_sdk.store.runs.run_events.POLL", 3600.0)
    store.start(FLOW, run_id="r1")
    seen: list[RunEvent] = []
    follower = threading.Thread(target=lambda: seen.extend(store.events("r1", follow=True)))
    follower.start()
    other = FORKED.Process(target=answer_elsewhere, args=(fresh_database,))
    other.start()
    follower.join(30)
    other.join(30)
    assert not follower.is_alive()
    assert names(seen)[-1] == "run completed"


def test_followers_that_hang_or_go_away_hold_no_connection(store: RunStore) -> None:
    store.start(FLOW, run_id="r1")
    hanging = [store.events("r1", follow=True) for _ in range(30)]
    assert [next(one).seq for one in hanging] == [1] * 30
    assert store.answer("r1", "ok", ANN).status == "completed"
    for one in hanging[:15]:
        one.close()  # type: ignore[attr-defined]
    assert [len(list(one)) for one in hanging[15:]] == [len(store.told("r1")) - 1] * 15
    assert store.database.news._subscribers == {}


@pytest.mark.parametrize("broken", ["raises", "hangs"])
def test_a_watcher_that_raises_or_hangs_changes_nothing(store: RunStore, broken: str) -> None:
    release = threading.Event()

    def watch(_event: RunEvent) -> None:
        if broken == "raises":
            raise ZeroDivisionError
        release.wait(20)

    try:
        assert store.start(FLOW, run_id="r1", on_event=watch).status == "waiting"
    finally:
        release.set()
    assert names(store.told("r1"))[-1] == "run waiting"
    require_no_gap(store.told("r1"))


def test_what_a_model_says_is_live_only(store: RunStore) -> None:
    store.start(FLOW, run_id="r1")
    follower = store.events("r1", follow=True)
    stored = len(store.told("r1"))
    for _ in range(stored):
        next(follower)
    said = RunEvent(kind="token", name="said", path="draft", visit=1, data={"text": "Hel"})
    store.database.news.tell("r1", said)
    assert next(follower) == said
    assert len(store.told("r1")) == stored


# ------------------------------------------------------------------ a crash


def die_at_statement(dsn: str, point: int, ended: str) -> None:
    from tests.store.work.stopped_worker import die_at

    die_at(point, dsn, ended, "r1")


@pytest.mark.parametrize("point", [8, 11, 13, 16, 18, 21])
def test_a_killed_process_leaves_events_without_a_gap(
    store: RunStore, fresh_database: str, tmp_path: Path, point: int
) -> None:
    child = FORKED.Process(
        target=die_at_statement, args=(fresh_database, point, str(tmp_path / "calls"))
    )
    child.start()
    child.join(60)
    flow = Branches(("a", "b"))
    try:
        run = store.get("r1")
    except RunNotFound:
        run = store.start(flow, run_id="r1")
    deadline = time.monotonic() + 30
    while run.status not in {"completed", "failed"} and time.monotonic() < deadline:
        for waits in run.waiting:
            store.decide("r1", waits.id, ANN, flow=flow)
        run = store.work("r1", flow=flow)
    events = store.told("r1")
    require_no_gap(events)
    told = names(events)
    assert run.status == "completed"
    for once in ("run created", "decision approved a", "decision approved b", "run completed"):
        assert told.count(once) == 1, (once, told)
    assert told[-1] == "run completed"
