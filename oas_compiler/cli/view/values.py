"""JSON values as text for people: at a gate, in a run, in an answer.

In: any JSON.  Out: text for rich to print.

    {"subject": "Hello", "recipients": [{"name": "Ann"}, {"name": "Bo"}]}
        ->  subject     Hello
            recipients  2 rows
              name
              Ann
              Bo

Long texts and long lists are cut, with a note of how to see all.  An `Extent` sets how much is shown,
and afterwards holds whether anything was left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cinatra_sdk.data.ports import Schema, choices, properties_of, read_type
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.terminal.argument_values import NOT_JSON, decoded
from oas_compiler.cli.terminal.layout import Fitting, Widths
from oas_compiler.cli.terminal.printable_text import clean, cut

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


# ----------------------------------------------------------------------------
# One field of a form: turns a typed line into the JSON value that the field's schema asks for.
#
# In: a JSON Schema and a line of text.  Out: the value, or `NotFitting` with the reason.
#
#     read_field({"type": "integer"}, "12")                      ->  12
#     read_field({"enum": ["send", "continue"]}, "2")            ->  "continue"
#     read_field({"type": "array", "items": {"type": "string"}}, "a, b")  ->  ["a", "b"]


_LONGEST_NUMBER: Final = 6
_YES_NO: Final = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
_NAMES: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "y or n",
    "array": "list",
    "object": "JSON object",
    "null": "null",
}


class NotFitting(ValueError):
    """The typed text is not a value of the field; the message says why."""


def kind(schema: Schema) -> str:
    """The kind of value to type, in two or three words."""
    if choices(schema):
        return "choice"
    items = _read_item_type(schema)
    if read_type(schema) == "array" and items in {"string", "integer", "number"}:
        return f"list of {_NAMES[items]}s, by commas or as JSON"
    return _NAMES.get(read_type(schema), "text or JSON")


def words_of(name: str, schema: Schema) -> list[str]:
    """The author's description of a field, with its lines, safe for a terminal."""
    texts = [schema.get(key) for key in ("title", "description")]
    told = {text.rstrip("."): text for text in texts if isinstance(text, str) and text}
    return [clean(text, lines=True) for bare, text in told.items() if bare != name]


def read_field(schema: Schema, typed: str) -> Any:
    """The value of a typed text.

    Raises: `NotFitting`.
    """
    options = choices(schema)
    value = _parse_choice(options, typed.strip()) if options else _parse_value(schema, typed)
    problem = fits(schema, value)
    if problem:
        raise NotFitting(problem)
    return value


def as_typed(schema: Schema, value: Any) -> str:
    """The text to type for `value`; empty where no typed text gives this value."""
    listed = isinstance(value, list) and all(isinstance(item, str) for item in value)
    texts = [
        value if isinstance(value, str) else "",
        {True: "y", False: "n"}[value] if isinstance(value, bool) else "",
        ", ".join(value) if listed else "",
        json.dumps(value, ensure_ascii=False),
    ]
    for text in texts:
        try:
            if text.strip() and same(read_field(schema, text), value):
                return text
        except NotFitting:
            continue
    return ""


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; Python's == cannot tell, because 1 == True."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def fits(schema: Schema, value: Any) -> str:
    """Why `value` does not fit `schema`; empty when it does.

    A field whose schema refers to a part of the whole form is checked with the form.
    """
    text = json.dumps(schema)
    if '"$ref"' in text or '"$dynamicRef"' in text:
        return ""
    return first_problem(text, value)


def _parse_choice(options: list[Any], typed: str) -> Any:
    for option in options:
        if typed == (option if isinstance(option, str) else json.dumps(option)):
            return option
    if is_numbered(options) and typed.isdecimal() and 1 <= int(typed) <= len(options):
        return options[int(typed) - 1]
    what = f"a number from 1 to {len(options)}" if is_numbered(options) else "one of the values"
    raise NotFitting(f"type {what}")


