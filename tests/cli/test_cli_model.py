"""`oasflow run --model` and `oasflow platform serve`: a flow whose model calls this machine answers."""

from __future__ import annotations

import json
import re
import signal
import string
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from oasflow_process import Oasflow

from oas_compiler.cli.commands.platform import (
    _end_on_signals,
    _require_token,
    find_flaw_of_token,
    read_bind,
)
from tests.flows import api, end, flow_of, gate, port, start

BRIDGE = "{{CINATRA_BASE_URL}}/api/llm-bridge"
ASKS = flow_of(
    start(port("topic", default="bees")),
    api(
        "first", url=BRIDGE, inputs=[port("topic")],
        data={"user": "{{ topic }}", "agent_id": "@x/a"}, outputs=[port("draft")],
    ),
    gate("review"),
    api(
        "second", url=BRIDGE, inputs=[port("draft")],
        data={"user": "{{ draft }}", "agent_id": "@x/b"}, outputs=[port("final"), port("size", "integer")],
    ),
    end(port("final"), port("size", "integer")),
    edges=[
        ("start", "topic", "first", "topic"), ("first", "draft", "second", "draft"),
        ("second", "final", "end", "final"), ("second", "size", "end", "size"),
    ],
)  # fmt: skip
BY_NODE = {
    "first": {"draft": "D", "$input_tokens": 10},
    "second": {"final": "F", "size": 1, "$output_tokens": 5},
}
BY_AGENT = {"@x/a": {"draft": "D"}, "@x/b": {"final": "F", "size": 1, "$output_tokens": 5}}


@pytest.fixture
def script(tmp_path: Path) -> Any:
    def write(answers: Any) -> str:
        path = tmp_path / "script.json"
        path.write_text(json.dumps(answers), "utf-8")
        return str(path)

    return write


def models(cli: Any) -> Any:
    return json.loads(cli("show", "r1", "--json").stdout)["models"]


def test_a_run_asks_a_script_and_another_command_goes_on_with_it(cli, flow_file, script):
    made = cli("run", flow_file(ASKS), "--model", f"scripted:{script(BY_NODE)}", "--run-id", "r1")
    assert made.exit_code == 3, made.output
    done = cli("approve", "r1", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["outputs"] == {"final": "F", "size": 1}
    (used,) = models(cli)
    assert (used["model"], used["calls"]) == ("scripted/script", 2)
    assert (used["input_tokens"], used["output_tokens"]) == (10, 5)
    assert [node["node"] for node in used["nodes"]] == ["first", "second"]


def test_a_script_that_changed_since_is_refused_before_anything_is_written(cli, flow_file, script):
    cli("run", flow_file(ASKS), "--model", f"scripted:{script(BY_NODE)}", "--run-id", "r1")
    script({**BY_NODE, "second": {"final": "forged", "size": 1}})
    refused = cli("approve", "r1")
    assert refused.exit_code != 0
    assert "is not the file that the run was started with" in refused.output
    assert "forged" not in refused.output
    assert json.loads(cli("show", "r1", "--json").stdout)["status"] == "waiting"


def test_the_row_of_a_run_holds_names_and_a_digest_and_no_key(cli, flow_file, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-host-0123")
    flow = flow_of(start(), gate("review"), api("ask", url=BRIDGE, data={"user": "hi", "agent_id": "@x/a"}, outputs=[port("a")]), end(port("a")), edges=[("ask", "a", "end", "a")])  # fmt: skip
    cli("run", flow_file(flow), "--model", "openai:gpt-5-mini", "--run-id", "r1")
    shown = cli("show", "r1", "--json").stdout
    assert "key-of-the-host-0123" not in shown
    told = cli("show", "r1").output
    assert "asks openai:gpt-5-mini" in told


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("gpt-5", 'a model is named "provider:model"'),
        ("acme:gpt-5", 'there is no provider "acme"'),
        ("scripted:none.json", "cannot be read"),
        ("scripted:", "write scripted:FILE"),
        ("scripted:/etc/passwd", "ends in .json, .yaml or .yml"),
    ],
)
def test_a_name_that_is_none_is_refused_with_what_a_name_is(offline, flow_file, name, about):
    refused = offline("run", flow_file(ASKS), "--model", name)
    assert refused.exit_code == 2
    assert about in refused.output


