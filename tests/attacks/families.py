"""The tests of one family, made from its rows.

    def attempt(attack, place) -> str:      # "RunEnded", "nothing sent", … or "opened"
        …

    CONTROLS = {"the seal is not asked": Control(open=unsealed, row="update_state-plain")}
    test_attack, test_twin, test_control = tests_of("subflow_end", attempt, CONTROLS)

A control opens one door, by taking one defence away.  It must be caught: with the door open, the
attack that it names no longer ends as the book says.  An attack that cannot succeed proves nothing.
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
        assert attempt(attack, place) == attack.expect

    @pytest.mark.parametrize("twin", list_params(family.twins))
    def test_twin(twin: Attack, place: Place, record_property: Any) -> None:
        record_property("twin", name)
        assert attempt(twin, place) == twin.expect

    @pytest.mark.parametrize("control", [pytest.param(controls[key], id=key) for key in controls])
    def test_control(control: Control, place: Place, record_property: Any) -> None:
        record_property("control", name)
        attack = by_id[control.row]
        with control.open(place):
            came = attempt(attack, place)
        assert came != attack.expect, "the door was open and nobody noticed"

    return test_attack, test_twin, test_control


tests_of.__test__ = False  # type: ignore[attr-defined]  # its name begins like a test's


def list_params(rows: tuple[Attack, ...]) -> list[Any]:
    """Parameters of a test, those outside of the spread marked as long."""
    long = pytest.mark.long
    return [pytest.param(row, id=row.id, marks=[] if row.in_spread else [long]) for row in rows]
