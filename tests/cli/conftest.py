"""The command line in this process, in processes of its own, and at a pseudo terminal."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from oasflow_process import MAIN, Ended, Oasflow
from oasflow_screen import Screen
from typer.testing import CliRunner, Result

from oas_compiler.cli.app import app_for
from tests.flows import api, end, flow_of, gate, port, start

Cli = Callable[..., Result]
FlowFile = Callable[..., str]

TWO_GATES = flow_of(
    start(port("topic", default="x")),
    gate("first", output=port("said")),
    api("work", inputs=[port("said")], data={"said": "{{ said }}"}, outputs=[port("done")]),
    gate("second"),
    end(port("done"), port("said")),
    edges=[("first", "said", "work", "said"), ("work", "done", "end", "done"), ("first", "said", "end", "said")],
)  # fmt: skip


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    """A command takes over the product's log for the rest of its process."""
    log = logging.getLogger("oasflow")
    before = (list(log.handlers), log.propagate)
    yield
    log.handlers, log.propagate = before


@pytest.fixture
def cli(fresh_database: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run a command in this process, on a database of its own."""
    monkeypatch.setenv("DATABASE_URL", fresh_database)

    def call(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(
            app_for(arguments), list(arguments), input=stdin, catch_exceptions=False
        )

    return call


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> Cli:
    """As `cli`, with a database that does not exist: a command that needs one fails."""
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody:hidden-word@127.0.0.1:1/none")

    def call(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(
            app_for(arguments), list(arguments), input=stdin, catch_exceptions=False
        )

    return call


@pytest.fixture
def flow_file(tmp_path: Path) -> FlowFile:
    """Write a flow, by default one with two gates, and give its path."""

    def write(flow: Any = None, name: str = "flow.json") -> str:
        path = tmp_path / name
        content = TWO_GATES if flow is None else flow
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return str(path)

    return write


@pytest.fixture
def context_file(tmp_path: Path) -> Callable[..., str]:
    """Write a context file and give its path."""

    def write(content: Any, name: str = "context.json") -> str:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return str(path)

    return write


@pytest.fixture
def oasflow(fresh_database: str) -> Iterator[Oasflow]:
    """`oasflow` as processes of their own, on a database of its own."""
    program = Path(sys.executable).with_name("oasflow")
    if not program.exists():
        pytest.skip("the program oasflow is not installed beside this Python")
    made = Oasflow(program, {**os.environ, "DATABASE_URL": fresh_database})
    yield made
    made.close()


@pytest.fixture
def started(oasflow: Oasflow) -> Iterator[Oasflow]:
    """The same, each in a new interpreter: how a program starts and ends is tested."""
    made = replace(oasflow, starts=True, begun=[])
    yield made
    made.close()


@pytest.fixture
def here(cli: Cli) -> Callable[..., Ended]:
    """`oasflow` in this process, on the database of `oasflow`: for what a test is not about.

    A process of its own takes seconds to start, most of them for imports.
    """

    def call(*arguments: str, stdin: str | None = None) -> Ended:
        done = cli(*arguments, stdin=stdin)
        return Ended(done.exit_code, done.stdout, done.stderr)

    return call


@pytest.fixture
def screen(oasflow: Oasflow) -> Iterator[Callable[..., Screen]]:
    """`oasflow` at a terminal of its own, with somebody who types."""
    opened: list[Screen] = []

    def open_screen(*arguments: str, typed: bytes = b"", main: str = MAIN, **env: str) -> Screen:
        # The width that the terminal of the tests has is none of this one's.
        own = {name: value for name, value in oasflow.env.items() if name != "COLUMNS"}
        command = [str(oasflow.program), *arguments]
        opened.append(Screen(command, {**own, **env}, typed=typed, main=main))
        return opened[-1]

    yield open_screen
    for one in opened:
        one.close()
