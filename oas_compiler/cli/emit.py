"""`oasflow emit`: a flow as a Python module, and whether the two still agree."""

from __future__ import annotations

import shlex
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
    flow = _compile_flow(path)
    emitted = _emit_flow(flow)
    _warn_of_credentials(terminal, path, flow)
    if check:
        return _check_module(terminal, output, emitted, flow.digest, path)
    if not output:
        terminal.show(emitted.text.rstrip("\n"))
        terminal.data({"flow": flow.name, "module": emitted.text, "lends": sorted(emitted.lends)})
        return Exit.OK
    _write_module(output, emitted, force=force)
    terminal.say(f"written: {clean(output)}")
    for name in sorted(emitted.lends):
        terminal.note(
            f"the value of '{clean(name)}' stands in the file and not in the module: "
            "lend it with HostParts(secrets=…)"
        )
    terminal.data({"flow": flow.name, "file": output, "lends": sorted(emitted.lends)})
    return Exit.OK


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


def _warn_of_credentials(terminal: Terminal, path: str, flow: Flow) -> None:
    """Sensitive fields stay behind; a credential in the middle of another field does not."""
    from oas_compiler.checks.concealed import Labels
    from oas_compiler.pipeline import compile_ir

    if compile_ir(path, conceal=Labels(), loading=loading()).ir != flow.ir:
        terminal.note(
            "the file has credentials written out (oasflow check names them): "
            "those outside of sensitive fields stand in the module, too"
        )


def _emit_flow(flow: Flow) -> Emitted:
    """Raises: `Halt` for a flow that cannot become a module."""
    from oas_compiler.emit.flows import EmitRefused
    from oas_compiler.emit.module import emit_module

    try:
        return emit_module(flow)
    except EmitRefused as refusal:
        raise Halt(clean(str(refusal))) from None


def _write_module(output: str, emitted: Emitted, *, force: bool) -> None:
    from oas_compiler.emit.drift import is_own
    from oas_compiler.text.files import replace_file

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
    terminal.note(f"oasflow emit {shlex.quote(path)} -o {shlex.quote(output)} writes it anew")


def _read_module(file: str) -> str | None:
    """The text of a module; None where there is no such file.

    Raises: `Halt` for a file that is no text; `OSError`.
    """
    from oas_compiler.text.files import read_named

    try:
        text = read_named(file, _MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(text) > _MOST_BYTES:
        raise Halt(f"{clean(file)} is larger than any module of a flow")
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise Halt(f"{clean(file)} is no text") from None
