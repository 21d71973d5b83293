"""The two streams of a command: data and results on stdout, words for people on stderr.

    terminal = Terminal.open(as_json=False)
    terminal.show(table)          # the result, on stdout; nothing with --json
    terminal.data({"runs": []})   # the result, on stdout; only with --json
    terminal.say("starting …")    # on stderr

Colour goes to a terminal only, and never with `NO_COLOR`.  Markup in data is
never interpreted: text is printed as it is, made safe by `safe.clean` where it is made.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TextIO

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.control import Control
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from oas_compiler.text.safe_text import visible, without_secrets

# ----------------------------------------------------------------------------
# Lines and lists at any width: ids stay whole, and tables become blocks of lines where they are
# too wide.
#
#     Pieces([id, name, age])                on one line where there is room, else broken between them
#     Listing(("run", "flow"), rows)         a table where there is room, else a block for each row
#     Fitting(table, columns, lines)         the same for another table
#     Compact(listing=…, below="command")    between the two: a table with cut cells, a line below each
#
# An id, a path or a command is never broken here: where it is wider than the terminal, the terminal
# itself continues it in the next line, so that it can be copied whole.


_GAP: Final = 2
"""Columns of the terminal between two cells."""
_READABLE: Final = 16
"""Fewest columns in which broken lines of words can be read."""


def unbroken(text: Text) -> Text:
    """`text`, whose lines are only broken by the terminal."""
    text.no_wrap, text.overflow = True, "ignore"
    return text


@dataclass(frozen=True, slots=True)
class Indented:
    """Indented content whose unbroken lines stay whole."""

    thing: RenderableType
    by: int = 4

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        inner = options.update_width(max(1, options.max_width - self.by))
        for line in Segment.split_lines(console.render(self.thing, inner)):
            yield from (Segment(" " * self.by), *line, Segment.line())


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of one line; a line that is too long is broken between pieces."""

    pieces: Sequence[Text]
    between: str = " · "
    """The text between two pieces; left out where the line is broken."""
    after_first: str = ""
    """The text after the first piece, instead of `between`."""
    indent: int = 4
    """Columns before every line but the first."""

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[Text]:
        first, *others = self.pieces
        *before, line = self._wrap_first_piece(first, options.max_width)
        yield from map(unbroken, before)
        gap = self.after_first or self.between
        for piece in others:
            if line.cell_len + len(gap) + piece.cell_len > options.max_width:
                yield unbroken(line)
                *before, last = _wrap_words(piece, options.max_width - self.indent)
                for part in before:
                    yield unbroken(Text.assemble(" " * self.indent, part))
                line = Text.assemble(" " * self.indent, last)
            else:
                line.append(gap, style="dim").append_text(piece)
            gap = self.between
        yield unbroken(line)

    def _wrap_first_piece(self, piece: Text, width: int) -> Iterator[Text]:
        """The first piece, broken between its words where it is wider than the terminal."""
        if piece.cell_len <= width:
            yield piece.copy()
            return
        before = len(piece.plain) - len(piece.plain.lstrip(" "))
        for line in _wrap_words(piece[before:], width - max(before, self.indent)):
            yield Text.assemble(" " * before, line)
            before = self.indent


