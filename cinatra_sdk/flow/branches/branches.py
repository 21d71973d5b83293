"""Branches of one node as LangGraph tasks: functions that run beside each other.

    run_branches([Branch("each[0]", first), Branch("each[1]", second)])   ->   [BranchOutcome(…), BranchOutcome(…)]

Each branch is one LangGraph task (`langgraph.func.task`), and the engine stores the result of a task.
So a finished branch does not run again when its node does, after a pause or a crash.  The engine
numbers tasks, and graphs inside them, in the order in which they begin; so branches always begin in
the same order.  Threads of our own around `invoke` would mix up results and answers.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections import ChainMap
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Any, Final, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt

from cinatra_sdk.langgraph_internals.nodes import begin_task, read_namespace
from cinatra_sdk.langgraph_threads.graph_input import read_interrupts
from cinatra_sdk.light_imports.records import dataclass


@dataclass(frozen=True, slots=True)
class Branch:
    """One function of a node."""

    name: str
    """Unique in the node, and the same whenever the node runs again."""
    run: Callable[[], Any]
    """Returns JSON."""
    arun: Callable[[], Awaitable[Any]]
    place: str = ""
    """Unique in the run, and the same whenever the node runs again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchOutcome:
    """What a branch came to: a result, a pause, or an error; none of them: it did not begin."""

    result: Any = None
    interrupts: tuple[Interrupt, ...] = ()
    error: Exception | None = None
    begun: bool = True

    @property
    def is_done(self) -> bool:
        return self.begun and not self.interrupts and self.error is None


NOT_BEGUN = BranchOutcome(begun=False)


EndsAll: TypeAlias = Callable[[Any], bool]
"""Told the result of each branch that is done; whether one so far ends the run."""


def _never(_result: Any) -> bool:
    return False


def run_branches(
    branches: Sequence[Branch], *, at_once: int | None = None, ends_all: EndsAll = _never
) -> list[BranchOutcome]:
    """Run branches and wait for all of them that have begun.

    at_once: how many run at a time; None: as many as the engine lets.  1 runs one after the other,
    and none after one that paused, failed or ended the run.
    """
    if at_once == 1:
        return _run_in_turn(branches, ends_all)
    running: dict[concurrent.futures.Future[Any], int] = {}
    outcomes = [NOT_BEGUN] * len(branches)
    for place, branch in enumerate(branches):
        if at_once is not None and len(running) >= at_once:
            done, _ = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in done:
                outcomes[running.pop(future)] = outcome = _await_outcome(future)
                if outcome.is_done:
                    ends_all(outcome.result)
        running[begin_task(branch.name, branch.run)] = place
    for future, place in running.items():
        outcomes[place] = _await_outcome(future)
    return outcomes


def _run_in_turn(branches: Sequence[Branch], ends_all: EndsAll) -> list[BranchOutcome]:
    outcomes = [NOT_BEGUN] * len(branches)
    for place, branch in enumerate(branches):
        outcomes[place] = _await_outcome(begin_task(branch.name, branch.run))
        if not outcomes[place].is_done or ends_all(outcomes[place].result):
            break
    return outcomes


def _await_outcome(future: concurrent.futures.Future[Any]) -> BranchOutcome:
    try:
        return BranchOutcome(result=future.result())
    except GraphInterrupt as pause:
        return BranchOutcome(interrupts=read_interrupts(pause))
    except Exception as error:  # noqa: BLE001 - the node decides which error is its own
        return BranchOutcome(error=error)


