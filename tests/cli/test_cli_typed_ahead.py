"""Keys that were typed before a question stood on the screen answer nothing."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from oasflow_process import Oasflow
from oasflow_screen import Screen

import oas_compiler.cli

GATE = "approve [a], reject [r], leave waiting [q]: "
IGNORED = "note: keys typed before this question were ignored"


def test_two_approvals_typed_while_the_command_starts_approve_nothing(
    screen: Any, flow_file: Any, oasflow: Oasflow
) -> None:
    seen = screen("run", flow_file(), "--simulate", "--run-id", "r1", typed=b"a\na\n")
    seen.wait_for(IGNORED)
    seen.wait_for(GATE)
    seen.type("q")
    assert seen.ended() == 3
    run = oasflow("show", "r1", "--json").json
    assert run["decisions"] == []
    assert [gate["id"] for gate in run["waiting"]] == ["first"]


def test_nothing_is_said_where_nothing_was_typed_ahead(screen: Any, flow_file: Any) -> None:
    seen = screen("run", flow_file(), "--simulate", "--run-id", "r1")
    seen.wait_for(GATE)
    seen.type("a")
    seen.wait_for(GATE)
    seen.type("a")
    assert seen.ended() == 0
    assert "ignored" not in seen.text


def test_a_second_line_behind_the_answer_does_not_answer_the_next_gate(
    screen: Any, flow_file: Any, oasflow: Oasflow
) -> None:
    seen = screen("run", flow_file(), "--simulate", "--run-id", "r1")
    seen.wait_for(GATE)
    seen.keys(b"a\ra\r")
    seen.wait_for(IGNORED)
    seen.wait_for(GATE)
    seen.type("q")
    assert seen.ended() == 3
    run = oasflow("show", "r1", "--json").json
    assert [one["gate"] for one in run["decisions"]] == ["first"]


@pytest.mark.parametrize("term", ["dumb", "xterm-256color"])
def test_lines_of_a_paste_at_a_gate_answer_only_once(
    screen: Any, flow_file: Any, oasflow: Oasflow, term: str
) -> None:
    seen = screen("run", flow_file(), "--simulate", "--run-id", "r1", TERM=term)
    seen.wait_for(GATE)
    seen.keys(b"dear all\ra\r")
    seen.wait_for(IGNORED)
    seen.wait_for("Type one of the letters")
    seen.wait_for(GATE)
    seen.type("q")
    assert seen.ended() == 3
    assert oasflow("show", "r1", "--json").json["decisions"] == []


def test_a_terminal_whose_screen_is_a_file_asks_nothing(
    flow_file: Any, oasflow: Oasflow, tmp_path: Path
) -> None:
    begin = [str(oasflow.program), "run", flow_file(), "--simulate", "--run-id", "r1"]
    line = f"{shlex.join(begin)} 2> {shlex.quote(str(tmp_path / 'told'))}"
    seen = Screen(["sh", "-c", line], oasflow.env, typed=b"a\na\n")
    assert seen.ended() == 3
    seen.close()
    assert oasflow("show", "r1", "--json").json["decisions"] == []


CLI = Path(oas_compiler.cli.__file__).parent
READERS = re.compile(
    r"\btyped_line\(\)|\.prompt\($|sys\.stdin\.read(?:line)?\b|\binput\(\)|(?:typer|click|Prompt|Confirm)\.(?:ask|confirm|prompt)\(|getpass\.getpass"
)


def test_no_question_is_asked_beside_the_one_door() -> None:
    found = {
        path.relative_to(CLI).as_posix()
        for path in CLI.rglob("*.py")
        if any(READERS.search(line) for line in path.read_text(encoding="utf-8").splitlines())
    }
    assert found == {"terminal/keyboard.py", "terminal/argument_values.py"}
    assert READERS.search('if typer.confirm("sure?"):'), "the control"
    assert READERS.search("answer = typed_line()"), "the control"
