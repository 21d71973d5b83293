"""Every planted mistake is found once, in its line, with the words that lead to the mend.

By default some of every code, and of the harmless changes some of every kind; all with the long tests.
"""

from __future__ import annotations

from collections import Counter
from operator import attrgetter
from pathlib import Path

import pytest

from tests.checks.planting import Row, line_of, planted, rows
from tests.effort import spread

ROWS = rows()
MISTAKES = [row for row in ROWS if row.code]
HARMLESS = [row for row in ROWS if not row.code]


def name_of(row: Row) -> str:
    return f"{row.kind}: {row.name}"


def findings(row: Row, folder: Path):
    if not row.origin.is_dir():
        pytest.skip("the folder of real input is absent")
    return planted(row, folder)


@pytest.mark.parametrize("row", spread(MISTAKES, family=attrgetter("code"), every=8), ids=name_of)
def test_a_planted_mistake_is_found_at_its_line_with_a_hint(row, tmp_path):
    found = findings(row, tmp_path)
    assert Counter(one.code for one in found) == Counter([row.code, *row.beside])
    (first, *_) = [one for one in found if one.code == row.code]
    assert first.line, "a finding has a line"
    assert row.line in line_of(first)
    for words in row.hint:
        assert words in f"{first.message} {first.hint}"


@pytest.mark.parametrize("row", spread(HARMLESS, family=attrgetter("kind"), every=8), ids=name_of)
def test_a_harmless_change_has_no_finding(row, tmp_path):
    assert [str(one) for one in findings(row, tmp_path)] == []


def test_there_are_enough_of_both_and_each_has_a_name_of_its_own():
    assert len(MISTAKES) >= 490
    assert len(HARMLESS) >= 90
    assert len({name_of(row) for row in ROWS}) == len(ROWS)
