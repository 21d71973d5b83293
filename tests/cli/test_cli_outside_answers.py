"""What servers, agents and tools answer is shown at the terminal without what steers a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from oas_compiler.cli.terminal.exits import Exit
from tests.flows import end, flow_of, gate, node, port, start

EVIL = "\x1b]0;owned\x07\x1b[2JAll\x9b31m is \u202ewell\x1b[1A\r."
HOST = f"""
from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, ListToolsResult, TextContent

from cinatra_sdk import HostParts

EVIL = {EVIL!r}

async def list_tools(_context, _params):
    return ListToolsResult(tools=[])

async def call_tool(_context, params):
    if params.name == "fail":
        return CallToolResult(content=[TextContent(type="text", text=EVIL)], is_error=True)
    structured = {{"said": EVIL}} if params.name == "structured" else None
    return CallToolResult(content=[TextContent(type="text", text=EVIL)], structured_content=structured)

def look():
    return EVIL

def lend():
    server = Server("shop", on_list_tools=list_tools, on_call_tool=call_tool)
    return HostParts(mcp={{"shop": server}}, tools={{"look": look}})
"""
TRANSPORT = {
    "component_type": "StreamableHTTPTransport", "id": "shop", "name": "shop",
    "url": "https://shop.example/mcp",
}  # fmt: skip


def flow_with(tool: Any) -> Any:
    """start → call → gate, which shows the answer → end, which gives it."""
    said = port("said")
    whole = flow_of(
        start(), node("ToolNode", "call", tool={"id": "t", "outputs": [said], **tool}),
        gate("ok", inputs=[said]), end(said),
        edges=[("call", "said", "ok", "said"), ("call", "said", "end", "said")],
    )  # fmt: skip
    return {**whole, "agentspec_version": "26.3.1"}


def mcp(name: str) -> Any:
    return {"component_type": "MCPTool", "name": name, "client_transport": TRANSPORT}


@pytest.fixture
def lent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    (tmp_path / "evil_host.py").write_text(HOST, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return ("--host", "evil_host:lend")


def require_plain(*results: Any) -> None:
    for one in results:
        steering = {letter for letter in one.output if not letter.isprintable()} - {"\n"}
        assert not steering, one.output


@pytest.mark.parametrize(
    "tool",
    [mcp("content"), mcp("structured"), {"component_type": "ServerTool", "name": "look"}],
    ids=["content of a server", "structured content of a server", "a tool"],
)
def test_an_answer_with_escapes_steers_no_terminal(
    cli: Any, flow_file: Any, lent: tuple[str, str], tool: Any
) -> None:
    ran = cli("run", flow_file(flow_with(tool)), "--run-id", "r1", *lent)
    assert (ran.exit_code, "well" in ran.output) == (Exit.WAITING, True), ran.output
    parked = [cli("show", "r1", *more) for more in ((), ("--full",), ("--events",), ("--json",))]
    assert "well" in parked[1].stdout
    approved = cli("approve", "r1/ok", *lent)
    assert (approved.exit_code, "well" in approved.stdout) == (Exit.OK, True), approved.output
    ended = [cli("show", "r1", "--full"), cli("show", "r1", "--json"), cli("follow", "r1")]
    require_plain(ran, *parked, cli("gates"), cli("runs"), approved, *ended)
    outputs = json.loads(ended[1].stdout)["outputs"]
    assert outputs["said"].endswith(".")


def test_an_error_with_escapes_steers_no_terminal(
    cli: Any, flow_file: Any, lent: tuple[str, str]
) -> None:
    ran = cli("run", flow_file(flow_with(mcp("fail"))), "--run-id", "r1", *lent)
    assert (ran.exit_code, "well" in ran.output) == (Exit.FAILED, True), ran.output
    shown = [cli("show", "r1"), cli("show", "r1", "--json"), cli("show", "r1", "--events")]
    require_plain(ran, *shown, cli("runs"), cli("doctor"))
