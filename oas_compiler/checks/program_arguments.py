"""Credentials among the arguments of a program that is an MCP server.

In: a `Subject`.  Out: each argument that is named like a credential and has its value written out.

    "args": ["--token", "hunter2", "--api-key=d41d8cd9…", "--header", "X-Api-Key: d41d8cd9…"]
        ->  "--token", "--api-key", "X-Api-Key"
    "args": ["--token", "{{ token }}", "--max-tokens", "200", "--token-file", "/run/token"]
        ->  none
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from oas_compiler.checks.credential_names import is_credential_name, looks_written
from oas_compiler.checks.subject import Subject
from oas_compiler.ir import JsonValue

_PROGRAMS: Final = ("StdioTransport", "PluginStdioTransport")
_PAIR: Final = re.compile(r"(-{0,2}\w[\w-]{0,80})(?:=|:\s*)(.+)", re.DOTALL)
"""Name and value in one argument."""


class ProgramArgument(NamedTuple):
    """A credential that a program is started with."""

    name: str
    """With its dashes: `--token`."""
    value: str
    whole: str
    """The argument as written, which may begin with the name."""
    position: int
    """Its place among the arguments."""
    pointer: str = ""


def find_argument_credentials(subject: Subject) -> Iterator[ProgramArgument]:
    """The credentials of all programs, in file order."""
    for program in subject.of_type(*_PROGRAMS):
        for argument in find_listed_credentials(program.items("args")):
            yield argument._replace(pointer=program.at("args", argument.position))


def find_listed_credentials(arguments: Sequence[JsonValue]) -> Iterator[ProgramArgument]:
    """The credentials among the arguments of one program, each once."""
    last = -1
    for argument in _read_arguments(arguments):
        name = argument.name.lstrip("-")
        # a program takes words too, so that a value counts as in a header
        if (
            argument.position != last
            and is_credential_name(name)
            and looks_written(name, argument.value, in_header=True)
        ):
            last = argument.position
            yield argument


def _read_arguments(arguments: Sequence[JsonValue]) -> Iterator[ProgramArgument]:
    """The arguments that have a name; where two names are possible, the argument twice."""
    before: JsonValue = ""
    for index, item in enumerate(arguments):
        if isinstance(item, str) and isinstance(before, str):
            pair = _PAIR.fullmatch(item)
            if before.startswith("-") and "=" not in before and not item.startswith("--"):
                yield ProgramArgument(before, item, item, index)
            if pair is not None:
                yield ProgramArgument(pair[1], pair[2], item, index)
        before = item