@pytest.mark.parametrize("command", ["run", "serve"])
def test_a_model_without_its_key_is_refused_before_the_run_begins(
    offline, flow_file, monkeypatch, command
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    words = ["run", flow_file(ASKS)] if command == "run" else ["platform", "serve"]
    refused = offline(*words, "--model", "openai:gpt-5-mini")
    assert refused.exit_code == 2
    assert "openai:gpt-5-mini needs a key: set OPENAI_API_KEY" in " ".join(refused.output.split())


def test_a_simulation_asks_no_model(offline, flow_file, script):
    refused = offline("run", flow_file(ASKS), "--simulate", "--model", f"scripted:{script({})}")
    assert refused.exit_code == 2
    assert "--simulate asks no model" in refused.output


def test_a_flow_without_a_platform_hears_of_models(offline, flow_file):
    refused = offline("run", flow_file(ASKS))
    assert "--model NAME to answer them here" in " ".join(refused.output.split())


@pytest.mark.parametrize(
    ("bind", "about"),
    [
        ("0.0.0.0:0", "can be reached from other machines"),
        ("[::]:0", "can be reached from other machines"),
        ("here:80", "--bind is an address and a port"),
        ("127.0.0.1", "--bind is an address and a port"),
        ("127.0.0.1:99999", "--bind is an address and a port"),
    ],
)
def test_a_platform_is_not_served_to_strangers_nor_at_no_address(offline, monkeypatch, bind, about):
    monkeypatch.delenv("CINATRA_BRIDGE_TOKEN", raising=False)
    refused = offline("platform", "serve", "--bind", bind)
    assert refused.exit_code == 2
    assert about in refused.output


FULL = "9f1c27e04ab85d3360d7b2f4c18e5a96"
BEYOND = ["0.0.0.0:0", "[::]:0", ":::0", "[::ffff:127.0.0.1]:0", "192.168.0.9:0", "[fe80::1]:0"]
SHORT: Any = {
    "not set": (None, "is not set"),
    "empty": ("", "is not set"),
    "one character": ("x", "has 1 character, and 32 are the fewest"),
    "one too few": (FULL[1:], "has 31 characters, and 32 are the fewest"),
    "blanks alone": (" " * 40, "holds a character that no header carries"),
    "a blank in it": (f"{FULL} {FULL}", "holds a character that no header carries"),
    "a line break": (f"{FULL}\n", "holds a character that no header carries"),
    "one letter": ("a" * 64, "is made of 1 different character"),
    "letters beyond ASCII": ("\u00e9" * 40, "holds a character that no header carries"),
}


GUESSED = {
    "repeats itself": [
        "12345678" * 4, "PasswordpassWord" * 2, "correcthorsebatt" * 2 + "x",
        FULL[:16] * 2, "abcdefgh" * 5,
    ],
    "follows the rows of a keyboard or the alphabet": [
        "qwertyuiopasdfghjklzxcvbnm123456", "abcdefghijklmnopqrstuvwxyz012345",
        "0987654321poiuytrewqlkjhgfdsamnb", "aabbccddeeffgghhiijjkkllmmnnooppqq",
    ],
    "1 different character": ["a" * 32],
    "different characters": ["password" * 4, "0101" * 8, "abcabca" * 5],
}  # fmt: skip


@pytest.mark.parametrize(("about", "tokens"), GUESSED.items())
def test_a_token_that_is_made_up_by_hand_is_guessed(about: str, tokens: list[str]) -> None:
    for token in tokens:
        assert len(token) >= 32
        assert f"{about}, and is guessed" in find_flaw_of_token(token), token


def test_a_token_that_is_made_at_random_passes() -> None:
    random = Random(7)
    for letters in ("0123456789abcdef", string.ascii_letters + string.digits + "-_"):
        for length in (32, 43, 64):
            made = ["".join(random.choices(letters, k=length)) for _ in range(300)]
            assert sum(bool(find_flaw_of_token(one)) for one in made) <= 1


@pytest.mark.parametrize("bind", BEYOND)
@pytest.mark.parametrize("token", SHORT)
def test_beyond_this_machine_a_token_has_its_full_length(offline, monkeypatch, bind, token):
    given, about = SHORT[token]
    if given is None:
        monkeypatch.delenv("CINATRA_BRIDGE_TOKEN", raising=False)
    else:
        monkeypatch.setenv("CINATRA_BRIDGE_TOKEN", given)
    refused = offline("platform", "serve", "--bind", bind)
    told = " ".join(refused.output.split())
    assert refused.exit_code == 2
    assert about in told
    assert "secrets.token_hex(32)" in told
    assert not given or len(given) < 8 or given not in refused.output


@pytest.mark.parametrize(
    "bind", [":3000", "here:80", "*:80", "0:80", "[]:80", "localhost.evil.example:80"]
)
def test_what_is_no_address_is_served_nowhere(offline, monkeypatch, bind):
    monkeypatch.setenv("CINATRA_BRIDGE_TOKEN", FULL)
    refused = offline("platform", "serve", "--bind", bind)
    assert (refused.exit_code, "--bind is an address" in refused.output) == (2, True)


@pytest.mark.parametrize("bind", BEYOND)
def test_a_token_of_full_length_is_enough(monkeypatch, bind):
    monkeypatch.setenv("CINATRA_BRIDGE_TOKEN", FULL)
    _require_token(read_bind(bind)[0])


@pytest.mark.parametrize("bind", ["127.0.0.1:0", "127.9.9.9:0", "[::1]:0", "localhost:0"])
def test_on_this_machine_no_token_is_asked_for(monkeypatch, bind):
    monkeypatch.delenv("CINATRA_BRIDGE_TOKEN", raising=False)
    _require_token(read_bind(bind)[0])


def test_a_signal_that_comes_before_the_server_listens_ends_it() -> None:
    server = SimpleNamespace(should_exit=False)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        _end_on_signals(server)
        signal.raise_signal(signal.SIGTERM)
        assert server.should_exit
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_served_platform_answers_runs_of_other_processes_and_ends_on_sigterm(
    oasflow: Oasflow, flow_file, script
):
    pytest.importorskip("uvicorn")
    token = {"CINATRA_BRIDGE_TOKEN": "bridge-0123"}
    model = f"scripted:{script(BY_AGENT)}"
    server = oasflow.begin("platform", "serve", "--model", model, "--bind", "127.0.0.1:0", **token)
    line = server.stdout.readline()
    url = re.search(r"http://127\.0\.0\.1:\d+", line)[0]
    own = {**token, "CINATRA_BASE_URL": url}
    stranger = oasflow("run", flow_file(ASKS), "--run-id", "r0", CINATRA_BASE_URL=url)
    assert "403 forbidden" in stranger.out + stranger.err
    assert oasflow("run", flow_file(ASKS), "--run-id", "r1", **own).code == 3
    done = oasflow("approve", "r1", "--json", **own)
    assert done.json["outputs"] == {"final": "F", "size": 1}, done.err
    (used,) = oasflow("show", "r1", "--json").json["models"]
    assert (used["model"], used["calls"], used["output_tokens"]) == ("scripted/script", 2, 5)
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=60) == 0
