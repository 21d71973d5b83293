"""The campaign finds every small change of a function, tries the same ones each time, and sees which
of them a test fails for.
"""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from tests.code_mutants.controls import harmful
from tests.code_mutants.judged import JUDGED
from tests.code_mutants.operators import changes_of
from tests.code_mutants.rooms import ROOMS, ROOT, modules_of, room_of
from tests.code_mutants.sample import sample

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
def test_the_controls_come_out_as_they_must() -> None:
    """Three changes that a test catches, and one that changes nothing."""
    files = (
        "tests/gates/test_build_hitl_gate.py", "tests/effects/test_performing.py",
        "tests/governance/test_policy.py",
    )  # fmt: skip
    names = [each.name for each in harmful(_every())]
    ended = subprocess.run(
        [sys.executable, "-m", "tests.code_mutants", "--only", *names, "--tests", *files],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ended.returncode, "| all | 3 | 3 | 0 | 0 | 100.0 % |" in ended.stdout) == (0, True)
