"""A run goes on by its evidence where its checkpoints are in another layout, damaged or gone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from cinatra_sdk import (
    CheckpointsUnusable,
    Decision,
    FlowChanged,
    Run,
    RunStore,
    contract,
    host_context,
)
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.runs.replay import load_evidence, replay_run
from cinatra_sdk.store.runs.run_rows import load_row
from cinatra_sdk.store.work.rebuilt_checkpoints import RebuiltCheckpoints
from oas_compiler import compile_flow
from tests.databases import Databases
from tests.flow.containers import around, checked_item, mapped, nested, parallel
from tests.flow.test_caught import catching, fragile
from tests.flows import api, end, flow_node, flow_of, gate, port, start

PLAIN = flow_of(
    start(port("topic", default="x")),
    api("draft", data={"t": "{{ topic }}"}, inputs=[port("topic")], outputs=[port("text")]),
    gate("first", inputs=[port("text")]),
    api("send", data={"t": "{{ text }}"}, inputs=[port("text")], outputs=[port("id")]),
    gate("second", inputs=[port("id")]),
    end(port("id")),
    edges=[("start", "topic", "draft", "topic"), ("draft", "text", "first", "text"),
           ("draft", "text", "send", "text"), ("send", "id", "second", "id"), ("send", "id", "end", "id")],
)  # fmt: skip


def side(name: str) -> dict[str, Any]:
    return flow_of(
        start(),
        gate(f"ask_{name}"),
        api(f"call_{name}", outputs=[port(f"o{name}")]),
        end(port(f"o{name}")),
        id_=f"side{name}",
        edges=[(f"call_{name}", f"o{name}", "end", f"o{name}")],
    )


SHAPES: dict[str, dict[str, Any]] = {
    "plain": PLAIN,
    "subflow": flow_of(
        start(port("topic", default="x")), flow_node("inside", PLAIN), end(port("id")),
        edges=[("start", "topic", "inside", "topic"), ("inside", "id", "end", "id")],
    ),
    "parallel": flow_of(
        start(), parallel(side("a"), side("b")), end(port("oa"), port("ob")),
        edges=[("both", f"o{name}", "end", f"o{name}") for name in "ab"],
    ),
    "parallel map": around(mapped(checked_item())),
    "map": around(mapped(checked_item(gates=2), kind="MapNode"), items=2),
    "nested": nested(),
}  # fmt: skip


class Counting(SimulatedPlatform):
    """Remembers how often each key was called."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[str] = []

    def call(self, call: PlatformCall) -> Any:
        self.keys.append(call.idempotency_key)
        return super().call(call)


@pytest.fixture
def platform() -> Counting:
    return Counting()


@pytest.fixture
def store(fresh_database: str, platform: Counting) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, platform=platform) as opened:
        yield opened


@pytest.fixture
def owner(fresh_database: str, databases: Databases) -> Callable[..., None]:
    """Carries out a statement as the owner of the tables."""

    def execute(statement: Any, *values: Any) -> None:
        with psycopg.connect(databases.as_owner(fresh_database), autocommit=True) as connection:
            connection.execute("set search_path to oasflow")
            connection.execute(statement, values)

    return execute


