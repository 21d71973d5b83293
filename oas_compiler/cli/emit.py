"""`oasflow emit`: a flow as a Python module, and whether the two still agree."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from oas_compiler.cli import options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.safe import clean
from oas_compiler.cli.sources import loading
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from oas_compiler.emit.drift import Drift
    from oas_compiler.emit.module import Emitted
    from oas_compiler.lower.flow import Flow

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
    """Write a flow as a Python module that builds the same LangGraph graph without the file.

    With --check, exit code 1 says that the module and the flow have drifted apart.
    """
    del components, unblock_component  # their callbacks have told cli/sources.py
    terminal = Terminal.open(as_json=as_json)
    _require_module_name(output, check=check)
    if as_json and not output:
        raise Halt("--json prints no module: add -o MODULE.py")
    flow = _compile_flow(path)
    emitted = _emit_flow(flow)
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


def _compile_flow(path: str) -> Flow:
    from cinatra_sdk.lending.host_parts import HostParts
    from cinatra_sdk.platform import SimulatedPlatform
    from oas_compiler.checks.running import RUNNING
    from oas_compiler.lower.flow import Flow
    from oas_compiler.pipeline import compile_ir

    compiled = compile_ir(path, rules=RUNNING, loading=loading())
    # Nothing of a host gets into a module, so any platform will do.
    return Flow(
        compiled=compiled, host=HostParts(platform=SimulatedPlatform()), platform_given=False
    )


def _emit_flow(flow: Flow) -> Emitted:
    """Raises: `Halt` for a flow that cannot become a module."""
    from oas_compiler.emit.module import emit_module
    from oas_compiler.emit.sensitive import EmitRefused

    try:
        return emit_module(flow)
    except EmitRefused as refusal:
        raise Halt(clean(str(refusal))) from None


def _write_module(output: str, emitted: Emitted, *, force: bool) -> None:
    from oas_compiler.emit.drift import is_own
    from oas_compiler.text.files import replace_file

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
    found = compare(module, emitted, digest)
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
    from oas_compiler.text.files import read_named

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
