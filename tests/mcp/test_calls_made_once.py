"""A call of an MCP server is made once: what it answered counts, and what may have been done is not done again."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk import host_context
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.errors import EffectUnknown, NodeFailed
from cinatra_sdk.flow.nodes import mcp_tool_node
from cinatra_sdk.flow.nodes.mcp_tool_node import McpAccess, describe_failure
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.mcp.calls import ServerLink, _Attempt
from cinatra_sdk.outside.mcp.processes import Child
from cinatra_sdk.outside.mcp.server import McpServer
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.outside.remote_answers.remote_bounds import RemoteBounds
from cinatra_sdk.outside.remote_answers.transport import Exchange, bound_transport
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.agents.agent_flows import agent
from tests.attacks.lying_hosts import served
from tests.flows import port
from tests.mcp.test_mcp_tools import OPEN, ROOT, mcp_tool, tool_flow

NOWHERE = HttpPlatform(None)


def program(lie: str, log: Path, seconds: float = 20.0) -> Any:
    return {
        "component_type": "StdioTransport", "id": "s", "name": "s", "command": sys.executable, "cwd": str(ROOT),
        "args": ["-m", "tests.attacks.lies", lie, str(log)],
        "session_parameters": {"read_timeout_seconds": seconds},
    }  # fmt: skip


def run(lie: str, log: Path, output: Any = None, **more: Any) -> Any:
    tool = mcp_tool("send", [], [output or port("said")], program(lie, log, **more))
    return drive(compile_flow(tool_flow(tool), host=OPEN), {}, platform=NOWHERE)


def calls(log: Path) -> int:
    return len(log.read_text("utf-8").splitlines()) if log.exists() else 0


@pytest.mark.parametrize("lie", ["list: dies", "list: hangs", "list: fails", "dies after", "right"])
def test_an_answered_call_is_made_once_whatever_becomes_of_the_list(
    lie: str, tmp_path: Path
) -> None:
    ran = run(lie, tmp_path / "log")
    assert (ran.status, ran.outputs) == ("completed", {"said": "sent"}), ran.error
    assert calls(tmp_path / "log") == 1


def test_a_call_without_an_answer_is_not_made_again(tmp_path: Path) -> None:
    ran = run("dies before", tmp_path / "log")
    assert ran.status == "failed"
    assert "MCP server 's' failed" in str(ran.error)
    assert calls(tmp_path / "log") == 1


def run_once(lie: str, log: Path, ledger: MemoryLedger) -> Any:
    """A call that may act at most once, on a thread that has nothing stored."""
    tool = mcp_tool("send", [], [port("said")], program(lie, log))
    whole = tool_flow(tool, metadata={"cinatra": {"effect": "at_most_once"}})
    flow = compile_flow(whole, host=OPEN, platform=NOWHERE)
    graph, context = flow.graph(InMemorySaver()), host_context(run_id="r1", ledger=ledger)
    return graph.invoke(flow.input({}), flow.config(run_id="r1"), context=context)["outputs"]


def test_a_call_at_most_once_without_an_answer_waits_to_be_settled(tmp_path: Path) -> None:
    log, ledger = tmp_path / "log", MemoryLedger()
    for _ in range(2):
        with pytest.raises(EffectUnknown, match="unknown whether"):
            run_once("dies before", log, ledger)
        ledger = ledger.next_activation()
    assert calls(log) == 1


def test_a_call_at_most_once_that_was_surely_not_made_may_be_made(tmp_path: Path) -> None:
    log, ledger = tmp_path / "log", MemoryLedger()
    with pytest.raises(NodeFailed, match="MCP server 's' failed"):
        run_once("begin fails", log, ledger)
    assert run_once("right", log, ledger.next_activation()) == {"said": "sent"}
    assert calls(log) == 1


def test_what_cannot_be_asked_has_not_been_called(tmp_path: Path) -> None:
    ran = run("begin fails", tmp_path / "log")
    assert ran.status == "failed"
    assert calls(tmp_path / "log") == 0


@pytest.mark.parametrize("lie", ["escapes in its error", "a long error"])
def test_an_error_is_one_plain_line(lie: str, tmp_path: Path) -> None:
    told = str(run(lie, tmp_path / "log").error)
    assert told.isprintable()
    assert len(told) < 500


@pytest.mark.parametrize("lie", ["noise", "many lines", "list: fails"])
def test_the_clients_words_are_kept_out_of_a_hosts_log(
    lie: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    run(lie, tmp_path / "log")
    assert [one.name for one in caplog.records if one.name.startswith(("mcp", "client"))] == []


@pytest.mark.parametrize("kind", ["number", "object"])
def test_a_number_that_is_none_is_not_taken_for_null(kind: str, tmp_path: Path) -> None:
    ran = run("nan", tmp_path / "log", port("said", kind))
    assert ran.status == "failed"
    assert "NaN is not JSON" in str(ran.error)


def test_an_error_names_the_server_the_bound_and_the_option(tmp_path: Path) -> None:
    tool = mcp_tool("send", [], [port("said")], program("big", tmp_path / "log"))
    small = OPEN.with_parts(remote_bounds=RemoteBounds(answer_bytes=100_000))
    ran = drive(compile_flow(tool_flow(tool), host=small), {}, platform=NOWHERE)
    assert "MCP server 's' failed: it sent more than 100,000 bytes" in str(ran.error)
    assert "RemoteBounds(answer_bytes=…)" in str(ran.error)
    assert (
        drive(compile_flow(tool_flow(tool), host=OPEN), {}, platform=NOWHERE).status == "completed"
    )


def test_an_address_that_a_host_lends_is_bounded_too(tmp_path: Path) -> None:
    tool = mcp_tool("send", [], [port("said")], program("right", tmp_path / "log"))
    small = OPEN.with_parts(remote_bounds=RemoteBounds(answer_bytes=100_000))
    with served(tmp_path / "log") as address:
        for lie, told in (("right", ""), ("big", "more than 100,000 bytes")):
            lent = small.with_parts(mcp={"s": f"{address}/mcp/{lie}"})
            ran = drive(compile_flow(tool_flow(tool), host=lent), {}, platform=NOWHERE)
            assert told in str(ran.error)
            assert (ran.status == "completed") == (not told), ran.error


def test_a_list_without_end_ends(tmp_path: Path) -> None:
    box = {
        "component_type": "MCPToolBox", "id": "b", "name": "b",
        "client_transport": program("list: empty pages", tmp_path / "log"),
    }  # fmt: skip
    flow = compile_flow(
        {**agent(toolboxes=[box]), "agentspec_version": "26.3.1"},
        models={"*": ScriptedModel(["done"])}, host=OPEN.with_parts(remote_bounds=RemoteBounds(pages=9)),
    )  # fmt: skip
    ran = drive(flow, {"user_message": "hi", "topic": "bees"}, platform=NOWHERE)
    assert "the list of tools of MCP server 's' failed" in str(ran.error)
    assert "more than 9 pages: the bound is RemoteBounds(pages=…)" in str(ran.error)


@pytest.mark.parametrize(
    "bad", [{"pages": 0}, {"tools": -1}, {"calls": True}, {"answer_bytes": 1.5}]
)
def test_a_bound_is_a_whole_number(bad: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        RemoteBounds(**bad)


def test_the_hint_is_for_a_server_that_said_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    server = McpServer(name="s", transport="sse")
    link = ServerLink(server=server, rules=CallRetryPolicy())
    monkeypatch.setattr(mcp_tool_node, "make_secrets", lambda _access: ())
    frame: Any = SimpleNamespace(failed=lambda words, hint: NodeFailed(words, node="s", hint=hint))
    for code, status, is_own, hint in (
        (-32000, 0, True, ""), (-32001, 0, True, ""), (-32001, 503, True, ""),
        (-32000, 429, False, ""), (-32000, 0, False, "see whether the server runs"),
        (-32001, 0, False, "see whether the server runs"),
    ):  # fmt: skip
        attempt: Any = _Attempt(link=link, ask=_never, seconds=60.0)
        attempt.asked, attempt.exchange.status, attempt.exchange.is_refused = True, status, is_own
        found = attempt._describe(Refusal(code))
        told, cause = describe_failure(frame, McpAccess(server=server), "the tool", found)
        assert told.hint == hint, (code, status, is_own)
        assert ("Session terminated" in str(told)) == is_own
        assert isinstance(cause, ConnectionError) == (status > 0 or not is_own)


class Refusal(Exception):
    """As the package raises it, for its own errors and a server's."""

    def __init__(self, code: int) -> None:
        super().__init__("Session terminated")
        self.code = code


