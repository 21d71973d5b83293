"""Branches of one node that run without a LangGraph task: a few threads, or the event loop, run them all.

For flows without a gate, of which there may be thousands.  The journal stores the result of each branch
(`cinatra_sdk.flow.branches.journal`), so a finished branch does not run again when another branch fails
or the process crashes.  Where code in a branch pauses by itself, that branch begins again as a task,
once all others have ended: only a task has a place for answers.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from typing import Any, Final, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt

from cinatra_sdk.flow.branches.branches import (
    NOT_BEGUN,
    Branch,
    BranchOutcome,
    EndsAll,
    arun_branches,
    hand_on,
    read_handed,
    run_branches,
)
from cinatra_sdk.flow.branches.journal import Journal, Keeper
from cinatra_sdk.langgraph_internals.nodes import (
    NeedsATask,
    enter_config,
    make_branch_config,
    read_keeper,
)

# ----------------------------------------------------------------------------
# Functions that run beside each other: in threads, or on the event loop.
#
#     run_beside([0, 1, 2], run, most=2)      run(0) here, run(1) in another thread, run(2) in the first free one
#
# The caller's own thread works, too, and waits for nobody who has not begun.  So nodes inside of nodes
# share the threads of the outermost one, and never wait for each other.


Run: TypeAlias = Callable[[int], bool]
"""Takes a number; whether to go on with those that have not begun.  In a context of its own."""
ARun: TypeAlias = Callable[[int], Awaitable[bool]]
_THREADS: Final[ContextVar[ThreadPoolExecutor | None]] = ContextVar("oasflow_threads", default=None)


def choose_most(config: RunnableConfig, at_once: int | None) -> int | None:
    """How many branches of a node run at a time; None: nobody has set a bound.

    at_once: the flow's own bound.  The host's `max_concurrency` holds beside it.
    """
    bounds = [one for one in (at_once, config.get("max_concurrency")) if one is not None]
    return min(bounds, default=None)


def run_beside(numbers: Sequence[int], run: Run, *, most: int | None) -> None:
    """Call `run` with each number.

    most: how many at a time; None: as many as the engine runs tasks, four more than there are cores.
    Raises: what `run` raises, when those that have begun have ended; no other one begins then.
    """
    most = min(32, (os.cpu_count() or 1) + 4) if most is None else most
    left = _Left(numbers, run)
    if most == 1 or len(numbers) < 2:
        left.work(copy_context())
        return
    with _borrow_threads(most - 1) as threads:
        helpers = _call_helpers(threads, left, min(most, len(numbers)) - 1)
        try:
            left.work(copy_context())
        finally:
            left.end()
            begun = [one for one in helpers if not one.cancel()]
            wait(begun)
    for one in begun:
        one.result()


class _Left:
    """The numbers that nobody has begun with."""

    def __init__(self, numbers: Sequence[int], run: Run) -> None:
        self._numbers = iter(numbers)
        self._run = run
        self._lock = threading.Lock()
        self._ended = False

    def work(self, context: Context) -> None:
        """Take one number after the other, each in a copy of the context."""
        try:
            while (number := self._take()) is not None:
                if not context.copy().run(self._run, number):
                    self.end()
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        self._ended = True

    def _take(self) -> int | None:
        with self._lock:
            return None if self._ended else next(self._numbers, None)


def _call_helpers(threads: ThreadPoolExecutor, left: _Left, count: int) -> list[Future[None]]:
    helpers = []
    for _ in range(count):
        try:
            helpers.append(threads.submit(left.work, copy_context()))
        except RuntimeError:  # those of a node that has ended meanwhile: the caller works alone
            break
    return helpers


@contextmanager
def _borrow_threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """The threads of the node around, else new ones."""
    around = _THREADS.get()
    if around is not None:
        yield around
        return
    with ThreadPoolExecutor(count, thread_name_prefix="oasflow-branch") as threads:
        token = _THREADS.set(threads)
        try:
            yield threads
        finally:
            _THREADS.reset(token)


async def arun_beside(numbers: Sequence[int], run: ARun, *, most: int | None) -> None:
    """As `run_beside`, for an event loop; most None: all at a time."""
    running: set[asyncio.Task[bool]] = set()
    try:
        for number in numbers:
            if most is not None and len(running) >= most:
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                ended = [one.result() for one in done]
                if not all(ended):
                    break
            running.add(asyncio.ensure_future(run(number)))
        while running:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_EXCEPTION)
            for one in done:
                one.result()
    finally:
        for one in running:
            one.cancel()
        if running:
            await asyncio.wait(running)


def run_plain_branches(
    branches: Sequence[Branch],
    config: RunnableConfig,
    *,
    at_once: int | None,
    ends_all: EndsAll,
    is_kept: bool,
) -> list[BranchOutcome]:
    """As `run_branches`; config: of the node; is_kept: whether there are checkpoints.

    Raises: `NeedsATask` in a branch of another node that runs without a task itself.
    """
    around: Keeper | None = read_keeper(config)
    keeper = around or _make_keeper(config, is_kept=is_kept)
    journal = keeper.journal
    work = _Work(branches, config, at_once=at_once, keeper=keeper)
    if around is not None:
        work.take_kept()
        run_beside(work.list_left(), work.run, most=work.most)
        return work.require_no_pause()
    while True:
        apart = work.place(journal.read(work.is_known))
        work.take_kept()
        if not apart:
            apart = work.list_paused_before()
            if not apart:
                with journal.keeping():
                    run_beside(work.list_left(), work.run, most=work.most)
                apart = work.list_paused()
            if apart or not work.is_done:
                journal.keep([branches[number].place for number in apart])
        if apart:
            chosen = [hand_on(branches[number], journal.notes) for number in apart]
            work.put(apart, run_branches(chosen, at_once=at_once, ends_all=ends_all))
        if not apart or not work.may_go_on(apart, ends_all):
            break
    if not work.is_done:
        journal.settle()
    return work.outcomes


async def arun_plain_branches(
    branches: Sequence[Branch],
    config: RunnableConfig,
    *,
    at_once: int | None,
    ends_all: EndsAll,
    is_kept: bool,
) -> list[BranchOutcome]:
    """As `run_plain_branches`, for an event loop."""
    around: Keeper | None = read_keeper(config)
    keeper = around or _make_keeper(config, is_kept=is_kept)
    journal = keeper.journal
    work = _Work(branches, config, at_once=at_once, keeper=keeper)
    if around is not None:
        work.take_kept()
        await arun_beside(work.list_left(), work.arun, most=work.most)
        return work.require_no_pause()
    while True:
        apart = work.place(await journal.aread(work.is_known))
        work.take_kept()
        if not apart:
            apart = work.list_paused_before()
            if not apart:
                async with journal.akeeping():
                    await arun_beside(work.list_left(), work.arun, most=work.most)
                apart = work.list_paused()
            if apart or not work.is_done:
                await journal.akeep([branches[number].place for number in apart])
        if apart:
            chosen = [hand_on(branches[number], journal.notes) for number in apart]
            work.put(apart, await arun_branches(chosen, at_once=at_once, ends_all=ends_all))
        if not apart or not work.may_go_on(apart, ends_all):
            break
    return work.outcomes


def _make_keeper(config: RunnableConfig, *, is_kept: bool) -> Keeper:
    is_bounded = config.get("max_concurrency") is not None
    return Keeper(Journal(is_kept=is_kept, is_bounded=is_bounded, handed=read_handed(config)))


class _Work:
    """The branches of one run of a node: what each came to, and which are left."""

    def __init__(
        self,
        branches: Sequence[Branch],
        config: RunnableConfig,
        *,
        at_once: int | None,
        keeper: Keeper,
    ) -> None:
        self.outcomes = [NOT_BEGUN] * len(branches)
        self.most = choose_most(config, at_once)
        self._branches = branches
        self._config = config
        self._in_turn = at_once == 1
        self._keeper = keeper
        self._journal = keeper.journal
        self._paused: set[int] = set()
        """Those that only a task can go on with."""

    @property
    def is_done(self) -> bool:
        return all(outcome.is_done for outcome in self.outcomes)

    def is_known(self) -> bool:
        """Whether the result of every branch is kept, by the journal or as a task."""
        return all(
            outcome.begun or branch.place in self._journal.notes.results
            for branch, outcome in zip(self._branches, self.outcomes, strict=True)
        )

    def take_kept(self) -> None:
        """Take over what earlier runs of the node came to."""
        results = self._journal.notes.results
        for number, branch in enumerate(self._branches):
            if branch.place in results and not self.outcomes[number].begun:
                self.outcomes[number] = BranchOutcome(result=results[branch.place])

    def list_left(self) -> list[int]:
        return [number for number, outcome in enumerate(self.outcomes) if not outcome.begun]

    def place(self, places: Sequence[str]) -> list[int]:
        """The numbers of the branches in these places."""
        if not places:
            return []
        numbers = {branch.place: number for number, branch in enumerate(self._branches)}
        return [numbers[place] for place in places]

    def list_paused(self) -> list[int]:
        """Those to be run as tasks; none where the node fails anyway."""
        if any(outcome.error is not None for outcome in self.outcomes):
            return []
        paused, self._paused = sorted(self._paused), set()
        return paused

    def list_paused_before(self) -> list[int]:
        """Those left that paused when the branch around them ran without a task, if they come next."""
        left = self.list_left()[: 1 if self._in_turn else None]
        known = self._journal.notes.paused
        return left if all(self._branches[number].place in known for number in left) else []

    def put(self, numbers: Sequence[int], outcomes: Sequence[BranchOutcome]) -> None:
        for number, outcome in zip(numbers, outcomes, strict=True):
            self.outcomes[number] = outcome

    def may_go_on(self, tried: Sequence[int], ends_all: EndsAll) -> bool:
        """Whether branches are left that come after those that were run as tasks."""
        if not all(self.outcomes[number].is_done for number in tried):
            return False
        if any(ends_all(self.outcomes[number].result) for number in tried):
            return False
        return not all(outcome.begun for outcome in self.outcomes)

    def require_no_pause(self) -> list[BranchOutcome]:
        """What the branches came to; raises `NeedsATask` where one paused and none failed."""
        if self.list_paused():
            raise NeedsATask
        return self.outcomes

    def run(self, number: int) -> bool:
        """Run a branch; whether to go on with the others."""
        branch = self._branches[number]
        keeper = Keeper(self._journal)
        enter_config(make_branch_config(self._config, branch.name, keeper))
        try:
            result = branch.run()
        except GraphInterrupt:
            return self._note_pause(number)
        except Exception as error:  # noqa: BLE001 - the node decides which error is its own
            return self._note_error(number, error)
        return self._note_result(number, result, keeper)

    async def arun(self, number: int) -> bool:
        """As `run`, for an event loop."""
        branch = self._branches[number]
        keeper = Keeper(self._journal)
        enter_config(make_branch_config(self._config, branch.name, keeper))
        try:
            result = await branch.arun()
        except GraphInterrupt:
            return self._note_pause(number)
        except Exception as error:  # noqa: BLE001 - the node decides which error is its own
            return self._note_error(number, error)
        return self._note_result(number, result, keeper)

    def _note_pause(self, number: int) -> bool:
        self._paused.add(number)
        self._journal.notes.paused.add(self._branches[number].place)
        return not self._in_turn

    def _note_error(self, number: int, error: Exception) -> bool:
        self.outcomes[number] = BranchOutcome(error=error)
        return not self._in_turn

    def _note_result(self, number: int, result: Any, inside: Keeper) -> bool:
        self.outcomes[number] = BranchOutcome(result=result)
        self._journal.add(self._branches[number].place, result, inside.ended)
        self._keeper.ended.append(self._branches[number].place)
        return True
