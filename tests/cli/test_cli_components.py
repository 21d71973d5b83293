"""The same at the command line, stored, and gone on with in another process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.components.test_components import CANARY, MODEL, asking, block, ref
from tests.mcp.test_mcp_tools import SEARCH, tool_flow


def write(folder: Path, name: str, value: Any) -> str:
    file = folder / name
    file.write_text(json.dumps(value), "utf-8")
    return str(file)


def test_commands_take_components(offline: Any, tmp_path: Path) -> None:
    flow = write(tmp_path, "flow.json", asking(ref("gpt")))
    parts = write(tmp_path, "parts.json", block(gpt=MODEL))
    for command in (
        ["check"],
        ["ir"],
        ["ir", "--json"],
        ["explain"],
        ["draw"],
        ["schema", "input"],
    ):
        without = offline(*command, flow)
        assert without.exit_code == 1, command
        given = offline(*command, flow, "--components", parts)
        assert given.exit_code == 0, (command, given.output)
        assert CANARY not in given.output + given.stderr


def test_commands_unblock_programs(offline: Any, tmp_path: Path) -> None:
    flow = write(tmp_path, "flow.json", tool_flow(SEARCH))
    assert "OAS094" in offline("check", flow).output
    assert "OAS094" not in offline("check", flow, "--unblock-component", "StdioTransport").output
    assert offline("ir", flow).exit_code == 0
