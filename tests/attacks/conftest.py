"""Where attacks happen, and the tally of what came of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.register_assert_rewrite("tests.attacks.families")

from tests.attacks.families import Place  # noqa: E402 - after the line that shows what differs


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Place:
    return Place(folder=tmp_path, monkeypatch=monkeypatch, request=request)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print, family by family, how many attacks were refused and how many controls were caught."""
    tally: Counter[tuple[str, str, str]] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            if report.when == "call":
                tally.update(
                    (family, kind, outcome)
                    for kind, family in report.user_properties
                    if kind in ("attack", "twin", "control")
                )
    families = sorted({family for family, _, _ in tally})
    if not families:
        return
    terminalreporter.section("attacks")
    head = ("refused", "OPENED", "twins that work", "broken", "controls caught", "MISSED")
    columns = [
        (kind, out) for kind in ("attack", "twin", "control") for out in ("passed", "failed")
    ]
    rows = [[tally[family, *column] for column in columns] for family in families]
    width = max(map(len, [*families, "all together"])) + 2
    terminalreporter.write_line(" " * width + "  ".join(head))
    totals = [sum(column) for column in zip(*rows, strict=True)]
    for family, row in [*zip(families, rows, strict=True), ("all together", totals)]:
        cells = (str(n).rjust(len(title)) for n, title in zip(row, head, strict=True))
        terminalreporter.write_line(family.ljust(width) + "  ".join(cells))
