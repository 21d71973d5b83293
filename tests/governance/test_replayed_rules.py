"""Governed runs carried out again from their evidence: under rules of their own, which leave no trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from cinatra_sdk.store.runs import replay
from oas_compiler import compile_flow
from tests.databases import Databases
from tests.flows import api, end, flow_of, gate, port, start
from tests.governance.refund import FINANCE, TENANT, count_refunds, lend_refund, request
from tests.governance.small_pack import make_small_pack
from tests.governance.test_flows import GATED
from tests.store.test_rebuilt_runs import Counting, list_waiting

ID, TO = port("id"), port("to", default="bob")
TWICE = flow_of(
    start(TO),
    api("send", outputs=[ID], data={"to": "{{to}}"}, inputs=[TO]),
    gate("own", inputs=[ID]),
    api("again", url="{{CINATRA_BASE_URL}}/api/send", outputs=[ID], data={"to": "{{id}}"}, inputs=[ID]),
    end(ID),
    edges=[
        ("start", "to", "send", "to"), ("send", "id", "own", "id"), ("send", "id", "again", "id"),
        ("again", "id", "end", "id"),
    ],
)  # fmt: skip
"""Two calls, each behind a gate of the pack, with a gate of the author between them."""
Wipe = Callable[[str], None]


@pytest.fixture
def platform() -> Counting:
    return Counting()


@pytest.fixture
def flow(platform: Counting) -> Any:
    return compile_flow(TWICE, platform=platform, governance=Governance.of(make_small_pack(GATED)))


@pytest.fixture
def store(fresh_database: str, platform: Counting) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, platform=platform) as opened:
        yield opened


@pytest.fixture
def wipe(fresh_database: str, databases: Databases) -> Wipe:
    """Removes the checkpoints of a run, as the owner of the tables."""

    def remove(run_id: str) -> None:
        with psycopg.connect(databases.as_owner(fresh_database), autocommit=True) as connection:
            connection.execute("set search_path to oasflow")
            connection.execute("delete from checkpoints where thread_id = %s", [run_id])
            connection.execute("delete from checkpoint_blobs where thread_id = %s", [run_id])
            connection.execute("delete from checkpoint_writes where thread_id = %s", [run_id])

    return remove


def approve(store: RunStore, run: Any, by: str = "ann", **told: Any) -> Any:
    store.decide(run.id, run.waiting[0], Decision.approve(by=by), **told)
    return run


def test_a_governed_flow_goes_on_at_each_of_its_gates(
    store: RunStore, platform: Counting, flow: Any, wipe: Wipe
) -> None:
    run, asked = store.start(flow, {}, run_id="r1"), []
    while run.status == "waiting":
        asked.append(run.waiting[0].id)
        shown = list_waiting(run)
        assert store.verify("r1", flow=flow).differences == ()
        wipe("r1")
        assert list_waiting(store.work("r1", flow=flow)) == shown
        approve(store, run)
        wipe("r1")
        run = store.work("r1", flow=flow)
    assert (run.status, asked) == ("completed", ["send:G", "own", "again:G"])
    assert (len(platform.keys), len(set(platform.keys))) == (2, 2)
    assert store.verify("r1", flow=flow).differences == ()


def test_a_ledger_that_does_not_ask_the_rules_comes_to_no_gate_of_a_pack(
    store: RunStore, flow: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: what the test above shows is that the ledger asks."""
    run = store.start(flow, {}, run_id="r1")
    store.answer("r1", run.waiting[0], Decision.approve(by="ann"), flow=flow)
    monkeypatch.setattr(replay, "_ask_rules", lambda _effect: None)
    assert "the decision at 'send:G'" in "".join(store.verify("r1", flow=flow).differences)


def test_a_replay_reaches_neither_the_rules_of_the_host_nor_the_records(
    store: RunStore, flow: Any
) -> None:
    run = store.start(flow, {}, run_id="r1")
    run = store.answer("r1", run.waiting[0], Decision.approve(by="ann"), flow=flow)
    (session,) = flow.rules._sessions.values()

    def look() -> Any:
        chain = DecisionRecords(store.database).page(run_id="r1").items
        return session.usage.read(), session.list_recorded(), [one.record for one in chain]

    before = look()
    for _ in range(3):
        assert store.verify("r1", flow=flow).is_equal
    assert look() == before
    assert list(flow.rules._sessions.values()) == [session]


def test_the_loop_goes_on_without_its_checkpoints_and_pays_once(
    fresh_database: str, wipe: Wipe, tmp_path: Path
) -> None:
    parts = lend_refund(tmp_path / "refunds")
    loop: Any = parts.graphs[0]
    with RunStore.open(fresh_database, host=parts) as store:
        run = store.start(loop, {"request": request()}, run_id="r1", tenant=TENANT)
        shown = list_waiting(run)
        assert store.verify("r1").differences == ()
        wipe("r1")
        assert list_waiting(store.work("r1")) == shown
        approve(store, run, by=FINANCE)
        wipe("r1")
        assert store.work("r1").status == "completed"
        assert count_refunds(tmp_path / "refunds") == 1
        assert store.verify("r1").differences == ()


def test_what_held_when_a_person_decided_counts(fresh_database: str, tmp_path: Path) -> None:
    """Roles and delegations of today are no part of the evidence."""
    begun = lend_refund(tmp_path / "refunds")
    with RunStore.open(fresh_database, host=begun) as store:
        loop: Any = begun.graphs[0]
        run = store.start(loop, {"request": request()}, run_id="r1", tenant=TENANT)
        assert (
            store.answer("r1", run.waiting[0], Decision.approve(by=FINANCE)).status == "completed"
        )
    since = lend_refund(
        tmp_path / "refunds", roles_of=lambda *_: (), delegation_holds=lambda *_: False,
        claim_holds=lambda _: False,
    )  # fmt: skip
    with RunStore.open(fresh_database, host=since) as store:
        assert store.verify("r1").differences == ()
