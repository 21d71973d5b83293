"""The same at the command line, stored, and gone on with in another process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg

from tests.components.test_components import CANARY, MODEL, asking, block, ref
from tests.flows import api, end, flow_of, gate, port, start
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


def gated(folder: Path) -> tuple[str, str]:
    flow = flow_of(
        start(), gate("review"),
        {**api("call", outputs=[port("id")]), "sensitive_headers": ref("call.sensitive_headers")},
        end(port("id")), edges=[("call", "id", "end", "id")],
    )  # fmt: skip
    parts = {"call.sensitive_headers": {"X-Key": CANARY}}
    return write(folder, "flow.json", flow), write(folder, "parts.json", block(**parts))


def test_a_run_goes_on_with_the_components_in_another_process(
    cli: Any, fresh_database: str, tmp_path: Path
) -> None:
    flow, parts = gated(tmp_path)
    begun = cli("run", flow, "--simulate", "--run-id", "r1", "--components", parts)
    assert begun.exit_code == 3, begun.output
    assert f"--components {parts}" in begun.output + begun.stderr
    lacking = cli("approve", "r1/review")
    assert lacking.exit_code != 0
    assert "'call.sensitive_headers' without its value" in lacking.output + lacking.stderr
    gone_on = cli("approve", "r1/review", "--components", parts)
    assert gone_on.exit_code == 0, gone_on.output + gone_on.stderr

    def text(name: str) -> Any:
        return f"select row_to_json(t)::text, t::text from {name} t"

    with psycopg.connect(fresh_database) as connection:
        tables = connection.execute(
            "select format('%I.%I', schemaname, tablename) from pg_tables where schemaname not in ('pg_catalog', 'information_schema')"
        ).fetchall()
        stored = "".join(str(connection.execute(text(name)).fetchall()) for (name,) in tables)
    assert tables
    assert CANARY not in stored
    assert CANARY.encode().hex() not in stored
    assert b"call.sensitive_headers".hex() in stored  # the control: the file is stored as bytes


def test_a_run_is_rejected_without_the_components(cli: Any, tmp_path: Path) -> None:
    flow, parts = gated(tmp_path)
    assert cli("run", flow, "--simulate", "--run-id", "r2", "--components", parts).exit_code == 3
    rejected = cli("reject", "r2/review")
    assert rejected.exit_code == 5, rejected.output + rejected.stderr
