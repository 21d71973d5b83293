"""The tests of one family, made from its rows.

    def attempt(attack, place) -> str:      # "RunEnded", "nothing sent", … or "opened"
        …

    CONTROLS = {"the seal is not asked": Control(open=unsealed, row="update_state-plain")}
    test_attack, test_twin, test_control = tests_of("subflow_end", attempt, CONTROLS)

A control opens one door, by taking one defence away.  It must be caught: with the door open, the
attack that it names no longer ends as the book says.  An attack that cannot succeed proves nothing.

An attempt whose server, process or database did not get as far as the door raises (`require_start`, or
whatever the harness raises): it is counted as one that did not start, never as refused or opened.  What
`attempt` asserts of what came after the door is a door that opened.  Where the machine itself lacks
something without which there is no such attack, `require_here` says what: that is told, and fails nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.attacks.book import Attack, read_family


@dataclass(slots=True, kw_only=True)
class Place:
    """Where an attack happens."""

    folder: Path
    """Empty, and its own."""
    monkeypatch: pytest.MonkeyPatch
    request: pytest.FixtureRequest

    @property
    def database(self) -> str:
        """The DSN of a fresh database with the store's tables."""
        return str(self.request.getfixturevalue("fresh_database"))

    @property
    def owners_database(self) -> str:
        """The same database, for the role that owns its tables."""
        return str(self.request.getfixturevalue("owner_database"))


class DidNotStart(Exception):
    """The harness of an attack did not get as far as the door."""


def require_start(condition: object, why: str) -> None:
    """Raises: `DidNotStart` where the condition does not hold."""
    if not condition:
        raise DidNotStart(why)


DID_NOT_START = "did not start"
"""Name of the property under which the tally finds such an attempt."""


class NotHere(pytest.skip.Exception):
    """The machine lacks something without which there is no such attack."""


def require_here(condition: object, lacking: str) -> None:
    """lacking: what the machine has to have.  Raises: `NotHere` where the condition does not hold."""
    if not condition:
        raise NotHere(lacking)


NOT_HERE = "not here"
"""Name of the property under which the tally finds what the machine lacks."""


Attempt: TypeAlias = Callable[[Attack, Place], str]
"""Carries the attack out and says what came of it, in the words of the book."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A door, opened on purpose."""

    open: Callable[[Place], AbstractContextManager[Any]]
    row: str
    """Id (`door-form`) of an attack that succeeds once the door is open."""


def tests_of(name: str, attempt: Attempt, controls: Mapping[str, Control]) -> tuple[Any, Any, Any]:
    """Test functions for the attacks, their harmless twins and the controls of the family."""
    family = read_family(name)
    by_id = {attack.id: attack for attack in family.attacks}
    assert controls, f"the family {name} has no control, so nothing shows that it can fail"

    @pytest.mark.parametrize("attack", list_params(family.attacks))
    def test_attack(attack: Attack, place: Place, record_property: Any) -> None:
        record_property("attack", name)
        assert carry_out(attempt, attack, place, record_property) == attack.expect

    @pytest.mark.parametrize("twin", list_params(family.twins))
    def test_twin(twin: Attack, place: Place, record_property: Any) -> None:
        record_property("twin", name)
        assert carry_out(attempt, twin, place, record_property) == twin.expect

    @pytest.mark.parametrize("control", [pytest.param(controls[key], id=key) for key in controls])
    def test_control(control: Control, place: Place, record_property: Any) -> None:
        record_property("control", name)
        attack = by_id[control.row]
        with control.open(place):
            came = carry_out(attempt, attack, place, record_property)
        assert came != attack.expect, "the door was open and nobody noticed"

    return test_attack, test_twin, test_control


tests_of.__test__ = False  # type: ignore[attr-defined]  # its name begins like a test's


def carry_out(
    attempt: Attempt, attack: Attack, place: Place, note: Callable[[str, Any], None]
) -> str:
    """What came of an attack; notes one that did not start, or that there is none of on this machine.

    Raises: whatever its harness raises.
    """
    try:
        return attempt(attack, place)
    except AssertionError:
        raise
    except NotHere as lacking:
        note(NOT_HERE, lacking.msg)
        raise
    except BaseException:  # a skip is none of Exception
        note(DID_NOT_START, attack.family)
        raise


def list_params(rows: tuple[Attack, ...]) -> list[Any]:
    """Parameters of a test, those outside of the spread marked as long."""
    long = pytest.mark.long
    return [pytest.param(row, id=row.id, marks=[] if row.in_spread else [long]) for row in rows]
