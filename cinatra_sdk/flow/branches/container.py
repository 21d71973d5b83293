"""Several inner flows of one node, as branches: run, then judged together.

one branch was rejected   the node ends the run; decisions in the other branches stay recorded
one branch failed         the node fails, once all other branches have stopped
a gate waits in some      one pause of the node, with the gates of all branches
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.runtime import Runtime

from cinatra_sdk.errors import FlowError, StoreError
from cinatra_sdk.flow.branches.branches import (
    Branch,
    BranchOutcome,
    arun_branches,
    run_branches,
    stop_for,
    tell_of_a_cut,
)
from cinatra_sdk.flow.branches.inner_flow import FlowInside, InnerEntry, InnerResult
from cinatra_sdk.flow.branches.journal import Recall
from cinatra_sdk.flow.branches.workers import arun_plain_branches, run_plain_branches
from cinatra_sdk.flow.plan.channel_names import DECISIONS
from cinatra_sdk.flow.visit.reports import FAILURES, describe_failure, is_failure
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.langgraph_threads.lineage import ThreadPlace, place_of
from cinatra_sdk.langgraph_threads.reentry import aread_decided, read_decided
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.protocol import PlatformError

_FAILED: Final = "failed"
Namespaces: TypeAlias = dict[str, str]
"""Branch → the namespace under which its graph keeps checkpoints, once it has begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One run of one inner flow, a branch of its node."""

    inner: FlowInside
    entry: InnerEntry
    label: str
    """Unique in the node: `each[3]`."""
    takes_failures: bool = False
    """Whether a failure inside is a result of the round, and not an error of the node."""
    item: str = ""
    """What errors call the element of a list that it is for; empty: its flow has a name of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """What the branches of a node came to."""

    results: list[InnerResult]
    """Of the branches that ended, in their order; where one was rejected, also of those that it cut
    off, with the decisions that were taken in them.
    """
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
        ended = [_run_round(one, config, runtime, "", None) for one in rounds]
        outcomes = [BranchOutcome(result=result) for result in ended]
        return _judge(_read_results(rounds, outcomes), outcomes)
    begun: Namespaces = {}
    rejected = _Rejected()
    place = place_of(config, runtime.execution_info)
    is_plain = all(one.inner.inline is not None for one in rounds)
    around = _NodeRun(Recall(runtime, is_on=is_plain), begun, rejected, place)
    branches = [_make_branch(one, around) for one in rounds]
    if is_plain:
        outcomes = run_plain_branches(
            branches, config, at_once=at_once, ends_all=rejected, is_kept=place is not None
        )
    else:
        outcomes = run_branches(branches, at_once=at_once, ends_all=rejected)
    results = _read_results(rounds, outcomes)
    if place is not None and _is_rejected(results):
        for number, own in _list_cut_off(rounds, results, begun):
            results[number] = InnerResult(decisions=tuple(read_decided(place, own)))
    return _judge(results, outcomes)


async def arun_rounds(
    rounds: Sequence[Round],
    config: RunnableConfig,
    runtime: Runtime[HostContext],
    *,
    at_once: int | None,
) -> Rounds:
    """As `run_rounds`, for an event loop."""
    if all(_only_computes(one.inner) for one in rounds):
        ended = [await _arun_round(one, config, runtime, "", None) for one in rounds]
        outcomes = [BranchOutcome(result=result) for result in ended]
        return _judge(_read_results(rounds, outcomes), outcomes)
    begun: Namespaces = {}
    rejected = _Rejected()
    place = place_of(config, runtime.execution_info)
    is_plain = all(one.inner.inline is not None for one in rounds)
    around = _NodeRun(Recall(runtime, is_on=is_plain), begun, rejected, place)
    branches = [_make_branch(one, around) for one in rounds]
    if is_plain:
        outcomes = await arun_plain_branches(
            branches, config, at_once=at_once, ends_all=rejected, is_kept=place is not None
        )
    else:
        outcomes = await arun_branches(branches, at_once=at_once, ends_all=rejected)
    results = _read_results(rounds, outcomes)
    if place is not None and _is_rejected(results):
        for number, own in _list_cut_off(rounds, results, begun):
            results[number] = InnerResult(decisions=tuple(await aread_decided(place, own)))
    return _judge(results, outcomes)


class _Rejected:
    """Whether a branch of the node ended by a rejection: nothing may run after it, in no branch."""

    def __init__(self) -> None:
        self.is_so = False

    def __call__(self, result: Any) -> bool:
        """Also for a result that the engine kept from a run of the node before."""
        if result is not None and result.get("rejected_at"):
            self.is_so = True
        return self.is_so


def _only_computes(inner: FlowInside) -> bool:
    return inner.inline is not None and not inner.acts


