"""`oasflow draw`, `ir`, `schema` and `emit`: a flow as a picture, as IR, as JSON Schemas and as Python."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from oas_compiler.checks.compile_rules import READING
from oas_compiler.checks.credentials.credential_cover import Labels
from oas_compiler.cli.host import options
from oas_compiler.cli.host.options import FileOptions
from oas_compiler.cli.host.resources import loading
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.printable_text import clean, cut
from oas_compiler.cli.terminal.streams import Terminal, is_terminal
from oas_compiler.draw import Theme, lay_out, svg_text
from oas_compiler.draw.mermaid import MOST_EDGES, MOST_TEXT, mermaid_text
from oas_compiler.draw.picture_files import DrawingError, ExtraMissing, html_page, png_bytes
from oas_compiler.ir import FlowIR, JsonValue
from oas_compiler.ir.printout import ir_to_json, print_ir
from oas_compiler.kinds.registry import list_refusals
from oas_compiler.pipeline import compile_ir
from oas_compiler.schema.dialect import dialect_schema
from oas_compiler.schema.flow_schemas import input_schema, output_schema, schema_document
from oas_compiler.text.file_access import replace_file

if TYPE_CHECKING:
    from oas_compiler.emit.drift import Drift
    from oas_compiler.emit.python_module import Emitted
    from oas_compiler.lower.flow import Flow


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


def draw(
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
    *,
    file: FileOptions,
) -> Exit:
    """Draw a flow: Mermaid text, SVG, a web page, or PNG (extra `draw`)."""
    terminal = file.open_terminal()
    chosen = _choose_format(output, format)
    if chosen is PictureFormat.png and not output and (file.as_json or is_terminal(sys.stdout)):
        raise Halt("a PNG is not text: add -o FILE.png")
    names = tuple(file.read_env())
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
            return clean(mermaid_text(flow), lines=True)
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


# ----------------------------------------------------------------------------
# `oasflow ir`: the compiled form of a flow, with every port, edge and default made explicit.


def ir(
    path: options.FlowPath,
    *,
    file: FileOptions,
) -> Exit:
    """Print the compiled form of a flow: every port, edge, default and setting, inferred ones too.

    With --json also descriptions, and where each stands in the file. Literal credentials are
    covered. Kinds of nodes that do not run yet are shown, too.
    """
    terminal = file.open_terminal()
    names = tuple(file.read_env())
    flow = compile_ir(path, env_names=names, conceal=Labels(), rules=READING, loading=loading()).ir
    terminal.show(clean(print_ir(flow).rstrip("\n"), lines=True))
    terminal.data(ir_to_json(flow))
    return Exit.OK


# ----------------------------------------------------------------------------
# `oasflow schema`: JSON Schemas for editors, hosts and forms.
#
#     oasflow schema oas            the dialect: what a flow file may look like
#     oasflow schema input PATH     the parameters of one flow
#     oasflow schema output PATH    the results of one flow
#
# stdout is always one JSON document; `--json` only makes errors one too.  Kinds of nodes that installed
# packages add and that cannot be used are notes on stderr.


def oas(as_json: options.Json = False) -> Exit:
    """Print the JSON Schema of flow files, for editors."""
    del as_json  # the result is JSON in any case
    terminal = Terminal.open(as_json=True)
    for refusal in list_refusals():
        terminal.note(f"{refusal.message} ({refusal.hint})")
    terminal.data(dialect_schema())
    return Exit.OK


def input(  # noqa: A001 - the name of the command
    path: options.FlowPath,
    *,
    file: FileOptions,
) -> Exit:
    """Print the JSON Schema of a flow's inputs."""
    return _print_schema(path, file, "Inputs", input_schema)


def output(
    path: options.FlowPath,
    *,
    file: FileOptions,
) -> Exit:
    """Print the JSON Schema of a flow's results."""
    return _print_schema(path, file, "Outputs", output_schema)


def _print_schema(
    path: str,
    file: FileOptions,
    what: str,
    schema_of: Callable[[FlowIR], dict[str, JsonValue]],
) -> Exit:
    names = tuple(file.read_env())
    flow = compile_ir(path, env_names=names, conceal=Labels(), loading=loading()).ir
    schema = schema_document(schema_of(flow), title=f"{what} of {flow.name}")
    _require_valid(schema)
    Terminal.open(as_json=True).data(schema)
    return Exit.OK


def _require_valid(schema: dict[str, JsonValue]) -> None:
    """Raises: `Halt` naming the property whose description is no JSON Schema."""
    from cinatra_sdk.data.schema.vocabulary import flaw_of

    flaw = flaw_of(schema)
    if flaw is None:
        return
    way = [str(part) for part in flaw.path]
    name = way[1] if len(way) > 1 else "the flow"
    where = "/".join(way[2:])
    message = f'"{name[:80]}" is not described by a JSON Schema: {flaw.text[:200]}'
    raise Halt(
        clean(cut(message, 300)) + (f" (at {clean(cut(where, 80))})" if where else ""),
        exit=Exit.FINDINGS,
        code="schema_invalid",
    )


# ----------------------------------------------------------------------------
# `oasflow emit`: a flow as a Python module, and whether the two still agree.


_ENDING: Final = ".py"
_MOST_BYTES: Final = 10_000_000


