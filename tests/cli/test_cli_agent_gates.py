"""A gate inside an agent at the command line: the words before it, and an agent's question."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from printed import hashed

from tests.agents.agent_flows import agent
from tests.flows import port

SEND = {
    "component_type": "RemoteTool", "id": "send-tool", "name": "send", "description": "Sends.",
    "url": "{{CINATRA_BASE_URL}}/api/send", "http_method": "POST", "data": {"to": "{{ to }}"}, "inputs": [port("to")],
    "outputs": [port("sent")], "requires_confirmation": True,
}  # fmt: skip


def stubs(tmp_path: Path, text: str, name: str, **args: Any) -> str:
    path = tmp_path / "stubs.json"
    answer = {"text": text, "tool_calls": [{"name": name, "args": args}]}
    path.write_text(json.dumps({"model": answer}), "utf-8")
    return str(path)


def begin(cli: Any, flow_file: Any, own: Any, stub: str) -> Any:
    file = flow_file({**own, "agentspec_version": "26.1.2"})
    said = ("--set", "topic=bees", "--set", "user_message=Tell Ada, please.")
    line = ("--simulate", "--stubs", stub, "--detach", "--run-id", "r1")
    begun = cli("run", file, *line, *said)
    assert begun.exit_code == 3, begun.output
    return begun


def test_a_waiting_call_is_shown_with_what_was_said_before_it(
    cli: Any, flow_file: Any, tmp_path: Path
) -> None:
    stub = stubs(tmp_path, "I will write to her.", "send", to="ada")
    begun = begin(cli, flow_file, agent(SEND), stub)
    for shown in (begun.stdout, cli("show", "r1").stdout):
        said = shown[shown.index("said before it") :].splitlines()
        assert [line.split(None, 1) for line in said[1:4]] == [
            ["user", "Tell Ada, please."],
            ["assistant", "I will write to her."],
            ["assistant", '-> send {"to": "ada"}'],
        ]
    (gate,) = json.loads(cli("show", "r1", "--json").stdout)["waiting"]
    assert [one["role"] for one in gate["said"]] == ["user", "assistant"]
    assert gate["question"] is None
    rejected = cli("reject", "r1")
    assert rejected.exit_code == 5
    assert "Tell Ada, please." in cli("show", "r1").stdout


def test_a_long_word_is_cut_as_everywhere_and_whole_with_full(
    cli: Any, flow_file: Any, tmp_path: Path
) -> None:
    begin(cli, flow_file, agent(SEND), stubs(tmp_path, "word " * 400 + "end.", "send", to="ada"))
    assert "end." not in cli("show", "r1").stdout
    assert "end." in cli("show", "r1", "--full").stdout


def test_a_question_of_an_agent_is_shown_as_one_and_answered_by_text(
    cli: Any, flow_file: Any, tmp_path: Path
) -> None:
    stub = stubs(tmp_path, "", "ask_user", question="Which hive do you mean?")
    begun = begin(cli, flow_file, agent(asks=True), stub)
    gate = begun.stdout[begun.stdout.index("◆") :]
    assert "◆ Ask the user   a question" in gate
    assert "before a call" not in gate
    assert "\n  Which hive do you mean?\n" in gate
    assert "ask_user" not in gate.split("said before it")[0].splitlines()[1:]
    assert re.search(r"oasflow answer \S+ --shown HASH --text '…'", hashed(gate))
    (waiting,) = json.loads(cli("show", "r1", "--json").stdout)["waiting"]
    assert waiting["question"] == "Which hive do you mean?"
