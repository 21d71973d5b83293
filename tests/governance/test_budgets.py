"""What a host changes of a run's budget while the run is under way."""

from __future__ import annotations

import pytest

from cinatra_sdk.governance.contracts.invocation import RunBudget
from cinatra_sdk.governance.gateway.delegation import what_is_left
from cinatra_sdk.governance.run.budgets import DEFAULT_BUDGET, Used, follow_budget, narrow_budgets


def calls(number: int | None) -> RunBudget | None:
    return None if number is None else DEFAULT_BUDGET.model_copy(update={"max_tool_calls": number})


@pytest.mark.parametrize(
    ("admitted", "then", "now", "counts"),
    [
        (2, None, None, 2),
        (2, 100, None, 2),
        (2, 100, 100, 2),  # a limit above the packs stays one
        (2, 100, 50, 2),
        (2, 100, 1, 1),  # lowered below them
        (2, None, 1, 1),
        (2, None, 8, 8),  # given since
        (1, 1, 5, 5),
        (2, 100, 101, 101),
    ],
)
def test_more_is_given_only_where_the_host_has_raised_its_limit_since(
    admitted: int, then: int | None, now: int | None, counts: int
) -> None:
    before = calls(admitted)
    assert before is not None
    got = follow_budget(before, then=calls(then), now=calls(now))
    assert got == before.model_copy(update={"max_tool_calls": counts})


def test_the_least_of_each_member_counts() -> None:
    other = DEFAULT_BUDGET.model_copy(update={"total_tokens": 1, "max_cost_cents": 0.5})
    least = narrow_budgets([DEFAULT_BUDGET, other])
    assert (least.total_tokens, least.max_cost_cents) == (1, 0.5)
    assert least.bucket_tokens == DEFAULT_BUDGET.bucket_tokens


def test_a_child_gets_what_its_parent_has_left_of_each_member() -> None:
    used = Used(tokens=1000, tool_calls=3, replans=1, wall_clock_ms=400, cost_cents=1.5)
    left = what_is_left(DEFAULT_BUDGET, used)
    assert left.total_tokens == DEFAULT_BUDGET.total_tokens - 1000
    assert left.max_tool_calls == DEFAULT_BUDGET.max_tool_calls - 3
    assert left.max_replan_attempts == DEFAULT_BUDGET.max_replan_attempts - 1
    assert left.wall_clock_ms == DEFAULT_BUDGET.wall_clock_ms - 400
    assert left.max_cost_cents == DEFAULT_BUDGET.max_cost_cents - 1.5
    spent = Used(tokens=10**9, tool_calls=10**9, replans=10**9, wall_clock_ms=10**9, cost_cents=1e9)
    nothing = what_is_left(DEFAULT_BUDGET, spent)
    members = (
        "total_tokens",
        "max_tool_calls",
        "max_replan_attempts",
        "wall_clock_ms",
        "max_cost_cents",
    )
    assert {getattr(nothing, name) for name in members} == {0}