async def _never(_client: Any) -> None: ...


def test_a_status_says_nothing_of_a_request_that_is_sent_after_it() -> None:
    """As after a login: the second request may have been taken."""
    exchange = Exchange()

    class Server(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            if "authorization" not in request.headers:
                return httpx2.Response(401)
            raise httpx2.ReadError("lost")

    class Login(httpx2.Auth):
        def auth_flow(self, request: httpx2.Request) -> Any:
            response = yield request
            assert response.status_code == exchange.status == 401
            request.headers["authorization"] = "Bearer new"
            yield request

    async def ask() -> None:
        transport = bound_transport(httpx2, Server(), exchange)
        async with httpx2.AsyncClient(transport=transport, auth=Login()) as client:
            await client.post("http://s/mcp", json={"id": 1, "method": "tools/call"})

    with pytest.raises(httpx2.ReadError):
        asyncio.run(ask())
    assert exchange.status == 0


LEFT = 'sleep 321 >/dev/null 2>&1 </dev/null & echo $! > "$0.left"; exec "$1" -m tests.attacks.lies right "$0"'


def test_what_a_program_has_started_ends_with_it_though_nobody_hears_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    way = {
        **program("right", log),
        "command": "/bin/sh",
        "args": ["-c", LEFT, str(log), sys.executable],
    }
    tool = mcp_tool("send", [], [port("said")], way)
    ran = drive(compile_flow(tool_flow(tool), host=OPEN), {}, platform=NOWHERE)
    assert ran.status == "completed", ran.error
    number = (tmp_path / "log.left").read_text("utf-8").strip()
    for _ in range(100):  # a signal takes a moment
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", number], capture_output=True, text=True, check=False
        )
        if state.stdout.strip()[:1] in ("", "Z"):
            return
        time.sleep(0.05)
    os.kill(int(number), signal.SIGKILL)
    pytest.fail("it outlives the program")


def test_nobody_is_signalled_once_a_program_is_reaped(monkeypatch: pytest.MonkeyPatch) -> None:
    child = Child(["/bin/true"], env={}, folder=None)
    while not child.has_ended:
        time.sleep(0.01)
    signalled: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda number, _signal: signalled.append(number))
    child.signal_all(signal.SIGKILL)
    assert len(signalled) == 1  # its id is still its own
    child.reap()
    child.signal_all(signal.SIGKILL)
    assert len(signalled) == 1
    for pipe in (child.stdin, child.stdout):
        asyncio.run(pipe.aclose())
