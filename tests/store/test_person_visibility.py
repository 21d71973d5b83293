"""What a person may not see leaves no trace in what their store shows and tells."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from cinatra_sdk import (
    Decision,
    HostParts,
    InputInvalid,
    NotAllowed,
    NotConfigured,
    RunExists,
    RunNotFound,
    RunStore,
)
from cinatra_sdk.api import Action, ActionSubject, Person
from cinatra_sdk.effects import Verdict
from cinatra_sdk.store import Database, PersonStore
from oas_compiler import compile_flow
from tests.api.test_json_shapes import FLOW as MAIL
from tests.api.test_json_shapes import fail
from tests.store.work.branches import Branches

ANN = Person(id="ann", tenant="acme", proof="token")
FLOW = Branches(("a", "b"))
YES = Decision.approve()


def hide(person: Person, action: Action, subject: ActionSubject) -> Verdict:
    """What zoe started is hers."""
    return Verdict.refuse("hidden") if subject.started_by == "zoe" else Verdict.allow()


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, host=HostParts(may=hide)) as opened:
        yield opened


@pytest.fixture
def mine(store: RunStore) -> PersonStore:
    return PersonStore(store, ANN)


def begin(store: RunStore, *names: str, by: str = "zoe", tenant: str = "acme") -> None:
    for name in names:
        store.start(FLOW, run_id=name, tenant=tenant, by=by)


# ------------------------------------------------------------------ policies


class Grants(dict[str, bool]):
    """A table of grants is empty before the first one, and then no truth."""

    def __call__(self, person: Person, action: Action, subject: ActionSubject) -> Verdict:
        return Verdict.allow() if person.id in self else Verdict.refuse("no grant")


def test_a_policy_that_is_empty_is_one(store: RunStore, fresh_database: str) -> None:
    begin(store, "n1", by="ann")
    for policy, seen in ((Grants(), False), (Grants(bob=True), False), (Grants(ann=True), True)):
        with RunStore.open(fresh_database, host=HostParts(may=policy)) as other:
            for mine in (PersonStore(store, ANN, policy=policy), PersonStore(other, ANN)):
                assert [run.id for run in mine.list()] == (["n1"] if seen else [])


def test_a_refusal_with_the_code_of_a_failure_is_a_refusal(store: RunStore) -> None:
    begin(store, "n1", by="ann")
    mine = PersonStore(
        store, ANN,
        policy=lambda _, action, __: Verdict(action == "see", "closed", code="policy_failed"),
    )  # fmt: skip
    with pytest.raises(NotAllowed, match="closed") as refused:
        mine.stop("n1")
    assert refused.value.code == "policy_failed"


@pytest.mark.parametrize("wrong", [{"reason": ValueError("hunter2")}, {"code": 5}, {"hint": None}])
def test_a_verdict_of_other_things_than_texts_is_a_failure(
    store: RunStore, wrong: dict[str, Any]
) -> None:
    begin(store, "n1", by="ann")
    about: Any = {"allowed": False, "reason": "no", **wrong}
    mine = PersonStore(store, ANN, policy=lambda *_: Verdict(**about))
    with pytest.raises(NotConfigured) as failed:
        mine.get("n1")
    assert "hunter2" not in str(failed.value)


ASKING: dict[str, Callable[[PersonStore], Any]] = {
    "may": lambda mine: mine.may("stop", "n1"),
    "may answer": lambda mine: mine.may("answer", "n1", gate_id="a"),
    "may settle": lambda mine: mine.may("settle", "n1", key="k"),
    "page": lambda mine: mine.page(),
    "gates": lambda mine: mine.gates(),
    "needs": lambda mine: mine.needs(),
    "find": lambda mine: mine.find("n1"),
    "questions": lambda mine: mine.questions("n1"),
    "unknown_keys": lambda mine: mine.unknown_keys([mine.get("n1")]),
    "get a child": lambda mine: mine.get("n1-child"),
    "create": lambda mine: mine.create(FLOW, run_id="n2", parent="n1"),
    "decide": lambda mine: mine.decide("n1", "a", YES),
    "stop": lambda mine: mine.stop("n1"),
    "archive all": lambda mine: mine.archive(older_than=timedelta()),
    "archive": lambda mine: mine.archive("n1"),
}


def test_no_connection_is_held_while_the_policy_runs(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A policy may ask the store of the host; threads that held all connections would wait for each other."""
    begin(store, "n1", by="ann")
    store.create(FLOW, run_id="n1-child", tenant="acme", by="ann", parent="n1")
    held: list[int] = [0]
    connection = Database.connection

    @contextmanager
    def count(self: Database) -> Iterator[Any]:
        with connection(self) as lent:
            held[0] += 1
            try:
                yield lent
            finally:
                held[0] -= 1

    asked: list[str] = []

    def policy(person: Person, action: Action, subject: ActionSubject) -> Verdict:
        assert threading.current_thread() is threading.main_thread()
        assert held == [0], action
        asked.append(action)
        return Verdict.allow()

    monkeypatch.setattr(Database, "connection", count)
    mine = PersonStore(store, ANN, policy=policy)
    for name, act in ASKING.items():
        asked.clear()
        act(mine)
        assert asked, name


