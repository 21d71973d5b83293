"""What a person at a terminal sees and decides, at 60, 80 and 120 columns.

./scripts/test tests/cli/test_cli_demonstration.py -s      prints the screens
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from oasflow_process import Oasflow
from rich.cells import cell_len

from tests.agents.agent_flows import agent

GATE = "leave waiting [q]: "
NEWSLETTER = str(Path(__file__).resolve().parents[2] / "examples" / "newsletter-agent")
# The narrow one breaks most lines; the others are tried with --long.
LATER = [pytest.param(columns, marks=pytest.mark.long) for columns in (80, 120)]
WIDTHS = pytest.mark.parametrize("columns", [60, *LATER])


def show_screen(seen: Any, title: str, columns: int) -> None:
    """Print the screen, and see that the terminal itself broke no line but a command or a long word."""
    print(f"\n── {title}, {columns} columns {'─' * 20}\n{seen.text}")
    words = (line for line in seen.lines if " " in line.strip() and "oasflow " not in line)
    wide = [line for line in words if cell_len(line) > columns]
    assert wide == []


@WIDTHS
def test_type_ahead_approves_nothing_and_the_same_keys_do_when_the_gate_stands(
    screen: Any, oasflow: Oasflow, columns: int
) -> None:
    begin = ("run", NEWSLETTER, "--simulate", "--set", "topic=Bees", "--run-id", "n1")
    seen = screen(*begin, "--as", "ann", typed=b"a\ra\r", COLUMNS=str(columns))
    seen.wait_for("keys typed before this question were ignored")
    seen.wait_for(GATE)
    assert oasflow("show", "n1", "--json").json["decisions"] == []
    seen.keys(b"a\ra\r")
    seen.wait_for("keys typed before this question were ignored")
    seen.wait_for(GATE)
    seen.type("q")
    assert seen.ended() == 3
    show_screen(seen, "type-ahead", columns)
    run = oasflow("show", "n1", "--json").json
    assert [(one["gate"], one["decision"]) for one in run["decisions"]] == [
        ("review_draft", "approved")
    ]
    assert [gate["id"] for gate in run["waiting"]] == ["confirm_send"]


@WIDTHS
def test_a_question_takes_words_and_no_letter(
    screen: Any, oasflow: Oasflow, flow_file: Any, tmp_path: Path, columns: int
) -> None:
    stubs = tmp_path / "stubs.json"
    call = {"name": "ask_user", "args": {"question": "Which hive do you mean?"}}
    stubs.write_text(json.dumps({"model": {"text": "", "tool_calls": [call]}}), "utf-8")
    file = flow_file({**agent(asks=True), "agentspec_version": "26.1.2"})
    said = ("--set", "topic=bees", "--set", "user_message=Tell Ada, please.", "--run-id", "q1")
    begun = oasflow("run", file, "--simulate", "--stubs", str(stubs), "--detach", *said)
    assert begun.code == 3, begun.err
    seen = screen("answer", "q1", "--as", "ann", COLUMNS=str(columns))
    seen.wait_for("Which hive do you mean?")
    seen.wait_for(GATE)
    seen.type("a")
    seen.wait_for("required): ")
    seen.type("")
    seen.wait_for("Something is needed here")
    seen.wait_for("required): ")
    assert oasflow("show", "q1", "--json").json["decisions"] == []
    seen.type("the hive on the roof")
    seen.wait_for("approve with this [Enter], change it [1], back [<]: ")
    seen.type("")
    seen.wait_for("run q1")
    seen.ended()
    show_screen(seen, "a question", columns)
    run = oasflow("show", "q1", "--json").json
    (decision,) = run["decisions"]
    assert decision["by"] == "ann"
    assert "the hive on the roof" in json.dumps(decision)
