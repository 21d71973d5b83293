"""Printed commands: whole, with what the run lacks; what only a person can say stands there as …, which is refused."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from selection_flow import selection_flow

from cinatra_sdk import RunStore
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from oas_compiler.cli.terminal.argument_values import blank_out, refuse_placeholder
from oas_compiler.cli.terminal.exits import Halt
from tests.flows import end, flow_of, gate, node, port, start, tool

PARTS = """\
from cinatra_sdk import HostParts

def lend():
    return HostParts(tools={"post": lambda x: {"y": x}})
"""
CONTACTS = port("contacts", "array", items={"type": "string"})


def fail(x: str) -> str:
    raise RuntimeError("the line went dead")


def acting(*before: Any, effect: str = "") -> Any:
    act = tool("post", "post", [port("x")], [port("y")])
    if effect:
        act.setdefault("metadata", {}).setdefault("cinatra", {})["effect"] = effect
    return flow_of(
        start(port("x", default="1")), *before, act, end(), edges=[("start", "x", "post", "x")]
    )


@pytest.fixture
def everything(
    cli: Any, fresh_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """A run of each kind of need; those of tools need a host to go on."""
    (tmp_path / "printed_parts.py").write_text(PARTS, "utf-8")
    monkeypatch.chdir(tmp_path)
    asking = flow_of(
        start(), node("InputMessageNode", "ask", message="Which?", outputs=[port("said")]),
        end(port("said")), edges=[("ask", "said", "end", "said")],
    )  # fmt: skip
    setup = flow_of(start(CONTACTS, required=["contacts"]), gate("ok"), end())
    tools = {"post": fail}
    with RunStore.open(fresh_database) as store:
        lent = SimulatedPlatform()
        store.start(compile_flow(acting(gate("ok")), tools=tools), run_id="tools", by="ann")
        store.start(compile_flow(acting(gate("ok")), tools=tools), run_id="tools-2", by="ann")
        store.start(compile_flow(acting(effect="at_most_once"), tools=tools), run_id="call")
        store.start(compile_flow(acting(), tools=tools), run_id="dead", by="ben")
        store.start(compile_flow(asking), run_id="asks")
        store.start(compile_flow(selection_flow(), platform=lent), run_id="slot")
        store.start(compile_flow(setup, platform=lent), {}, "setup")
    return cli


def commands(text: str) -> list[str]:
    """Every command of a text, as it would be copied, but those that only a terminal takes."""
    lines = [line for line in text.splitlines() if "(at a terminal" not in line]
    found = [line for one in lines for line in re.findall(r"(?:^\s*|; )(oasflow .*)$", one)]
    return [line.split("   (")[0].split(" goes on")[0].split(" lists them")[0] for line in found]


HOST = "--host MODULE:FACTORY"


def test_each_printed_command_lends_what_its_run_needs(everything: Any) -> None:
    listed = commands(everything("gates").stdout)
    about = {line.split()[2].partition("/")[0]: line for line in listed}
    for run in ("tools", "tools-2", "call", "dead"):
        assert about[run].endswith(HOST)
    for run in ("asks", "slot"):
        assert HOST not in about[run]
    assert f"--did-not-happen {HOST}" in everything("gates").stdout
    told = json.loads(everything("gates", "--json").stdout)
    assert [one["commands"][0] for one in told["needs"]] == [
        one["command"] for one in told["needs"]
    ]
    assert {line for one in told["needs"] for line in one["commands"]} == {*listed}
    examined = json.loads(everything("doctor", "--json").stdout)
    for part in ("calls", "dead_letters"):
        (one,) = examined[part]["oldest"]
        assert one["command"] in listed
        assert one["command"] in everything("doctor").stdout
    assert about["tools"] in commands(everything("show", "tools").stdout)


def test_every_printed_command_does_what_it_says_or_names_what_is_to_be_put_in(
    everything: Any,
) -> None:
    texts = [everything(*words) for words in (("gates",), ("doctor",), ("approve", "asks"), ("settle", "call"))]  # fmt: skip
    texts += [everything("show", run) for run in ("tools", "call", "asks", "slot")]
    lines = dict.fromkeys(line for one in texts for line in commands(one.output))
    looks = ("oasflow show", "oasflow gates")
    decided = dict.fromkeys(("tools", "call", "asks", "slot", "dead"), False)
    for line in sorted(lines, key=lambda one: (" reject " in one, one)):
        words = shlex.split(line)[1:]
        if words[0] == "resume" and "--all" in words:
            continue
        done = everything(*words)
        told = " ".join(done.stderr.split())
        if line.startswith(looks):
            assert done.exit_code == 0 or "RUN" in words, line
        elif "…" in line and words[0] != "reject" and "--did-not-happen" not in line:
            assert (done.exit_code, "holds …" in told) == (2, True), (line, told)
        elif HOST in line and words[0] != "reject":
            assert done.exit_code == 2, line
            assert "put its name there" in told
            lent = [word.replace("MODULE:FACTORY", "printed_parts:lend") for word in words]
            settled = everything(*lent)
            assert settled.exit_code in {0, 3, 4}, (line, settled.stderr)
            decided[words[1].partition("/")[0]] = True
        else:
            assert done.exit_code in {0, 3, 4, 5}, (line, told)
    assert decided["tools"]
    assert decided["call"]
    assert '"…"' not in everything("show", "asks", "--json").stdout


@pytest.mark.parametrize(
    ("example", "printed"),
    [
        ({"contacts": []}, {"contacts": ["…"]}),
        ({"a": {"b": 1, "c": True}, "d": [{"e": "x"}, {"e": "y"}]}, {"a": {"b": "…", "c": "…"}, "d": [{"e": "…"}]}),
        ({}, {"…": "…"}), ([], ["…"]), ("x", "…"), (3, "…"), (None, "…"),
    ],
)  # fmt: skip
def test_an_example_is_printed_as_its_form_and_never_taken(example: Any, printed: Any) -> None:
    assert blank_out(example) == printed
    with pytest.raises(Halt, match="put your own values there"):
        refuse_placeholder(blank_out(example), "--value")
    refuse_placeholder(example, "--value")  # the control


def test_a_form_is_printed_without_an_answer_that_could_be_sent(everything: Any) -> None:
    shown = everything("show", "setup").stdout
    printed = [line for line in commands(shown) if line.startswith("oasflow answer")]
    for line in printed:
        refused = everything(*shlex.split(line)[1:])
        assert (refused.exit_code, "…" in refused.stderr) == (2, True), line
    refused = everything("answer", "asks/ask", "--value", '"…"')
    assert (refused.exit_code, "put your own values there" in refused.stderr) == (2, True)
    assert json.loads(everything("show", "asks", "--json").stdout)["decisions"] == []


def test_the_place_of_a_reason_is_kept_as_nobodys_word(
    everything: Any, fresh_database: str
) -> None:
    done = everything("reject", "asks/ask", "--reason", "…", "--as", "ann")
    assert (done.exit_code, "no reason is kept" in done.stderr) == (5, True)
    assert everything("stop", "slot", "--reason", "…").exit_code == 0
    assert everything("reject", "setup", "--reason", "… and more", "--as", "ann").exit_code == 5
    with RunStore.open(fresh_database) as store:
        assert store.decisions("asks")[0]["reason"] == ""
        assert store.get("slot").stop_reason == ""
        assert store.decisions("setup")[0]["reason"] == "… and more"


def test_a_context_gate_says_in_one_line_what_is_to_be_chosen(everything: Any) -> None:
    needs = json.loads(everything("gates", "--json").stdout)["needs"]
    (content,) = [one["content"] for one in needs if one["run"] == "slot"]
    assert content == "choose for the context slot 'brand': 3 candidates, at most 2"


def test_several_runs_that_lack_a_host_are_refused_before_anybody_is_asked(
    everything: Any, screen: Any
) -> None:
    seen = screen("approve", "tools", "asks", "tools-2", "--as", "ann", COLUMNS="120")
    assert seen.ended() == 2
    told = " ".join(seen.text.split())
    assert "[Enter]" not in told
    assert "refused: tools/ok, tools-2/ok 2 runs need more than this command gives" in told
    assert "a function of yours that lends the tools that it calls: post" in told
    (line,) = [one for one in commands(seen.text) if "tools-2" in one]
    assert line.startswith("oasflow approve tools/ok tools-2/ok --shown ")
    assert line.endswith(f"--as ann {HOST}")
    lent = line.replace("MODULE:FACTORY", "printed_parts:lend")
    done = everything(*shlex.split(lent)[1:], "--json")
    assert [one["outcome"] for one in json.loads(done.stdout)["targets"]] == ["approved"] * 2


def test_several_runs_that_lack_a_host_are_rejected_and_stopped_without_one(
    everything: Any,
) -> None:
    gates = json.loads(everything("gates", "--json").stdout)["gates"]
    seen = {one["run"]: one["shown"][:16] for one in gates}
    words = [word for run in ("tools", "asks") for word in ("--shown", seen[run])]
    assert everything("reject", "tools/ok", "asks/ask", *words).exit_code == 5
    assert everything("stop", "tools-2", "dead", "--yes").exit_code == 0


def test_a_call_without_its_key_is_never_guessed(everything: Any, fresh_database: str) -> None:
    unsaid = everything("settle", "call")
    assert unsaid.exit_code == 2
    with RunStore.open(fresh_database) as store:
        (call,) = store.unknown("call")
    assert [f"settle call {call.key} {way}" in unsaid.stderr for way in ("--happened", "--did-not-happen")] == [True, True]  # fmt: skip
    with RunStore.open(fresh_database) as store:
        # The call is made again, and nobody knows again: who has looked for the first one means that.
        store.settle("call", call.key, happened=False, by="ben")
        again = compile_flow(acting(effect="at_most_once"), tools={"post": fail})
        assert store.resume("call", flow=again).status == "waiting"
    late = everything("settle", "call", "--happened", "--json")
    assert late.exit_code == 4
    assert json.loads(late.stdout)["error"]["code"] == "call_unnamed"
    assert (
        f"call '{call.key}' of run 'call' was settled before (ben: it did not happen)"
        in late.stderr
    )
    assert "more than one call" not in late.stderr
    idle = everything("approve", "call", "--json")
    assert idle.exit_code == 4
    settling = json.loads(idle.stdout)["error"]
    assert "1 call, of which nobody knows whether it happened" in settling["message"]
    assert settling["settle"][0] in late.stderr
    assert settling["settle"][0] in idle.stderr


def test_a_run_of_tools_is_not_told_to_be_simulated(everything: Any) -> None:
    shown = " ".join(everything("show", "tools").stdout.split())
    assert "simulated" not in shown
    done = everything("approve", "tools/ok", "--host", "printed_parts:lend")
    assert done.exit_code == 0
    assert "\n  calls the functions that --host lends\n" in done.stderr
    assert "simulated" not in done.stderr


def test_commands_in_an_error_name_the_tenant_and_the_database_of_the_command(
    cli: Any, fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DATABASE_URL")
    parts: dict[str, Any] = dict(conninfo_to_dict(fresh_database))
    monkeypatch.setenv("PGPASSWORD", str(parts.pop("password")))
    bare = make_conninfo(**parts)
    with RunStore.open(fresh_database) as store:
        flow = compile_flow(flow_of(start(), gate("one"), gate("two"), end()))
        store.start(flow, {}, "n1", tenant="acme")
    where = ("--tenant", "acme", "--db", bare)
    assert cli("approve", "n1/one", *where).exit_code == 3
    late = cli("approve", "n1/one", *where)
    (told,) = re.findall(r"oasflow show [^\n]*n1", late.stderr)
    assert cli(*shlex.split(told)[1:]).exit_code == 0
    assert told == f"oasflow show {shlex.join(where)} n1"
