"""The campaign finds every small change of a function, tries the same ones each time, and sees which
of them a test fails for.
"""

from __future__ import annotations

import ast
import time

import pytest

from tests.code_mutants.controls import harmful, harmless
from tests.code_mutants.judged import JUDGED
from tests.code_mutants.operators import changes_of
from tests.code_mutants.rooms import ROOMS, ROOT, modules_of, room_of
from tests.code_mutants.sample import sample
from tests.code_mutants.trial import Outcome, Place, Test, begin

SOURCE = '''\
LIMIT = 3


def may(self, actor: str | None, spent: int = 0) -> bool:
    """Whether the actor may."""
    assert spent >= 0
    if actor is None or spent > LIMIT:
        raise Refused(f"{actor} may not: {spent + 1}")
    self.asked = True
    log(actor)
    return not any(self.held)


class Held:
    bound = 20

    def __repr__(self):
        return "Held" + "()"
'''


def _every():
    return [
        change
        for room in ROOMS
        for module in modules_of(room)
        for change in changes_of(module, (ROOT / module).read_text(encoding="utf-8"))
    ]


def test_what_a_function_does_is_changed_and_nothing_beside_it():
    found = {(each.operator, each.shown) for each in changes_of("m.py", SOURCE)}
    assert found == {
        ("and/or", "actor is None or spent > LIMIT → ((actor is None) and (spent > LIMIT))"),
        ("negate", "actor is None or spent > LIMIT → (not (actor is None or spent > LIMIT))"),
        ("operand", "actor is None or spent > LIMIT → ((actor is None))"),
        ("operand", "actor is None or spent > LIMIT → ((spent > LIMIT))"),
        ("compare", "actor is None → actor is not None"),
        ("compare", "spent > LIMIT → spent >= LIMIT"),
        ("raise", 'raise Refused(f"{actor} may not: {spent + 1}") → pass'),
        ("write", "self.asked = True → pass"),
        ("truth", "True → False"),
        ("call", "log(actor) → pass"),
        ("return", "not any(self.held) → None"),
        ("not", "not any(self.held) → bool(any(self.held))"),
        ("word", "any → all"),
    }


def test_a_change_of_what_decides_on_a_refusal_is_marked():
    marked = [each.operator for each in changes_of("m.py", SOURCE) if each.safety]
    assert sorted(set(marked)) == ["and/or", "compare", "negate", "operand", "raise"]


def test_the_same_changes_are_chosen_each_time_and_each_of_them_parses():
    every = _every()
    chosen = sample(every, count=130, seed=1)
    assert chosen == sample(every, count=130, seed=1) != sample(every, count=130, seed=2)
    assert {room_of(each.module) for each in chosen} == set(ROOMS)
    for each in chosen:
        ast.parse(each.applied((ROOT / each.module).read_text(encoding="utf-8")))


def test_each_survivor_that_was_judged_is_a_change_of_todays_code():
    keys = {each.key for each in _every()}
    assert [key for key in JUDGED if key not in keys] == []


@pytest.mark.long
def test_a_change_is_caught_by_a_test_of_it_and_no_change_by_none():
    every = _every()
    refused = next(each for each in harmful(every) if "permits" in each.module)
    file = "tests/effects/test_performing.py"
    place = Place.make()
    try:
        ended = [
            _end_of(place, change, [(file, "test_a_policy_that_refuses_is_obeyed")])
            for change in (harmless(every), refused)
        ]
    finally:
        place.close()
    assert [each.ending for each in ended] == ["alive", "caught"]


def _end_of(place: Place, change, tests: list[Test]) -> Outcome:
    running = begin(place, change, tests, limit=60)
    while (outcome := running.outcome()) is None:
        time.sleep(0.05)
    return outcome
