"""docs/pick-list.md is what its tests are called, and no case is without one."""

from __future__ import annotations

from tests.agent_spec.pick_list import LAST, PAGE, ROWS, list_tests, make_page


def test_the_page_is_what_the_rows_and_their_tests_say() -> None:
    assert PAGE.read_text("utf-8") == make_page(), "run python -m tests.agent_spec.pick_list"


def test_every_case_is_there_once_and_has_a_test() -> None:
    keys = [row.key for row in ROWS]
    assert keys[:LAST] == [str(number) for number in range(1, LAST + 1)]
    assert len(set(keys)) == len(keys)
    assert {key for key, _, _ in list_tests()} == set(keys)


def test_only_a_difference_has_a_reason_and_the_reason_is_a_sentence() -> None:
    reasons = [row.differs for row in ROWS if row.differs]
    assert all(reason[0].isupper() and len(reason) > 20 for reason in reasons)
