"""A command line that cannot be parsed is one line, which names what is meant; pipes name the way in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main
from oasflow_process import Oasflow

from oas_compiler.cli.app import app
from oas_compiler.cli.terminal.exits import is_misuse
from tests.flows import end, flow_of, port, start


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("aprove", "n1"), 'oasflow: there is no command "aprove"; did you mean "approve"? (see oasflow -h)'),
        (("zzzz",), 'oasflow: there is no command "zzzz" (see oasflow -h)'),
        (("db", "statsu"), 'oasflow db: there is no command "statsu"; did you mean "status"? (see oasflow db -h)'),
        (("db", "stat"), 'oasflow db: there is no command "stat"; did you mean "status"? (see oasflow db -h)'),
        (("approve", "n1", "--reson", "x"), 'oasflow approve: there is no option "--reson"; did you mean "--reason"? (see oasflow approve -h)'),
        (("approve", "n1", "-x"), 'oasflow approve: there is no option "-x" (see oasflow approve -h)'),
        (("--debgu", "runs"), 'oasflow: there is no option "--debgu"; did you mean "--debug"? (see oasflow -h)'),
        (("approve",), "oasflow approve: RUN[/GATE]... is missing (see oasflow approve -h)"),
        (("runs", "--status", "asleep"), "oasflow runs: --status: 'asleep' is not one of 'running', 'waiting', 'completed', 'rejected', 'failed', 'stopped' (see oasflow runs -h)"),
        (("runs", "--lim\x1bit", "1"), 'oasflow runs: there is no option "--lim␛it"; did you mean "--limit"? (see oasflow runs -h)'),
    ],
)  # fmt: skip
def test_what_is_misspelt_is_one_line_with_what_is_meant(
    offline: Any, arguments: tuple[str, ...], line: str
) -> None:
    result = offline(*arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"error: {line}\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gates", "--db", "non sense-s3cret"), "give postgresql://USER@HOST/NAME, with --db or in DATABASE_URL"),
        (("doctor", "--db", "nonsense-s3cret"), "with --db or in DATABASE_URL"),
        (("rule", "OAS9999"), 'no rule is called "OAS9999"; `oasflow rule` lists all'),
        (("rule", "oas0200"), 'did you mean "OAS200"?'),
        (("check", "x.json", "--select", "OAS2000"), 'no rule is called "OAS2000"; '),
        (("stop", "r1", ""), "RUN is empty"),
        (("follow", ""), "RUN is empty"),
    ],
)  # fmt: skip
def test_what_names_nothing_is_told_with_the_argument_that_named_it(
    offline: Any, words: tuple[str, ...], said: str
) -> None:
    refused = offline(*words)
    assert refused.exit_code in {2, 7}
    assert said in refused.stderr
    assert "OAS249" not in refused.stderr
    assert "s3cret" not in refused.stderr


def test_an_id_that_no_run_can_have_is_refused_before_anything_is_printed(
    offline: Any, flow_file: Any
) -> None:
    refused = offline("run", flow_file(), "--simulate", "--run-id", "a/b")
    assert refused.exit_code == 2
    assert refused.stderr == (
        "error: --run-id: the run id is not usable (up to 200 printable characters, no slash)\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("settle", "r", "--happened", "--did-not-happen"), "--happened and --did-not-happen contradict each other: give one of them, once"),
        (("settle", "r", "--did-not-happen", "--reason", "seen", "--happened"), "contradict each other"),
        (("settle", "r", "--did-not-happen", "--value", "{}"), "--value goes with --happened"),
        (("run", "x", "--simulate", "--yes", "--detach"), "leave one of them out"),
        (("resume", "--all", "--as", "ann"), "leave out --as"),
        (("approve", "n/a", "--as=ann", "--as", "bob"), "--as is given 2 times, and takes one value: give it once"),
        (("stop", "r", "--as", "ann", "--by", "bob"), "--as/--by is given 2 times"),
        (("answer", "n/a", "--shown", "a", "--shown", "b"), "--shown is given 2 times"),
        (("answer", "n/a", "--text", "a", "--text", "a"), "--text is given 2 times"),
        (("deny", "n/a", "--reason", "a", "--reason", ""), "--reason is given 2 times"),
        (("runs", "--limit", "1", "--limit", "2", "--limit", "3"), "--limit is given 3 times"),
        (("memory", "promote", "1", "--as", "a", "--as", "b"), "--as/--by is given 2 times"),
        (("approve", "n/a", "--as", ""), "--as is empty: give a value, or leave it out"),
        (("packs", "publish", "x", "--by="), "--as/--by is empty"),
        (("db", "archive", "--older-than", "1d", "--as", ""), "--as is empty"),
        (("settle", "r", "--tenant", ""), "--tenant is empty"),
        (("run", "x", "--run-id", ""), "--run-id is empty"),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused_and_nothing_of_it_is_taken(
    offline: Any, words: tuple[str, ...], said: str
) -> None:
    """The last of two would win silently, and an empty name would be the account's."""
    refused = offline(*words)
    assert refused.exit_code == 2
    assert said in refused.stderr


def test_every_option_of_every_command_says_one_thing_once() -> None:
    """Whichever command is added: no option but a repeatable one is taken twice."""

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[Any, tuple[str, ...]]]:
        for name, one in getattr(command, "commands", {}).items():
            yield from walk(one, (*path, name))
        if not getattr(command, "commands", {}):
            yield command, path

    main = typer.main.get_command(app)
    tried = 0
    for command, path in walk(main, ()):
        for option in command.params:
            if option.param_type_name != "option" or option.multiple or option.is_flag:
                continue
            for name in option.opts:
                with pytest.raises(Exception, match="is given 2 times") as refused:
                    command.make_context(" ".join(path), [name, "1", option.opts[0], "2"])
                assert is_misuse(refused.value)
                tried += 1
    assert tried > 100


