"""The command line: `oasflow check`, `run`, `gates`, `approve`, …

app.py     the commands and their options, put together
ask/       dialogues with a person: at gates, for inputs, before files change
commands/  one module for each group of commands of `oasflow`
host/      what this process lends to the runs of a command: options, platform, models, packages
terminal/  the terminal: streams, keys, exit codes, arguments as they are typed
view/      runs, gates, decisions and explanations as people see them, and as JSON

The modules of the commands import nothing heavy: LangGraph, the database and the HTTP library are
loaded inside the commands that need them, so `oasflow check` starts in a fraction of a second.
"""

from __future__ import annotations

import gc
import os
import sys

INTERRUPTED = 130


def main() -> None:
    """The entry point `oasflow`; ends the process."""
    _usable_streams()
    # A large document becomes a million small objects, all in use: scanning them for garbage again
    # and again took a sixth of the time of its check.
    gc.set_threshold(50_000, 20, 50)
    try:
        from oas_compiler.cli.app import app_for
        from oas_compiler.cli.terminal.exits import leave

        app = app_for(sys.argv[1:])
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    leave(app)


def _usable_streams() -> None:
    """Streams that can be written to, in every locale and even if a stream was closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Messages may be dropped, but a lost result is an error: writing it must fail.
            mode = "r" if name == "stdout" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - lives as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
