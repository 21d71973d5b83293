"""The editor and the pager that a person chose are run, or their absence is said."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from oas_compiler.cli.editor import NoEditor, edited
from oas_compiler.cli.pager import _find_pager
from oas_compiler.cli.values import Extent, values_view


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
    with pytest.raises(NoEditor, match=f"{variable} is .*, and there is no such program") as told:
        edited("text", ".txt")
    assert "\x1b" not in str(told.value)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [("", []), ("cat", []), ("no-such-pager -R", ["PAGER is no-such-pager -R, and there is no such program"])],
)  # fmt: skip
def test_a_pager_that_is_not_there_is_said(
    monkeypatch: pytest.MonkeyPatch, chosen: str, said: list[str]
) -> None:
    monkeypatch.setenv("PAGER", chosen)
    heard: Any = Heard()
    _find_pager(heard)
    assert heard.said == said


ROWS = [{"name": "a" * 20, "about": "x" * 70, "more": "y" * 70, "id": n} for n in range(3)]


@pytest.mark.parametrize(("width", "is_cut"), [(200, True), (30, False)])
def test_only_what_is_printed_counts_as_cut(width: int, is_cut: bool) -> None:
    extent = Extent()
    console = Console(width=width, color_system=None, record=True, quiet=True)
    console.print(values_view({"rows": ROWS}, extent))
    assert extent.is_cut is is_cut
