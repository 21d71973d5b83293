"""Runs that are ended from outside: stopped, or rejected though their flow cannot be made again."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from typing import Any, LiteralString

import psycopg
import pytest

from cinatra_sdk import (
    AnswerInvalid,
    Decision,
    FlowChanged,
    GateClosed,
    RunEnded,
    RunNotFound,
    RunStore,
)
from cinatra_sdk.governed.approval_policy import policy_hash
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.postgres.connection import clock
from oas_compiler import CompileError, compile_flow
from tests.flows import api, end, flow_of, gate, start

FLOW = flow_of(start(), gate("ok"), api("one"), api("two"), end())
ANN = Decision.approve(by="ann")
NO = Decision.reject(by="bob", reason="wrong list")


@pytest.fixture
def store(fresh_database: str) -> Any:
    with RunStore.open(fresh_database) as opened:
        yield opened


def as_owner(dsn: str, statement: LiteralString, *values: Any) -> None:
    with psycopg.connect(dsn, autocommit=True, options="-c search_path=oasflow") as connection:
        connection.execute(statement, values)


def another_layout(owner: str) -> None:
    as_owner(owner, "update runs set lowering = 99")


def no_flow_any_more(owner: str) -> None:
    """The run's bytes are of a kind that this version cannot compile."""
    source = json.dumps({**FLOW, "agentspec_version": "99.0.0", "component_type": "Swarm"}).encode()
    digest = hashlib.sha256(source).hexdigest()
    as_owner(owner, "insert into flows (digest, name, source) values (%s, 'x', %s)", digest, source)
    as_owner(owner, "update runs set digest = %s", digest)


def a_gate_that_cannot_be_read(owner: str) -> None:
    as_owner(owner, "update runs set waiting = '[{}]'")


def test_a_stop_keeps_who_why_and_when_by_the_clock_of_the_database(store: RunStore) -> None:
    store.start(compile_flow(FLOW), run_id="r1")
    with store.database.connection() as connection:
        before = clock(connection)
        stopped = store.stop("r1", by="  Ann  Lima ", reason="wrong list")
        after = clock(connection)
    assert (stopped.status, stopped.waiting) == ("stopped", ())
    assert (stopped.stopped_by, stopped.stop_reason) == ("Ann Lima", "wrong list")
    assert stopped.updated_at is not None
    assert before < stopped.updated_at < after
    assert store.get("r1") == stopped


def test_a_second_stop_changes_nothing(store: RunStore) -> None:
    store.start(compile_flow(FLOW), run_id="r1")
    first = store.stop("r1", by="ann", reason="wrong list")
    assert store.stop("r1", by="eve", reason="mine") == first
    assert asyncio.run(store.astop("r1", by="eve")) == first


@pytest.mark.parametrize("decision", [ANN, NO], ids=["completed", "rejected"])
def test_a_run_that_ended_otherwise_is_not_stopped(store: RunStore, decision: Decision) -> None:
    store.start(compile_flow(FLOW), run_id="r1")
    ended = store.answer("r1", "ok", decision)
    with pytest.raises(RunEnded, match=f"run 'r1' is {ended.status}"):
        store.stop("r1", by="ann")
    assert store.get("r1") == ended


def test_a_stop_of_another_tenants_run_finds_none(store: RunStore) -> None:
    store.start(compile_flow(FLOW), run_id="r1", tenant="acme")
    with pytest.raises(RunNotFound):
        store.stop("r1", tenant="globex")
    assert store.get("r1").status == "waiting"


@pytest.mark.parametrize("said", [{"by": "ann\u200b"}, {"by": "ann", "reason": "a\x00b"}])
def test_a_stop_takes_no_name_or_reason_that_a_gate_would_refuse(
    store: RunStore, said: dict[str, str]
) -> None:
    store.start(compile_flow(FLOW), run_id="r1")
    with pytest.raises(AnswerInvalid):
        store.stop("r1", **said)
    assert store.get("r1").status == "waiting"


class StoppedMeanwhile(SimulatedPlatform):
    """While the first call is made, somebody else stops the run."""

    def __init__(self, dsn: str) -> None:
        super().__init__()
        self.dsn = dsn

    def call(self, call: Any) -> Any:
        if not self.calls:
            with RunStore.open(self.dsn) as other:
                other.stop("r1", by="ann", reason="wrong list")
        return super().call(call)


def test_a_run_that_is_stopped_while_it_is_driven_makes_no_further_call(
    store: RunStore, fresh_database: str
) -> None:
    platform = StoppedMeanwhile(fresh_database)
    store.start(compile_flow(FLOW, platform=platform), run_id="r1")
    run = store.answer("r1", "ok", ANN)
    assert (run.status, run.stopped_by) == ("stopped", "ann")
    assert [call.node for call in platform.calls] == ["one"]
    with pytest.raises(RunEnded, match="run 'r1' is stopped"):
        store.resume("r1")
    assert [call.node for call in platform.calls] == ["one"]