def raise_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a later version, whose graphs are laid out differently."""
    monkeypatch.setattr(contract, "LAYOUT", contract.LAYOUT + 1)


def approve_first(store: RunStore, run: Run, flow: Any) -> Run:
    return store.answer(run.id, run.waiting[0], Decision.approve(by="ann"), flow=flow)


def list_rebuilt(store: RunStore, run: Run) -> list[str]:
    return [event.data["reason"] for event in store.events(run.id) if event.name == "rebuilt"]


def list_waiting(run: Run) -> list[tuple[str, str]]:
    return [(gate.id, gate.payload_sha256) for gate in run.waiting]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_of_an_older_layout_goes_on_at_each_of_its_stops(
    store: RunStore, platform: Counting, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = compile_flow(SHAPES[shape], platform=platform)
    plain = store.start(flow, {}, run_id="plain")
    while plain.status == "waiting":
        plain = approve_first(store, plain, flow)
    run, stops = store.start(flow, {}, run_id="moved"), 0
    while run.status == "waiting":
        raise_layout(monkeypatch)
        flow = compile_flow(SHAPES[shape], platform=platform)
        before, made = list_waiting(run), list(platform.keys)
        moved = store.work(run.id, flow=flow)
        assert (list_waiting(moved), platform.keys) == (before, made)
        run, stops = approve_first(store, moved, flow), stops + 1
    assert (run.status, run.outputs) == (plain.status, plain.outputs)
    assert list_rebuilt(store, run) == ["layout"] * stops
    assert stops >= 2
    assert len(set(platform.keys)) == len(platform.keys), "a call was made again"


DAMAGE = {
    "no row is left": "delete from {t} where thread_id = %s",
    "every value is garbled": "update checkpoint_blobs set blob = '\\xc1ff' where thread_id = %s",
    "every value is cut": "update checkpoint_blobs set blob = substr(blob, 1, 2) where thread_id = %s",
    "every value is of another type": "update checkpoint_blobs set type = 'json' where thread_id = %s",
    "no value is left": "delete from checkpoint_blobs where thread_id = %s",
    "one value is gone": "delete from checkpoint_blobs where ctid in (select ctid from checkpoint_blobs"
    " where thread_id = %s and channel like 'node.%%' order by version desc limit 1)",
    "the checkpoints are empty": "update checkpoints set checkpoint = '{{}}' where thread_id = %s",
    "the checkpoints are lists": "update checkpoints set checkpoint = '[1]' where thread_id = %s",
    "the metadata is a list": "update checkpoints set metadata = '[1]' where thread_id = %s",
    "the versions are gone": "update checkpoints set checkpoint = checkpoint - 'channel_versions'"
    " where thread_id = %s",
    "the first checkpoint is gone": "delete from checkpoints where ctid in (select ctid from checkpoints"
    " where thread_id = %s order by checkpoint_id limit 1)",
    "the newest checkpoint is gone": "delete from checkpoints where ctid in (select ctid from"
    " checkpoints where thread_id = %s order by checkpoint_id desc limit 1)",
    "the pending writes are gone": "delete from checkpoint_writes where thread_id = %s",
    "the pending writes are garbled": "update checkpoint_writes set blob = '\\xc1ff' where thread_id = %s",
}
"""What becomes of rows of a database that was damaged, or restored in part."""


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("decided", [False, True], ids=["waiting", "decided"])
def test_a_run_with_damaged_checkpoints_goes_on(
    store: RunStore, platform: Counting, owner: Callable[..., None], damage: str, *, decided: bool
) -> None:
    flow = compile_flow(PLAIN, platform=platform)
    run = store.start(flow, {}, run_id="r1")
    before = list_waiting(run)
    if decided:
        store.decide(run.id, run.waiting[0], Decision.approve(by="ann"))
    tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
    for table in tables if "{t}" in DAMAGE[damage] else ("",):
        owner(DAMAGE[damage].format(t=table), "r1")
    run = store.work(run.id)
    if not decided:
        assert list_waiting(run) == before
        run = approve_first(store, run, flow)
    assert [gate.id for gate in run.waiting] == ["second"]
    run = approve_first(store, run, flow)
    assert (run.status, len(platform.keys), len(set(platform.keys))) == ("completed", 2, 2)


def test_a_gate_that_shows_something_else_asks_again_and_its_decision_stays(
    store: RunStore, platform: Counting, owner: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = compile_flow(PLAIN, platform=platform)
    run = store.start(flow, {}, run_id="r1")
    decided = store.decide(run.id, run.waiting[0], Decision.approve(by="ann"))
    assert decided.status == "waiting"
    raise_layout(monkeypatch)
    # As if the call before the gate had given something else: the evidence leads to another text.
    owner("alter table effects disable trigger effects_stay")
    owner("update effects set result = %s where run_id = 'r1'", json.dumps({"value": {"text": "new"}, "artifacts": []}))  # fmt: skip
    owner("alter table effects enable always trigger effects_stay")
    flow = compile_flow(PLAIN, platform=platform)
    store._flows.remember("r1", flow)
    assert [(one.outcome, one.asks_again) for one in store.foretell_upgrades()] == [
        ("asks again", ("first",))
    ]
    run = store.work("r1", flow=flow)
    assert run.waiting[0].values["text"] == "new"
    assert [decision.kind for decision in store.decisions("r1")] == ["approved"]
    assert len(platform.keys) == 1, "nothing was sent on the old decision"
    assert approve_first(store, run, flow).waiting[0].id == "second"


def test_a_run_whose_gate_is_gone_cannot_go_on_and_says_why(
    store: RunStore, platform: Counting, owner: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.start(compile_flow(PLAIN, platform=platform), {}, run_id="r1")
    raise_layout(monkeypatch)
    # As a gate that the flow had under the version before.
    owner("alter table gates disable trigger user")
    owner("update gates set gate_id = 'review', node = 'review' where run_id = 'r1'")
    owner("alter table gates enable trigger user")
    flow = compile_flow(PLAIN, platform=platform)
    store._flows.remember("r1", flow)
    (found,) = store.foretell_upgrades()
    assert (found.outcome, found.reason) == (
        "cannot",
        "it does not come to the gate 'review' any more",
    )
    assert store.upgrade() == (found,)
    assert store.get("r1").status == "waiting"


def test_a_run_of_a_newer_version_is_refused_and_can_be_stopped(
    store: RunStore, platform: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = compile_flow(PLAIN, platform=platform)
    with monkeypatch.context() as newer:
        raise_layout(newer)
        store.start(compile_flow(PLAIN, platform=platform), {}, run_id="r1")
    store._flows.remember("r1", flow)
    with pytest.raises(FlowChanged, match="of a newer version"):
        store.work("r1", flow=flow)
    assert store.stop("r1", by="ann").status == "stopped"


@pytest.mark.parametrize("damage", ["no row is left", "every value is garbled"])
def test_a_run_whose_evidence_is_not_there_fails_with_its_reason(
    store: RunStore, platform: Counting, owner: Callable[..., None], damage: str
) -> None:
    flow = compile_flow(PLAIN, platform=platform)
    run = approve_first(store, store.start(flow, {}, run_id="r1"), flow)
    assert [gate.id for gate in run.waiting] == ["second"]
    owner("alter table effects disable trigger effects_stay")
    owner("update effects set key = 'k' || key where run_id = 'r1'")
    for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
        owner(DAMAGE[damage].format(t=table), "r1")
    run = store.work("r1")
    assert (run.status, run.error["code"]) == ("failed", CheckpointsUnusable.code)  # type: ignore[index]
    assert "has another key than before" in run.error["message"]  # type: ignore[index]
    assert len(platform.keys) == 2


def test_upgrade_gives_waiting_runs_new_checkpoints_and_verify_finds_them_equal(
    store: RunStore, platform: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = compile_flow(PLAIN, platform=platform)
    for number in range(3):
        run = store.start(flow, {}, run_id=f"r{number}")
    approve_first(store, run, flow)
    raise_layout(monkeypatch)
    flow = compile_flow(PLAIN, platform=platform)
    for number in range(3):
        store._flows.remember(f"r{number}", flow)
    foretold = store.foretell_upgrades()
    assert [(one.run_id, one.outcome) for one in foretold] == [
        (f"r{number}", "unchanged") for number in range(3)
    ]
    assert store.upgrade() == foretold
    assert store.foretell_upgrades() == ()
    assert all(store.verify(f"r{number}").is_equal for number in range(3))


def test_a_failure_that_the_flow_caught_is_given_again(store: RunStore) -> None:
    """What the flow then does depends on the error, which the ledger keeps whole."""
    platform = Failing()
    flow = compile_flow(catching(fragile()), platform=platform)
    run = store.start(flow, {}, run_id="r1")
    assert run.outputs == {"y": "none", "info": "node 'call' failed (busy)"}
    assert store.verify("r1").differences == ()
    assert platform.calls == 1
    assert "raised" not in store.effects("r1").items[0].error


def test_a_call_without_a_result_is_no_failure_that_the_flow_catches(store: RunStore) -> None:
    flow = compile_flow(catching(fragile()), platform=Failing())
    store.start(flow, {}, run_id="r1")
    with store.database.connection() as connection:
        row = load_row(connection, "r1")
        known = load_evidence(connection, row)
    empty = replace(known, effects={})
    for evidence, reached in ((known, "completed"), (empty, "running")):
        found = replay_run(
            flow, row, evidence, host_context(run_id="r1"), saver=RebuiltCheckpoints()
        )
        assert (found.stop.status, found.missing is None) == (reached, evidence is known)


class Failing(SimulatedPlatform):
    calls = 0

    def call(self, call: PlatformCall) -> Any:
        from cinatra_sdk.outside.http_calls.protocol import PlatformResponseError

        self.calls += 1
        raise PlatformResponseError(
            f'node "{call.node}": it answered 503', node=call.node, status=503, code="busy"
        )
