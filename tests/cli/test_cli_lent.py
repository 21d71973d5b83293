"""What a command that goes on with a run says and lends: addresses, variables, a record file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from printed import hashed

from cinatra_sdk import RunStore, SimulatedPlatform
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, port, start
from tests.platform.loopback_server import LoopbackServer

FLOW = flow_of(start(), gate("ok"), api("send"), gate("sure"), end())


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    made = LoopbackServer()
    yield made
    made.close()


@pytest.fixture
def parked(cli: Any, fresh_database: str) -> None:
    """A tenant's run with a variable, at its gate."""
    flow = compile_flow(FLOW, env={"CRM_URL": "mine"}, platform=SimulatedPlatform())
    with RunStore.open(fresh_database) as store:
        store.start(flow, run_id="r1", tenant="acme", by="bob")


@pytest.mark.parametrize(
    "command",
    [("approve", "r1"), ("answer", "r1", "--text", "x"), ("reject", "r1"), ("resume", "r1")],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["text", "json"])
def test_it_is_said_whose_run_is_gone_on_with_before_that_is_done(
    cli: Any, parked: None, monkeypatch: pytest.MonkeyPatch, command: Any, as_json: Any
) -> None:
    done: list[str] = []

    def refuse(*_arguments: Any, **_named: Any) -> Any:
        done.append("acted")
        raise KeyboardInterrupt

    monkeypatch.setattr(RunStore, "answer", refuse)
    monkeypatch.setattr(RunStore, "resume", refuse)
    result = cli(*command, "--env", "CRM_URL=secret-word", *as_json)
    assert done == ["acted"]
    first, calls, reads = result.stderr.splitlines()[:3]
    digest = compile_flow(FLOW).digest[:12]
    assert first == f"run r1: The test-flow, of tenant acme, started by bob, sha256 {digest}"
    if command[0] == "reject":
        assert calls == "  calls nothing: the run is rejected"
        assert reads == "  reads no variable"
    else:
        assert calls == "  calls no address: its platform is simulated"
        assert reads == "  reads CRM_URL of this process"
    assert "secret-word" not in result.output


def test_the_file_is_named_as_its_author_named_it(cli: Any, flow_file: Any) -> None:
    path = flow_file()
    assert cli("run", path, "--simulate", "--run-id", "r1").exit_code == 3
    assert f"run r1: The test-flow ({path}), of no tenant" in cli("approve", "r1").stderr