def test_what_the_policy_skipped_before_a_stop_is_still_noted(
    store: RunStore, fresh_database: str
) -> None:
    platform = StoppedMeanwhile(fresh_database)
    flow = compile_flow(FLOW, platform=platform)
    nobody = flow.context(
        approval_policy={"steps": [{"stepNumber": 1, "requiresApproval": False}]}, run_id="r1"
    )
    run = store.start(flow, run_id="r1", context=nobody)
    assert run.status == "stopped"
    assert [(row["gate_id"], row["kind"]) for row in store.decisions("r1")] == [
        ("ok", "auto_skipped")
    ]


@pytest.mark.parametrize(
    "broken", [another_layout, no_flow_any_more, a_gate_that_cannot_be_read], ids=lambda f: f.__name__
)  # fmt: skip
def test_a_run_is_stopped_whatever_is_wrong_with_it(
    store: RunStore, fresh_database: str, owner_database: str, broken: Any
) -> None:
    store.start(compile_flow(FLOW), run_id="r1")
    broken(owner_database)
    with RunStore.open(fresh_database) as other:
        assert other.stop("r1", by="ann").status == "stopped"
        with pytest.raises(RunEnded):
            other.resume("r1")


@pytest.mark.parametrize("broken", [another_layout, no_flow_any_more], ids=lambda f: f.__name__)
@pytest.mark.parametrize("later", [False, True], ids=["now", "later"])
def test_a_run_is_rejected_though_its_flow_cannot_be_made_again(
    store: RunStore, fresh_database: str, owner_database: str, broken: Any, later: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    platform = SimulatedPlatform()
    store.start(compile_flow(FLOW, platform=platform), run_id="r1")
    broken(owner_database)
    with RunStore.open(fresh_database, platform=platform) as other:
        with pytest.raises((FlowChanged, CompileError)):
            other.answer("r1", "ok", ANN)
        assert other.decisions("r1") == []
        with caplog.at_level(logging.WARNING, "oasflow.store"):
            run = asyncio.run(other.aanswer("r1", "ok", NO)) if later else other.answer("r1", "ok", NO)  # fmt: skip
        assert (run.status, run.waiting) == ("rejected", ())
        assert "run 'r1' is rejected without its flow: " in caplog.text
        (kept,) = other.decisions("r1")
        assert (kept["kind"], kept["decided_by"], kept["reason"]) == ("rejected", "bob", "wrong list")  # fmt: skip
        # Which policy such a flow implies the gate's row knows.
        implied = policy_hash(compile_flow(FLOW).approval_policy)
        assert (len(kept["payload_sha256"]), kept["policy_sha256"]) == (64, implied)
        with pytest.raises(RunEnded):
            other.resume("r1")
    assert platform.calls == []


def test_the_policy_of_the_host_is_known_without_the_flow(
    store: RunStore, fresh_database: str, owner_database: str
) -> None:
    flow = compile_flow(FLOW)
    asks = {"steps": [{"stepNumber": 1, "requiresApproval": True}]}
    store.start(flow, run_id="r1", context=flow.context(approval_policy=asks, run_id="r1"))
    another_layout(owner_database)
    with RunStore.open(fresh_database) as other:
        other.answer("r1", "ok", NO)
        (kept,) = other.decisions("r1")
    text = json.dumps(asks, sort_keys=True, separators=(",", ":"))
    assert kept["policy_sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_a_run_of_a_later_layout_can_be_rejected_and_not_approved(
    store: RunStore, owner_database: str
) -> None:
    flow = compile_flow(FLOW)
    store.start(flow, run_id="r1")
    another_layout(owner_database)
    with pytest.raises(FlowChanged, match="of a newer version"):
        store.answer("r1", "ok", ANN, flow=flow)
    assert store.answer("r1", "ok", NO, flow=flow).status == "rejected"


def test_a_rejection_with_another_flow_is_refused(store: RunStore) -> None:
    store.start(compile_flow(FLOW), run_id="r1")
    with pytest.raises(FlowChanged, match="was started with flow"):
        store.answer("r1", "ok", NO, flow=compile_flow({**FLOW, "name": "Another"}))
    assert store.decisions("r1") == []


def test_a_rejection_without_a_flow_does_not_reopen_a_gate(
    store: RunStore, fresh_database: str, owner_database: str
) -> None:
    store.start(compile_flow(FLOW), run_id="r1")
    store.stop("r1", by="ann")
    store.start(compile_flow(FLOW), run_id="r2")
    another_layout_of_r2 = "update runs set lowering = 99 where run_id = 'r2'"
    as_owner(owner_database, another_layout_of_r2)
    with RunStore.open(fresh_database) as other:
        with pytest.raises(RunEnded):
            other.answer("r1", "ok", NO)
        other.answer("r2", "ok", NO)
        with pytest.raises(GateClosed, match="was already rejected by bob"):
            other.answer("r2", "ok", Decision.reject(by="eve"))
