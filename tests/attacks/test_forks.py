"""Forks and time travel: nothing acts there, unless the host allowed it."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.errors import InvalidUpdateError
from langgraph.types import Command
from psycopg.conninfo import make_conninfo

from cinatra_sdk.errors import FlowError, ForkRefused
from cinatra_sdk.langgraph_threads import lineage
from cinatra_sdk.langgraph_threads.host_context import HostContext, host_context
from cinatra_sdk.outside.http_calls.protocol import PlatformError
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from graphs import orchestrator_v1
from tests.attacks import graphs
from tests.attacks.book import Attack, read_family
from tests.attacks.families import Control, Place, carry_out, list_params, require_start, tests_of
from tests.attacks.graphs import ERROR, GRAPHS, Made
from tests.attacks.nested import CONFIG


class Run:
    """One thread on one graph, driven by a client."""

    def __init__(self, how: Any, saver: Any) -> None:
        self.how = how
        self.saver = saver
        self.copied: Any = None
        stubs = dict(orchestrator_v1.SAMPLES) if how["graph"] == "orchestrator" else {}
        if how["after"] == "failed":
            send = GRAPHS[how["graph"]](SimulatedPlatform(), InMemorySaver()).send
            stubs[send] = [ERROR, stubs.get(send) or {}]
        self.platform = SimulatedPlatform(stubs)
        self.built(forks=how.get("allowed") in ("graph", "graph that began"))
        self.options: Any = {}
        if "durability" in how:
            self.options["durability"] = how["durability"]

    def built(self, *, forks: bool) -> None:
        effects = "forks" if forks else "line"
        self.made: Made = GRAPHS[self.how["graph"]](self.platform, self.saver, effects)
        self.graph = self.made.graph

    def invoke(self, given: Any, config: Any = CONFIG) -> None:
        self.graph.invoke(given, config, **self.options)

    def answer(self, approved: bool, config: Any = CONFIG) -> bool:
        """Whether a gate waited there."""
        waiting = self.graph.get_state(config).interrupts
        if waiting:
            self.invoke(Command(resume={waiting[0].id: {"approved": approved}}), config)
        return bool(waiting)

    def approve_all(self, config: Any = CONFIG) -> None:
        for _ in range(4):
            if not self.answer(True, config):
                return

    def begin(self) -> None:
        self.invoke(self.made.first)
        after = self.how["after"]
        if self.how["by"] == "thread":
            saver = self.saver
            self.copied = copy.deepcopy((saver.storage, dict(saver.writes), dict(saver.blobs)))
        if after in ("rejected", "first approved"):
            self.answer(after != "rejected")
        elif after != "waiting":
            with suppress(PlatformError):
                self.approve_all()

    @property
    def calls(self) -> list[str]:
        return [call.node for call in self.platform.calls]

    def old(self) -> Any:
        """A checkpoint that the thread has gone on from: at a gate, else the first there is."""
        every = list(self.graph.get_state_history(CONFIG))
        if self.how.get("inner"):
            parked = next(s for s in every if s.next == ("child",))
            (task,) = parked.tasks
            inner = {"configurable": {"thread_id": "t1", "checkpoint_ns": f"child:{task.id}"}}
            wanted = ("note",) if self.how["by"] == "launder" else ("review",)
            return next(s for s in self.graph.get_state_history(inner) if s.next == wanted)
        gated = [s for s in every[1:] if s.interrupts or any(t.interrupts for t in s.tasks)]
        return gated[0] if gated else every[-1] if every[-1] is not every[0] else every[0]


def attempt(attack: Attack, place: Place) -> str:
    how = attack.value
    if how.get("saver") == "postgres async":
        return asyncio.run(_on_async_postgres(how, place))
    with ExitStack() as stack:
        saver: Any = InMemorySaver()
        if how.get("saver") == "postgres":
            saver = stack.enter_context(PostgresSaver.from_conn_string(dsn_of(place)))
        return carried_out(how, Run(how, saver))


def dsn_of(place: Place) -> str:
    return make_conninfo(place.database, options="-c search_path=oasflow")


def carried_out(how: Any, run: Run) -> str:
    try:
        run.begin()
    except ForkRefused as refused:
        return str(refused).partition("(")[2].rstrip(")")
    if how["by"] in ("nothing", "head"):
        return on_the_line(how, run)
    before = len(run.calls)
    old = run.old()
    if how.get("allowed", "").startswith("graph that"):
        run.built(forks=how["allowed"] == "graph that goes on")
    if how.get("allowed") == "context":
        run.options["context"] = host_context(run_id="t1", effects="forks")
    if "said" in how:
        run.options["context"] = host_context(run_id="t1", effects=how["said"])
    if "context" in how:
        run.options["context"] = how["context"]
    if "unmarked" in how:
        run.options["context"] = HostContext(**how["unmarked"])
    with suppress(FlowError, InvalidUpdateError):
        FORKS[how["by"]](run, old)
    with suppress(FlowError):
        run.approve_all()
    return "no further call" if len(run.calls) == before else "called again"


def on_the_line(how: Any, run: Run) -> str:
    if how["after"] == "failed":
        run.invoke(None)
    if how["by"] == "head":
        while waiting := run.graph.get_state(CONFIG).interrupts:
            head = run.graph.get_state(CONFIG).config
            run.invoke(Command(resume={waiting[0].id: {"approved": True}}), head)
    sends = run.calls.count(run.made.send)
    expected = 2 if how["after"] == "failed" else 1
    return "sent once" if sends == expected else f"sent {sends} times"


def _time_travel(run: Run, old: Any) -> None:
    config = old.config
    if "configurable" in run.how:
        config = {"configurable": {**config["configurable"], **run.how["configurable"]}}
    run.invoke(None, config)


def _by_update(run: Run, old: Any) -> None:
    values = run.how.get("values", {"status": "running"})
    nodes = [None, *(name for name in run.graph.nodes if not name.startswith("__"))]
    for node in nodes:
        with suppress(InvalidUpdateError, FlowError):
            run.graph.update_state(old.config, values, as_node=node)
            run.invoke(None)
            run.approve_all()


def _by_copy(run: Run, old: Any) -> None:
    run.graph.update_state(old.config, None, as_node="__copy__")
    run.invoke(None)


def _by_resume(run: Run, old: Any) -> None:
    waiting = [i for task in old.tasks for i in task.interrupts]
    answer: Any = {waiting[0].id: {"approved": True}} if waiting else {"approved": True}
    run.invoke(Command(resume=answer), old.config)


def _by_thread(run: Run, _old: Any) -> None:
    """The thread as it was when it waited first, under another name: a server's "copy thread"."""
    assert run.copied is not None
    storage, writes, blobs = run.copied
    run.saver.storage["t2"] = storage["t1"]
    run.saver.writes.update({("t2", *rest): kept for (_thread, *rest), kept in writes.items()})
    run.saver.blobs.update({("t2", *rest): kept for (_thread, *rest), kept in blobs.items()})
    other: Any = {"configurable": {"thread_id": "t2"}}
    require_start(run.graph.get_state(other).interrupts, "nothing was copied")
    run.approve_all(other)


