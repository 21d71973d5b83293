"""Where attacks happen, and the tally of what came of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pytest.register_assert_rewrite("tests.attacks.families")

from tests.attacks.families import Place  # noqa: E402 - after the line that shows what differs
from tests.attacks.tally import (  # noqa: E402
    count_not_started,
    count_reports,
    list_lacking,
    write_table,
)

EVERY_ATTACK = "OASFLOW_EVERY_ATTACK"
"""Set by `scripts/attacks`: one that did not start makes the command fail, also where it was skipped; one
that there is none of on this machine does not."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Place:
    return Place(folder=tmp_path, monkeypatch=monkeypatch, request=request)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or not os.environ.get(EVERY_ATTACK):
        return
    if count_not_started(_count(terminal)) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print, family by family, how many attacks were refused, opened and not started."""
    lines = write_table(_count(terminalreporter))
    if lines:
        terminalreporter.section("attacks")
    for line in [*lines, *list_lacking(_list_reports(terminalreporter))]:
        terminalreporter.write_line(line)


def _count(terminal: Any) -> Any:
    return count_reports(_list_reports(terminal))


def _list_reports(terminal: Any) -> dict[str, list[Any]]:
    names = ("passed", "failed", "error", "skipped")
    return {name: terminal.getreports(name) for name in names}
