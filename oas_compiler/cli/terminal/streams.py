"""The two streams of a command: data and results on stdout, words for people on stderr.

    terminal = Terminal.open(as_json=False)
    terminal.show(table)          # the result, on stdout; nothing with --json
    terminal.data({"runs": []})   # the result, on stdout; only with --json
    terminal.say("starting …")    # on stderr

Colour goes to a terminal only, and never with `NO_COLOR`.  Markup in data is
never interpreted: text is printed as it is, made safe by
`printable_text.clean` where it is made.

Error tree
    OutputLost(Exception)   stdout takes nothing more: the disk is full, or it was closed
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TextIO

from rich.console import Console, RenderableType
from rich.control import Control
from rich.segment import Segment, Segments
from rich.text import Text

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.terminal.layout import Lines
from oas_compiler.cli.terminal.printable_text import annotation, clean, printed
from oas_compiler.text.safe_text import without_secrets

WIDE: Final = 4000
"""Columns of an output that is no terminal, so that one record stays on one line."""


_TWO_HASHES: Final = re.compile("#(?=#)")


class OutputLost(Exception):
    """A result could not be written to stdout; the message says why."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """The output of a command."""

    out: Console
    err: Console
    as_json: bool
    by_lines: bool = False
    """Of a command that prints as things happen: each JSON document is one line."""

    @classmethod
    def open(cls, *, as_json: bool = False, by_lines: bool = False) -> Terminal:
        return cls(console_for(sys.stdout), console_for(sys.stderr), as_json, by_lines)

    @property
    def asks(self) -> bool:
        """Whether a person can be asked: both keyboard and screen are terminals."""
        return is_terminal(sys.stdin) and self.err.is_terminal

    def show(self, *things: RenderableType | str) -> None:
        """The result for people; nothing with `--json`."""
        if not self.as_json:
            with _wrap_output_errors():
                _print_things(self.out, things)

    def reveal(self, text: str) -> None:
        """The one result that holds a password, because it was asked for."""
        if not self.as_json:
            with _wrap_output_errors():
                self.out.file.write(f"{text}\n")
                self.out.file.flush()

    def annotate(self, lines: Iterable[str]) -> None:
        """Print workflow commands; no other output line may be one."""
        with _wrap_output_errors():
            for line in lines:
                self.out.file.write(annotation(line) + "\n")
            self.out.file.flush()

    def data(self, document: Any, *, of_run: bool = False) -> None:
        """The result as one JSON document; nothing without `--json`.

        of_run: the document holds values of a run, which stay unchanged; in values of files,
        credentials are starred.
        """
        if self.as_json:
            shown = document if of_run else _mask_secrets(document)
            self._write_json(shown, indent=None if self.by_lines else 2)

    def data_line(self, document: Any) -> None:
        """A value of a run as one line of JSON; nothing without `--json`."""
        if self.as_json:
            self._write_json(document, indent=None)

    def _write_json(self, document: Any, *, indent: int | None) -> None:
        # ASCII only: safe in every locale, on every terminal, and with lone surrogates.
        text = json.dumps(document, indent=indent).replace("\x7f", "\\u007f")
        # The same JSON value, written so that no build runner finds `##[command]` in it.  A
        # line of JSON begins with a bracket, a quote, a letter or a digit, so never with `::`.
        text = _TWO_HASHES.sub(r"\\u0023", text)
        with _wrap_output_errors():
            self.out.file.write(text + "\n")
            self.out.file.flush()

    def say(self, *things: RenderableType | str) -> None:
        """Print words for people; dropped where stderr is closed, because a run must continue."""
        try:
            _print_things(self.err, things)
        except OSError:
            self.err.quiet = True

    def say_part(self, thing: RenderableType) -> None:
        """Print a piece of an unfinished line."""
        try:
            self.err.print(_escape_controls(self.err, thing), end="", crop=False, no_wrap=True)
        except OSError:
            self.err.quiet = True

    def prompt(self, text: str) -> None:
        """A question that is answered on the same line."""
        self.err.print(Text(printed(text), style="bold"), end="", soft_wrap=True)
        self.err.file.flush()

    def error(self, message: str) -> None:
        self._say_lines("error: ", "bold red", message)

    def note(self, message: str) -> None:
        self._say_lines("note: ", "bold", message)

    def _say_lines(self, label: str, style: str, message: str) -> None:
        first, *others = clean(message, lines=True).split("\n")
        self.say(Lines([Text.assemble((label, style), first), *map(Text, others)]))


@contextlib.contextmanager
def _wrap_output_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has closed the pipe, which is no failure
    except OSError as error:
        raise OutputLost(why_lost(error)) from None


def why_lost(error: OSError) -> str:
    """The sentence about a failed output."""
    return f"stdout cannot be written to: {error.strerror or 'it is closed'}"


def notes_of_the_log(terminal: Terminal, *, debug: bool = False) -> None:
    """Warnings of the flow's own log become notes, made safe like every other text.

    debug: those of the database's library too; without it, the log's own notes say what went wrong,
    or the command ends with it.
    """

    class Notes(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            # A note that cannot be printed must not fail its run.
            with contextlib.suppress(OSError, ValueError):
                terminal.note(record.getMessage())

    library = logging.getLogger("psycopg")
    library.handlers = [Notes(logging.WARNING) if debug else logging.NullHandler()]
    library.propagate = False
    log = logging.getLogger("oasflow")
    notes = Notes(logging.WARNING)
    # Errors of a run are left out here, because the command itself ends with them.
    notes.addFilter(lambda record: record.levelno < logging.ERROR)
    log.handlers = [notes]
    log.propagate = False


def _print_things(console: Console, things: Sequence[RenderableType | str]) -> None:
    for thing in things:
        soft_wrap = isinstance(thing, (str, Text))
        if console.is_terminal:
            console.print(_escape_controls(console, thing), crop=False, soft_wrap=soft_wrap)
            continue
        # Tables are padded to their width; a file or a pipe needs no padding.
        lines = printed(_render_plain_text(console, thing)).split("\n")
        console.file.write("\n".join(line.rstrip() for line in lines))
        console.file.flush()


def _escape_controls(console: Console, thing: RenderableType | str) -> RenderableType:
    """The text without terminal control characters, except the colours of this program."""
    if isinstance(thing, Control):
        return thing
    if isinstance(thing, str):
        return Text(printed(thing))
    if isinstance(thing, Text):
        safe = thing.copy()
        safe.plain = printed(thing.plain)  # as many letters, so the colours stay in their places
        return safe
    return Segments(
        part if part.control else Segment(printed(part.text), part.style)
        for part in console.render(thing)
    )


def _mask_secrets(document: Any) -> Any:
    if isinstance(document, str):
        return without_secrets(document)
    if isinstance(document, (list, tuple)):
        return [_mask_secrets(item) for item in document]
    if isinstance(document, dict):
        return {_mask_secrets(key): _mask_secrets(item) for key, item in document.items()}
    return document


def _render_plain_text(console: Console, thing: RenderableType | str) -> str:
    if isinstance(thing, Lines):
        thing = thing.plain
    if isinstance(thing, (str, Text)):
        # As the console would write it, which takes seconds for thousands of findings.
        text = thing if isinstance(thing, Text) else Text(thing)
        return text.plain.expandtabs() + "\n"
    with console.capture() as captured:
        console.print(thing, crop=False)
    return captured.get()


class _Console(Console):
    """A console that leaves it to us what a broken pipe means."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console_for(stream: TextIO) -> Console:
    """A console that writes plain text unless `stream` is a terminal that may have colour."""
    terminal = is_terminal(stream)
    plain = not terminal or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return _Console(
        file=stream,
        force_terminal=terminal,
        color_system=None if plain else "auto",
        width=None if terminal else WIDE,
        markup=False,
        highlight=False,
        emoji=False,
    )


def is_terminal(stream: Any) -> bool:
    """False also for a stream that is closed or was never there."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False
