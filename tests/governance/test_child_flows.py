"""Compiled flows as capabilities of the loop: they get a part of what their parent may do."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.outside.http_calls.protocol import PlatformUnreachable
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from tests.governance.child_orders import (
    ORDERS,
    Orders,
    compile_orders,
    lend_orders,
    start_and_die,
)
from tests.governance.packs import put, read_pack
from tests.governance.refund import FINANCE, TENANT, count_refunds, request
from tests.governance.small_pack import make_small_pack
from tests.warm import FORKED


@dataclass
class Case:
    dsn: str
    folder: Path
    opened: list[RunStore] = field(default_factory=list)

    @property
    def ledger(self) -> Path:
        return self.folder / "refunds"

    @property
    def orders(self) -> Orders:
        return Orders(self.folder / "seen")

    def open(
        self, child: Any = None, *, gated: bool = False, tenant: str = TENANT, pack: Any = None
    ) -> tuple[RunStore, Any]:
        """child: the rules of the flow that looks the order up.  pack: those of the refund."""
        flow = compile_orders(self.orders, child, gated=gated, tenant=tenant)
        parts = lend_orders(self.ledger, flow, pack=pack)
        self.opened.append(RunStore.open(self.dsn, host=parts))
        return self.opened[-1], parts.graphs[0]

    def run(self, child: Any = None, **about: Any) -> Any:
        store, graph = self.open(child, **about)
        return store.start(graph, {"request": request()}, tenant=TENANT)

    def finish(self, run: Any) -> Any:
        """The run after finance has approved, where it was asked."""
        if not run.waiting:
            return run
        return self.opened[-1].answer(run.id, "gate", Decision.approve(by=FINANCE))

    def calls(self, run_id: str) -> list[Any]:
        records = DecisionRecords(self.opened[-1].database)
        last = records.page(run_id=run_id).items[0].record.record_id
        return list(records.get(last).transcript["calls"])


@pytest.fixture
def case(fresh_database: str, tmp_path: Path) -> Iterator[Case]:
    made = Case(fresh_database, tmp_path)
    yield made
    for store in made.opened:
        store.close()


@pytest.mark.parametrize("child", [None, make_small_pack()], ids=["plain", "governed"])
def test_a_flow_is_a_capability_under_an_agents_name(case: Case, child: Any) -> None:
    waiting = case.run(child)
    assert waiting.status == "waiting", waiting.error
    done = case.opened[-1].answer(waiting.id, "gate", Decision.approve(by=FINANCE))
    assert (done.status, count_refunds(case.ledger)) == ("completed", 1)
    (seen,) = case.orders.list_seen()
    assert case.calls(done.id)[0]["result"]["output"] == {"total_inr": 4200}
    trace = request()["trace"]["trace_id"]
    assert seen["traceparent"].split("-")[1] == trace, "its calls are in the trace of the run"


def test_a_flow_gets_a_part_of_what_its_parent_may_do(case: Case) -> None:
    case.run()
    (seen,) = case.orders.list_seen()
    assert seen["agent"] == seen["chain"][-1] == ORDERS
    assert seen["max_tool_calls"] == 7, "of eight, and the call itself is spent"


@pytest.mark.parametrize(
    ("child", "code"),
    [
        (make_small_pack(safety="read_only"), "MODE_EXCEEDS_SAFETY"),
        (make_small_pack(scopes=["mail.send"]), "DELEGATION_REQUIRED"),
        (make_small_pack([{"rule_id": "R", "then": {"allow": False}}]), "POLICY_DENIED"),
    ],
)
def test_a_governed_flow_stands_under_its_own_rules_too(case: Case, child: Any, code: str) -> None:
    run = case.run(child)
    assert (run.status, case.orders.list_seen()) == ("failed", [])
    result = case.calls(run.id)[0]["result"]
    assert result["status"] == "failed"
    assert code in str(result)


def test_a_gate_inside_cannot_wait(case: Case) -> None:
    run = case.run(gated=True)
    assert (run.status, case.orders.list_seen()) == ("failed", [])
    assert "is waiting at own" in str(case.calls(run.id)[0]["result"])


@pytest.mark.parametrize(
    ("child", "status"),
    [(None, "completed"), (make_small_pack(), "failed")],
    ids=["plain", "governed"],
)
def test_what_a_governed_flow_spends_its_parent_has_spent(
    case: Case, child: Any, status: str
) -> None:
    """Three calls are allowed and planned; what a governed flow calls is another."""
    place = "pack_meta/environment_defaults/run_budget/max_tool_calls"
    run = case.run(child, pack=put(read_pack(), place, 3))
    # Where nothing is left for the refund, nobody is asked about it.
    assert run.status == ("waiting" if status == "completed" else "failed")
    done = case.finish(run)
    assert (done.status, count_refunds(case.ledger)) == (status, int(status == "completed"))
    assert (done.error or {}).get("code") == ("BUDGET_EXCEEDED" if status == "failed" else None)


@pytest.mark.parametrize(("most", "status"), [(6, "completed"), (5, "failed")])
def test_what_a_flow_spends_in_a_second_try_its_parent_has_spent_too(
    case: Case, monkeypatch: pytest.MonkeyPatch, most: int, status: str
) -> None:
    """The first try of the flow's call fails: with it two calls of the flow and two inside, and two more."""
    call = Orders.call
    tried: list[str] = []

    def fail_first(self: Orders, asked: Any) -> Any:
        tried.append(asked.url)
        if len(tried) == 1:
            raise PlatformUnreachable("not now", node="send")
        return call(self, asked)

    monkeypatch.setattr(Orders, "call", fail_first)
    place = "pack_meta/environment_defaults/run_budget/max_tool_calls"
    run = case.run(make_small_pack(), pack=put(read_pack(), place, most))
    waits = "waiting" if status == "completed" else "failed"
    assert (run.status, len(tried)) == (waits, 2), run.error
    done = case.finish(run)
    assert (done.status, count_refunds(case.ledger)) == (status, int(status == "completed"))


def test_a_flow_of_another_tenant_is_not_called(case: Case) -> None:
    run = case.run(make_small_pack(), tenant="beta")
    assert (run.status, case.orders.list_seen()) == ("failed", [])
    assert "TENANT_MISMATCH" in str(case.calls(run.id)[0]["result"])


def test_what_a_flow_called_is_not_called_again_after_a_crash(case: Case) -> None:
    process = FORKED.Process(target=start_and_die, args=(case.dsn, str(case.folder), "r1"))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert len(case.orders.list_seen()) == 1, "the control: the call was made"
    store, _graph = case.open(make_small_pack())
    waiting = store.resume("r1")
    assert waiting.status == "waiting", waiting.error
    assert len(case.orders.list_seen()) == 1
