"""GitHub's workflow commands: one line each, whatever the names and messages hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oas_compiler.findings.finding import Finding
from oas_compiler.ir import Place
from oas_compiler.report.formats import github


def finding(**more: Any) -> Finding:
    described: dict[str, Any] = {
        "code": "OAS044", "severity": "error", "message": "two edges", "file": "a.json",
        "place": Place("/x", 12, 5),
    }  # fmt: skip
    return Finding(**{**described, **more})


def test_an_error_names_file_line_column_code_and_rule() -> None:
    expected = "::error file=a.json,line=12,col=5,title=OAS044 one-edge-per-branch::two edges\n"
    assert github([finding()]) == expected
    warned = github([finding(severity="warning", hint="choose")])
    assert warned.startswith("::warning file=a.json,")
    assert warned.endswith("::two edges%0Ahint: choose\n")


def test_what_is_not_known_is_left_out() -> None:
    assert github([finding(place=Place("/x"), file="", code="OAS999")]) == (
        "::error title=OAS999::two edges\n"
    )
    assert github([]) == ""


@pytest.mark.parametrize(
    ("message", "escaped"),
    [
        ("100%", "100%25"),
        ("%0A", "%250A"),
        ("a\r\nb", "a%0D%0Ab"),
        ("a:b,c::d", "a:b,c::d"),
        ("\x1b[31m::error::x", "␛[31m::error::x"),
        ("a\u202eb\x85", "a\ufffdb\ufffd"),
        ("half \udcff", "half \ufffd"),
    ],
)
def test_a_message_stays_one_line_and_commands_nothing(message: str, escaped: str) -> None:
    line = github([finding(message=message)])
    assert line.partition("branch::")[2] == f"{escaped}\n"


def test_a_file_name_cannot_end_its_property() -> None:
    line = github([finding(file="a,line=1::b%\nc.json")])
    assert line.startswith("::error file=a%2Cline=1%3A%3Ab%25%0Ac.json,line=12,")
    assert line.count("\n") == 1


def test_a_file_below_the_working_directory_is_named_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "file=agents/a.json," in github([finding(file=str(tmp_path / "agents" / "a.json"))])
    monkeypatch.chdir("/")
    below = str(tmp_path / "a.json").removeprefix("/")
    assert f"file={below}," in github([finding(file=str(tmp_path / "a.json"))])
