"""A path that cannot be used: one sentence that names it, and nothing of what went on inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.flows import end, flow_of, start


def test_a_picture_that_cannot_be_written_is_named_as_it_was_asked_for(
    offline: Any, flow_file: Any, tmp_path: Path
) -> None:
    file = flow_file(flow_of(start(), end()))
    lacking, folder = tmp_path / "no" / "x.svg", tmp_path / "there.svg"
    folder.mkdir()
    for target, why in ((lacking, "No such file or directory"), (folder, "Is a directory")):
        result = offline("draw", file, "-o", str(target))
        assert result.exit_code == 2
        assert result.stderr == f"error: -o {target}: {why}\n"
    assert sorted(tmp_path.iterdir()) == sorted([Path(file), folder])


@pytest.mark.parametrize("command", [("wire-context",), ("explain",), ("check",), ("draw",)])
def test_a_folder_without_a_flow_is_named(offline: Any, tmp_path: Path, command: Any) -> None:
    result = offline(*command, str(tmp_path))
    assert result.exit_code == 2
    assert f"{tmp_path} error OAS001 the folder {tmp_path} holds no flow" in result.output


@pytest.mark.parametrize("command", [("db", "start"), ("db", "status"), ("gates",)])
def test_a_home_that_cannot_be_used_is_told_without_numbers_of_the_system(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    home = tmp_path / "file"
    home.write_text("")
    monkeypatch.setenv("OASFLOW_HOME", str(home))
    monkeypatch.delenv("DATABASE_URL")
    result = cli(*command)
    assert result.exit_code == 7
    assert f"Not a directory: {home}" in result.stderr
    assert "Errno" not in result.output