def is_numbered(options: list[Any]) -> bool:
    """Whether options can be chosen by number: no option looks like the number of another
    option.
    """
    texts = [one if isinstance(one, str) else json.dumps(one) for one in options]
    return not any(
        text.isdecimal() and 1 <= int(text) <= len(options) and int(text) != place
        for place, text in enumerate(texts, 1)
        if len(text) < _LONGEST_NUMBER
    )


def _parse_value(schema: Schema, typed: str) -> Any:
    wanted = read_type(schema)
    if wanted == "string":
        return "" if typed.strip() == '""' else typed
    if wanted == "boolean":
        if typed.strip().lower() not in _YES_NO:
            raise NotFitting("type y or n")
        return _YES_NO[typed.strip().lower()]
    value = decoded(typed)
    if wanted in {"integer", "number"} and (
        value is NOT_JSON or isinstance(value, bool) or not isinstance(value, (int, float))
    ):
        raise NotFitting(f"type a {_NAMES[wanted]}")
    if wanted == "array" and not isinstance(value, list) and _read_item_type(schema) in _NAMES:
        return [
            _parse_value({"type": _read_item_type(schema)}, part.strip())
            for part in typed.split(",")
        ]
    if wanted in {"array", "object"} and value is NOT_JSON:
        raise NotFitting("type JSON")
    if value is NOT_JSON or (not wanted and fits(schema, value) and not fits(schema, typed)):
        return typed
    return value


def _read_item_type(schema: Schema) -> str:
    items = schema.get("items")
    return read_type(items) if isinstance(items, Mapping) else ""


# ----------------------------------------------------------------------------
# Finds values in a gate's payload that propose an answer.
#
# In: a gate.  Out: the part of an answer that its values propose; None without a proposal.
#
#     form {"subject", "body"}, values {"subject": "Hello", "to": "ann"}    ->  {"subject": "Hello"}
#     form {"subject", "body"}, values {"draft": {"subject": "Hello", …}}   ->  {"subject": "Hello", …}


def proposed(gate: Gate) -> Any:
    """Values for the fields of the gate's form, by name; for a form without fields, the value."""
    schema = gate.form.fields_schema
    parts = properties_of(schema or {})
    if not parts:
        shown = gate.values.get(gate.form.output)
        return shown if shown is not None and not fits(schema or {}, shown) else None
    for source in (gate.values, *_select_objects(gate.values)):
        if _select_fitting_values(parts, source) and (
            source is gate.values or _has_required(schema, source)
        ):
            return _select_fitting_values(parts, source)
    return None


def _select_objects(values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [value for value in values.values() if isinstance(value, Mapping)]


def _select_fitting_values(
    parts: Mapping[str, Schema], source: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        name: source[name]
        for name, part in parts.items()
        if name in source and source[name] is not None and not fits(part, source[name])
    }


def _has_required(schema: Schema | None, source: Mapping[str, Any]) -> bool:
    """Whether a shown object has the required members of the answer, so that it is not a
    namesake.
    """
    required = (schema or {}).get("required")
    return isinstance(required, list) and bool(required) and all(one in source for one in required)


def takes_any_text(gate: Gate) -> bool:
    """Whether the gate asks for one text of the person's own, and takes it without a name around it.

    A text from a list, or of a given form, is better shown by an example.
    """
    from cinatra_sdk.data.ports import properties_of
    from cinatra_sdk.errors import AnswerInvalid
    from cinatra_sdk.gates.decisions import Decision

    form = gate.form
    if form.text_field is None or form.fields_schema is None:
        return False
    part = properties_of(form.fields_schema).get(form.text_field, form.fields_schema)
    if any(key in part for key in ("enum", "const", "pattern", "format", "anyOf", "oneOf")):
        return False
    example = gate.example()
    text = example.get(form.text_field) if isinstance(example, Mapping) else example
    try:
        gate.check(Decision.approve(by="nobody", value=text))
    except AnswerInvalid:
        return False
    return isinstance(text, str)
