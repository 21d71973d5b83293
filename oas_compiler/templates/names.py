"""The names in a template of the common kind, found without importing a template engine.

    common("{{ name }}, {{ refs | tojson }}").names                  ->  {"name", "refs"}
    common("{% if a.b and n > 0 %}{{ a }}{% endif %}").names         ->  {"a", "n"}
    common("{% for r in refs %}…"), common("{{ a ~ b }}"), common("{{ a")    ->  None: Jinja decides

`None` for every unusual template, so that only Jinja decides its meaning.  Importing the engine
takes longer than checking a flow, and most flows do not need the engine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_MAX_TOKENS: Final = 35
"""In one tag; where operators and parentheses pile up they may nest too deeply."""
_MAX_BLOCKS: Final = 10
"""`if` inside `if`."""
_MAX_SIZE: Final = 4_000
"""Words and signs of a template; a larger one may be too large."""
_TAG: Final = 4
"""What a tag counts beside its words: its two marks, the text before it, the comment in it."""
_FILTERED: Final = 3
"""Words and signs of a name with a filter."""

FILTERS: Final = frozenset(
    {"tojson", "string", "upper", "lower", "trim", "length", "count", "first", "last", "items"}
)
"""Filters that need no argument."""
_JOINS: Final = frozenset({"and", "or"})
_COMPARES: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
_NOT_PLAIN: Final = frozenset(
    {
        "true", "false", "none", "True", "False", "None", "and", "or", "not", "in", "is", "if",
        "else", "elif", "for", "self", "super", "loop", "caller", "varargs", "kwargs", "import",
        "set", "block", "extends", "include", "macro", "call", "filter", "with", "context",
    }
)  # fmt: skip
"""Words that mean something else than the value of that name, at least somewhere."""

_TAG_MARK: Final = re.compile(r"\{([{%#])")
_BARE: Final = re.compile(
    r"[ \t\r\n]*([A-Za-z_][A-Za-z0-9_]*)[ \t\r\n]*(?:\|[ \t\r\n]*tojson[ \t\r\n]*)?\}\}"
)
"""What follows `{{` nearly always."""
_TOKEN: Final = re.compile(
    r"[ \t\r\n]*(?:"
    r"(?P<end>-?[}%]\})"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<constant>(?:0|[1-9][0-9]{0,8})(?![0-9A-Za-z_.])|'[^'\\\n]*'|\"[^\"\\\n]*\")"
    r"|(?P<mark>[<>=!]=|[|.()\[\]<>])"
    r")"
)


class _Unusual(Exception):
    """Something that is left to Jinja."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """A template of the common kind."""

    names: frozenset[str]
    """Those that it looks up."""
    size: int
    """Words and signs of the template language, and pieces of text between them, from above."""


def common(template: str) -> Common | None:
    """The names and size of `template`; `None` where only Jinja can tell."""
    names: set[str] = set()
    try:
        size = _collect_names(template, names)
    except _Unusual:
        return None
    if size > _MAX_SIZE:
        return None
    return Common(names=frozenset(names), size=size)


def _collect_names(template: str, names: set[str]) -> int:
    """The size; the names are put into `names`."""
    at, size = 0, 1  # the text behind the last tag
    blocks: list[bool] = []  # whether each open `if` has had its `else`
    while (found := _TAG_MARK.search(template, at)) is not None:
        kind, at = found[1], found.end()
        size += _TAG
        if kind == "#":
            at = template.find("#}", at) + 2
            if at < 2:
                raise _Unusual
            continue
        bare = _BARE.match(template, at) if kind == "{" else None
        if bare is not None and bare[1] not in _NOT_PLAIN:
            names.add(bare[1])
            size += _FILTERED
            at = bare.end()
            continue
        if template.startswith("-", at):
            at += 1
        tokens, at = _read_tag_tokens(template, at, "}}" if kind == "{" else "%}")
        size += len(tokens)
        if kind == "{":
            _Expression(tokens, names).read()
        else:
            _read_statement(tokens, names, blocks)
    if blocks:
        raise _Unusual
    return size


def _read_tag_tokens(template: str, at: int, end: str) -> tuple[list[tuple[str, str]], int]:
    """Kind and text of everything up to the end of the tag, and where that is."""
    tokens: list[tuple[str, str]] = []
    while len(tokens) < _MAX_TOKENS:
        found = _TOKEN.match(template, at)
        if found is None:
            raise _Unusual
        at = found.end()
        kind = str(found.lastgroup)
        if kind == "end":
            if not found["end"].endswith(end):
                raise _Unusual
            return tokens, at
        tokens.append((kind, found[kind]))
    raise _Unusual


def _read_statement(tokens: list[tuple[str, str]], names: set[str], blocks: list[bool]) -> None:
    word = tokens[0][1] if tokens else ""
    if word == "if" and len(blocks) < _MAX_BLOCKS:
        blocks.append(False)
        _Expression(tokens[1:], names).read()
    elif word == "elif" and blocks and not blocks[-1]:
        _Expression(tokens[1:], names).read()
    elif word == "else" and len(tokens) == 1 and blocks and not blocks[-1]:
        blocks[-1] = True
    elif word == "endif" and len(tokens) == 1 and blocks:
        blocks.pop()
    else:
        raise _Unusual


class _Expression:
    """Comparisons, `and`, `or`, `not`, paths and filters; precedence does not matter for names."""

    def __init__(self, tokens: list[tuple[str, str]], names: set[str]) -> None:
        self._tokens = [*tokens, ("end", "")]
        self._names = names
        self._at = 0

    def read(self) -> None:
        self._read_condition()
        if self._take_token()[0] != "end":
            raise _Unusual

    def _take_token(self) -> tuple[str, str]:
        self._at += 1
        return self._tokens[self._at - 1]

    def _peek_token(self) -> str:
        return self._tokens[self._at][1]

    def _read_condition(self) -> None:
        self._read_comparison()
        while self._peek_token() in _JOINS:
            self._take_token()
            self._read_comparison()

    def _read_comparison(self) -> None:
        while self._peek_token() == "not":
            self._take_token()
        self._read_operand()
        while self._peek_token() in _COMPARES:
            self._take_token()
            self._read_operand()

    def _read_operand(self) -> None:
        kind, text = self._take_token()
        if kind == "name" and text not in _NOT_PLAIN:
            self._names.add(text)
            self._read_path()
        elif kind == "mark" and text == "(":
            self._read_condition()
            if self._take_token()[1] != ")":
                raise _Unusual
        elif kind != "constant":
            raise _Unusual
        while self._peek_token() == "|":
            self._take_token()
            if self._take_token() not in _FILTER_TOKENS:
                raise _Unusual

    def _read_path(self) -> None:
        while self._peek_token() in {".", "["}:
            _, mark = self._take_token()
            kind, _ = self._take_token()
            if kind != ("name" if mark == "." else "constant"):
                raise _Unusual
            if mark == "[" and self._take_token() != ("mark", "]"):
                raise _Unusual


_FILTER_TOKENS: Final = frozenset(("name", name) for name in FILTERS)