def test_addresses_and_what_proves_who_is_calling_are_named(
    cli: Any, flow_file: Any, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ("--base-url", server.url)
    for run in ("r1", "r2"):
        allowed = ("--allow", "https://crm.example")
        begun = cli("run", flow_file(FLOW), *where, *allowed, "--run-id", run)
        assert begun.exit_code == 3
    told = f"calls {server.url} without credentials, an address that this process has not named"
    assert f"  {told}; also https://crm.example\n" in cli("approve", "r1").stderr
    assert len(server.seen) == 1
    monkeypatch.setenv("CINATRA_RUN_TOKEN", "canary-word")
    refused = cli("approve", "r2", "--json")
    assert refused.exit_code == 2
    assert json.loads(refused.stdout)["error"]["code"] == "not_configured"
    named = cli("approve", "r2", *where)
    assert named.exit_code == 3
    told = f"  calls {server.url} with CINATRA_RUN_TOKEN; also https://crm.example\n"
    assert told in named.stderr
    assert len(server.seen) == 2


def test_an_address_that_is_not_listed_is_refused_and_the_gate_stays_open(
    cli: Any, flow_file: Any, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ("--base-url", server.url)
    begun = cli("run", flow_file(FLOW), *where, "--allow", "https://crm.example", "--run-id", "r1")
    assert begun.exit_code == 3
    monkeypatch.setenv("OASFLOW_ALLOW", "https://other.example")
    refused = cli("approve", "r1", *where)
    assert refused.exit_code == 2
    assert "  --allow https://crm.example  an address that it may call\n" in refused.stderr
    assert f"  oasflow approve r1/ok --shown HASH {' '.join(where)} --allow https://crm.example\n" in hashed(refused.stderr)  # fmt: skip
    assert (server.seen, json.loads(cli("show", "r1", "--json").stdout)["decisions"]) == ([], [])
    assert cli("approve", "r1", *where, "--allow", "https://crm.example").exit_code == 3


def test_a_variable_goes_to_no_address_that_only_the_run_names(
    cli: Any, flow_file: Any, server: LoopbackServer
) -> None:
    sending = flow_of(start(), gate("ok"), api("send", data={"key": "{{CRM_KEY}}"}), end())
    begun = cli("run", flow_file(sending), "--base-url", server.url, "--env", "CRM_KEY=mine", "--run-id", "r1")  # fmt: skip
    assert begun.exit_code == 3
    lent = ("approve", "r1", "--env", "CRM_KEY=canary-word")
    refused = cli(*lent)
    assert refused.exit_code == 2
    assert hashed(refused.stderr).endswith(
        f"""
  would call {server.url} (an address that this process has not named)
  would read CRM_KEY of this process
error: run 'r1' needs more than this command gives it; nothing was done
  --allow {server.url}  an address that it may call; it may get CRM_KEY
the whole command, if the run shall get all of this:
  oasflow approve r1/ok --shown HASH --allow {server.url} --env CRM_KEY
  (export CRM_KEY first: values are not repeated here)
"""
    )
    assert (server.seen, json.loads(cli("show", "r1", "--json").stdout)["decisions"]) == ([], [])
    assert cli(*lent, "--allow", server.url).exit_code == 0
    assert b"canary-word" in server.last.body


def test_what_the_starter_calls_opaque_is_so_for_whoever_goes_on(
    cli: Any, flow_file: Any, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers({"a": "canary-answer"})
    asking = flow_of(start(), gate("ok"), api("ask", outputs=[port("a")]), end())
    with monkeypatch.context() as starter:
        starter.setenv("OASFLOW_OPAQUE", server.url)
        begun = cli("run", flow_file(asking), "--base-url", server.url, "--run-id", "r1")
        assert begun.exit_code == 3
    done = cli("approve", "r1")
    assert (done.exit_code, len(server.seen)) == (6, 1)
    assert "canary-answer" not in done.output + cli("show", "r1", "--json").output


def test_a_run_is_rejected_without_lending_it_anything(
    cli: Any, flow_file: Any, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("--base-url", server.url, "--env", "CRM_URL=x")
    assert cli("run", flow_file(FLOW), *given, "--run-id", "r1").exit_code == 3
    monkeypatch.setenv("CINATRA_BASE_URL", "https://own.example")
    monkeypatch.setenv("CINATRA_RUN_TOKEN", "canary-word")
    monkeypatch.setenv("CRM_URL", "canary-variable")
    assert cli("approve", "r1").exit_code == 2
    rejected = cli("reject", "r1", "--reason", "whose is this?")
    assert rejected.exit_code == 5
    assert "  calls nothing: the run is rejected\n" in rejected.stderr
    assert server.seen == []


def test_each_command_keeps_a_record_of_its_own(cli: Any, flow_file: Any, tmp_path: Path) -> None:
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    begun = cli("run", flow_file(FLOW), "--simulate", "--record", str(theirs), "--run-id", "r1")
    assert begun.exit_code == 3
    assert cli("approve", "r1", "--record", str(mine)).exit_code == 3
    assert not theirs.exists()
    assert [json.loads(line)["node"] for line in mine.read_text().splitlines()] == ["send"]


def test_a_run_is_a_tenants_where_one_is_named(
    cli: Any, flow_file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = cli("run", flow_file(), "--simulate", "--run-id", "r1", "--tenant", "acme", "--json")
    assert json.loads(begun.stdout)["tenant"] == "acme"
    for name, runs in (("acme", ["r1"]), ("globex", [])):
        monkeypatch.setenv("OASFLOW_TENANT", name)
        listed = json.loads(cli("runs", "--json").stdout)["runs"]
        waiting = json.loads(cli("gates", "--json").stdout)["gates"]
        assert [run["id"] for run in listed] == runs
        assert [one["run"] for one in waiting] == runs
    assert cli("show", "r1").exit_code == 2


def test_a_token_on_a_tenants_run_is_refused_with_the_option_that_is_missing(
    cli: Any, parked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CINATRA_RUN_TOKEN", "canary-word")
    refused = cli("approve", "r1", "--env", "CRM_URL=x")
    assert refused.exit_code == 2
    assert "  --tenant acme  whose run it is; CINATRA_RUN_TOKEN is a tenant's\n" in refused.stderr
    assert "\n  oasflow approve r1/ok --shown HASH --tenant acme --env CRM_URL\n" in hashed(
        refused.stderr
    )
    assert cli("approve", "r1", "--env", "CRM_URL=x", "--tenant", "acme").exit_code == 3
    assert "is named whole, or with its tenant (--tenant)" in cli("show", "zz").stderr
