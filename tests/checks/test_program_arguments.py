"""A program's arguments that are named like credentials are found, and never shown."""

from __future__ import annotations

from typing import Any

import pytest

from oas_compiler import check
from oas_compiler.checks.compile_rules import READING
from oas_compiler.checks.credentials.credential_cover import Labels
from oas_compiler.document.component_types import LoaderPolicy
from oas_compiler.ir.printout import print_ir
from oas_compiler.pipeline import Loading, compile_ir
from tests.flows import end, flow_of, node, plain, port, start

SECRET = "q7PasswordX"
KEY = "sk-" + "1a2B3c4D5e" * 4
LOADING = Loading(policy=LoaderPolicy(blocked=()))


def starting(*args: Any) -> dict[str, Any]:
    transport = node("StdioTransport", "files", command="mcp-files", args=[*args])
    tool = node("MCPTool", "list", description="", outputs=[port("r")], client_transport=transport)
    made: dict[str, Any] = plain(
        flow_of(
            start(), node("ToolNode", "call", tool=tool, outputs=[port("r")]), end(port("r")),
            edges=[("call", "r", "end", "r")],
        )
    )  # fmt: skip
    return made


def found(*args: Any) -> list[tuple[str, str]]:
    """Code, and the index of the argument, of each credential."""
    findings = check(starting(*args), loading=LOADING)
    return [
        (one.code, one.pointer.rpartition("/args/")[2])
        for one in (*findings.errors, *findings.warnings)
        if one.code in {"OAS204", "OAS205", "OAS212"}
    ]


def shown(*args: Any) -> str:
    made = compile_ir(starting(*args), conceal=Labels(), rules=READING, loading=LOADING)
    return print_ir(made.ir)


@pytest.mark.parametrize(
    ("args", "at"),
    [
        (("--token", SECRET), "1"),
        (("-v", "--api-key", SECRET, "/data"), "2"),
        (("--password", SECRET), "1"),
        ((f"--token={SECRET}",), "0"),
        (("--mail-password=abc1",), "0"),
        (("--token", "letmein"), "1"),
        (("-e", f"OPENAI_API_KEY={SECRET}"), "1"),
        (("--header", f"Authorization: Bearer {SECRET}"), "1"),
        (("--token", f"password={SECRET}"), "1"),
    ],
)
def test_a_credential_that_is_named_is_reported_once_and_covered(args: Any, at: str) -> None:
    assert found(*args) == [("OAS212", at)]
    text = shown(*args)
    for secret in (SECRET, "abc1", "letmein"):
        assert secret not in text
    assert "(credential 1)" in text


def test_one_of_a_known_shape_is_reported_by_its_shape_alone() -> None:
    assert found("--token", KEY) == [("OAS205", "1")]
    assert KEY not in shown("--token", KEY)


@pytest.mark.parametrize(
    "args",
    [
        ("--token", "{{ token }}"),
        ("--token", "$TOKEN"),
        ("--token=env:TOKEN1",),
        ("--token", "--verbose"),
        ("--token",),
        ("--max-tokens", "200"),
        ("--token-file", "/run/token1"),
        ("token", "abc123"),
        ("--name=password", "abc123"),
        ("--token", 7, "abc123"),
    ],
)
def test_other_arguments_are_shown_as_they_are(args: Any) -> None:
    assert found(*args) == []


def test_a_value_is_covered_wherever_it_stands() -> None:
    text = shown(f"--token={SECRET}", "--again", f"x{SECRET}")
    assert SECRET not in text