def test_words_that_stand_twice_by_right_are_taken(offline: Any) -> None:
    """Repeatable options, flags, and a value that looks like an option."""
    for words in (
        ("gates", "--json", "--json"), ("approve", "a/b", "c/d", "--shown", "1", "--shown", "2"),
        ("runs", "--after", ""), ("settle", "r", "--happened", "--reason", "--did-not-happen"),
    ):  # fmt: skip
        refused = offline(*words)
        assert "given" not in refused.stderr
        assert "contradict" not in refused.stderr
        assert "empty" not in refused.stderr


@pytest.mark.parametrize("option", [("--limit", "x"), ("--limit", "0"), ("--limit",)])
def test_a_value_that_does_not_fit_is_one_line_that_names_its_option(
    offline: Any, option: tuple[str, ...]
) -> None:
    result = offline("runs", *option)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: oasflow")
    assert "--limit" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(("group", "command"), [((), "approve"), (("db",), "migrate")])
def test_a_group_alone_lists_its_commands_in_lines(
    offline: Any, group: tuple[str, ...], command: str
) -> None:
    result = offline(*group)
    assert (result.exit_code, result.stdout) == (2, "")
    assert any(line.split()[:1] == [command] for line in result.stderr.splitlines())


def test_the_version_is_an_option_too(offline: Any) -> None:
    told = offline("--version")
    assert told.exit_code == 0
    assert offline("version").stdout.startswith(told.stdout)
    assert told.stdout.startswith("oasflow ")


# ------------------------------------------------------------------------------ pipes


def test_a_pipe_and_a_device_name_standard_input_as_the_way(offline: Any, flow_file: Any) -> None:
    read, write = os.pipe()
    try:
        pipe = offline("run", flow_file(), "--simulate", "--input", f"/dev/fd/{read}")
    finally:
        os.close(read)
        os.close(write)
    assert pipe.exit_code == 2
    assert pipe.stderr == (
        f"error: --input /dev/fd/{read}: it is a pipe, and no ordinary file; "
        "--input - reads standard input\n"
    )
    device = offline("answer", "n1", "--value-file", "/dev/null")
    assert device.exit_code == 2
    assert device.stderr.endswith("; --value-file - reads standard input\n")


def test_what_is_no_pipe_says_nothing_of_standard_input(offline: Any, tmp_path: Any) -> None:
    for path in (str(tmp_path), str(tmp_path / "gone")):
        refused = offline("answer", "n1", "--value-file", path)
        assert refused.exit_code == 2
        assert "standard input" not in refused.stderr


def test_a_here_document_of_a_shell_reaches_an_answer(
    oasflow: Oasflow, here: Any, flow_file: Any
) -> None:
    assert here("run", flow_file(), "--simulate", "--run-id", "r1").code == 3
    done = oasflow("answer", "r1", "--value-file", "-", stdin='"from a pipe"')
    assert done.code == 3


def test_a_variable_that_is_not_set_is_told_as_one(offline: Any, flow_file: Any) -> None:
    refused = offline("run", flow_file(), "--simulate", "--env", "CRM_KEY")
    assert (refused.exit_code, refused.stderr) == (
        2,
        "error: --env CRM_KEY names a variable that is not set here; export it, or write --env NAME=VALUE\n",
    )


@pytest.mark.parametrize("value", ["AKIAIOSFODNN7EXAMPLE", "JBSWY3DPEHPK3PXP", "K7QX_29F4M"])
def test_a_value_without_its_name_is_not_repeated(offline: Any, flow_file: Any, value: str) -> None:
    refused = offline("run", flow_file(), "--simulate", "--env", value)
    assert (refused.exit_code, refused.stderr) == (
        2,
        "error: --env: one names a variable that is not set here; export it, or write --env NAME=VALUE\n",
    )
    assert value not in refused.output


@pytest.mark.parametrize("command", ["check", "ir", "run"])
def test_the_platforms_address_is_no_variable_whatever_the_command(
    offline: Any, flow_file: Any, command: str
) -> None:
    refused = offline(command, flow_file(), "--env", "CINATRA_BASE_URL=http://x.example")
    assert refused.exit_code == 2
    assert "no variable of a flow; the commands that run a flow take it by --base-url" in " ".join(
        refused.stderr.split()
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--set", "topic"), "--set topic: there is no value; write --set topic=VALUE"),
        (("--set", "urgent"), "--set urgent: there is no value; write --set urgent=true"),
        (("--set", "topik"), "write --set NAME=VALUE; there is no = in one; did you mean"),
        (("--set", "hidden-word"), "there is no = in one; the inputs are topic, urgent"),
        (("--set", "topic=x", "--set", ""), "there is no = in one; the inputs are topic, urgent"),
        (("--set", "=x"), "--set: write --set key=value"),
    ],
)
def test_an_input_without_its_value_is_told_with_what_to_write(
    offline: Any, flow_file: Any, given: Any, told: str
) -> None:
    flow = flow_of(start(port("topic"), port("urgent", "boolean"), required=[]), end())
    result = offline("run", flow_file(flow), "--simulate", *given)
    assert result.exit_code == 2
    assert told in result.stderr
    assert "hidden-word" not in result.stderr
