"""What a tool says that it cost: it fills the budget of its run, and never empties it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.call_result import ToolOutput
from cinatra_sdk.governance.run.budgets import Allowance, RunUsage
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from cinatra_sdk.store.evidence.record_writer import count_used
from graphs.governed_run import flow
from tests.governance.packs import admit_example
from tests.governance.refund import FINANCE, TENANT, lend_refund, request

NO_COSTS = [-1e6, math.nan]


@pytest.mark.parametrize("cost", NO_COSTS)
def test_nothing_is_given_back(cost: float) -> None:
    budget = admit_example().run.run_budget
    above = RunUsage()
    usage = RunUsage(within=Allowance(above, budget))
    usage.add(cost_cents=cost, tokens=-1_000_000, tool_calls=-100)
    for one in (usage, above):
        assert (one.read().cost_cents, one.read().tokens, one.read().tool_calls) == (0, 0, 0)
        with pytest.raises(GovernanceRefused, match="cents"):
            one.reserve(budget, cost_cents=budget.max_cost_cents + 1)


def test_work_beyond_the_time_of_the_budget_is_refused_before_the_next_call() -> None:
    budget = admit_example().run.run_budget
    seconds = [0.0]
    usage = RunUsage(clock=lambda: seconds[0])
    with usage.working():
        seconds[0] += budget.wall_clock_ms / 1000
        usage.reserve(budget, tool_calls=1)
        seconds[0] += 0.002
        with pytest.raises(GovernanceRefused, match="milliseconds of work") as caught:
            usage.reserve(budget, tool_calls=1)
        assert caught.value.code == "BUDGET_EXCEEDED"
    seconds[0] += 1e6  # a person thinks
    used = usage.read()
    assert (used.tool_calls, used.wall_clock_ms) == (1, budget.wall_clock_ms + 2)


@pytest.mark.parametrize("cost", NO_COSTS)
def test_a_run_whose_tool_says_so_has_its_record(
    fresh_database: str, tmp_path: Path, cost: float
) -> None:
    parts = lend_refund(tmp_path / "refunds")
    look_up: Any = parts.tools["lookup_order"]
    tools = {
        **parts.tools,
        "lookup_order": lambda **given: ToolOutput(output=look_up(**given), cost_cents=cost),
    }
    parts = parts.with_parts(tools=tools, graphs=())
    parts = parts.with_parts(graphs=[flow.lent(parts)])
    with RunStore.open(fresh_database, host=parts) as store:
        run = store.start(parts.graphs[0], {"request": request()}, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        done = store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        assert done.status == "completed", done.error
        record = DecisionRecords(store.database).page(run_id=run.id).items[0].record
        assert record.status == "DECIDED"
        assert record.budget_usage.cost_usd_cents > 0.3, "the refund itself"


def test_after_a_crash_the_calls_of_the_ledger_count_as_far_as_somebody_was_called() -> None:
    rows = [
        {"status": "done", "error": None, "usage": {"input_tokens": 5, "output_tokens": 2}},
        {"status": "unknown", "error": {"code": "timeout"}, "usage": None},
        {"status": "failed", "error": {"code": "500"}, "usage": {"input_tokens": 3}},
        {"status": "failed", "error": {"code": "paused", "reached": False}, "usage": None},
        {"status": "begun", "error": None, "usage": None},
    ]
    used = {"tool_calls": 1, "tokens": 4, "cost_cents": 0.5}
    assert count_used(used, rows) == {"tool_calls": 3, "tokens": 10, "cost_cents": 0.5}
    more = {"tool_calls": 9, "tokens": 99, "cost_cents": 0.5}
    assert count_used(more, rows) == more, "what was told is never taken back"
