"""JSON values as a person reads them: at a gate, in a run, in an answer.

In: any JSON.  Out: something rich prints.

    {"subject": "Hello", "recipients": [{"name": "Ann"}, {"name": "Bo"}]}
        ->  subject     Hello
            recipients  2 rows
              name
              Ann
              Bo

Long texts and long lists are cut, and say so with the way to all of it; an `Extent` says how much
is shown, and afterwards whether anything was left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cinatra_sdk.text.counting import say_number
from oas_compiler.cli.layout import Fitting, Widths
from oas_compiler.cli.safe import clean, cut

MAX_CELL: Final = 60
MAX_NAME: Final = 60
MAX_TEXT: Final = 800
MAX_LINES: Final = 16
MAX_ROWS: Final = 20
MAX_COLUMNS: Final = 8
MAX_DEPTH: Final = 6
_ONE_LINE: Final = 200
"""Characters of a text that still stands behind its name."""
_BETWEEN: Final = 3
"""Columns between the cells of a table of rows."""
NOTE: Final = "dim italic"


@dataclass(slots=True)
class Extent:
    """How much of the values is shown, and whether anything of them was left out."""

    whole: bool = False
    """Nothing is left out."""
    way: str = "oasflow show --full has all"
    """What a person does to see the rest."""
    is_cut: bool = False
    """Set while values are laid out: something was left out."""

    def most(self, number: int) -> int:
        return sys.maxsize if self.whole else number

    def cut(self, text: str, most: int) -> str:
        shown = cut(text, self.most(most))
        self.is_cut |= shown != text
        return shown

    def more(self, number: int, what: str) -> Text:
        self.is_cut = True
        return Text(f"… {number:,} {what}; {self.way}", style=NOTE)


def values_view(
    values: Mapping[str, Any], extent: Extent | None = None, *, depth: int = 0
) -> RenderableType:
    """An object as lines of name and value; what does not fit on a line stands below its name."""
    extent = extent or Extent()
    if not values:
        return Text("(nothing)", style=NOTE)
    width = min(36, max(len(clean(name)) for name in values))
    parts: list[RenderableType] = []
    most = extent.most(MAX_ROWS)
    for name, value in list(values.items())[:most]:
        label = Text(extent.cut(clean(name), MAX_NAME).ljust(width), style="bold")
        short = _one_line(value)
        if short is not None:
            parts.append(Text.assemble(label, "  ", short))
            continue
        parts.append(Text.assemble(label, "  ", (_format_size(value), NOTE)))
        below = value_view(value, extent, depth=depth + 1)
        parts.append(Padding(below, (0, 0, 0, 2), expand=False))
    if len(values) > most:
        parts.append(extent.more(len(values) - most, "more names"))
    return Group(*parts)


def value_view(value: Any, extent: Extent | None = None, *, depth: int = 0) -> RenderableType:
    """Any JSON value on lines of its own."""
    extent = extent or Extent()
    short = _one_line(value)
    if short is not None:
        return short
    if isinstance(value, str):
        return _long_text(value, extent)
    if depth >= MAX_DEPTH:
        return Text(cell(value, extent), style=NOTE)
    if isinstance(value, Mapping):
        return values_view(value, extent, depth=depth)
    if all(isinstance(item, Mapping) and item for item in value):
        return _build_rows_view(value, extent, depth)
    return Group(*_list_item_views(value, extent, depth))


def cell(value: Any, extent: Extent | None = None) -> str:
    """A value in the cell of a table or behind its name: one short line."""
    return (extent or Extent()).cut(_format_flat(value), MAX_CELL)


def _format_flat(value: Any) -> str:
    """The whole value on one line."""
    return clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _one_line(value: Any) -> Text | None:
    """The value on one line; None when it needs more."""
    if isinstance(value, str):
        if "\n" in value.strip("\n") or len(value) > _ONE_LINE:
            return None
        return Text(clean(value)) if value.strip() else Text('""', style=NOTE)
    if value is None or isinstance(value, (bool, int, float)):
        return Text(json.dumps(value), style="cyan")
    if not value:
        return Text("(empty list)" if isinstance(value, list) else "(empty)", style=NOTE)
    if isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value):
        joined = ", ".join(map(_format_flat, value))
        return Text(joined) if len(joined) <= MAX_CELL else None
    return None


def _format_size(value: Any) -> str:
    if isinstance(value, str):
        return say_number(len(value), "character")
    if isinstance(value, list):
        of_objects = all(isinstance(item, Mapping) and item for item in value)
        noun = "row" if of_objects else "item"
        return say_number(len(value), noun)
    return ""


def _long_text(text: str, extent: Extent) -> RenderableType:
    kept = "\n".join(text[: extent.most(MAX_TEXT)].split("\n")[: extent.most(MAX_LINES)])
    shown = Text(clean(kept, lines=True))
    missing = len(text) - len(kept)
    return Group(shown, extent.more(missing, "more characters")) if missing else shown


def _build_rows_view(
    items: Sequence[Mapping[str, Any]], extent: Extent, depth: int
) -> RenderableType:
    shown = items[: extent.most(MAX_ROWS)]
    names = list(dict.fromkeys(name for item in shown for name in item))
    if extent.whole and not _fits_cells(shown, names):
        return Group(*_list_item_views(items, extent, depth))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    columns: list[Widths] = []
    for name in names[:MAX_COLUMNS]:
        heading = extent.cut(clean(name), MAX_CELL)
        table.add_column(Text(heading), overflow="fold")
        cells = (cell(item[name], extent) for item in shown if name in item)
        columns.append(Widths.of((heading, *cells), words=True))
    for item in shown:
        table.add_row(
            *(Text(cell(item[name]) if name in item else "") for name in names[:MAX_COLUMNS])
        )
    lines = Group(*_list_item_views(shown, extent, depth))
    missing = len(names) - MAX_COLUMNS
    below = [extent.more(missing, "more columns")] if missing > 0 else []
    parts: list[RenderableType] = [Fitting(table, columns, lines, between=_BETWEEN, below=below)]
    if len(items) > len(shown):
        parts.append(extent.more(len(items) - len(shown), "more rows"))
    return Group(*parts)


def _fits_cells(items: Sequence[Mapping[str, Any]], names: Sequence[str]) -> bool:
    """Whether a table would show all of it, and nothing as one long line of JSON."""
    values = [value for item in items for value in item.values()]
    return len(names) <= MAX_COLUMNS and all(
        not isinstance(value, (Mapping, list)) and len(_format_flat(value)) <= MAX_CELL
        for value in (*values, *names)
    )


def _list_item_views(items: Sequence[Any], extent: Extent, depth: int) -> Iterator[RenderableType]:
    most = extent.most(MAX_ROWS)
    for item in items[:most]:
        short = _one_line(item)
        if short is not None:
            yield Text.assemble("- ", short)
        else:
            yield Text("-")
            below = value_view(item, extent, depth=depth + 1)
            yield Padding(below, (0, 0, 0, 2), expand=False)
    if len(items) > most:
        yield extent.more(len(items) - most, "more items")
