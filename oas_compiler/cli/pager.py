"""All of something long, in a pager.

In: something that rich prints.  Out: nothing; it is on the screen until the person leaves it.

Where stdout is no terminal, or TERM is dumb, it is printed among the words for people.
"""

from __future__ import annotations

import io
import os
import pydoc
import sys

from rich.console import Console, RenderableType

from oas_compiler.cli.safe import printed
from oas_compiler.cli.terminal import Terminal, is_terminal


def paged(terminal: Terminal, thing: RenderableType) -> None:
    """Show `thing` by $PAGER, else by less, as plain text in which nothing is a command."""
    if not is_terminal(sys.stdout) or os.environ.get("TERM") == "dumb":
        terminal.say(thing)
        return
    stream = io.StringIO()
    plain = Console(file=stream, width=terminal.err.width, color_system=None, markup=False)
    plain.print(thing, crop=False)
    lines = printed(stream.getvalue()).split("\n")
    pydoc.pager("\n".join(line.rstrip() for line in lines))