def _by_prune(run: Run, old: Any) -> None:
    """Back to the gate; then all is deleted that would show it, as a server's "prune" does."""
    with suppress(FlowError):
        run.invoke(None, old.config)
    if not run.graph.get_state(CONFIG).interrupts:
        run.graph.update_state(old.config, None, as_node="__copy__")
    for kept in run.saver.storage["t1"].values():
        for id_ in sorted(kept)[:-1]:
            del kept[id_]
    with suppress(FlowError):
        run.invoke(None)


def _by_laundering(run: Run, old: Any) -> None:
    """A fork of what is inside, and then an input, which enters it under another name."""
    run.graph.update_state(old.config, None, as_node="__copy__")
    run.invoke(run.made.first)


FORKS: Any = {
    "prune": _by_prune,
    "launder": _by_laundering,
    "invoke": _time_travel,
    "ainvoke": lambda run, old: asyncio.run(run.graph.ainvoke(None, old.config, **run.options)),
    "update": _by_update,
    "copy": _by_copy,
    "resume": _by_resume,
    "goto": lambda run, old: run.invoke(Command(goto=run.made.send), old.config),
    "input": lambda run, old: run.invoke(run.how.get("input", run.made.first), old.config),
    "thread": _by_thread,
}


async def _on_async_postgres(how: Any, place: Place) -> str:
    async with AsyncPostgresSaver.from_conn_string(dsn_of(place)) as saver:
        run = Run(how, saver)
        await run.graph.ainvoke(run.made.first, CONFIG)
        (waiting,) = (await run.graph.aget_state(CONFIG)).interrupts
        await run.graph.ainvoke(Command(resume={waiting.id: {"approved": True}}), CONFIG)
    return "sent once" if run.calls == ["send"] else f"called {run.calls}"


@contextmanager
def no_look(place: Place) -> Iterator[None]:
    """Nodes that never look where they stand."""
    with place.monkeypatch.context() as patch:
        patch.setattr(lineage, "_place_to_check", lambda *_args: None)
        yield


@contextmanager
def no_thread(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(lineage, "refuse_copy", lambda *_args: None)
        yield


CONTROLS = {
    "time travel": Control(open=no_look, row="flow,_approved-time_travel"),
    "after a reject": Control(open=no_look, row="flow,_rejected-time_travel"),
    "below another node": Control(open=no_look, row="a_subflow,_approved-time_travel"),
    "by hand": Control(open=no_look, row="orchestrator,_approved-time_travel"),
    "an update": Control(
        open=no_look, row="a_call_before_the_gate,_approved-update_state_on_an_old_checkpoint"
    ),
    "a copied thread": Control(open=no_thread, row="flow,_approved-a_copied_thread"),
}

test_attack, test_twin, test_control = tests_of("forks", attempt, CONTROLS)


@pytest.mark.parametrize("attack", list_params(read_family("forks").attacks))
def test_attack_where_nodes_share_a_superstep(
    attack: Attack, place: Place, record_property: Any
) -> None:
    place.monkeypatch.setattr(graphs, "FUSE", True)
    record_property("attack", "forks")
    assert carry_out(attempt, attack, place, record_property) == attack.expect
