"""A call of an MCP server is made once: what it answered counts, and what may have been done is not done again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.models import ScriptedModel
from cinatra_sdk.platform.http import HttpPlatform
from cinatra_sdk.remote import RemoteBounds
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.agents.agent_flows import agent
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


def test_what_cannot_be_asked_has_not_been_called(tmp_path: Path) -> None:
    ran = run("begin fails", tmp_path / "log")
    assert ran.status == "failed"
    assert calls(tmp_path / "log") == 0


@pytest.mark.parametrize("lie", ["escapes in its error", "a long error"])
def test_an_error_is_one_plain_line(lie: str, tmp_path: Path) -> None:
    told = str(run(lie, tmp_path / "log").error)
    assert told.isprintable()
    assert len(told) < 500


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
