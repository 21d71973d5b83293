"""`may` is asked of a person, an action and a subject, and the first refusal counts."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from cinatra_sdk.api import ACTIONS, Action, ActionSubject, Person, may
from cinatra_sdk.effects import Verdict
from cinatra_sdk.errors import AnswerInvalid, InputInvalid

RUN = ActionSubject(kind="run", tenant="acme", flow="Mail", run_id="n1", started_by="ann")
ANN = Person(id="ann", tenant="acme", groups=frozenset({"mail"}), proof="token")


def allow(*_asked: Any) -> Verdict:
    return Verdict.allow()


def refuse(*_asked: Any) -> Verdict:
    return Verdict.refuse("not on Sundays", code="sunday", hint="come back on Monday")


def fail(*_asked: Any) -> Verdict:
    raise RuntimeError("password hunter2")


class Yes(Verdict):
    """A host may write anything."""


POLICIES: dict[str, tuple[Any, str]] = {
    "none": (None, ""),
    "allows": (allow, ""),
    "refuses": (refuse, "sunday"),
    "raises": (fail, "policy_failed"),
    "says True": (lambda *_: True, "policy_failed"),
    "says None": (lambda *_: None, "policy_failed"),
    "says 1": (lambda *_: Verdict(1), "policy_failed"),  # type: ignore[arg-type]  # what a host may write
    "says its own": (lambda *_: Yes(True), "policy_failed"),
    "takes too few": (Verdict.allow, "policy_failed"),
    "gives its error": (lambda *_: Verdict(False, ValueError("hunter2")), "policy_failed"),  # type: ignore[arg-type]
    "gives no reason": (lambda *_: Verdict(False, None), "policy_failed"),  # type: ignore[arg-type]
    "gives a number": (lambda *_: Verdict(False, "no", code=5), "policy_failed"),  # type: ignore[arg-type]
    "gives a list": (lambda *_: Verdict(False, "no", "x", ["y"]), "policy_failed"),  # type: ignore[arg-type]
}
TENANTS = {"acme": True, None: True, "": False, "beta": False}


@pytest.mark.parametrize(
    ("action", "policy", "tenant"),
    [*itertools.product(ACTIONS, POLICIES, TENANTS)],
)
def test_everybody_of_the_tenant_may_what_the_policy_does_not_refuse(
    action: Action, policy: str, tenant: str | None
) -> None:
    asked, code = POLICIES[policy]
    person = Person(id="ann", tenant=tenant, proof="session")
    said = may(person, action, RUN, policy=asked)
    expected = code if TENANTS[tenant] else "other_tenant"
    assert (said.allowed, said.code) == (not expected, expected)
    assert bool(said.reason) == bool(expected), "a refusal says why"
    assert "hunter2" not in said.reason, "what a policy raises may name a secret"


def test_a_policy_is_not_asked_about_another_tenant() -> None:
    asked: list[Any] = []
    may(
        Person(id="bob", tenant="beta", proof="token"),
        "see",
        RUN,
        policy=lambda *a: asked.append(a),
    )  # type: ignore[func-returns-value, arg-type, return-value]  # keeps what it is asked
    assert asked == []


def test_a_policy_sees_who_asks_and_how_that_was_proved() -> None:
    def only_logins(person: Person, action: Action, subject: ActionSubject) -> Verdict:
        known = person.proof == "session" and "mail" in person.groups
        return Verdict(known or action == "see", f"{person.id} has no login for {subject}")

    assert may(ANN, "see", RUN, policy=only_logins).allowed
    said = may(ANN, "stop", RUN, policy=only_logins)
    assert (said.reason, said.code) == ("ann has no login for run 'n1'", "not_allowed")
    known = Person(id="ann", tenant="acme", groups=frozenset({"mail"}), proof="session")
    assert may(known, "stop", RUN, policy=only_logins).allowed


def test_a_refusal_without_words_gets_some() -> None:
    said = may(ANN, "stop", RUN, policy=lambda *_: Verdict(False))
    assert said.reason == "the host does not let ann stop run 'n1'"


def test_rules_stand_behind_the_policy_and_cannot_widen_it() -> None:
    asked: list[str] = []

    def note(name: str, said: Verdict | None) -> Any:
        def rule(*_asked: Any) -> Verdict | None:
            asked.append(name)
            return said

        return rule

    no = Verdict.refuse("somebody else has to", code="not_requester")
    rules = (
        note("silent", None),
        note("allows", Verdict.allow()),
        note("refuses", no),
        note("late", no),
    )
    assert may(ANN, "answer", RUN, policy=allow, rules=rules).code == "not_requester"
    assert asked == ["silent", "allows", "refuses"], "the first refusal counts"
    asked.clear()
    assert (
        may(ANN, "answer", RUN, policy=refuse, rules=(note("allows", Verdict.allow()),)).code
        == "sunday"
    )
    assert asked == []


@pytest.mark.parametrize("action", ["shred", "", None, [], "See"])
def test_what_is_no_action_is_no_question(action: Any) -> None:
    for policy in (None, allow, fail):
        with pytest.raises(InputInvalid, match="one of see, start, answer"):
            may(ANN, action, RUN, policy=policy)


WRONG_PERSONS: dict[str, Any] = {
    "no id": {"id": ""},
    "blanks": {"id": " \u00a0 "},
    "no text": {"id": None},
    "unseen": {"id": "ann\u200b"},
    "too long": {"id": "x" * 300},
    "a number as tenant": {"tenant": 5},
    "groups as one text": {"groups": "mail"},
    "groups of numbers": {"groups": frozenset({5})},
    "no groups": {"groups": None},
    "no proof": {"proof": ""},
    "its own proof": {"proof": "trust me"},
    "a list as proof": {"proof": []},
}


@pytest.mark.parametrize("wrong", WRONG_PERSONS.values(), ids=WRONG_PERSONS)
def test_a_person_is_somebody(wrong: dict[str, Any]) -> None:
    about: Any = {"id": "ann", "tenant": "acme", "proof": "token", **wrong}
    with pytest.raises((AnswerInvalid, InputInvalid)):
        Person(**about)


def test_a_person_has_the_name_that_is_kept() -> None:
    person = Person(id="  Jose\u0301  Lima ", tenant=None, groups={"a"}, proof="host")  # type: ignore[arg-type]
    assert (person.id, person.groups) == ("Jos\xe9 Lima", frozenset({"a"}))
    assert hash(person) == hash(Person(id="Jos\xe9 Lima", tenant=None, groups=frozenset("a"), proof="host"))  # fmt: skip