# ------------------------------------------------------------------ lists


def read_cursor(cursor: str) -> str:
    return base64.urlsafe_b64decode(cursor + "===").decode()


@pytest.mark.parametrize("name", ["page", "gates", "needs"])
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_are_full_of_what_is_seen_and_their_ends_tell_of_nothing_else(
    store: RunStore, mine: PersonStore, name: str, limit: int
) -> None:
    for number in range(4):
        begin(store, f"hidden-{number}")
        begin(store, f"seen-{number}", by="ann")
        begin(store, f"hidden-{number}-too")
    wanted = [one for one in getattr(store, name)().items if "hidden" not in str(one)]
    assert wanted
    found, after = [], ""
    while True:
        page = getattr(mine, name)(limit=limit, after=after)
        found += page.items
        if not page.next:
            break
        assert len(page.items) == limit
        assert "hidden" not in read_cursor(page.next)
        after = page.next
    assert found == wanted


@pytest.mark.parametrize("name", ["page", "gates", "needs"])
def test_of_hidden_runs_no_list_says_that_one_goes_on(
    store: RunStore, mine: PersonStore, name: str
) -> None:
    begin(store, "seen", by="ann")
    begin(store, *(f"hidden-{number}" for number in range(3)))
    seen = len(getattr(mine, name)().items)
    assert getattr(mine, name)(limit=seen).next == ""
    assert len(getattr(store, name)(limit=seen).next) > 0, "the control"


def test_a_text_is_looked_for_in_what_is_seen(store: RunStore, mine: PersonStore) -> None:
    flow = compile_flow(MAIL, tools={"post": fail})
    for name in ("h1", "h2"):
        store.start(flow, {"x": "salary of bob: 120000"}, name, tenant="acme", by="zoe")
    for text in ("salary of bob: 1", "salary of bob: 12", "salary of bob: 2"):
        for page in (mine.needs(text=text, limit=1), mine.gates(text=text, limit=1)):
            assert (list(page.items), list(page.unreadable), page.next) == ([], [], "")
    assert len(store.needs(text="salary of bob: 1", limit=1).items) == 1, "the control"


