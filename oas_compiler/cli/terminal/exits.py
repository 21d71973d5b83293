"""Exit codes, and the border at which errors become one sentence and a code.

In: a command, a function that returns an `Exit`.  Out: its exit code; no traceback ever.

    raises RunNotFound("no run begins with 'x'")  ->  stderr "error: no run begins with 'x'", code 2

With `--json` the error is also the one JSON document on stdout:
`{"error": {"code": "run_not_found", "message": "…", "exit": 2}}`, on one line where the command
prints events as they happen.

Error tree
    Halt(Exception)         a command cannot continue; `.exit` is its exit code
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, ParamSpec

import typer

from cinatra_sdk.data.text.message_words import say_number
from oas_compiler.cli.terminal.location import list_location_options
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import OutputLost, Terminal, notes_of_the_log, why_lost

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cinatra_sdk.errors import FlowError
    from cinatra_sdk.runs import Run
    from oas_compiler.report.diagnostics import CompileError


P = ParamSpec("P")
DEBUG_VARIABLE: Final = "OASFLOW_DEBUG"


class Exit(IntEnum):
    """The exit codes; their numbers never change."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    WAITING = 3
    CONFLICT = 4
    REJECTED = 5
    FAILED = 6
    UNREACHABLE = 7
    BUG = 70
    UNWRITTEN = 74
    INTERRUPTED = 130
    PIPE = 141


MEANINGS: Final[Mapping[Exit, str]] = {
    Exit.OK: "done; the run completed",
    Exit.FINDINGS: "the flow has errors; diff: the flows differ",
    Exit.USAGE: "a file could not be read, or what was given does not fit",
    Exit.WAITING: "the run waits at a gate, or is paused; diff: a gate is weaker",
    Exit.CONFLICT: "the gate is closed, the run has ended, or somebody else holds it",
    Exit.REJECTED: "the run was rejected",
    Exit.FAILED: "the run failed or was stopped",
    Exit.UNREACHABLE: "the database or the platform cannot be reached",
    Exit.BUG: "an error in oasflow itself",
    Exit.UNWRITTEN: "the output could not be written: the disk is full, or stdout is closed",
    Exit.INTERRUPTED: "interrupted; the run is kept",
    Exit.PIPE: "the reader of the output went away",
}