@dataclass(frozen=True, slots=True)
class Words:
    """Sentences, broken between words; their own line breaks stay."""

    text: Text
    indent: int = 2

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in _wrap_words(self.text, options.max_width - self.indent):
            yield unbroken(Text.assemble(" " * self.indent, line))


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of text, each broken between its words where it is too long and not `unbroken`."""

    lines: Sequence[Text]

    @property
    def plain(self) -> str:
        """The text unchanged where no line must be broken."""
        return "\n".join(line.plain for line in self.lines)

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in self.lines:
            if line.no_wrap:
                yield line
            else:
                yield from map(unbroken, _wrap_words(line, options.max_width))


def _wrap_words(text: Text, room: int) -> Iterator[Text]:
    """Lines of whole words; a word that is wider than `room` has a line of its own.

    Line breaks of the text stay; a broken line continues below its first word.
    """
    for written in text.split("\n", allow_blank=True):
        lead = " " * (len(written.plain) - len(written.plain.lstrip(" ")))
        line = Text(lead)
        for word in written[len(lead) :].split(" ", allow_blank=True):
            begun = len(line) > len(lead)
            if begun and line.cell_len + 1 + word.cell_len > max(_READABLE, room):
                yield line
                line, begun = Text(lead), False
            line.append(" " if begun else "").append_text(word)
        yield line


@dataclass(frozen=True, slots=True)
class Widths:
    """The width of a column without broken lines, and its smallest width."""

    whole: int
    least: int

    @classmethod
    def of(cls, texts: Iterable[str], *, words: bool) -> Widths:
        """words: the texts may be broken, between their words."""
        known = list(texts)
        whole = max(map(cell_len, known), default=0)
        if not words:
            return cls(whole, whole)
        longest = max((cell_len(word) for text in known for word in text.split()), default=0)
        return cls(whole, min(whole, max(_READABLE, longest)))


@dataclass(frozen=True, slots=True)
class Fitting:
    """A table where its columns have enough room, else the same data in lines."""

    table: Table
    columns: Sequence[Widths]
    lines: RenderableType
    between: int = _GAP
    """Columns of the terminal that the table puts between two cells."""
    below: Sequence[RenderableType] = ()
    """What the table leaves out, and the lines do not."""

    def __rich_console__(
        self, _console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        room = options.max_width - self.between * (len(self.columns) - 1)
        left = room - sum(column.least for column in self.columns)
        if left < 0:
            yield self.lines
            return
        for shown, column in zip(self.table.columns, self.columns, strict=True):
            more = min(left, column.whole - column.least)
            shown.width = column.least + more
            left -= more
        yield self.table
        yield from self.below


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of cells under the names of their columns."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Text]]
    words: frozenset[str] = frozenset()
    """Names of the columns that may be broken between words; other cells stay whole."""

    def __rich_console__(
        self, _console: Console, _options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
        for name in self.columns:
            table.add_column(name.upper(), overflow="fold")
        for row in self.rows:
            table.add_row(*row)
        yield Fitting(
            table, [self._measure_column(at) for at in range(len(self.columns))], self._blocks()
        )

    def has_room(self, room: int) -> bool:
        """Whether it is a table in so many columns of the terminal, without broken cells."""
        every = range(len(self.columns))
        return sum(self._measure_column(at).whole for at in every) + _GAP * (len(every) - 1) <= room

    def _measure_column(self, at: int) -> Widths:
        name = self.columns[at]
        return Widths.of((name, *(row[at].plain for row in self.rows)), words=name in self.words)

    def _blocks(self) -> Group:
        """The first cell of each row, and the others below it behind their names."""
        most = max(map(cell_len, self.columns))
        parts: list[RenderableType] = []
        for first, *others in self.rows:
            parts.append(unbroken(Text.assemble(first, style="bold")))
            parts += [
                Member(name.ljust(most), cell, is_words=name in self.words)
                for name, cell in zip(self.columns[1:], others, strict=True)
                if cell.plain
            ]
        return Group(*parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """A listing as a table with cut cells where the whole table has no room, and with lines below
    each row that are never cut: so what is cut can be seen, and the lines be copied.
    """

    listing: Listing
    below: str
    """The column whose cells stand below the rows; a cell may have several lines."""
    least: Mapping[str, int]
    """Fewest terminal columns of a column; one that is not named is never cut."""
    narrow: RenderableType
    """The same rows where a table has no room."""
    leaves_out: Sequence[str] = ()
    """Columns that are left out where there is no room, the first one first."""

    def __rich_console__(
        self, _console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        listing, room = self.listing, options.max_width
        names = {name: at for at, name in enumerate(listing.columns)}
        one_each = not any("\n" in row[names[self.below]].plain for row in listing.rows)
        if one_each and listing.has_room(room):
            yield listing
            return
        widths = self._find_widths(room)
        if not widths:
            yield self.narrow
            return
        titles = [Text(name.upper(), "bold") for name in listing.columns]
        yield _join_cells([(titles[names[name]], width) for name, width in widths.items()])
        for row in listing.rows:
            yield _join_cells([(row[names[name]], width) for name, width in widths.items()])
            for line in row[names[self.below]].split("\n"):
                yield unbroken(Text.assemble("  ", line))

    def _find_widths(self, room: int) -> dict[str, int]:
        """The width of each shown column; empty where there is no room for a table."""
        listing = self.listing
        whole = {
            name: max(map(cell_len, (name, *(row[at].plain for row in listing.rows))))
            for at, name in enumerate(listing.columns)
            if name != self.below
        }
        for number in range(len(self.leaves_out) + 1):
            shown = [name for name in whole if name not in self.leaves_out[:number]]
            widths = {name: min(whole[name], self.least.get(name, whole[name])) for name in shown}
            left = room - sum(widths.values()) - _GAP * (len(shown) - 1)
            if left >= 0:
                # Those that lack least grow first: so most cells are whole.
                for name in sorted(shown, key=lambda one: whole[one] - widths[one]):
                    more = min(left, whole[name] - widths[name])
                    widths[name] += more
                    left -= more
                return widths
        return {}


def _join_cells(cells: Sequence[tuple[Text, int]]) -> Text:
    """One line of cells, each cut to its width, with … where something is cut."""
    line = Text()
    for cell, width in cells:
        part = cell.copy()
        part.truncate(width, overflow="ellipsis", pad=True)
        line.append(" " * (_GAP if line.plain else 0)).append_text(part)
    line.rstrip()
    return unbroken(line)


@dataclass(frozen=True, slots=True)
class Member:
    """A name and its content; continued lines of words stand below each other."""

    name: str
    cell: Text
    is_words: bool = False
    indent: int = 2

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[Text]:
        head = Text.assemble(" " * self.indent, (self.name, "dim"), " " * _GAP)
        if not self.is_words:
            yield unbroken(Text.assemble(head, self.cell))
            return
        if 2 * head.cell_len > options.max_width:
            yield unbroken(Text.assemble(head))
            head = Text(" " * (self.indent + 4))
        for line in _wrap_words(self.cell, options.max_width - head.cell_len):
            yield unbroken(Text.assemble(head, line))
            head = Text(" " * head.cell_len)


# ----------------------------------------------------------------------------
# Text from flows, gates and databases, made safe for a terminal and for the log of a build.
#
# In: any string.  Out: the same words, without terminal control characters.
#
#     clean("a\x1b[31mred")  ->  "a␛[31mred"          cut("x" * 500, 10)  ->  "xxxxxxxxx…"
#     printed("::error::no")  ->  the same with another first colon, so that no build obeys the line
#
# Control characters become visible pictures instead of vanishing: a person who decides at a gate
# should see that they were there.


_BREAKS: Final = re.compile("[\n\t\r\u2028\u2029]")
_COMMAND: Final = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
"""The beginning of a line that GitHub's runner obeys, in any log of a build."""
_OLD_COMMAND: Final = re.compile(r"#(?=#[A-Za-z]*\[)")
"""`##[error]`, `##vso[…]`, `##teamcity[…]`: obeyed anywhere in a line."""
_COLON: Final = "\ua789"
_HASH: Final = "\u266f"


