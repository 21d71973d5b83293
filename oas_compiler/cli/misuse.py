"""Reports a command line that cannot be parsed, in one line.

In: typer's error.  Out: the line, with the nearest spelling of a misspelt word.

    oasflow aprove n1          oasflow: there is no command "aprove"; did you mean "approve"?
    oasflow approve n1 --tex   oasflow approve: there is no option "--tex"; did you mean "--text"?
"""

from __future__ import annotations

from typing import Any, Final

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


def told(error: Any) -> str:
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
    from cinatra_sdk.text.spelling import did_you_mean  # for errors only

    begun = [name for name in known if name.startswith(typed)]
    # Who typed the beginning of one name means that one, however near another is.
    is_beginning = len(begun) == 1 and len(typed) >= _BEGINNING
    nearest = f'did you mean "{begun[0]}"?' if is_beginning else did_you_mean(typed, known)
    return f"{what}; {nearest}" if nearest else what


def _as_a_clause(sentence: str) -> str:
    """The parser's own sentence as a part of a longer sentence."""
    text = sentence.rstrip(".")
    return text[:1].lower() + text[1:]
