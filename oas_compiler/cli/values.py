"""JSON values as a person reads them: at a gate, in a run, in an answer.

In: any JSON.  Out: something rich prints.

    {"subject": "Hello", "recipients": [{"name": "Ann"}, {"name": "Bo"}]}
        ->  subject     Hello
            recipients  2 rows
              name
              Ann
              Bo

Long texts and long lists are cut, and say so: the whole is in `oasflow show RUN --json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from oas_compiler.cli.layout import Fitting, Widths
from oas_compiler.cli.safe import clean, cut

MAX_CELL: Final = 60
MAX_TEXT: Final = 800
MAX_LINES: Final = 16
MAX_ROWS: Final = 20
MAX_COLUMNS: Final = 8
MAX_DEPTH: Final = 6
_BETWEEN: Final = 3
"""Columns between the cells of a table of rows."""
NOTE: Final = "dim italic"


def values_view(values: Mapping[str, Any], *, depth: int = 0) -> RenderableType:
    """An object as lines of name and value; what does not fit on a line stands below its name."""
    if not values:
        return Text("(nothing)", style=NOTE)
    width = min(28, max(len(clean(name)) for name in values))
    parts: list[RenderableType] = []
    for name, value in list(values.items())[:MAX_ROWS]:
        label = Text(cut(clean(name), 60).ljust(width), style="bold")
        short = _one_line(value)
        if short is not None:
            parts.append(Text.assemble(label, "  ", short))
            continue
        parts.append(Text.assemble(label, "  ", (_size(value), NOTE)))
        parts.append(Padding(value_view(value, depth=depth + 1), (0, 0, 0, 2), expand=False))
    if len(values) > MAX_ROWS:
        parts.append(_more(len(values) - MAX_ROWS, "more names"))
    return Group(*parts)


def value_view(value: Any, *, depth: int = 0) -> RenderableType:
    """Any JSON value on lines of its own."""
    short = _one_line(value)
    if short is not None:
        return short
    if isinstance(value, str):
        return _long_text(value)
    if depth >= MAX_DEPTH:
        return Text(cut(clean(json.dumps(value, ensure_ascii=False)), MAX_CELL), style=NOTE)
    if isinstance(value, Mapping):
        return values_view(value, depth=depth)
    if all(isinstance(item, Mapping) and item for item in value):
        return _rows(value, depth)
    return Group(*_items(value, depth))


def cell(value: Any) -> str:
    """A value in the cell of a table or behind its name: one short line."""
    if isinstance(value, str):
        return cut(clean(value), MAX_CELL)
    return cut(clean(json.dumps(value, ensure_ascii=False)), MAX_CELL)


def _one_line(value: Any) -> Text | None:
    """The value on one line; None when it needs more."""
    if isinstance(value, str):
        if "\n" in value.strip("\n") or len(value) > MAX_TEXT // 4:
            return None
        return Text(clean(value)) if value.strip() else Text('""', style=NOTE)
    if value is None or isinstance(value, (bool, int, float)):
        return Text(json.dumps(value), style="cyan")
    if not value:
        return Text("(empty list)" if isinstance(value, list) else "(empty)", style=NOTE)
    if isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value):
        joined = ", ".join(cell(item) for item in value)
        return Text(joined) if len(joined) <= MAX_CELL else None
    return None


def _size(value: Any) -> str:
    if isinstance(value, str):
        return f"{len(value):,} characters"
    if isinstance(value, list):
        of_objects = all(isinstance(item, Mapping) and item for item in value)
        noun = "row" if of_objects else "item"
        return f"{len(value):,} {noun}{'s' if len(value) != 1 else ''}"
    return ""


def _long_text(text: str) -> RenderableType:
    kept = "\n".join(text[:MAX_TEXT].split("\n")[:MAX_LINES])
    shown = Text(clean(kept, lines=True))
    missing = len(text) - len(kept)
    return Group(shown, _more(missing, "more characters")) if missing else shown


def _rows(items: Sequence[Mapping[str, Any]], depth: int) -> RenderableType:
    shown = items[:MAX_ROWS]
    names = list(dict.fromkeys(name for item in shown for name in item))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    columns: list[Widths] = []
    for name in names[:MAX_COLUMNS]:
        heading = cut(clean(name), MAX_CELL)
        table.add_column(Text(heading), overflow="fold")
        cells = (cell(item[name]) for item in shown if name in item)
        columns.append(Widths.of((heading, *cells), words=True))
    for item in shown:
        table.add_row(
            *(Text(cell(item[name]) if name in item else "") for name in names[:MAX_COLUMNS])
        )
    lines = Group(*_items(shown, depth))
    missing = len(names) - MAX_COLUMNS
    below = [_more(missing, "more columns")] if missing > 0 else []
    parts: list[RenderableType] = [Fitting(table, columns, lines, between=_BETWEEN, below=below)]
    if len(items) > MAX_ROWS:
        parts.append(_more(len(items) - MAX_ROWS, "more rows"))
    return Group(*parts)


def _items(items: Sequence[Any], depth: int) -> Iterator[RenderableType]:
    for item in items[:MAX_ROWS]:
        short = _one_line(item)
        if short is not None:
            yield Text.assemble("- ", short)
        else:
            yield Text("-")
            yield Padding(value_view(item, depth=depth + 1), (0, 0, 0, 2), expand=False)
    if len(items) > MAX_ROWS:
        yield _more(len(items) - MAX_ROWS, "more items")


def _more(number: int, what: str) -> Text:
    return Text(f"… {number:,} {what}; --json shows all", style=NOTE)
