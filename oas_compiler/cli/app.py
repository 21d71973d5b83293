"""The program `oasflow`: its commands, put together.

app_for(["gates"])      with that one command
app                     with all of them
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from oas_compiler.cli.host import options
from oas_compiler.cli.terminal.exits import (
    DEBUG_VARIABLE,
    MEANINGS,
    Exit,
    NoCommand,
    asked_for_nothing,
    bounded,
    describe_misuse,
    is_misuse,
)
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import Terminal

_CODES = "\b\nExit codes:\n" + "\n".join(f"  {int(code):>3}  {MEANINGS[code]}" for code in Exit)
_SETTINGS = {"help_option_names": ["-h", "--help"]}


class Command(TyperCommand):
    """A command that drops nothing that was typed: of an option that says one thing, given twice, the
    parser would keep the last, and an empty name would mean that none was given.
    """

    def make_parser(self, ctx: Any) -> Any:
        parser: Any = super().make_parser(ctx)
        if ctx.resilient_parsing:  # for the completion of a command that is not whole yet
            return parser
        parse = parser.parse_args

        def parse_strictly(args: list[str]) -> Any:
            values, left, given = parse(args=args)
            for option in self.params:
                _refuse_repeated(ctx, option, given.count(option))
                _refuse_empty(ctx, option, values.get(option.name))
            return values, left, given

        parser.parse_args = parse_strictly
        return parser


_MAY_BE_EMPTY: Final = frozenset({"--reason", "--text", "--after", "--host"})
"""Options whose empty text hides nothing: no reason, no words (which a gate refuses), the first page,
OASFLOW_HOST.
"""


def _refuse_repeated(ctx: Any, option: Any, number: int) -> None:
    if number < 2 or option.param_type_name != "option" or option.multiple:
        return
    sides = [option.opts[0], *option.secondary_opts]
    if option.secondary_opts:
        ctx.fail(f"{' and '.join(sides)} contradict each other: give one of them, once")
    if not option.is_flag:
        ctx.fail(
            f"{'/'.join(option.opts)} is given {number} times, and takes one value: give it once"
        )


def _refuse_empty(ctx: Any, option: Any, value: object) -> None:
    if option.param_type_name != "option" or not _MAY_BE_EMPTY.isdisjoint(option.opts):
        return
    if value == "" and option.default == "":
        ctx.fail(f"{'/'.join(option.opts)} is empty: give a value, or leave it out")


class Commands(TyperGroup):
    """A group of commands whose usage errors repeat the typed words, made safe like every other
    text.
    """

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
    """Print a usage error in one line; the whole help where no command was typed."""
    terminal = Terminal.open()
    if asked_for_nothing(error):
        terminal.say(asked_for_nothing(error))
    else:
        terminal.error(clean(describe_misuse(error)))
    return int(Exit.USAGE)


def _tell_version(wanted: bool) -> None:
    if wanted:
        Terminal.open().show(f"oasflow {_version_of('oasflow')}")
        raise typer.Exit


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


# ------------------------------------------------------------------------ put together

_COMMANDS: Final = {
    "check": "check", "rule": "check", "run": "run", "gates": "gates", "approve": "gates", "reject": "gates",
    "deny": "gates", "answer": "gates", "attach": "gates", "follow": "runs", "settle": "settle", "runs": "runs",
    "show": "runs", "resume": "run", "pause": "stop", "stop": "stop", "draw": "flow_forms", "diff": "flow_reports",
    "explain": "flow_reports", "ir": "flow_forms", "deps": "agent_package", "emit": "flow_forms",
    "wire-context": "agent_package", "records": "governance", "replay": "governance", "doctor": "database",
    "upgrade": "upgrade", "verify": "upgrade", "reconcile": "recovery", "erase": "recovery",
    "export": "governance", "version": "",
}  # fmt: skip
"""Each command, and the module of `cli/commands/` with a function of its name; empty: this module."""
_GROUPS: Final = {
    "db": (
        "database",
        "The local PostgreSQL server, and the tables of any database.",
        ("start", "stop", "status", "url", "migrate", "archive", "adopt", "disown"),
    ),
    "packs": ("governance", "Packs of governed runs, in the database.", ("publish", "list")),
    "memory": (
        "governance",
        "What governed runs propose to remember, for a reviewer.",
        ("list", "promote", "decline"),
    ),
    "platform": ("platform", "The local platform that flows call, over HTTP.", ("serve",)),
    "schema": (
        "flow_forms",
        "JSON Schemas of flow files, and of one flow's inputs and outputs.",
        ("oas", "input", "output"),
    ),
}
"""Each group: its module, its description and its commands."""
_LISTS: Final = {"packs": "list_packs", "memory": "list_proposals"}
"""Functions of commands named `list`, a type of Python's: by group."""


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """The program, with no more commands than the one that these arguments name.

    Importing and describing all commands takes as long as showing a few runs.
    """
    words = [word for word in arguments if word != "--debug"]
    first = words[0] if words else ""
    known = first in _COMMANDS or first in _GROUPS
    return _build_app([first] if known else [*_COMMANDS, *_GROUPS])


def _build_app(names: Sequence[str]) -> typer.Typer:
    made = _make_group(
        "oasflow", "Run Open Agent Specification flows with their human gates.", _CODES
    )
    made.callback()(everywhere)
    for name in names:
        if name in _COMMANDS:
            _add_command(made, name, _load_command(_COMMANDS[name], name))
            continue
        module, about, commands = _GROUPS[name]
        group = _make_group(name, about)
        for command in commands:
            function = _LISTS[name] if command == "list" else command
            _add_command(group, command, _load_command(module, function))
        made.add_typer(group, short_help=about)
    return made


def _add_command(group: typer.Typer, name: str, command: Callable[..., Exit]) -> None:
    # In a list the whole first sentence describes a command; typer would cut it at 80 columns.
    about = (command.__doc__ or "").strip().partition("\n\n")[0]
    group.command(name, cls=Command, short_help=about)(bounded(options.with_options(command)))


def _make_group(name: str, about: str, epilog: str | None = None) -> typer.Typer:
    return typer.Typer(
        name=name,
        cls=Commands,
        help=about,
        epilog=epilog,
        no_args_is_help=True,
        add_completion=epilog is not None,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_SETTINGS,
    )


def _load_command(module: str, name: str) -> Callable[..., Exit]:
    place = f"commands.{module}" if module else "app"
    loaded = import_module(f"oas_compiler.cli.{place}")
    found: Callable[..., Exit] = getattr(loaded, name.replace("-", "_"))
    return found


def __getattr__(name: str) -> Any:
    if name == "app":  # with all its commands
        return _build_app([*_COMMANDS, *_GROUPS])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
