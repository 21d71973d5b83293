"""`oasflow draw`: the flow as a picture, made without LangGraph and without a network."""

from __future__ import annotations

import contextlib
import os
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from oas_compiler.cli import options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.inputs import environment
from oas_compiler.cli.safe import clean
from oas_compiler.cli.terminal import Terminal
from oas_compiler.mermaid import mermaid
from oas_compiler.pipeline import compile_ir

PLAIN_LABELS: Final = '%%{init: {"htmlLabels": false, "flowchart": {"htmlLabels": false}}}%%\n'
"""Labels as SVG text: HTML inside SVG is shown by browsers only."""


class Format(StrEnum):
    """What a picture is written as."""

    mermaid = "mermaid"
    svg = "svg"


def draw(
    path: options.FlowPath,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write here; default: stdout.")
    ] = "",
    format: Annotated[  # noqa: A002 - the option's name
        Format | None,
        typer.Option(help="Default: svg for a FILE that ends in .svg, else mermaid."),
    ] = None,
    env: options.Env = None,
    as_json: options.Json = False,
) -> Exit:
    """Draw a flow: Mermaid text, or SVG with the extra `draw`."""
    terminal = Terminal.open(as_json=as_json)
    chosen = format or (Format.svg if output.lower().endswith(".svg") else Format.mermaid)
    flow = compile_ir(path, env=environment(env or [])).ir
    picture = clean(mermaid(flow), lines=True)
    if chosen is Format.svg:
        picture = _svg(picture, terminal)
    if output:
        _write(Path(output), picture)
        terminal.say(f"written: {clean(output)}")
        terminal.data({"flow": flow.name, "format": chosen.value, "file": output})
    else:
        terminal.show(picture.rstrip("\n"))
        terminal.data({"flow": flow.name, "format": chosen.value, "picture": picture})
    return Exit.OK


def _svg(text: str, terminal: Terminal) -> str:
    """Raises: `Halt` when the extra is not installed or cannot draw this."""
    try:
        import mermaidx
    except ModuleNotFoundError as error:
        if error.name != "mermaidx":
            raise
        raise Halt("SVG needs the extra draw: pip install 'oasflow[draw]'") from None
    terminal.say("drawing; a large flow takes some seconds …")
    try:
        drawn = mermaidx.render(PLAIN_LABELS + text).svg()
    except RuntimeError:
        message = "mermaidx cannot draw this flow; without --format svg you get its Mermaid text"
        raise Halt(message, exit=Exit.FAILED, code="draw_failed") from None
    return str(drawn)


def _write(path: Path, text: str) -> None:
    """All of it or nothing: an old picture stays until the new one is complete."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
