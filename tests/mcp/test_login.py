"""Logins by OAuth at MCP servers: by a token of the host, or by a client with a secret; no browser."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import HostParts
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.flows import plain, port
from tests.mcp.test_mcp_tools import mcp_tool, tool_flow

ROOT = Path(__file__).parents[2]
NOWHERE = HttpPlatform(None)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.mcp.guarded_server", str(number)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 30
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", number)) == 0:
                    break
            assert time.monotonic() < deadline, "the server does not start"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{number}"
        process.terminate()


def guarded(address: str, *, issuer: str | None = None, **client: Any) -> Any:
    login = {
        "component_type": "OAuthConfig", "id": "login", "name": "login",
        "issuer": address if issuer is None else issuer, "redirect_uri": "http://localhost:1/callback",
        "scopes": ["read"],
        "client": {"component_type": "OAuthClientConfig", "id": "robot", "name": "robot", "type": "pre_registered",
                   "min_agentspec_version": "26.1.2", **client},
    }  # fmt: skip
    transport = {
        "component_type": "StreamableHTTPTransport", "id": "web", "name": "web", "url": f"{address}/mcp",
        "auth": login,
    }  # fmt: skip
    return plain(tool_flow(mcp_tool("search", [port("query")], [port("found")], transport)))


REFERENCES = {name: {"$component_ref": f"robot.{name}"} for name in ("client_id", "client_secret")}
SECRETS = {"robot.client_id": "robot", "robot.client_secret": "s3cret-of-robot"}


def ask(flow: Any, address: str, secrets: Any) -> Any:
    host = HostParts(allow=[address], secrets=secrets)
    return drive(compile_flow(flow, host=host), {"query": "bee"}, platform=NOWHERE)


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_a_client_with_a_secret_gets_a_token_of_its_issuer(address: str, method: str) -> None:
    flow = guarded(address, **REFERENCES, token_endpoint_auth_method=method)
    assert check(flow).errors == []
    ran = ask(flow, address, SECRETS)
    assert ran.outputs == {"found": "bee, found"}, ran.error
    assert "t0ken-of-robot" not in json.dumps([ran.outputs, ran.messages], default=str)


@pytest.mark.parametrize("token", ["t0ken-of-robot", lambda: "t0ken-of-robot"])
def test_a_token_that_the_host_lends_is_sent(address: str, token: Any) -> None:
    ran = ask(guarded(address, **REFERENCES), address, {"login.access_token": token})
    assert ran.outputs == {"found": "bee, found"}, ran.error


def test_without_a_token_the_error_names_what_to_lend(address: str) -> None:
    ran = ask(guarded(address, **REFERENCES), address, {})
    assert ran.status == "failed"
    assert "a run opens no browser" in str(ran.error)
    assert "'login.access_token'" in str(ran.error)


def test_a_wrong_secret_fails_and_is_not_shown(address: str) -> None:
    wrong = {**SECRETS, "robot.client_secret": "wr0ng-of-robot"}
    ran = ask(guarded(address, **REFERENCES), address, wrong)
    assert ran.status == "failed"
    assert "wr0ng-of-robot" not in str(ran.error)


def test_a_secret_goes_to_no_other_issuer_than_that_of_the_file(address: str) -> None:
    ran = ask(guarded(address, issuer="http://127.0.0.1:1", **REFERENCES), address, SECRETS)
    assert ran.status == "failed"
    assert "s3cret-of-robot" not in str(ran.error)


def test_a_login_leads_to_no_address_that_the_operator_does_not_open(address: str) -> None:
    ran = ask(guarded(address, **REFERENCES), f"{address}/mcp", SECRETS)
    assert ran.status == "failed"
    assert f"leads to {address}, which this process does not open" in str(ran.error)


def test_a_login_of_another_type_is_found() -> None:
    transport = {
        "component_type": "SSETransport", "id": "web", "name": "web", "url": "https://h.example/sse",
        "auth": {"component_type": "VllmConfig", "id": "v", "name": "v", "model_id": "m", "url": "x"},
    }  # fmt: skip
    flow = plain(tool_flow(mcp_tool("search", [port("query")], [port("found")], transport)))
    found = check(flow)
    assert [one.code for one in found.errors] == ["OAS014"]