def emit(  # noqa: PLR0917 - typer passes them by name
    path: options.FlowPath,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="MODULE.py", help="Write here; default: stdout."),
    ] = "",
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; say whether MODULE.py and the flow agree."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a module that was changed by hand.")
    ] = False,
    components: options.Components = None,
    unblock_component: options.Unblock = None,
    as_json: options.Json = False,
) -> Exit:
    """Write a flow as a Python module that builds the same graph without the file.

    The module calls oasflow's FlowGraph; its flow.graph() makes the LangGraph graph.

    With --check, exit code 1 says that the module and the flow have drifted apart.
    """
    del components, unblock_component  # their callbacks have told cli/host/resources.py
    terminal = Terminal.open(as_json=as_json)
    _require_module_name(output, check=check)
    if as_json and not output:
        raise Halt("--json prints no module: add -o MODULE.py")
    flow, emitted = _emit_flow(path)
    if check:
        return _check_module(terminal, output, emitted, flow.digest, path)
    if output:
        _write_module(output, emitted, force=force)
        terminal.say(f"written: {clean(output)}")
    else:
        # As it is: what is made safe for a screen would be another program.
        sys.stdout.write(emitted.text)
        sys.stdout.flush()
    _tell_names(terminal, emitted)
    if output:
        terminal.data({"flow": flow.name, "file": output, "lends": list(emitted.names)})
    return Exit.OK


def _tell_names(terminal: Terminal, emitted: Emitted) -> None:
    for name in emitted.names:
        where = "stands in the file and not in the module" if name in emitted.lends else "is lent"
        terminal.note(
            f"the value of '{clean(name)}' {where}: HostParts(secrets={{'{clean(name)}': …}})"
        )


def _require_module_name(output: str, *, check: bool) -> None:
    """Raises: `Halt`."""
    if check and not output:
        raise Halt("--check compares a module with its flow: add -o MODULE.py")
    name = Path(output)
    if output and (name.suffix != _ENDING or not name.stem.isidentifier()):
        raise Halt(f"'{clean(output)[:80]}' is no module: its name is of the form my_flow.py")


def _emit_flow(path: str) -> tuple[Flow, Emitted]:
    """Raises: `Halt` for a flow that cannot become a module."""
    from cinatra_sdk.host_parts.host_parts import HostParts
    from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
    from oas_compiler.checks.compile_rules import RUNNING
    from oas_compiler.emit.expressions import EmitRefused
    from oas_compiler.emit.python_module import emit_module
    from oas_compiler.lower.flow import Flow
    from oas_compiler.pipeline import compile_prepared, prepare

    prepared = prepare(path, loading=loading())
    compiled = compile_prepared(prepared, rules=RUNNING)
    # Nothing of a host gets into a module, so any platform will do.
    flow = Flow(
        compiled=compiled, host=HostParts(platform=SimulatedPlatform()), platform_given=False
    )
    try:
        return flow, emit_module(flow, prepared)
    except EmitRefused as refusal:
        raise Halt(clean(str(refusal))) from None


def _write_module(output: str, emitted: Emitted, *, force: bool) -> None:
    from oas_compiler.emit.drift import is_own
    from oas_compiler.text.file_access import replace_file

    folder = Path(output).absolute().parent
    if not folder.is_dir():
        raise Halt(f"there is no folder {clean(str(Path(output).parent))}")
    before = _read_module(output)
    if before is not None and not force and not is_own(before):
        raise Halt(
            f"{clean(output)} is there and was not written by oasflow emit, or was changed by hand: "
            "give --force to replace it"
        )
    replace_file(output, emitted.text.encode())


def _check_module(
    terminal: Terminal, output: str, emitted: Emitted, digest: str, path: str
) -> Exit:
    from oas_compiler.emit.drift import compare

    module = _read_module(output)
    if module is None:
        raise Halt(f"there is no file {clean(output)}")
    found = compare(module, emitted.text, digest)
    _tell_drift(terminal, found, output, path)
    terminal.data(
        {
            "agrees": found.agrees,
            "reasons": list(found.reasons),
            "note": found.note,
            "diff": found.diff,
        }
    )
    return Exit.OK if found.agrees else Exit.FINDINGS


def _tell_drift(terminal: Terminal, found: Drift, output: str, path: str) -> None:
    if found.agrees:
        terminal.show(f"{clean(output)} and {clean(path)} agree")
        if found.note:
            terminal.note(found.note)
        return
    lines = [f"{clean(output)} and {clean(path)} have drifted apart:"]
    lines += [f"  {reason}" for reason in found.reasons]
    if found.diff:
        lines += ["", clean(found.diff, lines=True)]
    terminal.show("\n".join(lines))
    command = f"oasflow emit {shlex.quote(path)} -o {shlex.quote(output)}"
    if found.by_hand:
        terminal.note(
            f"{command} --force writes it anew, without the changes that were made by hand"
        )
    else:
        terminal.note(f"{command} writes it anew")


def _read_module(file: str) -> str | None:
    """The text of a module; None where there is no such file.

    Raises: `Halt` for a file that is no text; `OSError`.
    """
    from oas_compiler.emit.drift import ModuleUnreadable, decode_module
    from oas_compiler.text.file_access import read_named

    try:
        text = read_named(file, _MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(text) > _MOST_BYTES:
        raise Halt(f"{clean(file)} is larger than any module of a flow")
    try:
        return decode_module(text)
    except ModuleUnreadable as error:
        raise Halt(f"{clean(file)} is no module: {error}") from None
