"""Several inner flows of one node, as branches: run, then judged together.

Rejected in one branch: the node ends the run, whatever its other branches wait for.  An error in
one: the node fails once all others have stopped.  A gate in some: one pause with all their gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.runtime import Runtime

from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.flow.branches import Branch, BranchOutcome, arun_branches, run_branches, stop_for
from cinatra_sdk.flow.inner import FlowInside, InnerEntry, InnerResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One run of one inner flow, a branch of its node."""

    inner: FlowInside
    entry: InnerEntry
    label: str
    """Unique in the node: `each[3]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """What the branches of a node came to."""

    results: list[InnerResult]
    """Of the branches that ended, in their order."""
    rejected: bool


def run_rounds(
    rounds: Sequence[Round],
    config: RunnableConfig,
    runtime: Runtime[HostContext],
    *,
    at_once: int | None,
) -> Rounds:
    """Run every branch to its end, or raise what keeps the node from going on.

    at_once: how many at a time; None: as many as the engine lets; 1: one after the other.
    """
    if all(_only_computes(one.inner) for one in rounds):
        ended = [one.inner.run(one.entry, config, runtime, "") for one in rounds]
        return _judge(rounds, [BranchOutcome(result=result) for result in ended])
    branches = [_make_branch(one, runtime) for one in rounds]
    return _judge(rounds, run_branches(branches, at_once=at_once))


async def arun_rounds(
    rounds: Sequence[Round],
    config: RunnableConfig,
    runtime: Runtime[HostContext],
    *,
    at_once: int | None,
) -> Rounds:
    """As `run_rounds`, for an event loop."""
    if all(_only_computes(one.inner) for one in rounds):
        ended = [await one.inner.arun(one.entry, config, runtime, "") for one in rounds]
        return _judge(rounds, [BranchOutcome(result=result) for result in ended])
    branches = [_make_branch(one, runtime) for one in rounds]
    return _judge(rounds, await arun_branches(branches, at_once=at_once))


def _only_computes(inner: FlowInside) -> bool:
    return inner.inline is not None and not inner.acts


def _make_branch(one: Round, runtime: Runtime[HostContext]) -> Branch:
    """The branch of a round; its result is JSON, which the engine keeps.

    The inner graph runs with the branch's own config, whose namespace is the branch's; the line of
    the thread is looked at from the node's place.
    """

    def run() -> dict[str, Any]:
        own = get_config()
        return one.inner.run(one.entry, own, runtime, own["configurable"]["checkpoint_ns"])

    async def arun() -> dict[str, Any]:
        own = get_config()
        return await one.inner.arun(one.entry, own, runtime, own["configurable"]["checkpoint_ns"])

    return Branch(one.label, run, arun)


def _judge(rounds: Sequence[Round], outcomes: Sequence[BranchOutcome]) -> Rounds:
    results = [
        one.inner.read(outcome.result, one.entry.scope)
        for one, outcome in zip(rounds, outcomes, strict=True)
        if outcome.is_done
    ]
    if any(result.rejected_at for result in results):
        return Rounds(results=results, rejected=True)
    stop_for(outcomes)
    return Rounds(results=results, rejected=False)
