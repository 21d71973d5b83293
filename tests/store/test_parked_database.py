"""The stored database of a release: all its parked runs go on, under that layout and under a later one.

12 shapes, each parked at its first gate, with a decision there that nobody has carried out, and at its last gate.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from cinatra_sdk import contract
from cinatra_sdk.errors import CheckpointsUnusable
from cinatra_sdk.flow.plan import channel_names
from cinatra_sdk.store.runs import activation
from tests.databases import Databases
from tests.effort import spread
from tests.store.parked_database import name_run, parked
from tests.store.parked_shapes import DEPTHS, SHAPES, Calls, World
from tests.store.test_rebuilt_runs import list_waiting


@pytest.fixture(scope="module")
def database(databases: Databases) -> Iterator[str]:
    """Runs of one shape are nothing to those of another."""
    with parked(databases) as dsn:
        yield dsn


@pytest.fixture(scope="module")
def later_database(databases: Databases) -> Iterator[str]:
    """The same, for the later version."""
    with parked(databases) as dsn:
        yield dsn


def raise_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a later version, whose graphs are laid out differently: also its channels have other names."""
    before = channel_names.channel_of
    monkeypatch.setattr(contract, "LAYOUT", contract.LAYOUT + 1)
    for module in list(sys.modules.values()):
        if vars(module).get("channel_of") is before:
            monkeypatch.setattr(module, "channel_of", lambda node_id: f"{before(node_id)}.next")


def list_done(dsn: str) -> set[str]:
    with psycopg.connect(dsn, options="-c search_path=oasflow") as connection:
        asked = "select key from effects where status = 'done'"
        return {key for (key,) in connection.execute(asked)}


def finish_all(world: World, shape: str, calls: Calls, done: set[str]) -> None:
    """Each run asks at the gates at which one asked that was never parked, and no call is made again."""
    for depth in DEPTHS:
        run = world.store.get(name_run(shape, depth))
        whole = world.store.get(f"{name_run(shape, 'deep')}-counted")
        gates = sorted(one.gate_id for one in world.store.decisions(whole.id))
        shown = list_waiting(run)
        run = world.store.work(run.id)
        assert depth == "decided" or list_waiting(run) == shown
        world.finish(run)
        run = world.store.get(run.id)
        assert sorted(one.gate_id for one in world.store.decisions(run.id)) == gates
        assert (run.status, run.outputs) == ("completed", whole.outputs)
        assert world.store.verify(run.id).differences == ()
    assert len(set(calls)) == len(calls)
    assert not done & set(calls), "a call was made again"


def list_runs(shape: str) -> set[str]:
    return {name_run(shape, depth) for depth in DEPTHS}


@pytest.mark.parametrize("shape", spread(list(SHAPES), family=type, every=4))
def test_parked_runs_go_on_under_their_layout(database: str, shape: str) -> None:
    calls: Calls = []
    with SHAPES[shape].open(database, calls) as world:
        assert world.store.foretell_upgrades(tenant=world.shape.tenant) == ()
        finish_all(world, shape, calls, list_done(database))


@pytest.mark.parametrize("shape", SHAPES)
def test_parked_runs_go_on_under_a_later_layout_as_foretold(
    later_database: str, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Calls = []
    done, own = list_done(later_database), list_runs(shape)
    raise_layout(monkeypatch)
    with SHAPES[shape].open(later_database, calls) as world:
        tenant = world.shape.tenant
        shown = {run: list_waiting(world.store.get(run)) for run in own}
        foretold = world.store.foretell_upgrades(tenant=tenant)
        assert own <= {one.run_id for one in foretold}
        assert {one.outcome for one in foretold} == {"unchanged"}, foretold
        assert world.store.upgrade(tenant=tenant) == foretold
        assert {run: list_waiting(world.store.get(run)) for run in own} == shown
        assert calls == []
        left = {one.run_id for one in world.store.foretell_upgrades(tenant=tenant)}
        assert left == {name_run(shape, "decided")}, (
            "its decision is carried out by whoever works on it"
        )
        finish_all(world, shape, calls, done)
        assert world.store.foretell_upgrades(tenant=tenant) == ()


def test_without_a_rebuild_they_do_not_go_on(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the checkpoints as they lie lead a graph of the later layout nowhere."""
    raise_layout(monkeypatch)

    def refuse(*_given: Any, **_named: Any) -> str:
        raise CheckpointsUnusable("no rebuild")

    monkeypatch.setattr(activation, "rebuild_checkpoints", refuse)
    calls: Calls = []
    with parked(databases) as dsn:
        kept = list_waiting_runs(dsn)
        with SHAPES["subflow"].open(dsn, calls) as world, pytest.raises(AssertionError):
            finish_all(world, "subflow", calls, list_done(dsn))
    assert kept == {run for shape in SHAPES for run in list_runs(shape)}
    assert len(kept) == 36


def list_waiting_runs(dsn: str) -> set[str]:
    """Of every shape, at every depth."""
    with psycopg.connect(dsn, options="-c search_path=oasflow") as connection:
        asked: Any = (
            "select run_id from runs where status = 'waiting' and run_id not like '%parent'"
        )
        return {run_id for (run_id,) in connection.execute(asked)}
