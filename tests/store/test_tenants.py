"""Every method of a store keeps to the tenant that it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cinatra_sdk import Decision, RunNotFound, RunStore
from tests.store.work.branches import Branches

TENANTS = ("", "acme", "acme-2", "beta")
ANN = Decision.approve(by="ann")


def flow_of_tenant(tenant: str) -> Branches:
    return Branches(("a", f"of {tenant}"))


@pytest.fixture(scope="module")
def methods() -> dict[str, Callable[[RunStore, str, str], Any]]:
    """Each method that names a run, called for the run of one tenant in the name of another."""
    return {
        "get": lambda store, run, tenant: store.get(run, tenant=tenant),
        "gate": lambda store, run, tenant: store.gate(run, "a", tenant=tenant),
        "find": lambda store, run, tenant: store.find(run, tenant=tenant),
        "verify": lambda store, run, tenant: store.verify(run, tenant=tenant),
        "questions": lambda store, run, tenant: store.questions(run, tenant=tenant),
        "decisions": lambda store, run, tenant: store.decisions(run, tenant=tenant),
        "decisions_page": lambda store, run, tenant: store.decisions_page(run, tenant=tenant),
        "effects": lambda store, run, tenant: store.effects(run, tenant=tenant),
        "usage": lambda store, run, tenant: store.usage(run, tenant=tenant),
        "flow": lambda store, run, tenant: store.flow(run, tenant=tenant),
        "source": lambda store, run, tenant: store.source(run, tenant=tenant),
        "answer_rules": lambda store, run, tenant: store.answer_rules(run, tenant=tenant),
        "decide": lambda store, run, tenant: store.decide(run, "a", ANN, tenant=tenant),
        "work": lambda store, run, tenant: store.work(run, tenant=tenant),
        "answer": lambda store, run, tenant: store.answer(run, "a", ANN, tenant=tenant),
        "resume": lambda store, run, tenant: store.resume(run, tenant=tenant),
        "told": lambda store, run, tenant: store.told(run, tenant=tenant),
        "stretches": lambda store, run, tenant: store.stretches(run, tenant=tenant),
        "events": lambda store, run, tenant: list(store.events(run, tenant=tenant)),
        "unknown_keys": lambda store, run, tenant: store.unknown_keys(
            [store.get(run, tenant=tenant)], tenant=tenant
        ),
        "unknown": lambda store, run, tenant: store.unknown(run, tenant=tenant),
        "settlements": lambda store, run, tenant: store.settlements(run, tenant=tenant),
        "settle": lambda store, run, tenant: store.settle(
            run, "k", happened=False, by="ann", tenant=tenant
        ),
        "pause": lambda store, run, tenant: store.pause(run, by="ann", tenant=tenant),
        "export": lambda store, run, tenant: list(store.export(run, tenant=tenant)),
        "stop": lambda store, run, tenant: store.stop(run, by="ann", tenant=tenant),
        "archive": lambda store, run, tenant: store.archive(run, by="ann", tenant=tenant),
        "parent": lambda store, run, tenant: store.create(
            flow_of_tenant(tenant), tenant=tenant, parent=run
        ),
    }


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        for tenant in TENANTS:
            opened.start(flow_of_tenant(tenant), run_id=f"run-{tenant}-x", tenant=tenant)
        yield opened


def test_the_matrix_has_every_method_that_names_a_run(methods: Any) -> None:
    public = {
        name
        for name in dir(RunStore)
        if not name.startswith("_") and callable(getattr(RunStore, name))
    }
    twins = {name for name in public if name.startswith("a") and name[1:] in public}
    others = {
        "open",
        "aopen",
        "close",
        "create",
        "start",
        "list",
        "page",
        "count",
        "count_gates",
        "feed",
        "feed_page",
        "feed_now",
        "gates",
        "needs",
        "flow_names",
        "sweep",
        "list_other_layouts",
        "foretell_upgrades",
        "upgrade",
        "drain",
        "lend_signer",
        "reconcile",
    }
    assert public - twins - others == set(methods) - {"parent"}


@pytest.mark.parametrize("whose", TENANTS)
def test_a_run_of_another_tenant_is_not_there(store: RunStore, methods: Any, whose: str) -> None:
    name = f"run-{whose}-x"
    before = store.get(name)
    for other in TENANTS:
        for method, call in methods.items():
            if other == whose:
                continue
            with pytest.raises(RunNotFound):
                call(store, name, other)
            assert store.get(name) == before, method


def test_its_own_tenant_may_do_everything(store: RunStore, methods: Any) -> None:
    # The control of the matrix.
    for tenant in TENANTS:
        name = f"run-{tenant}-x"
        for method in ("get", "find", "flow", "parent", "decide", "work", "resume", "decisions"):
            methods[method](store, name, tenant)
        assert methods["stop"](store, name, tenant).status == "stopped"


@pytest.mark.parametrize("tenant", TENANTS)
def test_lists_hold_the_runs_of_their_tenant_only(store: RunStore, tenant: str) -> None:
    name = f"run-{tenant}-x"
    assert [run.id for run in store.list(tenant=tenant)] == [name]
    assert [run.id for run in store.page(tenant=tenant).items] == [name]
    assert {gate.run_id for gate in store.gates(tenant=tenant).items} == {name}
    assert (store.count(tenant=tenant), store.count_gates(tenant=tenant)) == (
        1,
        len(store.gates(tenant=tenant).items),
    )
    assert {need.run_id for need in store.needs(tenant=tenant).items} == {name}
    assert {item.run_id for item in store.feed(tenant=tenant)} == {name}
    store.decide(name, "a", ANN)
    assert [one.run_id for one in store.sweep(tenant=tenant)] == [name]
    assert store.flow_names(tenant=tenant) == ["branches"]
    assert store.flow_names(tenant="nobody's") == []
