"""What a host changes of a run's budget while the run is under way."""

from __future__ import annotations

import pytest

from cinatra_sdk.governance.budgets import DEFAULT_BUDGET, follow_budget, narrow_budgets
from cinatra_sdk.governance.contracts.run_context import RunBudget


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
