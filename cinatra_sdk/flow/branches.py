"""Branches of one node: functions that run beside each other, each kept by the engine when it is done.

    run_branches([Branch("each[0]", first), Branch("each[1]", second)])   ->   [BranchOutcome(…), BranchOutcome(…)]

Each branch is one LangGraph task (`langgraph.func.task`).  A branch that has finished is not run
again when the node is, after a pause or a crash: the engine kept its result.  The engine numbers
tasks, and graphs inside them, in the order in which they begin, so branches always begin in their
own order; threads of our own around `invoke` would mix up results and answers.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt

from cinatra_sdk.engine.pausing import read_interrupts
from cinatra_sdk.flow.engine import begin_task


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
