"""Which addresses a run needs to be told: the ones that its flow calls, and no other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.flows import api, end, flow_of, gate, start
from tests.platform.loopback_server import LoopbackServer


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    made = LoopbackServer()
    yield made
    made.close()


def calling(url: str, **fields: Any) -> Any:
    send = {**api("send"), "url": url, **fields}
    return flow_of(start(), gate("ok"), send, end())


def test_a_flow_that_never_calls_the_platform_needs_no_address_of_it(
    cli: Any, flow_file: Any, server: LoopbackServer
) -> None:
    made = calling(f"{server.url}/people", headers={"Authorization": "Bearer {{CRM_KEY}}"})
    key = ("--env", "CRM_KEY=of-the-crm")
    begun = cli("run", flow_file(made), "--allow", server.url, *key, "--run-id", "r1")
    assert begun.exit_code == 3
    done = cli("approve", "r1", "--allow", server.url, *key)
    assert done.exit_code == 0
    assert f"  calls {server.url} without the platform's credentials\n" in done.stderr
    assert [seen.headers["authorization"] for seen in server.seen] == ["Bearer of-the-crm"]


def test_nor_does_whoever_goes_on_with_it_where_its_starter_had_one(
    cli: Any, flow_file: Any, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CINATRA_BASE_URL", "https://of-the-starter.example")
    monkeypatch.setenv("CINATRA_BRIDGE_TOKEN", "token-of-the-starter")
    file = flow_file(calling(f"{server.url}/people"))
    assert cli("run", file, "--allow", server.url, "--run-id", "r1").exit_code == 3
    monkeypatch.delenv("CINATRA_BRIDGE_TOKEN")
    monkeypatch.setenv("CINATRA_BASE_URL", "https://of-the-approver.example")
    assert cli("approve", "r1", "--allow", server.url).exit_code == 0
    assert len(server.seen) == 1
    assert "of-the-starter" not in str(server.last.headers)


def test_a_platform_address_that_cannot_be_read_does_not_matter_to_a_flow_without_calls(
    cli: Any, flow_file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CINATRA_BASE_URL", "nonsense")
    assert cli("run", flow_file(flow_of(start(), end()))).exit_code == 0


def test_a_platform_that_is_written_out_in_the_flow_keeps_its_address(
    cli: Any, flow_file: Any, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CINATRA_BRIDGE_TOKEN", "bridge-0123")
    file = flow_file(calling(f"{server.url}/people"))
    where = ("--base-url", server.url)
    assert cli("run", file, *where, "--run-id", "r1").exit_code == 3
    assert cli("approve", "r1", *where).exit_code == 0
    assert server.last.headers["x-cinatra-bridge-token"] == "bridge-0123"


def test_the_address_that_lacks_is_asked_for(cli: Any, flow_file: Any) -> None:
    foreign = cli("run", flow_file(calling("https://crm.example/x")), "--json")
    assert foreign.exit_code == 2
    said = json.loads(foreign.stdout)["error"]["message"]
    assert "at 'The send'" in said
    assert "--allow" in said
    assert "--base-url" not in said
    own = cli("run", flow_file(calling("{{CINATRA_BASE_URL}}/x")), "--allow", "https://a.example")
    assert own.exit_code == 2
    assert "--base-url" in own.stderr
