r"""Python expressions, laid out in lines of at most a hundred letters.

    write(CallText("port", [("", "topic"), ("default", None)]))   ->   port("topic", default=None)

Texts come out as literals that evaluate to the same text, whatever stands in them: a file is no
source of code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

WIDTH: Final = 100
_INDENT: Final = 4
_LONG: Final = 60
"""Letters from which on a text of several lines is written as several lines."""
_SHORT_ESCAPES: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\"}


@dataclass(frozen=True, slots=True)
class NameText:
    """Code as it is: `STRING`, `review.plan()`."""

    code: str


@dataclass(frozen=True, slots=True)
class CallText:
    """A call; an argument without a name stands by its place."""

    function: str
    arguments: Sequence[tuple[str, Expression]]


@dataclass(frozen=True, slots=True)
class ListText:
    """A list, or a tuple."""

    items: Sequence[Expression]
    brackets: str = "[]"


@dataclass(frozen=True, slots=True)
class DictText:
    """A dict."""

    members: Sequence[tuple[Expression, Expression]]


Expression: TypeAlias = (
    "NameText | CallText | ListText | DictText | str | int | float | bool | None"
)


def write(expression: Expression, *, indent: int = 0, before: int = 0, after: int = 0) -> str:
    """The text of an expression.

    indent: of the line on which it begins.  before, after: letters on its first line before it, and
    on its last line behind it.
    """
    flat = _write_flat(expression)
    if before + len(flat) + after <= WIDTH and "\n" not in flat and not _is_long(expression):
        return flat
    return "".join(_write_broken(expression, indent, flat))


_BUILD_COMMAND: Final = re.compile(r"#(?=#[A-Za-z]*\[)")
"""The first letter of `##[error]`, `##vso[…]`, which build runners obey anywhere in a line."""


def quote(text: str) -> str:
    """The literal of a text, on one line; no log of a build obeys it (`##[error]`)."""
    mark = "'" if '"' in text and "'" not in text else '"'
    written = "".join(_escape(letter, mark) for letter in text)
    return mark + _BUILD_COMMAND.sub(r"\\x23", written) + mark


def _escape(letter: str, mark: str) -> str:
    if letter == mark:
        return "\\" + letter
    if letter in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[letter]
    if letter.isprintable():
        return letter
    code = ord(letter)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _write_flat(expression: Expression) -> str:
    if isinstance(expression, NameText):
        return expression.code
    if isinstance(expression, str):
        return quote(expression)
    if isinstance(expression, CallText):
        given = (
            f"{name}={_write_flat(value)}" if name else _write_flat(value)
            for name, value in expression.arguments
        )
        return f"{expression.function}({', '.join(given)})"
    if isinstance(expression, ListText):
        opened, closed = expression.brackets[0], expression.brackets[1]
        items = [_write_flat(item) for item in expression.items]
        last = "," if len(items) == 1 and opened == "(" else ""
        return f"{opened}{', '.join(items)}{last}{closed}"
    if isinstance(expression, DictText):
        members = (f"{_write_flat(key)}: {_write_flat(value)}" for key, value in expression.members)
        return "{" + ", ".join(members) + "}"
    return repr(expression)


def _is_long(expression: Expression) -> bool:
    """Whether a text stands in it that is better read in several lines."""
    if isinstance(expression, str):
        return len(expression) > _LONG and "\n" in expression.rstrip("\n")
    if isinstance(expression, CallText):
        return any(_is_long(value) for _, value in expression.arguments)
    if isinstance(expression, ListText):
        return any(_is_long(item) for item in expression.items)
    if isinstance(expression, DictText):
        return any(_is_long(value) for _, value in expression.members)
    return False


def _write_broken(expression: Expression, indent: int, flat: str) -> Iterator[str]:
    inner = indent + _INDENT
    pad, end = "\n" + " " * inner, "\n" + " " * indent
    if isinstance(expression, str):
        lines = list(_split_text(expression, WIDTH - inner - 2))
        if len(lines) < 2:
            yield flat
            return
        yield "("
        yield from (pad + quote(line) for line in lines)
        yield end + ")"
    elif isinstance(expression, CallText) and expression.arguments:
        if len(expression.arguments) == 1 and isinstance(
            expression.arguments[0][1], (DictText, ListText)
        ):
            # `Json.of({…})`: the brackets of the one argument are enough.
            name, value = expression.arguments[0]
            begin = f"{expression.function}({name}=" if name else f"{expression.function}("
            yield begin + write(value, indent=indent, before=WIDTH, after=1) + ")"
            return
        yield f"{expression.function}("
        for name, value in expression.arguments:
            begin = f"{name}=" if name else ""
            yield pad + begin + write(value, indent=inner, before=inner + len(begin), after=1) + ","
        yield end + ")"
    elif isinstance(expression, ListText) and expression.items:
        opened, closed = expression.brackets[0], expression.brackets[1]
        yield opened
        for item in expression.items:
            yield pad + write(item, indent=inner, before=inner, after=1) + ","
        yield end + closed
    elif isinstance(expression, DictText) and expression.members:
        yield "{"
        for key, value in expression.members:
            begin = f"{_write_flat(key)}: "
            yield pad + begin + write(value, indent=inner, before=inner + len(begin), after=1) + ","
        yield end + "}"
    else:
        yield flat


def _split_text(text: str, width: int) -> Iterator[str]:
    """The text in pieces that together are the text: its lines, long ones cut behind blanks."""
    for line in text.splitlines(keepends=True) if "\n" in text else [text]:
        yield from _split_line(line, width)


def _split_line(line: str, width: int) -> Iterator[str]:
    """Each piece is looked at once, so that a long text takes no longer than its length says."""
    at = 0
    while len(line) - at > width - 10:
        window = line[at : at + width - 10]
        while len(quote(window)) > width + 2:  # escapes are longer than letters
            window = window[: len(window) * 3 // 4]
        cut = window.rfind(" ") + 1 or len(window)
        yield line[at : at + cut]
        at += cut
    if at < len(line):
        yield line[at:]