async def arun_branches(
    branches: Sequence[Branch], *, at_once: int | None = None, ends_all: EndsAll = _never
) -> list[BranchOutcome]:
    """As `run_branches`, for an event loop."""
    outcomes = [NOT_BEGUN] * len(branches)
    if at_once == 1:
        for place, branch in enumerate(branches):
            outcomes[place] = await _aawait_outcome(begin_task(branch.name, branch.arun))
            if not outcomes[place].is_done or ends_all(outcomes[place].result):
                break
        return outcomes
    running: dict[asyncio.Future[Any], int] = {}
    for place, branch in enumerate(branches):
        if at_once is not None and len(running) >= at_once:
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for future in done:
                outcomes[running.pop(future)] = outcome = await _aawait_outcome(future)
                if outcome.is_done:
                    ends_all(outcome.result)
        running[asyncio.ensure_future(begin_task(branch.name, branch.arun))] = place
    for future, place in running.items():
        outcomes[place] = await _aawait_outcome(future)
    return outcomes


async def _aawait_outcome(future: Awaitable[Any]) -> BranchOutcome:
    try:
        return BranchOutcome(result=await future)
    except GraphInterrupt as pause:
        return BranchOutcome(interrupts=read_interrupts(pause))
    except Exception as error:  # noqa: BLE001 - the node decides which error is its own
        return BranchOutcome(error=error)


def stop_for(outcomes: Sequence[BranchOutcome]) -> None:
    """Raise what keeps the node from going on: the first error, else one pause with every gate."""
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    waiting = [one for outcome in outcomes for one in outcome.interrupts]
    if waiting:
        raise GraphInterrupt(waiting)


# ----------------------------------------------------------------------------
# Whether a rejection cut off branches of the flow that runs now.
#
#     with listening_for_a_cut() as was_cut: …      # around the flow
#     `tell_of_a_cut()                               # by the node whose branch was rejected`
#
# A node that cuts its branches off ends, and the engine still raises the pauses of those branches, as
# if the flow around the node had paused itself.  Whoever runs that flow lets the engine go on: it then
# takes in what the node came to.  Without this, a flow two nodes deep would wait for a further step,
# in which branches beside it could act.


_cuts: ContextVar[list[bool] | None] = ContextVar("cinatra_cuts", default=None)


@contextmanager
def listening_for_a_cut() -> Iterator[Callable[[], bool]]:
    """A function that says whether a node of the flow has told of a cut; not one deeper inside."""
    cuts: list[bool] = []
    token = _cuts.set(cuts)
    try:
        yield lambda: bool(cuts)
    finally:
        _cuts.reset(token)


def tell_of_a_cut() -> None:
    cuts = _cuts.get()
    if cuts is not None:
        cuts.append(True)


# ----------------------------------------------------------------------------
# Notes for a branch that begins again as a task, about its run without a task.
#
#     hand_on(branch, notes)      the same branch, whose task has the notes: what ended and paused inside
#     read_handed(config)         in a node of the branch: the notes; empty notes in any other node
#
# Without notes a node inside would run all its branches again, also those that have ended.  Notes hold for the
# task alone: a tool may run another graph in the task, with branches at the same places.


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchNotes:
    """What came of the branches of a node, and of the nodes inside them; by their places in the run."""

    results: MutableMapping[str, Any] = field(default_factory=dict)
    paused: set[str] = field(default_factory=set)
    """Those that only a task can go on with."""

    def copy(self) -> BranchNotes:
        """Notes that begin with these, and leave the results of these as they are."""
        return BranchNotes(results=ChainMap({}, self.results), paused=self.paused)


_HANDED: Final[ContextVar[tuple[str, BranchNotes] | None]] = ContextVar(
    "oasflow_handed", default=None
)


def hand_on(branch: Branch, notes: BranchNotes) -> Branch:
    """The branch, to be run as a task."""

    def run() -> Any:
        _HANDED.set((read_namespace(get_config()), notes))
        return branch.run()

    async def arun() -> Any:
        _HANDED.set((read_namespace(get_config()), notes))
        return await branch.arun()

    return Branch(branch.name, run, arun, branch.place)


def read_handed(config: RunnableConfig) -> BranchNotes:
    """config: of the node."""
    handed = _HANDED.get()
    if handed is None or handed[0] != read_namespace(config):
        return BranchNotes()
    return handed[1]
