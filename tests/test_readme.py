"""What the README shows is true."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from typer.testing import CliRunner

from cinatra_sdk import RunNotCompleted, RunStore, SimulatedPlatform
from oas_compiler import compile_flow
from oas_compiler.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_the_host_program_runs_as_shown_but_for_its_platform(
    at_root: None, fresh_database: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (program,) = [text for text in PYTHON if "HttpPlatform(" in text]
    shown = 'HttpPlatform("https://cinatra.example.org")'
    assert shown in program
    monkeypatch.setenv("DATABASE_URL", fresh_database)
    exec(program.replace(shown, "SimulatedPlatform()"), {"SimulatedPlatform": SimulatedPlatform})
    assert capsys.readouterr().out.startswith("{")
    with RunStore.open(fresh_database) as store:
        (run,) = store.list(tenant="org1")
        decided = [row["gate_id"] for row in store.decisions(run.id)]
        assert decided == ["review_draft", "confirm_send"]


def test_the_host_program_does_not_take_a_failed_run_for_done(
    at_root: None, fresh_database: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (program,) = [text for text in PYTHON if "HttpPlatform(" in text]
    monkeypatch.setenv("DATABASE_URL", fresh_database)
    # Nobody listens there, so the first call fails.
    shown = program.replace("https://cinatra.example.org", "http://127.0.0.1:1")
    shown = shown.replace(':1"', ':1", retries=0')
    with pytest.raises(RunNotCompleted, match=r"failed at 'write_draft'.*127\.0\.0\.1:1"):
        exec(shown, {})
    assert capsys.readouterr().out == ""


def test_the_graph_runs_as_shown(at_root: None) -> None:
    (program,) = [text for text in PYTHON if "flow.graph(checkpointer=saver)" in text]
    names: dict[str, Any] = {
        "flow": compile_flow("examples/newsletter-agent"),
        "saver": InMemorySaver(),
    }
    exec(program, names)
    assert names["graph"].get_state(names["flow"].config(run_id="r1")).interrupts


def test_the_test_of_a_flow_passes_as_shown(at_root: None) -> None:
    (program,) = [text for text in PYTHON if "def test_" in text]
    names: dict[str, Any] = {"flow": compile_flow("examples/newsletter-agent")}
    exec(program, names)
    names["test_a_reject_stops_before_the_send"]()


def test_every_command_and_option_of_the_readme_exists() -> None:
    lines = [line for text in SHELL for line in text.splitlines() if line.startswith("oasflow ")]
    assert len(lines) >= 8
    for line in lines:
        words = shlex.split(line, comments=True)
        result = CliRunner().invoke(app, [words[1], "--help"])
        assert result.exit_code == 0, line
        for word in words:
            if word.startswith("--"):
                assert word in result.output, line


def test_every_file_that_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\(((?!https?:)[^)#]+)\)", README)
    assert len(links) >= 10
    assert [link for link in links if not (ROOT / link).exists()] == []
    assert (ROOT / "scripts/demo").exists()
