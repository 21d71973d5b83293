"""What a run may use up: the least that packs, tenant and request say, and what a host changes later.

limit_budget(envelope, defaults, tenant)           ->  RunBudget(max_tool_calls=2, …)
narrow_budgets([one, other])                       ->  the least of each member
follow_budget(admitted, then=one, now=another)     ->  more, only where the host has raised it since
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from cinatra_sdk.governance.contracts.invoke import InvokeAgent
from cinatra_sdk.governance.contracts.run_context import BucketTokens, RunBudget

DEFAULT_BUDGET: Final = RunBudget(
    total_tokens=12_000,
    bucket_tokens=BucketTokens(
        policy=1800, tool=1500, evidence=3500, memory=1500, business=1500, session=2200
    ),
    max_tool_calls=8,
    max_replan_attempts=2,
    wall_clock_ms=30_000,
    max_cost_cents=25.0,
)
"""Of a run whose packs name none."""


def limit_budget(
    envelope: InvokeAgent, defaults: Iterable[Any], tenant: RunBudget | None
) -> RunBudget:
    """The least of what packs, tenant and request say; a hint never raises anything."""
    limits = [one.run_budget for one in defaults if one.run_budget is not None]
    limits = limits or [DEFAULT_BUDGET]
    limits += [] if tenant is None else [tenant]
    hints = envelope.runtime
    least = narrow_budgets(limits)
    times = [one for one in (hints.max_session_duration_ms,) if one is not None]
    return least.model_copy(
        update={
            "max_tool_calls": min(least.max_tool_calls, hints.max_tool_calls)
            if hints.max_tool_calls is not None
            else least.max_tool_calls,
            "max_cost_cents": min(least.max_cost_cents, hints.max_cost_cents)
            if hints.max_cost_cents is not None
            else least.max_cost_cents,
            "wall_clock_ms": min([least.wall_clock_ms, *times]),
        }
    )


def narrow_budgets(limits: list[RunBudget]) -> RunBudget:
    """The least of each."""
    return _combine(min, limits)


def follow_budget(
    admitted: RunBudget, *, then: RunBudget | None, now: RunBudget | None
) -> RunBudget:
    """The budget of a run that goes on.

    admitted: what it began with.  then: the host's own limit at that moment, None where it had none.
    now: the host's limit today.  A member follows the host where the host has raised it since; a
    limit that stayed, or was lowered, only narrows.
    """
    if now is None:
        return admitted
    return _combine(_follow, [admitted, then or admitted, now])


def _follow(members: Iterable[float]) -> float:
    admitted, then, now = members
    return now if now > max(then, admitted) else min(admitted, now)


def _combine(choose: Callable[[Iterable[Any]], Any], budgets: list[RunBudget]) -> RunBudget:
    buckets = {
        name: choose(getattr(one.bucket_tokens, name) for one in budgets)
        for name in BucketTokens.model_fields
    }
    members = {
        name: choose(getattr(one, name) for one in budgets)
        for name in RunBudget.model_fields
        if name not in {"bucket_tokens", "max_cost_cents"}
    }
    cents = float(choose(one.max_cost_cents for one in budgets))
    return RunBudget(bucket_tokens=BucketTokens(**buckets), max_cost_cents=cents, **members)
