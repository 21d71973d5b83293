"""Branches of one node that run without a task each: a few threads, or the event loop, run them all.

For flows without a gate, of which there may be thousands.  What a branch came to is kept in a
journal (`cinatra_sdk.flow.kept`), so a branch that has ended is not run again, after a failure of
another one or a crash.  Where code in a branch pauses by itself, the branch begins again as a task
once all others have ended: only a task has a place for answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt

from cinatra_sdk.flow.branches import (
    NOT_BEGUN,
    Branch,
    BranchOutcome,
    EndsAll,
    arun_branches,
    run_branches,
)
from cinatra_sdk.flow.crew import arun_beside, choose_most, run_beside
from cinatra_sdk.flow.engine import NeedsATask, enter_config, make_branch_config, read_keeper
from cinatra_sdk.flow.handed import hand_on, read_handed
from cinatra_sdk.flow.kept import Journal, Keeper


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
