"""What the README shows is true."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import RunNotCompleted, RunStore
from cinatra_sdk.local_postgres.supervisor import LocalServer
from oas_compiler.draw import lay_out, svg_text
from oas_compiler.pipeline import compile_ir
from tests.examples.readme_commands import commands_of, run

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def block(words: str) -> str:
    (text,) = [text for text in PYTHON if words in text]
    return text


def test_the_host_program_runs_as_printed(
    at_root: None, fresh_database: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("DATABASE_URL", fresh_database)
    exec(block("RunStore.open()"), {})
    assert "simulated messageId" in capsys.readouterr().out
    with RunStore.open(fresh_database) as store:
        (run,) = store.list(tenant="org1")
        decided = [row["gate_id"] for row in store.decisions(run.id)]
        assert decided == ["review_draft", "confirm_send"]


def test_the_host_program_does_not_take_a_failed_run_for_done(
    at_root: None, fresh_database: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("DATABASE_URL", fresh_database)
    # Nobody listens there, so the first call fails.
    unreachable = 'HttpPlatform("http://127.0.0.1:1", retries=0)'
    program = block("RunStore.open()").replace("SimulatedPlatform()", unreachable)
    program = program.replace("SimulatedPlatform", "HttpPlatform")
    with pytest.raises(RunNotCompleted, match=r"failed at 'write_draft'.*127\.0\.0\.1:1"):
        exec(program, {})
    assert capsys.readouterr().out == ""


def test_the_graph_runs_as_printed(at_root: None, capsys: Any) -> None:
    names: dict[str, Any] = {}
    exec(block("flow.graph(checkpointer="), names)
    assert "'topic': 'Bees'" in capsys.readouterr().out
    assert names["graph"].get_state(names["flow"].config(run_id="r1")).interrupts


def test_the_check_runs_as_printed(at_root: None) -> None:
    names: dict[str, Any] = {}
    exec(block("from oas_compiler import check"), names)
    assert names["report"].errors == []


def test_the_test_of_a_flow_passes_as_printed(at_root: None) -> None:
    names: dict[str, Any] = {}
    exec(block("def test_"), names)
    names["test_a_reject_stops_before_the_send"]()


def test_no_other_program_is_printed() -> None:
    assert len(PYTHON) == 4


RUN_ELSEWHERE = {
    "./scripts/demo": "tests/examples/test_demo.py",
    "./scripts/test": "the suite that this test belongs to",
    "OASFLOW_FLOW=examples/newsletter-agent .venv/bin/langgraph dev": "tests/graphs/test_studio.py",
}
EXITS = {"oasflow diff": 3, "oasflow run": 3, "oasflow approve": 3, "oasflow reject": 5}
"""As the text around the lines says; every other line ends with 0."""


def test_every_line_of_the_readme_can_be_run_as_printed(tmp_path: Path) -> None:
    commands = [
        replace(command, exit=EXITS.get(" ".join(command.line.split()[:2]), 0))
        for command in commands_of(README)
        if command.line not in RUN_ELSEWHERE
    ]
    assert len(commands) >= 16
    programs = Path(sys.executable).parent
    env = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "OASFLOW_HOME": str(tmp_path),
    }
    try:
        assert run(commands, folder=ROOT, env=env) == []
    finally:
        LocalServer(tmp_path / "postgres").stop()


def test_what_is_run_elsewhere_is_there() -> None:
    printed = {command.line for command in commands_of(README)}
    assert set(RUN_ELSEWHERE) <= printed
    for place in RUN_ELSEWHERE.values():
        assert (ROOT / place).exists() or place.startswith("the suite")


def test_the_picture_is_what_oasflow_draws() -> None:
    (command, file) = re.findall(r"`(oasflow draw \S+ -o (docs/\S+\.svg))`", README)[0]
    assert f'src="{file}"' in README
    drawn = svg_text(lay_out(compile_ir(ROOT / command.split()[2]).ir))
    assert (ROOT / file).read_text(encoding="utf-8") == drawn, f"run: {command}"


def test_every_file_that_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\(((?!https?:)[^)#]+)(?:#[^)]*)?\)", README)
    assert len(links) >= 10
    assert [link for link in links if not (ROOT / link).exists()] == []
    assert (ROOT / "scripts/demo").exists()
