"""The arguments of a call are edited by the person who confirms it; `show` tells what they were before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from oasflow_process import Oasflow

from tests.flows import end, flow_of, node, port, start

SEND = {
    "component_type": "RemoteTool", "id": "send-tool", "name": "send", "description": "Sends.",
    "url": "{{CINATRA_BASE_URL}}/api/send", "http_method": "POST", "data": {"to": "{{ to }}"},
    "inputs": [port("to")], "outputs": [], "requires_confirmation": True,
}  # fmt: skip
FLOW = flow_of(
    start(port("to", default="ada")), node("ToolNode", "mail", tool=SEND), end(),
    edges=[("start", "to", "mail", "to")],
)  # fmt: skip
PROMPT = "leave waiting [q]: "


def editor_that_writes(tmp_path: Path, *texts: str) -> tuple[str, Path]:
    """A program that keeps what it opens and writes one text after the other, and the kept file."""
    editor, opened = tmp_path / "editor", tmp_path / "opened"
    for number, text in enumerate(texts):
        (tmp_path / f"text{number}").write_text(text)
    editor.write_text(
        f'#!/bin/sh\ncp "$1" {opened}\nset -- "$1" {tmp_path}/text?\ncp "$2" "$1"\n'
        '[ -z "$3" ] || rm "$2"\n'
    )
    editor.chmod(0o755)
    return str(editor), opened


def test_a_confirmed_call_is_edited_at_the_terminal(
    screen: Any, oasflow: Oasflow, flow_file: Any, tmp_path: Path
) -> None:
    editor, opened = editor_that_writes(tmp_path, '{"to": "bob"}')
    begin = ("run", flow_file(FLOW), "--simulate", "--run-id", "r1", "--as", "ann")
    seen = screen(*begin, VISUAL=editor)
    assert "edit [e]" in seen.wait_for(PROMPT)
    seen.type("e")
    seen.wait_for("approve with this [Enter], back [<]: ")
    seen.type("")
    assert seen.ended() == 0
    assert json.loads(opened.read_text("utf-8")) == {"to": "ada"}
    told = " ".join(oasflow("show", "r1").out.split())
    assert '{"to": "ada"} → {"to": "bob"}' in told
    (decided,) = oasflow("show", "r1", "--json").json["decisions"]
    assert (decided["answer"]["before"], decided["answer"]["value"]) == (
        {"to": "ada"},
        {"to": "bob"},
    )


@pytest.mark.parametrize("wrong", ['{"to": 5}', '{"too": "bob"}', "{}", "[]"])
def test_an_edit_that_the_tool_does_not_take_decides_nothing(
    screen: Any, oasflow: Oasflow, flow_file: Any, tmp_path: Path, wrong: str
) -> None:
    editor, _ = editor_that_writes(tmp_path, wrong)
    seen = screen("run", flow_file(FLOW), "--simulate", "--run-id", "r1", VISUAL=editor)
    seen.wait_for(PROMPT)
    seen.type("e")
    seen.wait_for("approve with this [Enter], back [<]: ")
    seen.type("")
    assert "error: " in seen.wait_for(PROMPT)
    seen.type("q")
    assert seen.ended() == 3
    assert oasflow("show", "r1", "--json").json["decisions"] == []


def test_a_command_edits_and_show_prints_before_and_after(cli: Any, flow_file: Any) -> None:
    run = cli("run", flow_file(FLOW), "--simulate", "--detach", "--run-id", "r1")
    assert run.exit_code == 3, run.output
    refused = cli("answer", "r1/mail", "--value", '{"to": 5}')
    told = " ".join(refused.stderr.split())
    assert (
        """as they are shown: --value '{"to": "ada"}'; to approve them so: oasflow approve r1/mail --shown """
        in told
    )
    assert "that fits" not in told
    assert refused.exit_code != 0
    done = cli("answer", "r1/mail", "--value", '{"to": "bob"}')
    assert done.exit_code == 0, done.output
    assert '{"to": "ada"} → {"to": "bob"}' in " ".join(cli("show", "r1").stdout.split())


def test_show_prints_no_before_where_nothing_was_edited(cli: Any, flow_file: Any) -> None:
    cli("run", flow_file(FLOW), "--simulate", "--detach", "--run-id", "r1")
    assert cli("approve", "r1/mail").exit_code == 0
    assert "→" not in cli("show", "r1").stdout
