"""The editor and the pager that a person chose are run, or their absence is said."""

from __future__ import annotations

from typing import Any

import pytest

from oas_compiler.cli.terminal.keyboard import NoEditor, _find_pager, edited


class Heard:
    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, line: str) -> None:
        self.said.append(line)


@pytest.mark.parametrize("variable", ["VISUAL", "EDITOR"])
@pytest.mark.parametrize("chosen", ["no-such-editor --wait", "'never closed", "no\x1b[2Jsuch"])
def test_an_editor_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, chosen: str
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv(variable, chosen)
    with pytest.raises(NoEditor, match=f"{variable} is .*, which cannot be run") as told:
        edited("text", ".txt")
    assert "\x1b" not in str(told.value)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [("", []), ("cat", []), ("no-such-pager -R", ["PAGER is no-such-pager -R, which cannot be run"])],
)  # fmt: skip
def test_a_pager_that_is_not_there_is_said(
    monkeypatch: pytest.MonkeyPatch, chosen: str, said: list[str]
) -> None:
    monkeypatch.setenv("PAGER", chosen)
    heard: Any = Heard()
    _find_pager(heard)
    assert heard.said == said
