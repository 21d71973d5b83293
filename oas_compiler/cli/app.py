"""The program `oasflow`: its commands, put together."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Callable
from typing import Annotated

import typer

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
    wire_context,
)
from oas_compiler.cli.exits import DEBUG_VARIABLE, MEANINGS, Exit, bounded
from oas_compiler.cli.terminal import Terminal

_CODES = "\b\nExit codes:\n" + "\n".join(f"  {int(code):>3}  {MEANINGS[code]}" for code in Exit)
_SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="oasflow",
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
    help="The local PostgreSQL server.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=_SETTINGS,
)


_schema = typer.Typer(
    name="schema",
    help="JSON Schemas of flow files, and of what one flow takes and gives.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=_SETTINGS,
)


@app.callback()
def everywhere(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an unexpected error came from.")
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
