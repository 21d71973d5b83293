"""How far LangGraph brings its own tables is counted without loading it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from langgraph.checkpoint.postgres import PostgresSaver

from cinatra_sdk.postgres import role_rights

LATEST = len(PostgresSaver.MIGRATIONS) - 1


def test_the_count_is_the_installed_versions_and_loads_nothing() -> None:
    program = (
        "import sys; from cinatra_sdk.postgres.role_rights import latest_step; "
        "print(latest_step(), 'langgraph' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == [str(LATEST), "False"]


@pytest.mark.parametrize(
    "source",
    [
        None,
        "",
        "OTHER = []",
        "MIGRATIONS = [*BEFORE]",
        "MIGRATIONS = before + ['x']",
        "MIGRATIONS = [",
    ],
    ids=["no file", "empty", "another list", "not one by one", "added up", "broken"],
)
def test_what_cannot_be_counted_is_asked_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str | None
) -> None:
    if source is not None:
        file = tmp_path / "langgraph" / "checkpoint" / "postgres" / "base.py"
        file.parent.mkdir(parents=True)
        file.write_text(source)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert role_rights._count_steps_in_source() is None
    assert role_rights.latest_step() == LATEST


def test_the_first_package_on_the_path_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "langgraph" / "checkpoint" / "postgres" / "base.py"
    file.parent.mkdir(parents=True)
    file.write_text("MIGRATIONS = ['a', 'b', 'c']")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert role_rights._count_steps_in_source() == 2