def test_a_list_of_a_person_is_read_in_few_statements(
    store: RunStore, mine: PersonStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        store.create(FLOW, run_id=f"n{number}", tenant="acme", by="zoe" if number % 3 else "ann")
    used: list[str] = []
    connection = Database.connection

    def count(self: Database) -> Any:
        used.append("")
        return connection(self)

    monkeypatch.setattr(Database, "connection", count)
    assert len(mine.page().items) == 4
    assert len(used) == 1


def test_a_class_of_risk_is_not_known_from_runs_that_are_not_seen(
    store: RunStore, mine: PersonStore
) -> None:
    flow = compile_flow(
        json.loads(json.dumps(MAIL).replace("send_external_message", "merger_phoenix")),
        tools={"post": fail},
    )
    plain = PersonStore(store, ANN, policy=None)
    plain._policy = None
    told: list[tuple[Any, ...]] = []
    for run, tenant, by in (("", "", ""), ("b1", "beta", "bob"), ("z1", "acme", "zoe")):
        if run:
            store.start(flow, {}, run, tenant=tenant, by=by)
        told.append((mine.gates(risk="merger_phoenix").items, mine.needs(risk="zzz").next))
        if tenant != "acme":
            for ask in (plain.gates, plain.needs):
                with pytest.raises(InputInvalid, match="there is no risk class"):
                    ask(risk="merger_phoenix")
    assert told == [([], "")] * 3
    assert [one.run_id for one in plain.gates(risk="merger_phoenix").items] == ["z1"]
    with pytest.raises(InputInvalid, match="there is no risk class"):
        store.gates(risk="merger_phoenix", tenant="gamma")
    assert len(store.gates(risk="merger_phoenix").items) == 2, "the host sees every tenant's"


# ------------------------------------------------------------------ single runs


def test_a_short_id_is_looked_for_among_what_is_seen(store: RunStore, mine: PersonStore) -> None:
    begin(store, "payroll-of-the-ceo", "3f2a91bc77d01234", "viz", "vi", "visible-2")
    begin(store, *(f"vj{number}" for number in range(3)))
    begin(store, "visible", "vk", by="ann")
    begin(store, "betas", tenant="beta")
    assert mine.find("vi") == "visible"
    assert mine.find("visible", to_act=True) == "visible"
    for typed, to_act in (
        ("pay", False), ("3", False), ("3f2a", True), ("vj", False), ("be", False), ("betas", False),
        ("viz", False), ("viz", True), ("zzz", False),
    ):  # fmt: skip
        with pytest.raises(RunNotFound) as refused:
            mine.find(typed, to_act=to_act)
        assert refused.value.message == f"no run begins with '{typed}'"
    with pytest.raises(RunNotFound, match="several runs begin with 'v'"):
        mine.find("v")
    assert store.find("pay", tenant="acme") == "payroll-of-the-ceo", "the control"


def test_a_run_behind_many_hidden_ones_is_found(
    store: RunStore, mine: PersonStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cinatra_sdk.store.runs.lists.PAGE", 3)
    for number in range(11):
        store.create(FLOW, run_id=f"n{number:02}", tenant="acme", by="zoe")
    store.create(FLOW, run_id="n99", tenant="acme", by="ann")
    assert mine.find("n") == "n99"


def test_questions_of_hidden_children_are_not_counted(store: RunStore, mine: PersonStore) -> None:
    begin(store, "mother", by="ann")
    before = mine.questions("mother")
    for name, by, parent in (
        ("secret", "zoe", "mother"), ("below", "ann", "secret"), ("open", "ann", "mother"),
    ):  # fmt: skip
        store.start(FLOW, run_id=name, tenant="acme", by=by, parent=parent, parent_path="p")
        if by == "zoe":
            store.decide(name, "a", Decision.approve(by="zoe", reason="the merger"))
            assert mine.questions("mother") == before
    assert mine.questions("mother").asked == 2 * before.asked
    assert mine.questions("mother").last == ""
    assert "zoe" in store.questions("mother").last, "the control"


def test_the_id_of_a_hidden_parent_is_not_told(store: RunStore, mine: PersonStore) -> None:
    begin(store, "secret")
    begin(store, "open", by="ann")
    for parent in ("secret", "open"):
        name = f"child-of-{parent[0]}"
        store.start(FLOW, run_id=name, tenant="acme", by="ann", parent=parent, parent_path="p")
        told = [mine.get(name), *(run for run in mine.list() if run.id == name)]
        told += [mine.decide(name, "a", YES), mine.work(name, flow=FLOW), mine.stop(name)]
        wanted = ("", "") if parent == "secret" else ("open", "p")
        assert [(run.parent, run.parent_path) for run in told] == [wanted] * 5


# ------------------------------------------------------------------ acts


def only(*allowed: Action) -> Any:
    return lambda _, action, __: (
        Verdict.allow() if action in allowed else Verdict.refuse(f"no {action}")
    )


def test_who_may_start_and_not_see_is_given_the_run_that_was_made(store: RunStore) -> None:
    mine = PersonStore(store, ANN, policy=only("start"))
    assert mine.create(FLOW, run_id="n1").id == "n1"
    assert mine.start(FLOW, run_id="n2").status == "waiting"
    assert mine.resume("n2", flow=FLOW).status == "waiting"
    with pytest.raises(RunNotFound):
        mine.get("n1")


def test_a_policy_that_hides_a_run_while_a_person_acts_hides_no_act(store: RunStore) -> None:
    begin(store, "n1", by="ann")

    def until_decided(person: Person, action: Action, subject: ActionSubject) -> Verdict:
        return Verdict(not store.decisions("n1"), "it is decided")

    run = PersonStore(store, ANN, policy=until_decided).decide("n1", "a", YES)
    assert run.id == "n1"
    assert [one.decided_by for one in store.decisions("n1")] == ["ann"]


def test_an_id_that_is_taken_says_so_and_not_by_whom(store: RunStore, mine: PersonStore) -> None:
    begin(store, "betas", tenant="beta")
    begin(store, "hidden")
    for name in ("betas", "hidden"):
        for act in (mine.create, mine.start, store.create):
            with pytest.raises(RunExists) as refused:
                act(FLOW, run_id=name)
            assert refused.value.code == "run_exists"
            assert refused.value.message == f"there is a run '{name}' already"


def test_may_asks_what_the_act_asks(store: RunStore) -> None:
    begin(store, "n1", by="ann")
    asked: list[tuple[str, str, str]] = []

    def note(person: Person, action: Action, subject: ActionSubject) -> Verdict:
        asked.append((action, subject.kind, subject.name))
        return Verdict.allow()

    mine = PersonStore(store, ANN, policy=note)
    mine.may("settle", "n1", key="k1")
    by_may = asked[-1]
    with pytest.raises(Exception, match="k1"):
        mine.settle("n1", "k1", happened=False)
    assert by_may == asked[-1] == ("settle", "call", "k1")
    mine.may("settle", "n1")
    assert asked[-1] == ("settle", "run", "")
    wrong: Any
    about: Any
    for wrong, about in (
        ("stop", {"key": "k1"}), ("answer", {"key": "k1"}), ("see", {"gate_id": "a"}),
        ("settle", {"gate_id": "a"}), ("shred", {}), ("", {}),
    ):  # fmt: skip
        with pytest.raises(InputInvalid):
            mine.may(wrong, "n1", **about)


def test_a_policy_that_fails_midway_leaves_that_run_and_the_count_is_kept(
    store: RunStore, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("x1", "x2", "x3"):
        begin(store, name, by="ann")
        store.stop(name, by="ann")

    def policy(person: Person, action: Action, subject: ActionSubject) -> Verdict:
        if action == "archive" and subject.run_id == "x2":
            raise KeyError("hunter2")
        return Verdict.allow()

    mine = PersonStore(store, ANN, policy=policy)
    tried = mine.archive(older_than=timedelta(), dry_run=True)
    done = mine.archive(older_than=timedelta())
    assert (tried.runs, tried.left) == (done.runs, done.left) == (2, 1)
    assert [run.id for run in store.list() if run.archived_at is None] == ["x2"]
    assert "'x2' cannot be archived: the host's may raised KeyError" in caplog.text
    assert "hunter2" not in caplog.text
