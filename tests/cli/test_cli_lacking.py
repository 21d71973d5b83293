"""An approval that lacks something says all of it at once, before anything is done."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from printed import hashed
from psycopg.types.json import Json

from tests.flows import api, end, flow_of, gate, start
from tests.platform.loopback_server import LoopbackServer
from tests.wired_flows import alone, artifact, context

CRM = "https://crm.example"
SECRET = "canary-word-71"
FLOW = flow_of(
    start(), gate("ok"), api("send", data={"key": "{{CRM_KEY}}", "zone": "{{ZONE}}"}), end()
)


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    made = LoopbackServer()
    yield made
    made.close()


@pytest.fixture
def parked(cli: Any, flow_file: Any, server: LoopbackServer) -> str:
    """Run `r1` of a tenant at its gate; it calls two addresses and reads two variables."""
    lent = ("--env", f"CRM_KEY={SECRET}", "--env", "ZONE=eu", "--allow", CRM)
    whose = ("--run-id", "r1", "--tenant", "acme", "--as", "bob")
    begun = cli("run", flow_file(FLOW), "--base-url", server.url, *lent, *whose)
    assert begun.exit_code == 3, begun.stderr
    return server.url


def decisions(cli: Any) -> Any:
    return json.loads(cli("show", "r1", "--json").stdout)["decisions"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("approve", "r1", "--reason", "it's fine"), "approve r1/ok --shown HASH --reason 'it'\"'\"'s fine'"),
        (("answer", "r1", "--text", "a b"), "answer r1/ok --shown HASH --text 'a b'"),
        (("answer", "r1/ok", "--value", '"x"', "--as", "ann"), "answer r1/ok --shown HASH --value '\"x\"' --as ann"),
        (("resume", "r1", "--detach"), "resume r1 --detach"),
    ],
)  # fmt: skip
def test_everything_that_lacks_is_told_at_once_below_whose_run_it_is(
    cli: Any,
    parked: str,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.setenv("CINATRA_RUN_TOKEN", SECRET)
    monkeypatch.setenv("OASFLOW_ALLOW", "https://other.example")
    monkeypatch.setenv("ZONE", "eu")
    refused = cli(*command, "--env", "CRM_KEY")
    assert refused.exit_code == 2
    first, calls, reads, *rest = refused.stderr.splitlines()
    assert first.startswith("run r1: The test-flow (")
    assert "of tenant acme, started by bob, sha256 " in first
    assert (
        calls == f"  would call {parked} (an address that this process has not named); also {CRM}"
    )
    assert reads == "  would read CRM_KEY, ZONE of this process"
    assert [line.split("  ")[1] for line in rest[1:6]] == [
        "--env CRM_KEY", "--env ZONE", f"--base-url {parked}", f"--allow {CRM}", "--tenant acme",
    ]  # fmt: skip
    assert rest[1].endswith("a variable that it reads; not set here")
    assert rest[2].endswith("a variable that it reads")
    assert rest[3].endswith("the platform that it calls; it gets CINATRA_RUN_TOKEN")
    options = f"--tenant acme --base-url {parked} --allow {CRM} --env CRM_KEY --env ZONE"
    assert [hashed(line) for line in rest[-2:]] == [
        f"  oasflow {words} {options}",
        "  (export CRM_KEY first: values are not repeated here)",
    ]
    assert SECRET not in refused.output
    assert decisions(cli) == []


def test_the_command_that_is_printed_works_as_it_stands(
    cli: Any, parked: str, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CINATRA_RUN_TOKEN", SECRET)
    monkeypatch.setenv("OASFLOW_ALLOW", "https://other.example")
    refused = cli("approve", "r1", "--json")
    assert refused.exit_code == 2
    error = json.loads(refused.stdout)["error"]
    assert error["code"] == "not_configured"
    assert [lack["option"] for lack in error["lacking"]] == [
        "--env CRM_KEY", "--env ZONE", f"--base-url {parked}", f"--allow {CRM}", "--tenant acme",
    ]  # fmt: skip
    assert [lack["export"] for lack in error["lacking"]] == ["CRM_KEY", "ZONE", "", "", ""]
    monkeypatch.setenv("CRM_KEY", "mine")
    monkeypatch.setenv("ZONE", "us")
    done = cli(*shlex.split(error["command"])[1:])
    assert done.exit_code == 0, done.stderr
    assert json.loads(server.last.body) == {"key": "mine", "zone": "us"}


def test_a_secret_that_the_platform_was_used_with_is_named(
    cli: Any, flow_file: Any, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = flow_file(flow_of(start(), gate("ok"), api("send"), end()))
    with monkeypatch.context() as starter:
        starter.setenv("CINATRA_BRIDGE_TOKEN", SECRET)
        starter.setenv("CINATRA_CONTEXT_ATTEST_KEY", SECRET)
        assert cli("run", path, "--base-url", server.url, "--run-id", "r1").exit_code == 3
    refused = cli("approve", "r1")
    assert refused.exit_code == 2
    for name in ("CINATRA_BRIDGE_TOKEN", "CINATRA_CONTEXT_ATTEST_KEY"):
        assert f"  export {name}" in refused.stderr
    # Whoever holds them has to say where they go.
    assert f"  oasflow approve r1/ok --shown HASH --base-url {server.url}\n" in hashed(
        refused.stderr
    )
    assert decisions(cli) == []


def test_what_lacks_beyond_a_local_platform_is_told_too(
    cli: Any, flow_file: Any, context_file: Any, server: LoopbackServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    path = context_file(context(artifact("house")))
    begun = cli(
        "run", flow_file(alone()), "--context", path, "--set", "topic=x", "--run-id", "r1",
        "--base-url", server.url,
    )  # fmt: skip
    assert begun.exit_code == 3, begun.stderr
    monkeypatch.setenv("CINATRA_BASE_URL", "https://own.example")
    refused = cli("answer", "r1", "--select-none")
    assert refused.exit_code == 2
    assert "  fills context slots from this database; would call http" in refused.stderr
    assert f"--select-none --base-url {server.url}\n" in refused.stderr


def test_a_variable_that_is_not_set_and_that_nobody_reads_is_misspelt(
    cli: Any, parked: str
) -> None:
    refused = cli("approve", "r1", "--env", "CRM_KYE", "--env", "ZONE=x", "--env", "CRM_KEY=y")
    assert refused.exit_code == 2
    assert "--env CRM_KYE names a variable that is not set here; the run reads CRM_KEY, ZONE" in refused.stderr  # fmt: skip
    assert decisions(cli) == []


def test_a_variable_goes_to_no_address_that_only_the_run_names(
    cli: Any, parked: str, server: LoopbackServer
) -> None:
    lent = ("--env", f"CRM_KEY={SECRET}", "--env", "ZONE=x")
    refused = cli("approve", "r1", *lent)
    assert refused.exit_code == 2
    assert f"--allow {parked}  " in refused.stderr
    assert "an address that it may call; it may get CRM_KEY, ZONE\n" in refused.stderr
    assert (server.seen, decisions(cli), SECRET in refused.output) == ([], [], False)
    named = cli("approve", "r1", *lent, "--allow", parked, "--allow", CRM)
    assert named.exit_code == 0
    assert f"  calls {parked} without credentials; also {CRM}\n" in named.stderr


def test_a_rejection_lacks_nothing(
    cli: Any, parked: str, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not even the tenant, of whom the token is.
    monkeypatch.setenv("CINATRA_RUN_TOKEN", SECRET)
    rejected = cli("reject", "r1", "--reason", "whose is this?")
    assert rejected.exit_code == 5
    assert "  calls nothing: the run is rejected\n  reads no variable\n" in rejected.stderr
    assert server.seen == []


def test_a_token_that_is_too_short_is_told_as_one(
    cli: Any, flow_file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("run", flow_file(), "--simulate", "--run-id", "r1").exit_code == 3
    monkeypatch.setenv("CINATRA_RUN_TOKEN", "abc")
    refused = cli("approve", "r1")
    assert refused.exit_code == 2
    assert "error: CINATRA_RUN_TOKEN: this is no token, it has too few characters" in refused.stderr
    assert decisions(cli) == []


@pytest.mark.parametrize(
    "platform",
    [
        [], "x", None, {}, {"kind": ["http"]}, {"kind": "http", "base_url": 5, "allow": 7, "needs": 1},
        {"kind": "http", "base_url": "no address", "allow": [5], "needs": ["X"]},
        {"kind": "local", "beyond": [1]}, {"kind": "local", "beyond": {"kind": "http", "allow": "x"}},
    ],
    ids=str,
)  # fmt: skip
def test_a_row_that_somebody_broke_is_refused_and_shown_all_the_same(
    cli: Any, flow_file: Any, owner_database: str, platform: Any
) -> None:
    begun = cli("run", flow_file(FLOW), "--simulate", "--env", "CRM_KEY=x", "--env", "ZONE=y", "--run-id", "r1")  # fmt: skip
    assert begun.exit_code == 3
    with psycopg.connect(owner_database, options="-c search_path=oasflow") as connection:
        connection.execute("update runs set platform = %s", (Json(platform),))
    assert cli("show", "r1").exit_code == 0
    refused = cli("approve", "r1", "--env", "CRM_KEY=x", "--env", "ZONE=y")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("run r1: The test-flow (")
    assert decisions(cli) == []
    assert cli("reject", "r1").exit_code == 5


# ------------------------------------------------------------------------ a list that was too short


@pytest.fixture
def failed(cli: Any, flow_file: Any, server: LoopbackServer) -> LoopbackServer:
    """Run `r1`, which failed because it was started without the address that it calls."""
    elsewhere = flow_of(
        start(), gate("ok"), api("send", url=f"{server.url}/x"), gate("sure"), end()
    )
    other = ("--base-url", "http://127.0.0.1:9")
    assert cli("run", flow_file(elsewhere), *other, "--run-id", "r1").exit_code == 3
    done = cli("approve", "r1", *other)
    assert done.exit_code == 6
    assert f'add "{server.url}" to `allow` (--allow at the command line)' in done.stdout
    assert server.seen == []
    return server


def test_a_run_that_was_started_with_too_short_a_list_goes_on_with_another(
    cli: Any, failed: LoopbackServer
) -> None:
    where = ("--base-url", "http://127.0.0.1:9", "--allow", failed.url)
    done = cli("resume", "r1", *where)
    assert done.exit_code == 3, done.stderr
    assert f"  calls {failed.url} without the platform's credentials\n" in done.stderr
    assert len(failed.seen) == 1
    assert f"  oasflow approve r1/sure --shown HASH {' '.join(where)}\n" in hashed(done.stdout)


def test_the_list_of_the_environment_only_narrows(
    cli: Any, failed: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OASFLOW_ALLOW", failed.url)
    assert cli("resume", "r1", "--base-url", "http://127.0.0.1:9").exit_code == 6
    assert failed.seen == []
