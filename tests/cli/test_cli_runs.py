"""Runs, gates and answers at the command line, in this process and without a terminal."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path
from typing import Any

import pytest
from printed import hashed
from psycopg.conninfo import make_conninfo

from tests.flows import api, branching, end, flow_of, gate, port, start

ME = pwd.getpwuid(os.getuid()).pw_name
FORM = {
    "type": "object",
    "properties": {"subject": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["subject"],
}


def asking_for_a_form() -> Any:
    return flow_of(
        start(),
        gate("fill", output=port("filled"), inputMessageSchema=FORM),
        end(port("filled")),
        edges=[("fill", "filled", "end", "filled")],
    )


def document(result: Any) -> Any:
    return json.loads(result.stdout)


# ------------------------------------------------------------------------ run


def test_a_run_without_a_terminal_waits_at_its_gate_with_exit_3(cli: Any, flow_file: Any) -> None:
    result = cli("run", flow_file(), "--simulate", "--run-id", "r1", stdin="a\n")
    assert result.exit_code == 3
    assert "run r1  waiting" in result.stdout
    assert "oasflow approve r1/first --shown HASH\n" in hashed(result.stdout)
    assert "approve [a]" not in result.output
    assert "The first  waits for a person" in result.stderr


def test_yes_carries_a_simulation_through_every_gate(cli: Any, flow_file: Any) -> None:
    result = cli("run", flow_file(), "--simulate", "--yes", "--json", "--as", "ann")
    run = document(result)
    assert (result.exit_code, run["status"]) == (0, "completed")
    assert run["outputs"] == {"done": "simulated done", "said": "[Approved by operator]"}
    decisions = document(cli("show", run["id"], "--json"))["decisions"]
    assert [(d["gate"], d["decision"], d["by"]) for d in decisions] == [
        ("first", "approved", "ann (simulation)"),
        ("second", "approved", "ann (simulation)"),
    ]


def test_yes_without_simulate_is_refused_before_anything_starts(cli: Any, flow_file: Any) -> None:
    result = cli("run", flow_file(), "--yes")
    assert result.exit_code == 2
    assert "--simulate" in result.stderr
    assert document(cli("runs", "--json")) == {"runs": [], "next": None}


def test_a_flow_that_calls_a_platform_is_never_simulated_by_accident(
    cli: Any, flow_file: Any
) -> None:
    result = cli("run", flow_file())
    assert result.exit_code == 2
    assert "--base-url" in result.stderr
    assert document(cli("runs", "--json")) == {"runs": [], "next": None}


def test_a_flow_that_calls_nothing_needs_no_platform(cli: Any, flow_file: Any) -> None:
    path = flow_file(flow_of(start(), end()))
    assert cli("run", path).exit_code == 0


def inputs_flow() -> Any:
    return flow_of(
        start(port("text"), port("number", "integer"), port("list", "array", items={"type": "string"})),
        end(port("text"), port("number", "integer"), port("list", "array", items={"type": "string"})),
        edges=[(("start"), name, "end", name) for name in ("text", "number", "list")],
    )  # fmt: skip


def test_set_reads_json_where_it_fits_and_text_where_it_does_not(cli: Any, flow_file: Any) -> None:
    settings = ("--set", "text=5", "--set", "number=7", "--set", 'list=["a"]')
    result = cli("run", flow_file(inputs_flow()), *settings, "--json")
    assert document(result)["outputs"] == {"text": "5", "number": 7, "list": ["a"]}


def test_set_wins_over_the_input_file_and_stdin_is_a_file_too(
    cli: Any, flow_file: Any, tmp_path: Path
) -> None:
    given = {"text": "from file", "number": 1, "list": []}
    (tmp_path / "in.json").write_text(json.dumps(given))
    path = flow_file(inputs_flow())
    from_file = cli(
        "run", path, "--input", str(tmp_path / "in.json"), "--set", "number=2", "--json"
    )
    assert document(from_file)["outputs"] == {**given, "number": 2}
    from_stdin = cli("run", path, "--input", "-", "--json", stdin=json.dumps(given))
    assert document(from_stdin)["outputs"] == given


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "txt=1"), 'did you mean "text"?'),
        (("--set", "text"), "write --set text=VALUE"),
        (("--set", "number=many"), "input 'number'"),
        (("--input", "no-such-file.json"), "No such file"),
        (("--input", "-"), "line 1, column 2"),
        (("--stubs", "x.json"), "--simulate"),
        (("--simulate", "--stubs", "no-such-file.json"), "no-such-file.json"),
        (("--simulate", "--base-url", "http://127.0.0.1:1"), "--base-url"),
        (("--base-url", "ftp://example.org"), "base_url"),
        (("--base-url", "http://127.0.0.1:1", "--timeout", "0"), "--timeout"),
        (("--as", "a\x1b[31m"), "--as"),
        (("--run-id", "a/b"), "run id"),
        (("--limit-of-nothing",), "limit-of-nothing"),
    ],
)
def test_what_does_not_fit_is_exit_2_and_names_the_option(
    cli: Any, flow_file: Any, arguments: tuple[str, ...], words: str
) -> None:
    result = cli("run", flow_file(inputs_flow()), *arguments, stdin="{'a'}")
    assert result.exit_code == 2
    assert words in result.stderr
    assert "\x1b" not in result.stderr


def test_an_undeclared_input_of_a_file_is_refused_by_name(cli: Any, flow_file: Any) -> None:
    path = flow_file(flow_of(start(port("topic", default="x")), end()))
    result = cli("run", path, "--input", "-", stdin='{"topik\\u001b[2J": 1}')
    assert result.exit_code == 2
    assert "topik␛[2J" in result.stderr
    assert "\x1b" not in result.output


def test_a_simulation_says_which_hidden_inputs_it_made_up(cli: Any, flow_file: Any) -> None:
    path = flow_file(flow_of(start(port("key"), hidden=["key"]), end()))
    result = cli("run", path, "--simulate", "--json")
    assert "made up for the simulation: key" in result.stderr
    assert document(result)["inputs"] == {"key": "simulated key"}


def test_a_simulation_makes_up_no_id_of_the_run_which_only_the_host_sets(
    cli: Any, flow_file: Any
) -> None:
    inputs = (port("key"), port("agent_run_id"))
    path = flow_file(flow_of(start(*inputs, hidden=["key", "agent_run_id"]), end()))
    result = cli("run", path, "--simulate", "--run-id", "r1", "--json")
    assert "made up for the simulation: key\n" in result.stderr
    assert "R01_IGNORED" not in result.stderr
    given = cli("run", path, "--simulate", "--run-id", "r2", "--set", "agent_run_id=mine")
    assert given.stderr.count("R01_IGNORED agent_run_id") == 1


def test_stubs_answer_and_every_call_is_recorded(
    cli: Any, flow_file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stubs.yaml").write_text("work: {done: stubbed}\nwrok: {done: never}\n")
    monkeypatch.chdir(tmp_path)
    result = cli(
        "run", flow_file(), "--simulate", "--yes", "--stubs", "stubs.yaml", "--record", "tape", "--json"
    )  # fmt: skip
    assert document(result)["outputs"]["done"] == "stubbed"
    assert [json.loads(line)["node"] for line in Path("tape").read_text().splitlines()] == ["work"]
    assert "wrok" in result.stderr


def test_a_run_id_that_is_taken_is_a_conflict(cli: Any, flow_file: Any) -> None:
    path = flow_file()
    assert cli("run", path, "--simulate", "--run-id", "r1").exit_code == 3
    result = cli("run", path, "--simulate", "--run-id", "r1")
    assert result.exit_code == 4
    assert "there is a run 'r1' already" in result.stderr


def test_a_failing_node_is_exit_6_and_resume_tries_it_again(
    cli: Any, flow_file: Any, tmp_path: Path
) -> None:
    stubs = {"work": [{"$error": {"status": 500, "code": "BROKEN", "message": "\x1b[5mno"}}]}
    (tmp_path / "stubs.json").write_text(json.dumps(stubs))
    path = flow_file(flow_of(start(), api("work", outputs=[port("done")]), end()))
    result = cli(
        "run", path, "--simulate", "--stubs", str(tmp_path / "stubs.json"), "--run-id", "r1"
    )
    assert result.exit_code == 6
    assert "failed" in result.stdout
    assert "oasflow resume r1" in result.stdout
    assert "\x1b" not in result.output
    again = cli("resume", "r1", "--json")
    assert (again.exit_code, document(again)["error"]["code"]) == (6, "BROKEN")


def test_a_platform_that_cannot_be_reached_is_exit_7(cli: Any, flow_file: Any) -> None:
    path = flow_file(flow_of(start(), api("work", outputs=[port("done")]), end()))
    result = cli("run", path, "--base-url", "http://127.0.0.1:1", "--json")
    assert result.exit_code == 7
    assert document(result)["status"] == "failed"


def test_a_database_that_cannot_be_reached_is_exit_7_and_its_password_is_not_told(
    offline: Any, flow_file: Any
) -> None:
    for command in (("runs",), ("gates",), ("show", "r"), ("run", flow_file(), "--simulate")):
        result = offline(*command, "--json")
        assert result.exit_code == 7
        assert document(result)["error"]["code"] == "store_error"
        assert "hidden-word" not in result.output


# ------------------------------------------------------------------------ answers


@pytest.fixture
def waiting(cli: Any, flow_file: Any) -> Any:
    """`cli`, with run `r1` waiting at its first gate."""
    assert cli("run", flow_file(), "--simulate", "--run-id", "r1").exit_code == 3
    return cli


def test_approvals_carry_a_run_to_its_end(waiting: Any) -> None:
    first = waiting("approve", "r1/first", "--reason", "fine", "--as", "ann", "--json")
    assert (first.exit_code, [g["id"] for g in document(first)["waiting"]]) == (3, ["second"])
    last = waiting("approve", "r1/second", "--json")
    assert (last.exit_code, document(last)["status"]) == (0, "completed")
    assert document(last)["outputs"] == {"done": "simulated done", "said": "[Approved by operator]"}
    shown = document(waiting("show", "r1", "--json"))
    assert [(d["gate"], d["by"], d["reason"]) for d in shown["decisions"]] == [
        ("first", "ann", "fine"),
        ("second", ME, ""),
    ]


def test_words_for_the_flow_are_the_answer_and_the_reason_stays_with_the_decision(
    waiting: Any,
) -> None:
    said = waiting("answer", "r1/first", "--text", "send it late", "--reason", "fine", "--json")
    assert said.exit_code == 3
    assert document(waiting("approve", "r1/second", "--json"))["outputs"]["said"] == "send it late"
    first = document(waiting("show", "r1", "--json"))["decisions"][0]
    assert (first["reason"], first["answer"]["value"]) == ("fine", "send it late")


def test_a_rejection_ends_the_run_with_exit_5_and_nothing_after_it_ran(waiting: Any) -> None:
    result = waiting("reject", "r1", "--reason", "wrong", "--json")
    assert (result.exit_code, document(result)["status"]) == (5, "rejected")
    shown = document(waiting("show", "r1", "--json"))
    assert [(d["decision"], d["reason"]) for d in shown["decisions"]] == [("rejected", "wrong")]
    assert shown["outputs"] is None


def test_a_second_answer_is_a_conflict_that_says_who_was_first(waiting: Any) -> None:
    waiting("approve", "r1/first", "--as", "ann")
    second = waiting("reject", "r1/first", "--as", "bob")
    assert second.exit_code == 4
    assert "already approved by ann" in second.stderr
    assert document(waiting("show", "r1", "--json"))["status"] == "waiting"


def test_nothing_can_be_decided_on_a_run_that_has_ended(waiting: Any) -> None:
    waiting("reject", "r1")
    for command in (("approve", "r1"), ("reject", "r1/second"), ("resume", "r1")):
        assert waiting(*command).exit_code == 4


def test_text_reaches_the_flow_byte_for_byte(waiting: Any) -> None:
    waiting("answer", "r1", "--text", '  {"a":  1} ')
    last = waiting("approve", "r1/second", "--json")
    assert document(last)["outputs"]["said"] == '  {"a":  1} '


def test_a_form_takes_a_value_from_the_command_line_or_from_a_file(
    cli: Any, flow_file: Any, tmp_path: Path
) -> None:
    path = flow_file(asking_for_a_form())
    (tmp_path / "value.json").write_text('{"subject": "from a file"}')
    ways = {
        "r1": (("--value", '{"subject": "typed"}'), None),
        "r2": (("--value-file", str(tmp_path / "value.json")), None),
        "r3": (("--value-file", "-"), '{"subject": "from stdin"}'),
    }
    subjects = []
    for run, (options, stdin) in ways.items():
        assert cli("run", path, "--run-id", run).exit_code == 3
        done = cli("answer", run, *options, "--json", stdin=stdin)
        assert done.exit_code == 0
        subjects.append(json.loads(document(done)["outputs"]["filled"])["subject"])
    assert subjects == ["typed", "from a file", "from stdin"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("approve", "r1"), "subject"),
        (("answer", "r1", "--value", '{"subject": 5}'), "subject"),
        (("answer", "r1", "--value", '{"subject"'), "line 1, column 11"),
        (("answer", "r1", "--value", "NaN"), "not JSON"),
        (("answer", "r1", "--value-file", "no-such-file"), "No such file"),
        (("answer", "r1"), "--value, --value-file and --text"),
        (("answer", "r1", "--value", "1", "--text", "x"), "--value, --value-file and --text"),
        (("approve", "nobody"), "no run begins with 'nobody'"),
        (("approve", ""), "RUN/GATE is empty"),
        (("approve", "/fill"), "'/fill' names a gate and no run"),
        (("show", ""), "RUN is empty"),
        (("settle", "", "k", "--happened"), "RUN is empty"),
    ],
)
def test_an_answer_that_does_not_fit_is_exit_2_and_leaves_the_gate_open(
    cli: Any, flow_file: Any, command: tuple[str, ...], words: str
) -> None:
    cli("run", flow_file(asking_for_a_form()), "--run-id", "r1")
    result = cli(*command)
    assert result.exit_code == 2
    assert words in result.stderr
    assert [g["id"] for g in document(cli("gates", "--json"))["gates"]] == ["fill"]


def test_the_shown_command_for_a_form_works_once_it_is_filled_in(cli: Any, flow_file: Any) -> None:
    import shlex

    result = cli("run", flow_file(asking_for_a_form()), "--run-id", "r1")
    line = next(line for line in result.stdout.splitlines() if "oasflow answer" in line)
    words = shlex.split(line)[1:]
    assert cli(*words).exit_code == 2, "as it stands it says nothing"
    assert cli(*(word.replace("…", "Bees") for word in words)).exit_code == 0


def test_a_gate_in_a_subflow_is_named_with_its_slash(cli: Any, flow_file: Any) -> None:
    from tests.flows import flow_node

    inner = flow_of(start(), gate("check"), end(id_="inner_end"), id_="inner-flow")
    inner["$referenced_components"]["inner_start"] = inner["$referenced_components"].pop("start")
    text = json.dumps(inner).replace('"start"', '"inner_start"')
    outer = flow_of(start(), flow_node("sub", json.loads(text)), end())
    assert cli("run", flow_file(outer), "--run-id", "r1").exit_code == 3
    assert [g["id"] for g in document(cli("gates", "r1", "--json"))["gates"]] == ["sub/check"]
    assert cli("approve", "r1/check").exit_code == 4
    assert cli("approve", "r1/sub/check").exit_code == 0


def test_every_visit_of_a_gate_has_its_own_id_so_an_old_answer_meets_no_new_question(
    cli: Any, flow_file: Any
) -> None:
    flow = flow_of(
        start(),
        gate("review", output=port("verdict")),
        branching("again", port("verdict"), {"more": "loop"}),
        end(),
        edges=[("review", "verdict", "again", "verdict")],
        routes=[
            ("start", None, "review"),
            ("review", None, "again"),
            ("again", "loop", "review"),
            ("again", "default", "end"),
        ],
    )
    cli("run", flow_file(flow), "--run-id", "r1")
    assert cli("answer", "r1/review", "--text", "more").exit_code == 3
    assert cli("approve", "r1/review").exit_code == 4
    assert cli("approve", "r1/review#2").exit_code == 0


# ------------------------------------------------------------------------ lists


def test_gates_lists_what_waits_with_run_step_risk_and_age(waiting: Any) -> None:
    listed = document(waiting("gates", "--json"))["gates"]
    assert [(g["run"], g["id"], g["step"], g["risk"]) for g in listed] == [
        ("r1", "first", 1, "read_only")
    ]
    assert listed[0]["age_seconds"] >= 0
    table = waiting("gates").stdout.splitlines()
    assert table[0].split() == [
        "RUN", "NEEDS", "AT", "FLOW", "STARTED", "BY", "CONTENT", "STEP", "RISK", "AGE", "COMMAND",
    ]  # fmt: skip
    assert table[1].split()[:3] == ["r1", "decision", "first"]


def test_a_setup_gate_names_its_field_and_its_answer_stands_among_the_inputs(
    cli: Any, flow_file: Any
) -> None:
    asking = flow_of(
        start(port("topic"), port("count", "integer"), required=["topic", "count"]),
        end(port("topic"), port("count", "integer")),
    )
    cli("run", flow_file(asking), "--set", "topic=Bees", "--run-id", "r1")
    (listed,) = document(cli("gates", "--json"))["gates"]
    assert (listed["field"], listed["schema"], listed["example"]) == (
        "count", {"type": "integer"}, {"count": 1},
    )  # fmt: skip
    refused = cli("answer", "r1", "--text", "many")
    assert (refused.exit_code, refused.stderr.splitlines()[-1]) == (
        2,
        (
            "error: gate 'start', 'count': the answer does not fit: count: not of type 'integer', got string; given: a "
            """text of 4 characters (the gate asks for 'count'; a value that fits: {"count": 1})"""
        ),
    )
    assert cli("answer", "r1", "--value", "3").exit_code == 0
    assert document(cli("show", "r1", "--json"))["inputs"] == {"topic": "Bees", "count": 3}
    shown = cli("show", "r1").stdout
    assert [line.split() for line in shown.split("  inputs\n")[1].splitlines()[:2]] == [
        ["topic", "Bees"],
        ["count", "3"],
    ]


def test_no_gate_waiting_is_said_and_is_an_empty_list(cli: Any) -> None:
    listed = document(cli("gates", "--json"))
    assert listed == {"needs": [], "gates": [], "next": None, "unreadable": []}
    assert cli("gates").stderr == "nothing needs a person: no gate waits\n"


def test_runs_are_listed_by_status(waiting: Any, flow_file: Any) -> None:
    waiting("run", flow_file(), "--simulate", "--yes", "--run-id", "r2")
    assert [r["id"] for r in document(waiting("runs", "--json"))["runs"]] == ["r2", "r1"]
    one = document(waiting("runs", "--status", "waiting", "--json"))["runs"]
    assert one[0] == {
        "id": "r1", "status": "waiting", "flow": "The test-flow", "waiting": ["first"], "paused": None,
        "needs": [{"kind": "gate", "name": "first"}], "tenant": "", "started_by": ME, "unreadable": [], "archived_at": None,
        "created_at": one[0]["created_at"], "updated_at": one[0]["updated_at"],
    }  # fmt: skip
    assert waiting("runs", "--status", "asleep").exit_code == 2


def test_show_tells_the_whole_story(waiting: Any) -> None:
    waiting("approve", "r1", "--as", "ann", "--reason", "fine")
    text = waiting("show", "r1").stdout
    for words in (
        "run r1  waiting",
        "The test-flow",
        "ann",
        "fine",
        "oasflow approve r1/second --shown HASH\n",
    ):
        assert words in hashed(text)
    record = document(waiting("show", "r1", "--json"))
    assert set(record) == {
        "id", "status", "flow", "file", "digest", "tenant", "started_by", "variables", "inputs",
        "outputs", "branch", "messages", "waiting", "error", "stopped", "unreadable", "attempts",
        "paused", "starter", "owner", "session", "parent", "parent_path", "failures", "retry_at", "deadline",
        "archived_at", "created_at", "updated_at", "decisions",
        "context_selections",
        "models", "settlements", "unknown",
    }  # fmt: skip
    assert set(record["waiting"][0]) == {
        "id", "shown", "node", "visit", "step", "risk", "name", "description", "renderer", "field", "schema", "values", "question", "said", "example",
    }  # fmt: skip


def test_a_run_id_may_be_shortened_while_it_is_unique(cli: Any, flow_file: Any) -> None:
    path = flow_file()
    for name in ("alpha1", "alpha2", "beta"):
        cli("run", path, "--simulate", "--run-id", name)
    assert document(cli("show", "b", "--json"))["id"] == "beta"
    ambiguous = cli("show", "alpha")
    assert ambiguous.exit_code == 2
    assert "several runs begin with 'alpha'" in ambiguous.stderr


def test_resume_with_another_flow_is_a_conflict(waiting: Any, flow_file: Any) -> None:
    other = flow_file(flow_of(start(), gate("first"), end()), "other.json")
    assert waiting("resume", "r1", "--flow", other).exit_code == 4
    assert waiting("resume", "r1", "--flow", flow_file()).exit_code == 3


def test_a_placeholder_is_needed_again_by_whoever_goes_on(
    cli: Any, flow_file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = flow_of(
        start(), gate("ok"), api("work", url="http://{{HOST_NAME}}/x", outputs=[port("done")]), end()
    )  # fmt: skip
    path = flow_file(flow)
    env = ("--env", "HOST_NAME=a.example")
    for run in ("r1", "r2"):
        assert cli("run", path, "--simulate", *env, "--run-id", run).exit_code == 3
    lacking = cli("approve", "r1")
    assert lacking.exit_code == 2
    assert "HOST_NAME" in lacking.stderr
    assert cli("approve", "r1", *env).exit_code == 0
    # A variable of the environment is the process's own, until the process names it.
    monkeypatch.setenv("HOST_NAME", "a.example")
    assert cli("approve", "r2").exit_code == 2
    assert cli("approve", "r2", "--env", "HOST_NAME").exit_code == 0
    assert cli("run", path, "--simulate", *env, "--run-id", "r3").exit_code == 3
    monkeypatch.setenv("OASFLOW_ENV", "OTHER, HOST_NAME")
    assert cli("approve", "r3").exit_code == 0


def test_db_names_the_database_on_the_command_line(
    cli: Any, fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", make_conninfo(fresh_database, dbname="nowhere"))
    assert cli("runs").exit_code == 7
    assert cli("runs", "--db", fresh_database).exit_code == 0


# ------------------------------------------------------------------------ safety


def test_no_control_character_of_a_flow_reaches_the_screen(cli: Any, flow_file: Any) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e[bold]x[/bold]"
    shown = gate("first", inputs=[port("data")])
    shown["name"] = f"Gate {evil}"
    flow = flow_of(start(port("data")), shown, end(), edges=[("start", "data", "first", "data")])
    result = cli(
        "run", flow_file(flow), "--input", "-", "--run-id", "r1", stdin=json.dumps({"data": evil})
    )
    outputs = [result, cli("gates"), cli("show", "r1"), cli("reject", "r1", "--reason", evil), cli("show", "r1")]  # fmt: skip
    for one in outputs:
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(one.output)
    assert "[bold]x[/bold]" in result.stdout
    assert json.loads(cli("show", "r1", "--json").stdout)["inputs"]["data"] == evil


def test_an_unexpected_error_is_one_line_with_its_class_and_debug_shows_more(
    cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cinatra_sdk import RunStore

    def broken(*_arguments: Any, **_options: Any) -> Any:
        raise LookupError("a secret detail")

    monkeypatch.setattr(RunStore, "page", broken)
    monkeypatch.setenv("OASFLOW_DEBUG", "")
    result = cli("runs", "--json")
    assert result.exit_code == 70
    assert result.stderr == "error: unexpected LookupError; `oasflow --debug …` shows where\n"
    assert document(result)["error"]["code"] == "bug"
    assert "a secret detail" in cli("--debug", "runs").stderr
