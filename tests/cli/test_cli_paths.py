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
    assert "Set OASFLOW_HOME to a folder that can be made or entered." in result.stderr
    assert "Errno" not in result.output


@pytest.mark.parametrize("variable", ["OASFLOW_HOME", "XDG_DATA_HOME"])
@pytest.mark.parametrize("command", [("db", "start"), ("db", "status"), ("runs",), ("doctor",)])
def test_a_home_that_leads_back_to_itself_is_named_with_the_way_out(
    cli: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    command: tuple[str, ...],
) -> None:
    home = make_circle(tmp_path / "one")
    monkeypatch.delenv("OASFLOW_HOME", raising=False)
    monkeypatch.setenv(variable, str(home))
    monkeypatch.delenv("DATABASE_URL")
    result = cli(*command)
    assert result.exit_code == 7
    assert f"local PostgreSQL in {home}" in result.output
    assert "Too many levels of symbolic links" in result.output
    assert "Set OASFLOW_HOME to a folder that can be made or entered." in result.output


def test_a_home_of_nobody_is_named(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OASFLOW_HOME", "~nobody-of-this-name/flows")
    monkeypatch.delenv("DATABASE_URL")
    result = cli("runs")
    assert result.exit_code == 7
    assert (
        "in ~nobody-of-this-name/flows/postgres: no home folder belongs to its ~" in result.stderr
    )
    assert "Set OASFLOW_HOME to a folder" in result.stderr


@pytest.mark.parametrize("inside", ["", "/oas.json"])
@pytest.mark.parametrize("command", ["check", "explain", "draw", "ir", "run", "wire-context"])
def test_a_flow_that_leads_back_to_itself_is_named_with_the_way_out(
    offline: Any, tmp_path: Path, command: str, inside: str
) -> None:
    path = f"{make_circle(tmp_path / 'one')}{inside}"
    result = offline(command, path)
    assert result.exit_code == 2
    assert f"cannot read {path}: Too many levels of symbolic links" in result.output
    assert "leads back to itself: name the file itself" in " ".join(result.output.split())


@pytest.mark.parametrize("option", ["", "--root"])
def test_deps_says_why_a_path_cannot_be_reached(offline: Any, tmp_path: Path, option: str) -> None:
    (tmp_path / "file").write_text("")
    here = str(tmp_path)
    for path, why in (
        (make_circle(tmp_path / "one"), "Too many levels of symbolic links"),
        (tmp_path / "file" / "below", "Not a directory"),
        (tmp_path / ("x" * 300), "File name too long"),
        (tmp_path / "none", "No such file or directory"),
    ):
        result = offline("deps", *((here, option, str(path)) if option else (str(path),)))
        assert result.exit_code == 2
        assert f"cannot read {path}: {why}" in "".join(result.output.split("\n"))


def make_circle(path: Path) -> Path:
    """A symbolic link that leads back to itself."""
    path.symlink_to(path.with_name("two"))
    path.with_name("two").symlink_to(path)
    return path