def _run_round(
    one: Round,
    config: RunnableConfig,
    runtime: Runtime[HostContext],
    own: str,
    place: ThreadPlace | None,
) -> dict[str, Any]:
    """One run of an inner flow; place: of the node, where checkpoints are kept."""
    try:
        with _naming_the_item(one):
            return one.inner.run(one.entry, config, runtime, own)
    except FAILURES as error:
        if not one.takes_failures or not is_failure(error):
            raise
        asked = place if one.inner.asks else None
        return _make_failed(error, [] if asked is None else read_decided(asked, own))


async def _arun_round(
    one: Round,
    config: RunnableConfig,
    runtime: Runtime[HostContext],
    own: str,
    place: ThreadPlace | None,
) -> dict[str, Any]:
    """As `_run_round`, for an event loop."""
    try:
        with _naming_the_item(one):
            return await one.inner.arun(one.entry, config, runtime, own)
    except FAILURES as error:
        if not one.takes_failures or not is_failure(error):
            raise
        asked = place if one.inner.asks else None
        return _make_failed(error, [] if asked is None else await aread_decided(asked, own))


def _make_failed(error: Exception, decided: list[Any]) -> dict[str, Any]:
    """The result of a round that failed, in the place of an inner flow's."""
    return {_FAILED: describe_failure(error), DECISIONS: decided}


@contextmanager
def _naming_the_item(one: Round) -> Iterator[None]:
    """Within, an error says which element it happened at: the nodes inside do not know it.

    Not an error of the store, which is no element's.
    """
    try:
        yield
    except (FlowError, PlatformError) as error:
        if not one.item or isinstance(error, StoreError):
            raise
        named = _name_item(error, one.item)
    else:
        return
    raise named


def _name_item(error: FlowError | PlatformError, item: str) -> FlowError | PlatformError:
    """The error with `item` before its text; another object, because a platform may raise one twice."""
    named = type(error).__new__(type(error))
    vars(named).update(vars(error))
    named.args = (f"{item}: {error}", *error.args[1:])
    if isinstance(named, FlowError):
        named.message = f"{item}: {named.message}"
    return named.with_traceback(error.__traceback__)


@dataclass(frozen=True, slots=True)
class _NodeRun:
    """What all branches of one run of a node share."""

    recall: Recall
    begun: Namespaces
    rejected: _Rejected
    place: ThreadPlace | None
    """The node's, where checkpoints are kept: from there the line of the thread is looked at."""


def _make_branch(one: Round, around: _NodeRun) -> Branch:
    """The branch of a round, which notes its namespace in `begun`; its result is JSON, which the
    engine keeps.

    The inner graph runs with the branch's own config, whose namespace is the branch's.  After a
    rejection it does nothing.
    """
    begun, rejected, place = around.begun, around.rejected, around.place

    def run() -> dict[str, Any] | None:
        own = get_config()
        begun[one.label] = own["configurable"]["checkpoint_ns"]
        if rejected.is_so:
            return None
        with around.recall.effects(one.label) as runtime:
            return _run_round(one, own, runtime, begun[one.label], place)

    async def arun() -> dict[str, Any] | None:
        own = get_config()
        begun[one.label] = own["configurable"]["checkpoint_ns"]
        if rejected.is_so:
            return None
        with around.recall.effects(one.label) as runtime:
            return await _arun_round(one, own, runtime, begun[one.label], place)

    return Branch(one.label, run, arun, one.entry.scope)


def _read_results(
    rounds: Sequence[Round], outcomes: Sequence[BranchOutcome]
) -> list[InnerResult | None]:
    """What each branch came to; None where it has not ended."""
    return [
        _read_result(one, outcome.result)
        if outcome.is_done and outcome.result is not None
        else None
        for one, outcome in zip(rounds, outcomes, strict=True)
    ]


def _read_result(one: Round, result: Any) -> InnerResult:
    if _FAILED in result:  # no key of an inner flow's own result
        return InnerResult(failed=result[_FAILED], decisions=tuple(result[DECISIONS]))
    with _naming_the_item(one):
        return one.inner.read(result, one.entry.scope)


def _is_rejected(results: Sequence[InnerResult | None]) -> bool:
    return any(result is not None and result.rejected_at for result in results)


def _list_cut_off(
    rounds: Sequence[Round], results: Sequence[InnerResult | None], begun: Namespaces
) -> list[tuple[int, str]]:
    """The places and namespaces of branches that the rejection of another one cuts off."""
    return [
        (number, begun[one.label])
        for number, (one, result) in enumerate(zip(rounds, results, strict=True))
        if result is None and one.label in begun
    ]


def _judge(results: Sequence[InnerResult | None], outcomes: Sequence[BranchOutcome]) -> Rounds:
    kept = [result for result in results if result is not None]
    if _is_rejected(results):
        tell_of_a_cut()
        return Rounds(results=kept, rejected=True)
    stop_for(outcomes)
    return Rounds(results=kept, rejected=False)