def clean(text: str, *, lines: bool = False) -> str:
    """`text` for people; with `lines` it keeps its line breaks, else they become spaces."""
    if text.isascii() and text.isprintable():
        return text
    if lines:
        text = text.replace("\r\n", "\n").replace("\t", "    ")
    return visible(_BREAKS.sub(_kept_break if lines else " ", text))


def cut(text: str, most: int) -> str:
    """The beginning of `text`, ending in `…` where it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"


def printed(text: str) -> str:
    """`text` as it may go to a stream; length, lines and tabs stay.

    Without escape characters, without credentials of well-known shapes or in urls, and without
    commands to build runners.  The last check of everything that a command prints for people.
    """
    shown = visible(text.replace("\r", " "))
    return without_commands(without_secrets(shown))


def without_commands(text: str) -> str:
    """`text` without workflow commands, with the same length and appearance."""
    if "::" in text:
        text = _COMMAND.sub(rf"\1{_COLON}", text)
    return _without_old(text)


def annotation(line: str) -> str:
    """A workflow command whose text cannot contain another workflow command."""
    return _without_old(clean(without_secrets(line)))


def _without_old(text: str) -> str:
    return _OLD_COMMAND.sub(_HASH, text) if "##" in text else text


def _kept_break(found: re.Match[str]) -> str:
    return "\n" if found[0] == "\n" else " "


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
