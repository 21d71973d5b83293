"""A paused run stops at its next step, in whatever process works on it, and goes on when a person says so."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cinatra_sdk import (
    AnswerInvalid,
    Decision,
    NotAllowed,
    RunEnded,
    RunNotFound,
    RunStore,
    SimulatedPlatform,
)
from cinatra_sdk.api import Person
from cinatra_sdk.outside.effects.door import Verdict
from cinatra_sdk.outside.http_calls.protocol import PlatformUnreachable
from cinatra_sdk.postgres.connection import STATEMENTS, Statement
from cinatra_sdk.store import PersonStore
from cinatra_sdk.store.health import examine
from graphs import orchestrator_v1
from oas_compiler import compile_flow
from tests.flow.containers import around, checked_item, mapped, nested
from tests.flows import api, end, flow_of, gate, port, start
from tests.store.graph_worker import INPUT, approve_all
from tests.store.work.stopped_worker import Steps

ANN = Decision.approve(by="ann")
NAMES = ("a", "b", "c")
CHAIN = flow_of(start(), *[api(name, outputs=[port("o")]) for name in NAMES], end())
GATED = flow_of(start(), api("first"), gate("ok"), api("second"), end())


class Calls(SimulatedPlatform):
    """Counts calls by key; `within` is called in the middle of each, with the name of the node."""

    def __init__(self) -> None:
        super().__init__()
        self.made: Counter[str] = Counter()
        self.nodes: list[str] = []
        self.within: Callable[[str], None] = lambda _node: None
        self._guard = threading.Lock()

    def call(self, call: Any) -> Any:
        with self._guard:
            self.made[call.idempotency_key] += 1
            self.nodes.append(call.node)
        self.within(call.node)
        return super().call(call)

    def at(self, node: str, does: Callable[[], object]) -> None:
        """Do it within the next call of the node."""

        def within(called: str) -> None:
            if called == node:
                self.within = lambda _node: None
                does()

        self.within = within


@pytest.fixture
def platform() -> Calls:
    return Calls()


@pytest.fixture
def store(fresh_database: str, platform: Calls) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, platform=platform) as opened:
        yield opened


@pytest.fixture
def other(fresh_database: str, platform: Calls) -> Iterator[RunStore]:
    """What another process has."""
    with RunStore.open(fresh_database, platform=platform) as opened:
        yield opened


def list_told(store: RunStore, run_id: str = "r1") -> list[str]:
    return [event.name for event in store.told(run_id) if event.kind == "run"]


@pytest.mark.parametrize("whose", ["its own store", "another process"])
def test_a_run_that_is_paused_in_a_call_ends_the_call_and_makes_no_other(
    store: RunStore, other: RunStore, platform: Calls, whose: str
) -> None:
    pauser = store if whose == "its own store" else other
    platform.at("a", lambda: pauser.pause("r1", by="ann"))
    run = store.start(compile_flow(CHAIN, platform=platform), run_id="r1")
    assert (run.status, run.paused_by, run.failures) == ("running", "ann", 0)
    assert run.paused_at is not None
    assert platform.nodes == ["a"]
    assert [one.status for one in store.effects("r1").items] == ["done"]
    assert sorted(list_told(store)) == ["created", "left", "paused", "started"]
    assert list_told(store)[-1] == "left"
    assert store.sweep(grace=0.0) == []
    assert store.work("r1").paused_at == run.paused_at
    assert platform.nodes == ["a"]
    run = other.resume("r1", by="bob")
    assert (run.status, run.paused_at, run.paused_by, run.failures) == ("completed", None, "", 0)
    assert platform.nodes == ["a", "b", "c"]


def test_a_pause_that_nobody_sees_stops_nothing(
    store: RunStore, other: RunStore, platform: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The control: no statement tells of the pause.
    for name in ("begin_effect", "load_standing", "write_work"):
        text, names = STATEMENTS[name]
        assert "paused_at is not null" in text
        seen: Any = text.replace("paused_at is not null", "false")
        monkeypatch.setitem(STATEMENTS, name, Statement(seen, names))
    platform.at("a", lambda: other.pause("r1", by="ann"))
    store.start(compile_flow(CHAIN, platform=platform), run_id="r1")
    assert platform.nodes == ["a", "b", "c"]


def test_a_run_that_only_computes_is_stopped_by_what_it_stores_or_by_the_heartbeat(
    store: RunStore, other: RunStore
) -> None:
    for beats in (False, True):
        done: list[str] = []

        def does(name: str, done: list[str] = done, beats: bool = beats) -> str:
            done.append(name)
            if name == "a":
                other.pause(f"r{beats}", by="ann")
                if beats:
                    store._claims._heart.beat()
            return name

        run = store.start(Steps(does), run_id=f"r{beats}")
        assert (run.status, run.paused_by, done) == ("running", "ann", ["a"])
        assert store.resume(f"r{beats}", flow=Steps(does)).status == "completed"
        assert done == ["a", "b", "c"]


def test_branches_that_have_begun_end_their_calls_and_no_other_begins(
    store: RunStore, other: RunStore, platform: Calls
) -> None:
    doc = around(mapped(checked_item(gates=0), parallel=True), items=40)
    flow = compile_flow(doc, platform=platform)
    seen: list[int] = []

    def within(_node: str) -> None:
        if len(platform.nodes) >= 10 and not seen:
            seen.append(1)
            other.pause("r1", by="ann")

    platform.within = within
    run = store.start(flow, run_id="r1")
    assert run.paused_at is not None
    assert len(platform.nodes) < 80
    assert {one.status for one in store.effects("r1").items} == {"done"}
    assert store.resume("r1").status == "completed"
    assert (len(platform.made), set(platform.made.values())) == (80, {1})


@pytest.mark.parametrize(
    "doc",
    [nested(), around(mapped(checked_item(gates=0), kind="MapNode"))],
    ids=["with gates", "without"],
)
def test_a_pause_reaches_every_depth(store: RunStore, platform: Calls, doc: Any) -> None:
    run = store.start(compile_flow(doc, platform=platform), run_id="r0")
    while run.waiting:
        run = store.answer("r0", run.waiting[0].id, ANN)
    whole, stops = len(platform.made), 0
    assert (run.status, set(platform.made.values())) == ("completed", {1})
    platform.made.clear()

    def pause() -> None:
        store.pause("r1", by="ann")
        platform.within = lambda _node: None

    platform.within = lambda _node: pause()
    run = store.start(compile_flow(doc, platform=platform), run_id="r1")
    while run.status != "completed":
        if run.paused_at is None:
            run = store.answer("r1", run.waiting[0].id, ANN)
            continue
        stops += 1
        platform.within = lambda _node: pause()
        run = store.resume("r1")
    assert stops >= 3  # calls beside each other may fall under one pause
    assert (len(platform.made), set(platform.made.values())) == (whole, {1})


def test_a_paused_gate_takes_an_answer_which_is_carried_out_when_the_run_goes_on(
    store: RunStore, platform: Calls
) -> None:
    flow = compile_flow(GATED, platform=platform)
    store.start(flow, run_id="r1")
    assert store.pause("r1", by="ann").status == "waiting"
    assert store.pause("r1", by="bob").paused_by == "ann"  # the first counts
    assert [gate.gate.id for gate in store.gates().items] == ["ok"]
    run = store.answer("r1", "ok", ANN)
    assert (run.status, run.waiting, run.paused_by) == ("waiting", (), "ann")
    assert platform.nodes == ["first"]
    assert store.sweep(grace=0.0) == []
    assert examine(store.database.dsn).due == {}
    assert store.resume("r1").status == "completed"
    assert platform.nodes == ["first", "second"]
    with pytest.raises(RunEnded):
        store.pause("r1", by="ann")


def test_a_rejected_run_that_is_paused_ends_as_rejected_when_it_goes_on(
    store: RunStore, platform: Calls
) -> None:
    store.start(compile_flow(GATED, platform=platform), run_id="r1")
    store.pause("r1")
    assert store.answer("r1", "ok", Decision.reject(by="ann")).status == "waiting"
    assert store.resume("r1").status == "rejected"
    assert platform.nodes == ["first"]


def test_a_paused_run_is_not_tried_again_and_can_be_stopped(
    store: RunStore, platform: Calls
) -> None:
    def fail() -> None:
        raise PlatformUnreachable("no connection", node="a")

    platform.at("a", fail)
    assert store.start(compile_flow(CHAIN, platform=platform), run_id="r1").retry_at is not None
    store.pause("r1", by="ann")
    with store.database.connection() as rows:
        rows.execute("update runs set retry_at = clock_timestamp()")
    assert store.sweep(grace=0.0) == []
    run = store.stop("r1", by="bob")
    assert (run.status, run.paused_at, run.paused_by) == ("stopped", None, "")
    assert platform.nodes == ["a"]


def test_a_run_that_is_paused_before_it_begins_does_nothing(
    store: RunStore, platform: Calls
) -> None:
    flow = compile_flow(CHAIN, platform=platform)
    store.create(flow, run_id="r1")
    store.pause("r1")
    assert store.work("r1").attempts == 0
    assert platform.nodes == []
    assert store.resume("r1").status == "completed"


def test_whoever_goes_on_at_the_moment_at_which_it_stops_loses_nothing(
    store: RunStore, other: RunStore, platform: Calls
) -> None:
    def pause_and_resume() -> None:
        store.pause("r1", by="ann")  # its brake is pulled
        with other.database.connection() as rows:
            rows.execute("update work set paused_at = null, paused_by = ''")

    platform.at("a", pause_and_resume)
    assert store.start(compile_flow(CHAIN, platform=platform), run_id="r1").status == "completed"
    assert platform.nodes == ["a", "b", "c"]


def test_a_hand_written_graph_is_paused_too(fresh_database: str) -> None:
    platform = Calls()
    lent = orchestrator_v1.lend()
    with RunStore.open(fresh_database, host=lent.with_parts(platform=platform)) as store:
        flow = orchestrator_v1.flow.lent(lent.with_parts(platform=platform))
        platform.at("stage_1_recipients", lambda: store.pause("r1", by="ann"))
        run = store.start(flow, INPUT, run_id="r1")
        assert (run.status, run.paused_by) == ("running", "ann")
        assert platform.nodes == ["stage_0", "stage_1_recipients"]
        assert approve_all(store, store.resume("r1")).status == "completed"
        assert set(platform.made.values()) == {1}


def test_the_events_of_a_paused_run_end_when_it_has_stopped(
    store: RunStore, platform: Calls
) -> None:
    begun = threading.Event()
    go_on = threading.Event()

    def wait() -> None:
        begun.set()
        go_on.wait(60)

    platform.at("a", wait)
    flow = compile_flow(CHAIN, platform=platform)
    worker = threading.Thread(target=lambda: store.start(flow, run_id="r1"))
    worker.start()
    begun.wait(60)
    store.pause("r1", by="ann")
    go_on.set()
    names = [event.name for event in store.events("r1") if event.kind == "run"]
    assert names[-1] == "left"
    worker.join(60)


def test_a_person_pauses_what_the_host_lets_them(store: RunStore, platform: Calls) -> None:
    store.start(compile_flow(GATED, platform=platform), run_id="r1", tenant="acme")
    asked: list[str] = []

    def policy(_person: Person, action: str, _subject: Any) -> Verdict:
        asked.append(action)
        return Verdict.refuse("not today") if action == "pause" else Verdict.allow()

    ann = Person(id="ann", tenant="acme", proof="token")
    with pytest.raises(NotAllowed, match="not today"):
        PersonStore(store, ann, policy=policy).pause("r1")
    assert "pause" in asked
    with pytest.raises(NotAllowed):
        PersonStore(store, ann).pause("r1", by="bob")
    assert PersonStore(store, ann).pause("r1").paused_by == "ann"
    with pytest.raises(RunNotFound):
        PersonStore(store, Person(id="eve", tenant="beta", proof="token")).pause("r1")
    with pytest.raises(NotAllowed):
        PersonStore(store, ann).drain()
    with pytest.raises(AnswerInvalid):
        store.pause("r1", by="a\x00b")


def test_the_twin_pauses_too(store: RunStore, platform: Calls) -> None:
    store.start(compile_flow(GATED, platform=platform), run_id="r1")
    assert asyncio.run(store.apause("r1", by="ann")).paused_by == "ann"
