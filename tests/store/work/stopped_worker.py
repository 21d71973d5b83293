"""Processes that work on a run of `Branches`, to be stopped, killed or raced by a test.

The work behind a gate is two calls: each asks whether the run is still ours, then adds a line to a
file.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from cinatra_sdk import Decision, FlowError, GateClosed, RunStore
from tests.store.work.branches import Branches

LEASE = 0.4
"""Seconds."""
PATIENCE = 120.0
"""Seconds to wait for another process of the test, also on a busy machine."""


def call(file: str, what: str) -> None:
    with Path(file).open("a", encoding="utf-8") as lines:
        lines.write(f"{os.getpid()} {what}\n")


def work_slowly(dsn: str, file: str, run_id: str, unfenced: bool) -> None:
    """Work on the run; stops itself (SIGSTOP) inside the first branch that it carries out."""
    if unfenced:
        _take_the_fence_away()

    def does(name: str) -> str:
        call(file, name)
        if name == "a":
            os.kill(os.getpid(), signal.SIGSTOP)  # the test wakes this process up
        return name

    with RunStore.open(dsn, lease=LEASE) as store:
        try:
            run = store.work(run_id, flow=Steps(does))
        except FlowError as error:
            call(f"{file}.said", type(error).__name__)
        else:
            call(f"{file}.said", run.status)


class Steps(Branches):
    """One gate, then `a` and `b` one after the other, each asking before it acts."""

    def __init__(self, does: Any = None) -> None:
        super().__init__(("ok", "b"), does=does)

    def graph(self, checkpointer: Any = None) -> Any:
        from langgraph.graph import END, START, StateGraph
        from langgraph.runtime import get_runtime

        from cinatra_sdk import HostContext
        from cinatra_sdk.langgraph_threads.host_context import context_of
        from cinatra_sdk.outside.effects.permits import admit
        from tests.store.work.branches import State, effect_of, finish

        def act(name: str) -> Any:
            def acts(_state: State) -> Any:
                admit(effect_of(name), context_of(get_runtime(HostContext).context).door)
                return {"outputs": {name: self.does(name)}}

            return acts

        builder: Any = StateGraph(State, context_schema=HostContext)
        for name in ("a", "b", "c"):
            builder.add_node(name, act(name))
        builder.add_node("last", finish)
        for before, after in ((START, "a"), ("a", "b"), ("b", "c"), ("c", "last"), ("last", END)):
            builder.add_edge(before, after)
        return builder.compile(checkpointer=checkpointer)


def _take_the_fence_away() -> None:
    """The control: this process writes and acts with the fence of whoever has the run."""
    from cinatra_sdk.store.work import saver
    from cinatra_sdk.store.work.run_ledger import RunLedger

    class Unfenced(saver.RunSaver):
        @property
        def fence(self) -> int:
            row: Any = self.connection.execute(
                "select fence from work where run_id = %s", [self.run_id]
            ).fetchone()
            return int(row["fence"])

        @fence.setter
        def fence(self, _value: int) -> None:
            return

    saver.RunSaver = Unfenced  # type: ignore[misc]
    RunLedger.ask = lambda _self, _effect: None  # type: ignore[method-assign]


def answer_gates(dsn: str, file: str, by: str, names: list[str], rivals: Any) -> None:
    """Decide every gate that is still open, and write down which ones this process won.

    rivals: a barrier.  All meet before each eighth gate: on a machine with much else to do, one
    process would have decided all of them before another one got its turn.  Whoever comes to it last
    goes on first, and that is often the same process, so every other time each begins at a gate of
    its own.
    """
    own = int(by.removeprefix("p")) * 8 // rivals.parties
    with RunStore.open(dsn) as store:
        for chunk, begin in enumerate(range(0, len(names), 8)):
            eight = names[begin : begin + 8]
            rivals.wait(PATIENCE)
            for name in eight if chunk % 2 == 0 else [*eight[own:], *eight[:own]]:
                run_id, _, gate_id = name.partition("/")
                made = Decision.approve(by=by)
                try:
                    store.decide(run_id, gate_id, made, flow=Branches(("a", "b")))
                except GateClosed:
                    continue
                call(file, name)


def die_at(point: int, dsn: str, file: str, run_id: str) -> None:
    """A run from its creation to its end, killed before the n-th statement."""
    import psycopg

    remaining = [point]
    original = psycopg.Cursor.execute

    def tapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        remaining[0] -= 1
        if remaining[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(self, *args, **kwargs)

    def does(name: str) -> str:
        call(file, name)
        return name

    flow = Branches(("a", "b"), does=does)
    with RunStore.open(dsn) as store:
        psycopg.Cursor.execute = tapped  # type: ignore[method-assign]
        run = store.start(flow, run_id=run_id)
        for gate in run.waiting:
            store.answer(run_id, gate.id, Decision.approve(by="worker"), flow=flow)
