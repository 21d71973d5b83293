"""The commands that are printed as next steps: complete, for a shell, and without a secret."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from printed import hashed

from oas_compiler.cli.host.options import GivenOptions
from oas_compiler.cli.host.resources import Own
from tests.flows import api, end, flow_of, gate, port, start
from tests.platform.loopback_server import LoopbackServer

CRM = "https://crm.example"
SECRET = "canary-word-72"
FLOW = flow_of(start(), gate("ok"), api("send", data={"k": "{{CRM_KEY}}"}), gate("sure"), end())


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    made = LoopbackServer()
    yield made
    made.close()


def commands(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.startswith("  oasflow ")]


def lent(server: LoopbackServer) -> tuple[str, ...]:
    return ("--base-url", server.url, "--allow", CRM, "--env", f"CRM_KEY={SECRET}")


def printed(gate_id: str, options: str) -> list[str]:
    target = f"'my run/{gate_id}' --shown HASH"
    return [
        f"oasflow approve {target} {options}",
        f"oasflow reject {target} --reason '…' --tenant acme",
    ]


def test_what_a_run_was_started_with_is_in_each_command_that_answers_it(
    cli: Any, flow_file: Any, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = cli("run", flow_file(FLOW), *lent(server), "--tenant", "acme", "--run-id", "my run")
    options = f"--tenant acme --base-url {server.url} --allow {CRM} --env CRM_KEY"
    told = commands(begun.stdout)
    assert list(map(hashed, told)) == printed("ok", options)
    assert "  (export CRM_KEY first: values are not repeated here)\n" in begun.stdout
    assert SECRET not in begun.output
    monkeypatch.setenv("CRM_KEY", SECRET)
    approved = cli(*shlex.split(told[0])[1:])
    assert approved.exit_code == 3, approved.stderr
    # The next gate takes the same, and the value is there already.
    assert list(map(hashed, commands(approved.stdout))) == printed("sure", options)
    assert "export" not in approved.stdout
    assert json.loads(server.last.body) == {"k": SECRET}
    assert cli(*shlex.split(commands(approved.stdout)[1])[1:]).exit_code == 5


def test_show_tells_what_whoever_goes_on_has_to_give(
    cli: Any, flow_file: Any, server: LoopbackServer
) -> None:
    cli("run", flow_file(FLOW), *lent(server), "--run-id", "r1")
    shown = cli("show", "r1").stdout
    assert hashed(commands(shown)[0]) == f"oasflow approve r1/ok --shown HASH --allow {server.url} --allow {CRM} --env CRM_KEY"  # fmt: skip
    assert "(export CRM_KEY first" in shown
    assert f"calls       {server.url} (an address that this process has not named); also {CRM}\n" in shown  # fmt: skip
    assert "reads       CRM_KEY\n" in shown
    assert "to be given by the person who continues it" in shown


def test_show_of_a_run_that_asks_for_nothing_says_no_more_than_it_needs(waiting: Any) -> None:
    shown = waiting("show", "r1").stdout
    assert hashed(commands(shown)[0]) == "oasflow approve r1/first --shown HASH"
    assert "to be given" not in shown
    assert "export" not in shown


@pytest.mark.parametrize(
    ("schema", "example", "refused"),
    [
        ({"required": ["to", "confirmed"]}, '{"to": "…", "confirmed": "…"}', True),
        ({}, "", False),
    ],
)
def test_approve_at_a_gate_that_wants_data_gives_the_command_that_answers_it(
    cli: Any, flow_file: Any, schema: Any, example: str, refused: bool
) -> None:
    fields = {"to": {"type": "string"}, "confirmed": {"type": "boolean"}}
    asked = gate(
        "form", output=port("mail"), inputMessageSchema={"type": "object", "properties": fields, **schema}
    )  # fmt: skip
    cli("run", flow_file(flow_of(start(), asked, end())), "--run-id", "r1", "--detach")
    done = cli("approve", "r1")
    assert done.exit_code == (2 if refused else 0)
    if not refused:
        return
    assert "error: gate 'form' asks for data: use oasflow answer with --value" in done.stderr
    (line,) = commands(done.stderr)
    assert hashed(line) == f"oasflow answer r1/form --shown HASH --value '{example}'"
    as_it_stands = cli(*shlex.split(line)[1:])
    assert as_it_stands.exit_code == 2
    assert "--value holds …, which stands in a printed command" in as_it_stands.stderr
    filled_in = line.replace(example, '{"to": "ada", "confirmed": true}')
    assert cli(*shlex.split(filled_in)[1:]).exit_code == 0


@pytest.fixture
def waiting(cli: Any, flow_file: Any) -> Any:
    assert cli("run", flow_file(), "--simulate", "--run-id", "r1").exit_code == 3
    return cli


def test_a_wrong_list_of_variables_does_not_keep_anybody_from_looking(
    waiting: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OASFLOW_ENV", "not-a-name")
    assert waiting("show", "r1").exit_code == 0
    assert waiting("approve", "r1").exit_code == 2


def test_gates_says_how_a_gate_is_shown_with_the_options_of_the_call(
    cli: Any, flow_file: Any, fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("run", flow_file(), "--simulate", "--run-id", "r1", "--tenant", "acme")
    assert commands(cli("gates").stderr) == ["oasflow show RUN"]
    assert commands(cli("gates", "--tenant", "acme").stderr) == ["oasflow show RUN --tenant acme"]
    monkeypatch.setenv("OASFLOW_TENANT", "acme")
    assert commands(cli("gates", "r1").stderr) == ["oasflow show r1"]


def test_a_failed_run_is_tried_again_with_the_same_options(cli: Any, flow_file: Any) -> None:
    path = flow_file(flow_of(start(), api("send"), end()))
    failed = cli("run", path, "--base-url", "http://127.0.0.1:1", "--run-id", "r1")
    assert failed.exit_code == 7
    assert "  oasflow resume r1 --base-url http://127.0.0.1:1   (try again)\n" in failed.stdout


def test_an_interrupt_says_the_whole_command(screen: Any, flow_file: Any) -> None:
    seen = screen("run", flow_file(), "--simulate", "--tenant", "a b", "--run-id", "r1")
    seen.wait_for("leave waiting [q]: ")
    seen.press("C")
    seen.wait_for("the run is kept: oasflow resume r1 --tenant 'a b'")
    assert seen.ended() == 130


def test_an_address_of_a_database_is_repeated_where_it_holds_no_password(
    cli: Any, flow_file: Any, fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = psycopg.conninfo.conninfo_to_dict(fresh_database)["password"]
    monkeypatch.setenv("DATABASE_URL", "postgresql://127.0.0.1:1/none")
    begun = cli("run", flow_file(), "--simulate", "--run-id", "r1", "--db", fresh_database)
    assert begun.exit_code == 3
    assert hashed(commands(begun.stdout)[0]) == "oasflow approve r1/first --shown HASH"
    assert "  (export DATABASE_URL first: values are not repeated here)\n" in begun.stdout
    assert str(password) not in begun.output
    open_ = GivenOptions(db="postgresql://db.example/runs")
    assert open_.command("approve", "r1") == "oasflow approve r1 --db postgresql://db.example/runs"
    assert open_.to_export() == ()
    monkeypatch.setenv("DATABASE_URL", fresh_database)
    assert GivenOptions(db=fresh_database).to_export() == ()


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://ann:pw@h/d",
        "postgresql://ann@h/d?password=pw",
        "host=h password=pw",
        "postgresql://ann:p/w@h/d",
        "host=h sslpassword=pw",
    ],
)
def test_an_address_that_may_hold_a_password_is_not_repeated(dsn: str) -> None:
    given = GivenOptions(db=dsn)
    assert given.command("show", "r1") == "oasflow show r1"
    assert given.to_export() == ("DATABASE_URL",)


def test_a_run_that_is_called_like_an_option_can_be_answered(cli: Any, flow_file: Any) -> None:
    begun = cli("run", flow_file(), "--simulate", "--run-id=--help", "--tenant", "a")
    told = commands(begun.stdout)
    assert hashed(told[1]) == (
        "oasflow reject --shown HASH --reason '…' --tenant a -- --help/first"
    )
    assert cli(*shlex.split(told[1])[1:]).exit_code == 5


def test_what_a_value_would_do_to_a_shell_is_quoted() -> None:
    own = Own(allow=("https://a.example/$(id)",), base_url="http://h/`id`", record="a b; rm x")
    given = GivenOptions(tenant="a'b", own=own)
    words = shlex.split(given.command("approve", "r;1"))
    assert words == [
        "oasflow", "approve", "r;1", "--tenant", "a'b", "--base-url", "http://h/`id`",
        "--allow", "https://a.example/$(id)", "--record", "a b; rm x",
    ]  # fmt: skip


def test_an_answer_to_a_run_that_failed_says_how_it_goes_on(cli: Any, flow_file: Any) -> None:
    path = flow_file(flow_of(start(), api("send"), end()))
    cli("run", path, "--base-url", "http://127.0.0.1:1", "--run-id", "my run", "--tenant", "acme")
    refused = cli("approve", "my run", "--tenant", "acme")
    assert refused.exit_code == 4
    assert refused.stderr.endswith("goes on with it: oasflow resume 'my run' --tenant acme\n")
