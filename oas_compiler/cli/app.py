"""The program `oasflow`: its commands, put together."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from oas_compiler.cli import (
    check,
    db,
    deps,
    diff,
    draw,
    explain,
    gates,
    options,
    rule,
    run,
    runs,
    schema,
    stop,
    wire_context,
)
from oas_compiler.cli.exits import DEBUG_VARIABLE, MEANINGS, Exit, bounded
from oas_compiler.cli.misuse import NoCommand, asked_for_nothing, is_misuse, told
from oas_compiler.cli.safe import clean
from oas_compiler.cli.terminal import Terminal

_CODES = "\b\nExit codes:\n" + "\n".join(f"  {int(code):>3}  {MEANINGS[code]}" for code in Exit)
_SETTINGS = {"help_option_names": ["-h", "--help"]}


class Commands(TyperGroup):
    """The commands, whose usage errors repeat what was typed, made safe like every other text."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise NoCommand(ctx, args[0])
        return super().resolve_command(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        given = {"prog_name": prog_name, "complete_var": complete_var, **extra}
        given["windows_expand_args"] = windows_expand_args
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **given)
        try:
            code = super().main(args, standalone_mode=False, **given)
        except Exception as error:
            if not is_misuse(error):
                raise
            code = _tell_misuse(error)
        except typer.Abort:
            Terminal.open().say("Aborted!")
            code = 1
        sys.exit(code if isinstance(code, int) else Exit.OK)


def _tell_misuse(error: Exception) -> int:
    """One line; the whole help for whoever typed no command at all."""
    terminal = Terminal.open()
    if asked_for_nothing(error):
        terminal.say(asked_for_nothing(error))
    else:
        terminal.error(clean(told(error)))
    return int(Exit.USAGE)


app = typer.Typer(
    name="oasflow",
    cls=Commands,
    help="Run Open Agent Specification flows with their human gates.",
    epilog=_CODES,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)
_db = typer.Typer(
    name="db",
    cls=Commands,
    help="The local PostgreSQL server.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=_SETTINGS,
)


_schema = typer.Typer(
    name="schema",
    cls=Commands,
    help="JSON Schemas of flow files, and of what one flow takes and gives.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=_SETTINGS,
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        Terminal.open().show(f"oasflow {_version_of('oasflow')}")
        raise typer.Exit


@app.callback()
def everywhere(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an unexpected error came from.")
    ] = False,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_tell_version, help="Print the version, and end."
        ),
    ] = False,
) -> None:
    """Run Open Agent Specification flows with their human gates."""
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"


def version(as_json: options.Json = False) -> Exit:
    """Print the versions of oasflow and of what it stands on."""
    terminal = Terminal.open(as_json=as_json)
    names = ("oasflow", "langgraph", "langgraph-checkpoint-postgres", "psycopg")
    found = {name: _version_of(name) for name in names} | {"python": platform.python_version()}
    terminal.data(found)
    terminal.show("\n".join(f"{name} {number}" for name, number in found.items()))
    return Exit.OK


def _version_of(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


_COMMANDS: tuple[Callable[..., Exit], ...] = (
    check.check,
    rule.rule,
    run.run,
    gates.gates,
    gates.approve,
    gates.reject,
    gates.answer,
    runs.runs,
    runs.show,
    run.resume,
    stop.stop,
    draw.draw,
    diff.diff,
    explain.explain,
    deps.deps,
    wire_context.wire_context,
)
for command in _COMMANDS:
    app.command()(bounded(command))
for action in (db.start, db.stop, db.status, db.url, db.migrate):
    _db.command()(bounded(action))
app.add_typer(_db)
for made in (schema.oas, schema.input, schema.output):
    _schema.command()(bounded(made))
app.add_typer(_schema)
app.command()(bounded(version))
