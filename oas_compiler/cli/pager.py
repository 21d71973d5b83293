"""Shows a long text in a pager.

In: something that rich prints.  Out: nothing; the text is shown until the person leaves the pager.

Where stdout is no terminal, or TERM is dumb, the text is printed among the words for people.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys

from rich.console import Console, RenderableType

from oas_compiler.cli.editor import installed_command
from oas_compiler.cli.safe import clean, cut, printed
from oas_compiler.cli.terminal import Terminal, is_terminal


def paged(terminal: Terminal, thing: RenderableType) -> None:
    """Show `thing` with $PAGER, else with less, as plain text without terminal commands."""
    if not is_terminal(sys.stdout) or os.environ.get("TERM") == "dumb":
        terminal.say(thing)
        return
    stream = io.StringIO()
    plain = Console(file=stream, width=terminal.err.width, color_system=None, markup=False)
    plain.print(thing, crop=False)
    lines = printed(stream.getvalue()).split("\n")
    text = "\n".join(line.rstrip() for line in lines)
    chosen = _find_pager(terminal)
    if not chosen:
        terminal.say(thing)
        return
    with subprocess.Popen(chosen, stdin=subprocess.PIPE) as pager:  # noqa: S603 - their own setting
        # A pager that is left before its end closes the pipe, and takes Ctrl-C as a key of its own.
        with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
            pager.communicate(text.encode("utf-8", "backslashreplace"))
        while pager.poll() is None:
            with contextlib.suppress(KeyboardInterrupt):
                pager.wait()


def _find_pager(terminal: Terminal) -> list[str]:
    """The program and its arguments; empty where there is none."""
    chosen = os.environ.get("PAGER", "").strip()
    if chosen:
        if words := installed_command(chosen):
            return words
        terminal.say(f"PAGER is {cut(clean(chosen), 60)}, which cannot be run")
    return installed_command("less") or installed_command("more")
