"""Where tastes are looked for: as the caller says, else the environment, else the home folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from cinatra_sdk.first_turn import read_context
from cinatra_sdk.first_turn.workspace_files import TASTES_DIR, find_tastes_dir


def test_an_argument_wins_over_the_environment() -> None:
    assert find_tastes_dir("/mine", {TASTES_DIR: "/theirs"}) == Path("/mine")
    assert find_tastes_dir(None, {TASTES_DIR: "/theirs"}) == Path("/theirs")


def test_an_empty_setting_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    for named, environ in ((None, {}), (None, {TASTES_DIR: ""}), ("", {TASTES_DIR: ""})):
        assert find_tastes_dir(named, environ) == Path("/home/ann/.oasflow/tastes")


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert find_tastes_dir("~/t", {}) == Path("/home/ann/t")
    assert find_tastes_dir(None, {TASTES_DIR: "~/t"}) == Path("/home/ann/t")
    assert find_tastes_dir("~nobody-of-this-name/t", {}) == Path("~nobody-of-this-name/t")


def test_the_environment_is_read_at_each_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work" / "img").mkdir(parents=True)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "_default.md").write_text(name)
    monkeypatch.setenv(TASTES_DIR, str(tmp_path / "one"))
    assert read_context(tmp_path / "work", "img").tastes.default == "one"
    assert (
        read_context(tmp_path / "work", "img", tastes_dir=tmp_path / "two").tastes.default == "two"
    )


def test_the_folder_of_tastes_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "work" / "img").mkdir(parents=True)
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "_default.md").write_text("calm")
    (tmp_path / "link").symlink_to("real")
    turn = read_context(tmp_path / "work", "img", tastes_dir=tmp_path / "link")
    assert turn.tastes.default == "calm"
