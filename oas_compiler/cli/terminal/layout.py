"""Lines and lists at any width: ids stay whole, and tables become blocks of lines where they are
too wide.

    Pieces([id, name, age])                on one line where there is room, else broken between them
    Listing(("run", "flow"), rows)         a table where there is room, else a block for each row
    Fitting(table, columns, lines)         the same for another table
    Compact(listing=…, below="command")    between the two: a table with cut cells, a line below each

An id, a path or a command is never broken here: where it is wider than the terminal, the terminal
itself continues it in the next line, so that it can be copied whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from cinatra_sdk.light_imports.records import dataclass

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
