"""A store for one person asks before everything, and what is refused leaves nothing behind."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from cinatra_sdk import Decision, HostParts, NotAllowed, NotConfigured, RunNotFound, RunStore
from cinatra_sdk.api import Action, ActionSubject, Person
from cinatra_sdk.effects import Verdict
from cinatra_sdk.store import PersonStore
from cinatra_sdk.store.host_work import WithoutHostWork
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, port, start, tool
from tests.store.work.branches import Branches

YES = Decision.approve()
ANN = Person(id="ann", tenant="acme", proof="token")
FLOW = Branches(("a", "b"))


@dataclass
class Policy:
    """Refuses some actions, and keeps what it was asked."""

    refused: set[str] = field(default_factory=set)
    says: Callable[[], Any] | None = None
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    subjects: list[ActionSubject] = field(default_factory=list)

    def __call__(self, person: Person, action: Action, subject: ActionSubject) -> Any:
        self.asked.append((person.id, action, str(subject)))
        self.subjects.append(subject)
        if action in self.refused:
            return (
                Verdict.refuse(f"no {action} today", code="closed")
                if self.says is None
                else self.says()
            )
        return Verdict.allow()


@pytest.fixture
def policy() -> Policy:
    return Policy()


@pytest.fixture
def store(fresh_database: str, policy: Policy) -> Iterator[RunStore]:
    """`n1` of acme waits at two gates, `n2` of beta too; `n3` of acme was stopped."""
    with RunStore.open(fresh_database, host=HostParts(may=policy)) as opened:
        for name, tenant in (("n1", "acme"), ("n2", "beta"), ("n3", "acme")):
            opened.start(FLOW, run_id=name, tenant=tenant, by="zoe")
        opened.stop("n3", by="zoe")
        assert policy.asked == [], "the host itself is not asked"
        yield opened


@pytest.fixture
def mine(store: RunStore) -> PersonStore:
    return PersonStore(store, ANN)


ACTS: dict[Action, Callable[[PersonStore, str], Any]] = {
    "see": lambda mine, run: mine.get(run),
    "start": lambda mine, run: mine.resume(run, flow=FLOW),
    "answer": lambda mine, run: mine.answer(run, "a", YES, flow=FLOW),
    "settle": lambda mine, run: mine.settle(run, "k", happened=False),
    "stop": lambda mine, run: mine.stop(run),
    "archive": lambda mine, run: mine.archive(run),
}


def list_traces(store: RunStore, run: str) -> Any:
    """What an act would leave behind."""
    return store.get(run), store.told(run), store.decisions(run), store.settlements(run)


@pytest.mark.parametrize("action", ACTS)
def test_what_the_host_refuses_is_not_done_and_leaves_nothing_behind(
    store: RunStore, mine: PersonStore, policy: Policy, action: Action
) -> None:
    policy.refused = {action}
    before = list_traces(store, "n1")
    with pytest.raises(RunNotFound if action == "see" else NotAllowed) as refused:
        ACTS[action](mine, "n1")
    assert list_traces(store, "n1") == before
    assert ("ann", action) in [asked[:2] for asked in policy.asked]
    if action != "see":
        assert (refused.value.code, refused.value.message) == ("closed", f"no {action} today")


@pytest.mark.parametrize("action", ACTS)
@pytest.mark.parametrize(
    "says", [lambda: True, lambda: None, lambda: 1 / 0], ids=["true", "none", "raises"]
)
def test_a_policy_that_fails_allows_nothing_and_is_named(
    store: RunStore, mine: PersonStore, policy: Policy, action: Action, says: Any
) -> None:
    policy.refused, policy.says = {action}, says
    before = list_traces(store, "n1")
    with pytest.raises(NotConfigured, match=r"the host's may (gave a|raised Zero)"):
        ACTS[action](mine, "n1")
    assert list_traces(store, "n1") == before


@pytest.mark.parametrize("action", ACTS)
def test_a_run_of_another_tenant_is_not_there(
    store: RunStore, mine: PersonStore, policy: Policy, action: Action
) -> None:
    before = list_traces(store, "n2")
    with pytest.raises(RunNotFound, match="there is no run 'n2'"):
        ACTS[action](mine, "n2")
    assert list_traces(store, "n2") == before
    assert policy.asked == []


def test_who_may_not_see_a_run_is_not_told_that_it_is_there(
    mine: PersonStore, policy: Policy
) -> None:
    policy.refused = {"see", "answer", "stop"}
    for action in ("answer", "stop"):
        with pytest.raises(RunNotFound):
            ACTS[action](mine, "n1")  # type: ignore[index]  # both are actions


def test_what_a_person_does_has_their_name(store: RunStore, mine: PersonStore) -> None:
    run = mine.decide("n1", {"a": YES, "b": YES})
    assert [one.decided_by for one in store.decisions("n1")] == ["ann", "ann"]
    begun = mine.create(FLOW, run_id="n4")
    assert (begun.started_by, begun.tenant) == ("ann", "acme")
    assert mine.stop(run.id).stopped_by == "ann"


def test_nobody_acts_in_the_name_of_somebody_else(store: RunStore, mine: PersonStore) -> None:
    with pytest.raises(NotAllowed, match="ann acts in no other name"):
        mine.answer("n1", "a", Decision.approve(by="bob"), flow=FLOW)
    with pytest.raises(NotAllowed):
        mine.create(FLOW, run_id="n4", by="bob")
    with pytest.raises(NotAllowed):
        mine.stop("n1", by="bob")
    assert store.decisions("n1") == []
    assert [run.id for run in store.list(status="stopped")] == ["n3"]


def test_a_gate_is_asked_about_with_what_would_be_answered(
    mine: PersonStore, policy: Policy
) -> None:
    shown = mine.get("n1").waiting[0]
    mine.answer("n1", shown, Decision.reject(reason="no"), flow=FLOW)
    subject = next(one for one in policy.subjects if one.kind == "gate")
    assert (subject.name, subject.decision, subject.started_by) == (shown.id, "rejected", "zoe")


def test_a_run_is_begun_for_the_own_tenant_alone(
    store: RunStore, mine: PersonStore, policy: Policy
) -> None:
    with pytest.raises(NotAllowed, match="of another tenant"):
        mine.start(FLOW, run_id="n4", tenant="beta")
    with pytest.raises(RunNotFound):
        mine.create(FLOW, run_id="n4", parent="n2")
    policy.refused = {"start"}
    with pytest.raises(NotAllowed, match="no start today"):
        mine.start(FLOW, run_id="n4")
    untenanted = PersonStore(store, Person(id="eve", tenant="", proof="token"))
    policy.refused = set()
    with pytest.raises(NotAllowed, match="another tenant"):
        untenanted.create(
            compile_flow(flow_of(start(), gate("ask"), end())), run_id="n4",
            context=compile_flow(flow_of(start(), end())).context(tenant="acme"),
        )  # fmt: skip
    assert [run.id for run in store.list()] == ["n3", "n2", "n1"]


def test_lists_keep_to_the_tenant_and_to_what_the_policy_lets_see(
    store: RunStore, mine: PersonStore, policy: Policy
) -> None:
    assert [run.id for run in mine.list()] == ["n3", "n1"]
    assert {one.run_id for one in mine.gates().items} == {"n1"}
    assert {one.run_id for one in mine.needs().items} == {"n1"}
    with pytest.raises(NotAllowed):
        mine.page(tenant="beta")
    everybody = PersonStore(store, Person(id="op", tenant=None, proof="terminal"))
    assert [run.id for run in everybody.list()] == ["n3", "n2", "n1"]
    assert [run.id for run in everybody.list(tenant="beta")] == ["n2"]
    policy.refused = {"see"}
    assert (mine.list(), mine.gates().items, mine.needs().items) == ([], [], [])
    with pytest.raises(RunNotFound, match="no run begins with 'n'"):
        mine.find("n")


def test_of_old_runs_those_are_archived_that_the_person_may_archive(
    store: RunStore, mine: PersonStore, policy: Policy
) -> None:
    store.stop("n2", by="zoe")
    policy.refused = {"archive"}
    assert mine.archive(older_than=timedelta()).runs == 0
    policy.refused = set()
    assert mine.archive(older_than=timedelta()).runs == 1
    assert store.get("n2").archived_at is None, "of another tenant"


def test_a_sweep_is_the_hosts(mine: PersonStore) -> None:
    with pytest.raises(NotAllowed, match="the work of the host"):
        mine.sweep()


def test_the_twins_and_the_events_ask_too(mine: PersonStore, policy: Policy) -> None:
    policy.refused = {"see"}

    async def follow() -> None:
        async for _ in mine.aevents("n1"):
            pass

    for twin in (mine.aget("n1"), mine.atold("n1"), follow()):
        with pytest.raises(RunNotFound):
            asyncio.run(twin)
    with pytest.raises(RunNotFound):
        mine.events("n1")


def test_closing_it_leaves_the_store_open(store: RunStore, mine: PersonStore) -> None:
    with mine:
        pass
    assert store.get("n1").id == "n1"


def test_a_surface_can_ask_before_it_shows_a_button(mine: PersonStore, policy: Policy) -> None:
    assert mine.may("answer", "n1", gate_id="a").allowed
    policy.refused = {"answer"}
    assert mine.may("answer", "n1", gate_id="a").reason == "no answer today"
    assert mine.may("stop", "n1").allowed
    with pytest.raises(RunNotFound):
        mine.may("stop", "n2")


def test_a_call_is_settled_by_whoever_may(fresh_database: str, policy: Policy) -> None:
    def fail(x: str) -> str:
        raise RuntimeError("the line went dead")

    act = tool("post", "post", [port("x")], [port("y")])
    act.setdefault("metadata", {}).setdefault("cinatra", {})["effect"] = "at_most_once"
    document = flow_of(
        start(port("x", default="1")), act, end(), edges=[("start", "x", "post", "x")]
    )
    with RunStore.open(fresh_database, host=HostParts(may=policy)) as store:
        store.start(compile_flow(document, tools={"post": fail}), run_id="r1", tenant="acme")
        (key,) = [one.key for one in store.unknown("r1")]
        mine = PersonStore(store, ANN)
        policy.refused = {"settle"}
        with pytest.raises(NotAllowed):
            mine.settle("r1", key, happened=True, value={"y": "1"})
        assert store.settlements("r1") == []
        policy.refused = set()
        mine.settle("r1", key, happened=True, value={"y": "1"})
        assert [one.by for one in store.settlements("r1")] == ["ann"]


NOT_ABOUT_RUNS = {"open", "aopen", "database", "lend_signer", "aclose"}
"""How a store is made, and what the host alone does."""


def test_every_method_of_a_store_asks() -> None:
    """A method that is added to a store has to be added here too, or it would ask nobody."""
    names = {name for name, _ in inspect.getmembers(RunStore) if not name.startswith("_")}
    twins = {name for name in names if name.startswith("a") and name[1:] in names} - {"aevents"}
    assert names - twins - NOT_ABOUT_RUNS <= {*vars(PersonStore), *vars(WithoutHostWork)}
    assert {"aget", "astart", "asweep"} <= twins, "they call the method of the class by its name"
