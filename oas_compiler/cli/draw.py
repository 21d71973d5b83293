"""`oasflow draw`: the flow as a picture, made without LangGraph and without a network."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from oas_compiler.checks.concealed import Labels
from oas_compiler.cli import options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.inputs import environment
from oas_compiler.cli.safe import clean
from oas_compiler.cli.sources import loading
from oas_compiler.cli.terminal import Terminal, is_terminal
from oas_compiler.draw import Theme, lay_out, svg_text
from oas_compiler.draw.html import html_page
from oas_compiler.draw.mermaid import MOST_EDGES, MOST_TEXT, mermaid
from oas_compiler.draw.png import DrawingError, ExtraMissing, png_bytes
from oas_compiler.ir import FlowIR
from oas_compiler.pipeline import compile_ir
from oas_compiler.text.files import replace_file


class PictureFormat(StrEnum):
    """The format of a picture."""

    mermaid = "mermaid"
    svg = "svg"
    html = "html"
    png = "png"


class Colours(StrEnum):
    """The colour scheme of a picture."""

    auto = "auto"
    light = "light"
    dark = "dark"


_THEMES: Final[dict[Colours, Theme]] = {
    Colours.auto: "auto",
    Colours.light: "light",
    Colours.dark: "dark",
}
_ENDINGS: Final = {
    ".mmd": PictureFormat.mermaid,
    ".mermaid": PictureFormat.mermaid,
    ".md": PictureFormat.mermaid,
    ".txt": PictureFormat.mermaid,
    ".svg": PictureFormat.svg,
    ".html": PictureFormat.html,
    ".htm": PictureFormat.html,
    ".png": PictureFormat.png,
}
_OTHER_PICTURES: Final = frozenset({".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".pdf"})
"""File endings of formats that this command cannot write."""


def draw(  # noqa: PLR0917 - typer passes them by name
    path: options.FlowPath,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write here; default: stdout.")
    ] = "",
    format: Annotated[  # noqa: A002 - the option's name
        PictureFormat | None,
        typer.Option(
            help="Default: by the ending of FILE (.mmd, .svg, .html, .png), else mermaid."
        ),
    ] = None,
    theme: Annotated[
        Colours, typer.Option(help="auto: dark where the reader's screen is; of a PNG, light.")
    ] = Colours.auto,
    env: options.Env = None,
    components: options.Components = None,
    unblock_component: options.Unblock = None,
    as_json: options.Json = False,
) -> Exit:
    """Draw a flow: Mermaid text, SVG, a web page, or PNG (extra `draw`)."""
    del components, unblock_component  # their callbacks have told cli/sources.py
    terminal = Terminal.open(as_json=as_json)
    chosen = _choose_format(output, format)
    if chosen is PictureFormat.png and not output and (as_json or is_terminal(sys.stdout)):
        raise Halt("a PNG is not text: add -o FILE.png")
    names = tuple(environment(env or []))
    flow = compile_ir(path, env_names=names, conceal=Labels(), loading=loading()).ir
    picture = _draw_picture(flow, chosen, _THEMES[theme])
    if chosen is PictureFormat.mermaid and _too_much_for_mermaid(picture):
        terminal.note("Mermaid shows no text of this size by itself; svg and html have no limit")
    if Path(output).suffix.lower() == ".md":
        picture = f"```mermaid\n{picture!s}```\n"
    if output:
        _write_picture(Path(output), picture)
        terminal.say(f"written: {clean(output)}")
        terminal.data({"flow": flow.name, "format": chosen.value, "file": output})
    elif isinstance(picture, bytes):
        sys.stdout.buffer.write(picture)
        sys.stdout.buffer.flush()
    else:
        terminal.show(picture.rstrip("\n"))
        terminal.data({"flow": flow.name, "format": chosen.value, "picture": picture})
    return Exit.OK


def _choose_format(output: str, wanted: PictureFormat | None) -> PictureFormat:
    """The format of the picture; it must agree with the ending of the file.

    Raises: `Halt` where the ending names another format, or an unknown one.
    """
    ending = Path(output).suffix.lower()
    said = _ENDINGS.get(ending)
    shown = clean(ending)[:20]
    if said is None and (ending in _OTHER_PICTURES or (ending and wanted is None)):
        known = ", ".join(_ENDINGS)
        raise Halt(f"no picture is written as {shown}: the endings of -o are {known}")
    if said is not None and wanted not in {None, said}:
        raise Halt(f"-o {shown} says {said}, --format says {wanted}: leave one of them out")
    return wanted or said or PictureFormat.mermaid


def _draw_picture(flow: FlowIR, chosen: PictureFormat, theme: Theme) -> str | bytes:
    """Raises: `Halt` for a PNG that cannot be made here."""
    match chosen:
        case PictureFormat.mermaid:
            return clean(mermaid(flow), lines=True)
        case PictureFormat.svg:
            return svg_text(lay_out(flow), theme=theme)
        case PictureFormat.html:
            return html_page(flow, theme=theme)
        case PictureFormat.png:
            try:
                return png_bytes(lay_out(flow), theme=theme)
            except ExtraMissing as error:
                raise Halt(str(error)) from None
            except DrawingError as error:
                raise Halt(str(error), exit=Exit.FAILED, code="draw_failed") from None


def _too_much_for_mermaid(picture: str | bytes) -> bool:
    assert isinstance(picture, str)
    arrows = picture.count(" --> ") + picture.count(" -->|") + picture.count(" -.->")
    return len(picture) > MOST_TEXT or arrows > MOST_EDGES


def _write_picture(path: Path, picture: str | bytes) -> None:
    """All of it or nothing: an old picture stays until the new one is complete.

    Raises: `Halt`, which names the requested file and not the temporary file beside it.
    """
    try:
        replace_file(path, picture.encode("utf-8") if isinstance(picture, str) else picture)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise Halt(f"-o {clean(str(path))}: {why}", code="unwritable") from None
