"""Who acted is kept with every decision, stop, settlement and start: more than a name, where it is proved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from cinatra_sdk import AnswerInvalid, Decision, InputInvalid, NotAllowed, RunStore
from cinatra_sdk.api import Person, PersonRecord, make_decision, make_run, make_settlement
from cinatra_sdk.effects import Verdict
from cinatra_sdk.store import PersonStore
from tests.store.test_needs import call, flow
from tests.store.work.branches import Branches

FLOW = Branches(("a", "b"))
ANN = Person(
    id="ann", tenant="acme", proof="session", sub="248289761001", issuer="https://id.example",
    email="ann@example.org", groups=frozenset({"mail"}),
)  # fmt: skip
BOT = Person(id="bot", tenant="acme", proof="token", sub="svc-1", kind="service")
KEPT = PersonRecord(
    name="ann", sub="248289761001", issuer="https://id.example", kind="person", proof="session",
    channel="inbox",
)  # fmt: skip
NAME = PersonRecord(name="ann")
TOKEN = "Bearer abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


def unsettled(store: RunStore, run_id: str, **about: Any) -> str:
    """A run with a call of which nobody knows whether it happened; the key of the call."""
    store.start(flow(call("at_most_once")), run_id=run_id, tenant="acme", **about)
    return store.unknown(run_id)[0].key


def test_a_person_is_kept_with_each_of_their_acts(store: RunStore) -> None:
    started = store.create(FLOW, run_id="r1", tenant="acme", by=ANN, channel="inbox")
    store.work("r1")
    store.decide("r1", "a", Decision.approve(by=ANN, channel="inbox"))
    stopped = store.stop("r1", by=ANN, channel="inbox", reason="enough")
    assert (started.started_by, started.starter) == ("ann", KEPT)
    assert store.decisions("r1")[0].person == KEPT
    assert (stopped.stopped_by, stopped.stopper) == ("ann", KEPT)
    key = unsettled(store, "r2")
    store.settle("r2", key, happened=False, by=ANN, channel="inbox")
    assert store.settlements("r2")[0].person == KEPT
    assert [run.starter for run in store.list(started_by="ann")] == [KEPT], "lists have it too"


def test_a_name_stays_a_name(store: RunStore) -> None:
    run = store.start(FLOW, run_id="r1", tenant="acme", by="ann")
    assert (run.starter, run.stopper) == (NAME, PersonRecord())
    store.decide("r1", "a", Decision.approve(by="ann"))
    assert store.decisions("r1")[0].person == NAME
    assert store.stop("r1", by="ann").stopper == NAME


def test_the_json_of_a_run_a_decision_and_a_settlement_tells_who_it_was(store: RunStore) -> None:
    store.start(FLOW, run_id="r1", tenant="acme", by=ANN, channel="inbox")
    store.decide("r1", "a", Decision.approve(by=BOT))
    told = make_decision(store.decisions("r1")[0])
    assert told["by"] == "bot"
    assert told["person"] == {
        "name": "bot", "sub": "svc-1", "issuer": "", "kind": "service", "proof": "token", "channel": "",
    }  # fmt: skip
    run = make_run(store.stop("r1", by="ben"))
    assert run["starter"]["sub"] == "248289761001"
    assert run["stopped"] is not None
    assert run["stopped"]["person"]["name"] == "ben"
    key = unsettled(store, "r2")
    store.settle("r2", key, happened=False, by=ANN)
    assert make_settlement(store.settlements("r2")[0])["person"]["proof"] == "session"


def test_neither_the_address_nor_the_groups_of_a_person_are_kept(
    store: RunStore, owner_database: str
) -> None:
    """The control: the id that the issuer gives is found in the same way."""
    store.start(FLOW, run_id="r1", tenant="acme", by=ANN)
    store.answer("r1", "a", Decision.approve(by=ANN))
    store.stop("r1", by=ANN)
    tables = ("runs", "decisions", "run_events", "gates", "checkpoints", "checkpoint_writes")
    with psycopg.connect(owner_database) as owner:
        text = "".join(
            str(owner.execute(f"select * from oasflow.{table}").fetchall())  # type: ignore[call-overload]
            for table in tables
        )
    assert "248289761001" in text
    assert "ann@example.org" not in text


def test_a_person_of_another_tenant_does_nothing_in_the_hosts_own_store(store: RunStore) -> None:
    store.start(FLOW, run_id="r1", tenant="beta", by="ben")
    before = store.told("r1")
    with pytest.raises(NotAllowed, match="another tenant's"):
        store.stop("r1", by=ANN)
    with pytest.raises(NotAllowed, match="another tenant's"):
        store.settle("r1", "k", happened=False, by=ANN)
    with pytest.raises(AnswerInvalid, match="another tenant's"):
        store.decide("r1", "a", Decision.approve(by=ANN))
    with pytest.raises(NotAllowed, match="another tenant's"):
        store.create(FLOW, run_id="r2", tenant="beta", by=ANN)
    assert store.told("r1") == before
    assert [run.id for run in store.list()] == ["r1"]
    store.stop("r1", by=replace(ANN, tenant=None))  # the control


def test_a_store_of_a_person_signs_everything_with_the_person_and_their_channel(
    store: RunStore,
) -> None:
    mine = PersonStore(store, ANN, channel="inbox")
    mine.start(FLOW, run_id="r1")
    mine.answer("r1", "a", Decision.approve())
    mine.decide("r1", {"b": Decision.approve(channel="slack")})
    assert [one.person for one in store.decisions("r1")] == [KEPT, replace(KEPT, channel="slack")]
    assert mine.create(FLOW, run_id="r2").starter == KEPT
    assert mine.stop("r2").stopper == KEPT
    mine.settle("r3", unsettled(store, "r3"), happened=False)
    assert store.settlements("r3")[0].person == KEPT
    for other in (replace(ANN, sub="1"), BOT):
        with pytest.raises(NotAllowed, match="ann acts in no other name"):
            mine.stop("r2", by=other)
    assert mine.stop("r2", by=ANN).stopper == KEPT


def test_the_policy_is_asked_with_the_person_and_with_who_started_the_run(store: RunStore) -> None:
    """So that a host can refuse whoever started a run, under whichever name."""
    store.start(FLOW, run_id="r1", tenant="acme", by=replace(ANN, id="Ann B."))

    def four_eyes(person: Person, action: str, subject: Any) -> Verdict:
        own = bool(person.sub) and (person.sub, person.issuer) == (
            subject.started_sub,
            subject.started_issuer,
        )
        return Verdict(action != "answer" or not own, "you started it yourself")

    with pytest.raises(NotAllowed, match="you started it yourself"):
        PersonStore(store, ANN, policy=four_eyes).decide("r1", "a", Decision.approve())
    other = replace(ANN, sub="other")
    run = PersonStore(store, other, policy=four_eyes).decide("r1", "a", Decision.approve())
    assert run.id == "r1"
    (gate,) = PersonStore(store, ANN, policy=four_eyes).gates().items
    assert gate.run_id == "r1", "lists ask with the same"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"sub": TOKEN}, "is a credential"),
        ({"issuer": "https://id.example"}, "an issuer and no sub"),
        ({"sub": "a\u200b"}, "not usable"),
        ({"sub": "a" * 301}, "not usable"),
        ({"sub": 7}, "is a int, not a text"),
        ({"kind": "robot"}, "the kind of a person"),
        ({"proof": "none"}, "the proof of a person"),
    ],
)
def test_what_is_nobodys_id_is_refused_and_not_repeated(wrong: dict[str, Any], told: str) -> None:
    given: dict[str, Any] = {"id": "ann", "tenant": None, "proof": "host", **wrong}
    with pytest.raises(InputInvalid, match=told) as refused:
        Person(**given)
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize("channel", ["Inbox", "a b", "x" * 41, "in\nbox", 7, None])
def test_what_is_no_channel_is_refused_before_anything_is_written(
    store: RunStore, channel: Any
) -> None:
    store.start(FLOW, run_id="r1", tenant="acme")
    before = store.told("r1")
    for act in (
        lambda: store.create(FLOW, run_id="r2", channel=channel),
        lambda: Decision.approve(by="ann", channel=channel),
        lambda: store.stop("r1", channel=channel),
        lambda: store.settle("r1", "k", happened=False, by="ann", channel=channel),
        lambda: PersonStore(store, ANN, channel=channel),
    ):
        with pytest.raises(AnswerInvalid, match="the channel is no word"):
            act()
    assert store.told("r1") == before
    assert len(store.list()) == 1


def test_a_decision_of_a_person_has_their_name_and_no_other() -> None:
    said = Decision.reject(by=ANN, channel="slack")
    assert (said.by, said.person, said.author) == ("ann", ANN, replace(KEPT, channel="slack"))
    assert "person" not in said.wire()
    assert "248289761001" not in str(said.wire()), "a flow reads no more than the name"
    with pytest.raises(AnswerInvalid, match="another name"):
        replace(said, by="ben")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (KEPT, replace(KEPT, name="Ann B.", channel="slack"), True),
        (KEPT, replace(KEPT, issuer="https://other.example"), False),
        (KEPT, NAME, False),
        (NAME, NAME, True),
        (NAME, PersonRecord(name="ben"), False),
        (PersonRecord(), PersonRecord(), False),
    ],
)
def test_two_acts_are_one_persons_by_issuer_and_sub_else_by_name(
    one: PersonRecord, other: PersonRecord, same: bool
) -> None:
    assert one.is_same_person(other) is other.is_same_person(one) is same