class Halt(Exception):
    """A command cannot continue."""

    def __init__(
        self,
        message: str,
        *,
        exit: Exit = Exit.USAGE,  # noqa: A002 - the name of the concept
        code: str = "usage",
        then: Sequence[RenderableType] = (),
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.exit = exit
        self.code = code
        self.then = then
        """What is said below the message."""
        self.more = more or {}
        """Members of the error in JSON, beside code, message and exit."""


def exit_of(run: Run) -> Exit:
    """The exit code for where the run stands."""
    if run.status == "failed" and (run.error or {}).get("code") == "platform_unreachable":
        return Exit.UNREACHABLE
    if run.paused_at is not None:
        return Exit.WAITING
    return {
        "completed": Exit.OK,
        "waiting": Exit.WAITING,
        "rejected": Exit.REJECTED,
        "failed": Exit.FAILED,
        "stopped": Exit.FAILED,
    }.get(run.status, Exit.CONFLICT)


def bounded(command: Callable[P, Exit]) -> Callable[P, None]:
    """`command` for typer: it ends with its exit code, and no exception leaves it."""

    @functools.wraps(command)
    def within(*args: P.args, **kwargs: P.kwargs) -> None:
        terminal = Terminal.open(
            as_json=bool(kwargs.get("as_json")), by_lines=_prints_by_lines(command, kwargs)
        )
        notes_of_the_log(terminal, debug=bool(os.environ.get(DEBUG_VARIABLE)))
        _WHERE.set((str(kwargs.get("tenant") or ""), str(kwargs.get("db") or "")))
        try:
            code = _run_command(terminal, lambda: command(*args, **kwargs))
        except BrokenPipeError:
            code = Exit.PIPE
        raise typer.Exit(code)

    return within


def _prints_by_lines(command: Callable[..., Exit], given: Mapping[str, Any]) -> bool:
    """Whether it prints events as they happen: then its error is a line as well."""
    return getattr(command, "__name__", "") == "follow" or bool(given.get("follow"))


def leave(app: Callable[[], Any]) -> None:
    """Run the whole program and end the process with its code."""
    code: Any = Exit.OK
    try:
        app()
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    except OSError as error:  # the text of --help or --version
        code = _report_lost_output(error)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            if stream is sys.stdout and code != Exit.UNWRITTEN:
                code = (
                    (code or Exit.PIPE)
                    if isinstance(error, BrokenPipeError)
                    else _report_lost_output(error)
                )
            # The interpreter flushes again at its end, and would report the broken pipe.
            with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - a device, not a path of ours
                os.dup2(nothing.fileno(), stream.fileno())
    raise SystemExit(code)


def _report_lost_output(error: OSError) -> Exit:
    if isinstance(error, BrokenPipeError):
        return Exit.PIPE
    Terminal.open().error(why_lost(error))
    return Exit.UNWRITTEN


def _run_command(terminal: Terminal, work: Callable[[], Exit]) -> Exit:
    try:
        return work()
    except KeyboardInterrupt:
        terminal.say("interrupted")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        raise
    except OutputLost as lost:
        terminal.error(str(lost))
        return Exit.UNWRITTEN
    except Exception as error:  # noqa: BLE001 - the edge of the process: reported, with its code
        try:
            return _report_error(terminal, error)
        except OutputLost:  # the error was printed to stderr
            return Exit.UNWRITTEN


def _report_error(terminal: Terminal, error: Exception) -> Exit:
    """Report the error; returns the exit code."""
    # Imported for errors only, so that a successful command does not pay for it.
    from oas_compiler.report.diagnostics import CompileError

    if isinstance(error, CompileError):
        return report_findings(terminal, error)
    known = _find_problem(error)
    if known is not None:
        then, more = (error.then, error.more) if isinstance(error, Halt) else ((), {})
        return _print_error(terminal, *known, then=then, more=more)
    if isinstance(error, OSError):
        what = f"{error.filename or 'the file'}: {error.strerror or type(error).__name__}"
        return _print_error(terminal, Exit.USAGE, "unreadable", what)
    if os.environ.get(DEBUG_VARIABLE):
        terminal.say(clean("".join(traceback.format_exception(error)), lines=True))
    message = f"unexpected {type(error).__name__}; `oasflow --debug …` shows where"
    return _print_error(terminal, Exit.BUG, "bug", message)


def problem_of(error: Exception) -> tuple[Exit, str, str]:
    """Exit code, code and message of an error that ends one of several targets."""
    from oas_compiler.report.diagnostics import CompileError

    if isinstance(error, CompileError):
        return Exit.FINDINGS, "compile_error", "its flow has errors; oasflow resume shows them"
    return _find_problem(error) or (Exit.BUG, "bug", f"unexpected {type(error).__name__}")


def _find_problem(error: Exception) -> tuple[Exit, str, str] | None:
    """Exit code, code and message of an error of ours; None for any other."""
    from cinatra_sdk.errors import FlowError
    from cinatra_sdk.outside.http_calls.protocol import PlatformError, PlatformUnreachable

    if isinstance(error, Halt):
        return error.exit, error.code, str(error)
    if isinstance(error, FlowError):
        return _exit_of_flow_error(error), error.code, _complete_commands(error.for_people)
    if isinstance(error, PlatformError):
        code = Exit.UNREACHABLE if isinstance(error, PlatformUnreachable) else Exit.FAILED
        return code, str(getattr(error, "code", "")), str(error)
    return None


_COMMAND: Final = re.compile(r"\boasflow (?:show|follow|runs|gates|records|resume|pause|stop)\b")
"""The commands on a run that the SDK names in its hints."""
_WHERE: Final[ContextVar[tuple[str, str]]] = ContextVar("where", default=("", ""))
"""`--tenant` and `--db` of the command that runs."""


def _complete_commands(message: str) -> str:
    """The message of an error of the SDK, which knows no options: the commands in it find the run only
    with the tenant and the database of this command.
    """
    tenant, db = _WHERE.get()
    if not tenant and not db:
        return message
    where = shlex.join(map(clean, list_location_options(tenant, db)))
    return _COMMAND.sub(lambda found: f"{found[0]} {where}".rstrip(), message)


def _print_error(
    terminal: Terminal,
    exit_code: Exit,
    code: str,
    message: str,
    *,
    then: Sequence[RenderableType] = (),
    more: Mapping[str, Any] = MappingProxyType({}),
) -> Exit:
    terminal.error(message)
    terminal.say(*then)
    terminal.data(error_document(code, message, exit_code, more))
    return exit_code


def error_document(
    code: str, message: str, exit_code: Exit, more: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """An error as `--json` prints it."""
    return {"error": {"code": code, "message": message, "exit": int(exit_code), **more}}


def report_findings(
    terminal: Terminal, error: CompileError, message: str = "", code: Exit | None = None
) -> Exit:
    """Report the findings of a flow; returns the exit code.

    message: says what they prevent; empty: how many errors there are.  code: None: by the findings.
    """
    from oas_compiler.cli.terminal.findings_view import exit_of_findings, view_of_findings
    from oas_compiler.report.formats import record

    findings = list(error.diagnostics)
    code = Exit(exit_of_findings(findings)) if code is None else code
    terminal.say(view_of_findings(findings))
    message = message or f"the flow has {say_number(len(error.diagnostics.errors), 'error')}"
    more = {"findings": [record(finding) for finding in findings]}
    return _print_error(terminal, code, "compile_error", message, more=more)


def _exit_of_flow_error(error: FlowError) -> Exit:
    from cinatra_sdk import errors

    # The database answered these two: this process lacks a setting.
    if isinstance(error, (errors.RunNotFound, errors.NotConfigured)):
        return Exit.USAGE
    conflicts = (
        errors.RunBusy, errors.RunEnded, errors.RunNotEnded, errors.GateClosed,
        errors.GateUnreadable, errors.EffectSettled, errors.FlowChanged,
    )  # fmt: skip
    if isinstance(error, conflicts):
        return Exit.CONFLICT
    if isinstance(error, errors.StoreError):
        return Exit.UNREACHABLE
    return Exit.FAILED if isinstance(error, errors.NodeFailed) else Exit.USAGE


# ----------------------------------------------------------------------------
# Reports a command line that cannot be parsed, in one line.
#
# In: typer's error.  Out: the line, with the nearest spelling of a misspelt word.
#
#     oasflow aprove n1          oasflow: there is no command "aprove"; did you mean "approve"?
#     oasflow approve n1 --tex   oasflow approve: there is no option "--tex"; did you mean "--text"?


_BEGINNING: Final = 3
"""Fewest letters that name what begins with them."""


class NoCommand(Exception):
    """An unknown command; `context` is the group's context, `name` the typed word."""

    def __init__(self, context: Any, name: str) -> None:
        super().__init__(name)
        self.context = context
        self.name = name


def is_misuse(error: Exception) -> bool:
    """Whether typer, or one of our command groups, could not parse the command line."""
    return isinstance(error, NoCommand) or hasattr(error, "format_message")


def asked_for_nothing(error: Exception) -> str:
    """The help of a group that was called without a command; empty for everything else."""
    return str(getattr(error, "message", "")) if type(error).__name__ == "NoArgsIsHelpError" else ""


def describe_misuse(error: Any) -> str:
    """The problem and the command that has it, in one line."""
    context = error.context if isinstance(error, NoCommand) else getattr(error, "ctx", None)
    command = context.command_path if context is not None else "oasflow"
    what = _no_command(error) if isinstance(error, NoCommand) else _wrong_argument(error)
    return f"{command}: {what} (see {command} -h)"


def _no_command(error: NoCommand) -> str:
    known = error.context.command.commands
    return _with_nearest(f'there is no command "{error.name}"', error.name, known)


def _wrong_argument(error: Any) -> str:
    option = getattr(error, "option_name", None)
    if option is not None and hasattr(error, "possibilities"):
        known = [] if error.ctx is None else _options_of(error.ctx.command)
        return _with_nearest(f'there is no option "{option}"', option, known)
    parameter = getattr(error, "param", None)
    if parameter is None:
        return _as_a_clause(error.format_message())
    name = parameter.opts[-1] if parameter.opts[-1].startswith("-") else parameter.metavar
    if not error.message:
        return f"{name} is missing"
    return f"{name}: {_as_a_clause(error.message.removeprefix('Value error, '))}"


def _options_of(command: Any) -> list[str]:
    return [name for parameter in command.params for name in parameter.opts if name.startswith("-")]


def _with_nearest(what: str, typed: str, known: Any) -> str:
    from cinatra_sdk.data.text.message_words import did_you_mean  # for errors only

    begun = [name for name in known if name.startswith(typed)]
    # Who typed the beginning of one name means that one, however near another is.
    is_beginning = len(begun) == 1 and len(typed) >= _BEGINNING
    nearest = f'did you mean "{begun[0]}"?' if is_beginning else did_you_mean(typed, known)
    return f"{what}; {nearest}" if nearest else what


def _as_a_clause(sentence: str) -> str:
    """The parser's own sentence as a part of a longer sentence."""
    text = sentence.rstrip(".")
    return text[:1].lower() + text[1:]
