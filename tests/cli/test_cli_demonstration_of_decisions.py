"""Decisions about what was shown, at a terminal of 60, 80 and 120 columns.

./scripts/test tests/cli/test_cli_demonstration_of_decisions.py -s      prints the screens
"""

from __future__ import annotations

from typing import Any

import pytest
from test_cli_demonstration import GATE, NEWSLETTER, show_screen

from tests.flows import end, flow_of, gate, start

TWENTY = 20
# The narrow one breaks most lines; the others are tried with --long.
LATER = [pytest.param(columns, marks=pytest.mark.long) for columns in (80, 120)]
WIDTHS = pytest.mark.parametrize("columns", [60, *LATER])


def begin(here: Any, run_id: str) -> dict[str, Any]:
    """The run's first waiting gate, as `--json` says it."""
    begun = here(
        "run", NEWSLETTER, "--simulate", "--set", "topic=Bees", "--run-id", run_id, "--detach",
        "--json",
    )  # fmt: skip
    assert begun.code == 3, begun.err
    (waiting,) = begun.json["waiting"]
    return dict(waiting)


def decisions(here: Any, run_id: str) -> list[tuple[str, str, str]]:
    run = here("show", run_id, "--json").json
    return [(one["gate"], one["decision"], one["by"]) for one in run["decisions"]]


@WIDTHS
def test_a_stale_command_decides_only_the_gate_under_which_it_was_printed(
    screen: Any, here: Any, columns: int
) -> None:
    printed = begin(here, "n1")
    command = ("approve", f"n1/{printed['id']}", "--shown", printed["shown"][:16])
    first = screen(*command, "--as", "ann", COLUMNS=str(columns))
    first.wait_for("confirm_send")
    assert first.ended() == 3
    show_screen(first, "the printed command, from ann", columns)
    second = screen(*command, "--as", "ben", COLUMNS=str(columns))
    second.wait_for("ann")
    assert second.ended() == 4
    show_screen(second, "the same command, from ben's older screen", columns)
    unnamed = screen("approve", "n1", "--as", "ben", COLUMNS=str(columns))
    unnamed.wait_for("does not say which gate it is for")
    assert unnamed.ended() == 4
    show_screen(unnamed, "without the gate's name", columns)
    other = screen(
        "approve", "n1/confirm_send", "--shown", printed["shown"][:16], "--as", "ben",
        COLUMNS=str(columns),
    )  # fmt: skip
    assert other.ended() == 4
    show_screen(other, "with what another gate showed", columns)
    assert decisions(here, "n1") == [("review_draft", "approved", "ann")]


@WIDTHS
def test_of_two_operators_at_once_one_decides_and_the_other_is_told(
    screen: Any, here: Any, columns: int
) -> None:
    begin(here, "n1")
    ann = screen("answer", "n1", "--as", "ann", COLUMNS=str(columns))
    ben = screen("answer", "n1", "--as", "ben", COLUMNS=str(columns))
    ann.wait_for(GATE)
    ben.wait_for(GATE)
    ann.type("a")
    assert ann.ended() == 3
    ben.type("a")
    ben.wait_for("ann")
    assert ben.ended() == 4
    show_screen(ann, "ann", columns)
    show_screen(ben, "ben", columns)
    assert decisions(here, "n1") == [("review_draft", "approved", "ann")]


@WIDTHS
def test_twenty_gates_are_approved_after_each_was_shown(
    screen: Any, here: Any, flow_file: Any, columns: int
) -> None:
    file = flow_file(flow_of(start(), gate("check"), end()))
    runs = [f"run-{number}" for number in range(1, TWENTY + 1)]
    targets: list[str] = []
    for run_id in runs:
        begun = here("run", file, "--simulate", "--run-id", run_id, "--detach", "--json")
        assert begun.code == 3, begun.err
        targets.append(f"{run_id}/check")
    # The word that approves all of them, typed before any of them was shown.
    seen = screen("approve", *targets, "--as", "ann", typed=b"\r\r", COLUMNS=str(columns))
    shown = seen.wait_for("keys typed before this question were ignored")
    assert [run_id for run_id in runs if f"run {run_id} " not in f"{shown} "] == []
    seen.wait_for("leave them waiting [q]: ")
    assert {len(decisions(here, one)) for one in (runs[0], runs[-1])} == {0}
    seen.type("")
    seen.wait_for(f"approved: {targets[-1]}")
    assert seen.ended() == 0
    show_screen(seen, "twenty gates", columns)
    assert [decisions(here, one) for one in runs] == [[("check", "approved", "ann")]] * TWENTY
