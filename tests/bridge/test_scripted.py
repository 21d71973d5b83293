"""Models that answer from a file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bridge_world import ask, bridge_of, outcome

from cinatra_sdk.host.bridge import answer_scripts
from cinatra_sdk.host.bridge.answer_scripts import ScriptError, ScriptFile
from cinatra_sdk.outside.routes import RouteCall, RunOwner


def bridge(tmp_path: Path, answers: Any) -> Any:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(answers), "utf-8")
    return bridge_of(ScriptFile.read(path).offered())


def asking(**changes: Any) -> Any:
    return ask({"user": "hi", "agent_id": "@x/a", "toolbox_ids": []}, **changes)


def test_the_closest_name_of_the_node_answers(tmp_path: Path) -> None:
    made = bridge(tmp_path, {"outer/ask": "path", "ask": "id", "@x/a": "agent", "*": "any"})
    assert outcome(made, asking(path="outer/ask")) == {"output": "path"}
    assert outcome(made, asking(path="ask")) == {"output": "id"}
    assert outcome(made, asking(node="b", path="b")) == {"output": "agent"}
    assert outcome(made, ask({"user": "hi", "toolbox_ids": []}, path="b")) == {"output": "any"}


def test_a_visit_has_its_own_answer_also_when_it_is_made_again(tmp_path: Path) -> None:
    made = bridge(tmp_path, {"ask": ["one", "two"]})
    assert outcome(made, asking(visit=2)) == {"output": "two"}
    assert outcome(made, asking(visit=1)) == {"output": "one"}
    assert outcome(made, asking(visit=1)) == {"output": "one"}
    assert outcome(made, asking(visit=3)) == (
        500, "SCRIPT_SILENT", "the script has 2 answers for ask, and this is call 3"
    )  # fmt: skip


def test_where_no_visit_is_known_each_run_counts_its_own_calls(tmp_path: Path) -> None:
    made = bridge(tmp_path, ["one", "two"])
    assert outcome(made, asking()) == {"output": "one"}
    assert outcome(made, asking(run_id="r2")) == {"output": "one"}
    assert outcome(made, asking()) == {"output": "two"}


def test_a_process_counts_the_last_runs_that_asked_and_forgets_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_scripts, "MOST_COUNTED", 2)
    path = tmp_path / "script.json"
    path.write_text('["one", "two", "three"]', "utf-8")
    script = ScriptFile.read(path)
    call = RouteCall(method="POST", path="/api/llm-bridge", owner=RunOwner())
    for run in ("r1", "r2", "r1", "r3"):
        script.make_model(replace(call, owner=RunOwner(run_id=run)), None)
    assert script._used == {("r1", "*"): 2, ("r3", "*"): 1}
    for number in range(100):
        script.make_model(replace(call, owner=RunOwner(run_id=f"n{number}")), None)
    assert script._used == {("n98", "*"): 1, ("n99", "*"): 1}


def test_a_node_without_an_answer_is_named(tmp_path: Path) -> None:
    assert outcome(bridge(tmp_path, {"other": "x"}), asking(path="a/ask")) == (
        500, "SCRIPT_SILENT",
        'the script has no answer for a/ask or ask or @x/a or * (it has: "other")',
    )  # fmt: skip


def test_what_was_looked_for_is_said_once_and_that_a_call_names_no_node(tmp_path: Path) -> None:
    made = bridge(tmp_path, {"ask": "x", "b": "y"})
    assert outcome(made, asking(node="top", path="top"))[2] == (
        'the script has no answer for top or @x/a or * (it has: "ask", "b")'
    )
    assert outcome(made, asking(node="", path=""))[2] == (
        'the script has no answer for @x/a or * (it has: "ask", "b"; the call names no node)'
    )


def test_a_scripted_failure_fails_the_call(tmp_path: Path) -> None:
    made = bridge(tmp_path, {"ask": {"$error": "out of order"}})
    assert outcome(made, asking())[2].endswith("failed with RuntimeError: out of order")


@pytest.mark.parametrize(
    ("answers", "about"),
    [
        (3, "is no list of answers"),
        ({"ask": [3]}, 'answer 1 of "ask": a step is a text or an object'),
        ({"ask": [["a", ["b"]]]}, 'answer 1 of "ask": a step is a text or an object'),
        ({"ask": {"$call": []}}, "$call is unknown; known are $calls"),
        ({"ask": {"$calls": [{"args": {}}]}}, "$calls is a list of objects with a name"),
        (
            {"ask": {"$calls": [{"name": "a", "args": []}]}},
            "$calls is a list of objects with a name",
        ),
        ({"ask": {"$text": 5}}, "$text is a text"),
        ({"ask": {"$error": {}}}, "$error is a text"),
        ({"ask": {"$input_tokens": "many"}}, "$input_tokens is a whole number"),
        ({"ask": {"$output_tokens": -1}}, "$output_tokens is a whole number"),
        ({"ask": {"$output_tokens": True}}, "$output_tokens is a whole number"),
    ],
)
def test_a_malformed_script_is_refused_and_names_the_place(
    tmp_path: Path, answers: Any, about: str
) -> None:
    with pytest.raises(ScriptError) as raised:
        bridge(tmp_path, answers)
    assert about in str(raised.value)


def test_another_file_than_the_one_that_was_meant_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text('{"secret-key": 1,')
    with pytest.raises(
        ScriptError, match=r"is not the file that the run was started with \(put that one back"
    ):
        ScriptFile.read(path, digest="0" * 64)


def test_a_script_is_read_once_so_that_its_digest_is_of_what_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "script.json"
    path.write_text('["first"]')
    read = answer_scripts.read_named

    def read_and_replace(*given: Any) -> bytes:
        found = read(*given)
        path.write_text('["another"]')
        return found

    monkeypatch.setattr(answer_scripts, "read_named", read_and_replace)
    script = ScriptFile.read(path)
    assert script.answers == {"*": ["first"]}
    assert script.digest == hashlib.sha256(b'["first"]').hexdigest()
