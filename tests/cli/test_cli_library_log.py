"""What the database's library logs when the database goes away is no output of a command."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

PROGRAM = """
import contextlib, logging
import typer
from oas_compiler.cli.terminal.exits import Exit, bounded

def command():
    logging.getLogger("psycopg.pool").warning("error connecting in %r: %s", "pool-1", "no such host")
    logging.getLogger("shop.parts").warning("of the operator's own module")
    logging.getLogger("oasflow.store").warning("of ours")
    return Exit.OK

with contextlib.suppress(typer.Exit):
    bounded(command)()
"""


@pytest.mark.parametrize("debug", [False, True])
def test_the_library_is_heard_with_debug_only(monkeypatch: pytest.MonkeyPatch, debug: bool) -> None:
    monkeypatch.delenv("OASFLOW_DEBUG", raising=False)
    if debug:
        monkeypatch.setenv("OASFLOW_DEBUG", "1")
    # A process of its own: pytest listens to every log, so that nothing reaches stderr by itself.
    done: Any = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, encoding="utf-8", check=False
    )
    heard = ["note: error connecting in 'pool-1': no such host"] if debug else []
    ours = ["of the operator's own module", "note: of ours"]
    assert done.stderr.splitlines() == [*heard, *ours]
