"""The names that a template needs, from Jinja's syntax tree.

    "{{CINATRA_BASE_URL}}/api/{{ path|tojson }}"   ->  {"path"}
    "{% for r in refs %}{{ r.id }}{% endfor %}"    ->  {"refs"}
    "{# {{ hint }} #}"                             ->  {}

Upper-case names belong to the environment: the platform fills them in, a flow never feeds them.
Nothing of a template is evaluated here, not even a constant such as `9 ** 9 ** 9`.  Common templates are
read without Jinja, with the same result.  Templates that need a parser count with their words and signs, up
to a limit for the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from cinatra_sdk.data.templates.placeholders import ENVIRONMENT_NAME
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.ir import JsonValue
from oas_compiler.text.input_bounds import MAX_TEMPLATE, MAX_TEMPLATES
from oas_compiler.text.marks import child

# ----------------------------------------------------------------------------
# The names in a template of the common kind, found without importing a template engine.
#
#     common("{{ name }}, {{ refs | tojson }}").names                  ->  {"name", "refs"}
#     common("{% if a.b and n > 0 %}{{ a }}{% endif %}").names         ->  {"a", "n"}
#     common("{% for r in refs %}…"), common("{{ a ~ b }}"), common("{{ a")    ->  None: Jinja decides
#
# `None` for every unusual template, so that only Jinja decides its meaning.  Importing the engine
# takes longer than checking a flow, and most flows do not need the engine.


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


_EACH = 10
"""What a template costs beside its words and signs, in words: parsing and compiling begin anew."""
_MARKERS = ("{{", "{%", "{#")
_TOO_LARGE = "take text out of the marks, or let a tool or the platform make it"


class TemplateInvalid(ValueError):
    """The template cannot be used; the message says why."""

    def __init__(self, text: str, *, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint
        """What to do about it; empty where that depends on the text."""


def is_environment_name(name: str) -> bool:
    return ENVIRONMENT_NAME.fullmatch(name) is not None


def strings(value: JsonValue, pointer: str) -> Iterator[tuple[str, str]]:
    """Every string below `value` that could be a template, with its pointer; keys too.

    A text that is too long to be rendered is among them.
    """
    if isinstance(value, str):
        if any(marker in value for marker in _MARKERS) or len(value) > MAX_TEMPLATE:
            yield value, pointer
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from strings(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for key, member in value.items():
            below = child(pointer, key)
            yield from strings(key, below)
            yield from strings(member, below)


def write_placeholder(name: str, written: str) -> str:
    """`written`, if it means the value of that name here too, else a placeholder that does."""
    from cinatra_sdk.data.templates.placeholders import BY_NAME, is_simple

    usual = "{{" + name + "}}"
    if is_simple(written):
        return written
    return usual if is_simple(usual) else "{{" + BY_NAME + name + "}}"


class TemplateReader:
    """The templates of one document, up to a bound in all."""

    def __init__(self) -> None:
        self._left = MAX_TEMPLATES

    def names(self, template: str) -> tuple[str, ...]:
        """As `placeholders`.

        Raises: `TemplateInvalid`, also where the document holds too much template language.
        """
        if len(template) <= MAX_TEMPLATE:
            simple = _find_simple_names(template)
            if simple:
                return _select_input_names(simple)
            self._count(template)
        return placeholders(template)

    def _count(self, template: str) -> None:
        if self._left >= 0:  # what is left out is not even counted
            self._left -= _EACH + _measure_template(template)
        if self._left < 0:
            raise TemplateInvalid(
                f"the document has more than {MAX_TEMPLATES:,} words and signs of template "
                f"language, where each template counts {_EACH} more",
                hint=_TOO_LARGE,
            )


def _measure_template(template: str) -> int:
    known = _read_common_template(template)
    if known is not None:
        return known.size
    from cinatra_sdk.data.templates.parser import measured

    return measured(template).count


def _find_simple_names(template: str) -> frozenset[str]:
    """The names, where a template has nothing but paths to values; empty for any other one.

    Such a template is put together without a compiler, however long it is.
    """
    from cinatra_sdk.data.templates.placeholders import Put, parts_of

    return frozenset(str(part.path[0]) for part in parts_of(template) if isinstance(part, Put))


@lru_cache(maxsize=1024)
def _read_common_template(template: str) -> Common | None:
    return common(template)


@lru_cache(maxsize=1024)
def placeholders(template: str) -> tuple[str, ...]:
    """The names that rendering `template` looks up, in alphabetical order.

    Raises:
        TemplateInvalid: the template is not valid, or is too large.

    """
    if len(template) > MAX_TEMPLATE:
        raise TemplateInvalid(f"more than {MAX_TEMPLATE:,} characters", hint=_TOO_LARGE)
    names = _find_simple_names(template)
    if not names:
        known = _read_common_template(template)
        names = _names_by_jinja(template) if known is None else known.names
    return _select_input_names(names)


@lru_cache(maxsize=256)
def find_printed_names(template: str) -> frozenset[str]:
    """The names whose whole value a template prints, whatever the values are.

    "To: {{ to }}"   -> {"to"}
    "{{ body[:3] }}", "{{ 'x' or body }}", "{% if a %}{{ body }}{% endif %}"   -> nothing
    """
    from cinatra_sdk.data.templates.language import TemplateError as Refused
    from cinatra_sdk.data.templates.parser import list_printed_names
    from cinatra_sdk.data.templates.placeholders import Put, parts_of

    parts = parts_of(template)
    if parts:
        paths = (part.path for part in parts if isinstance(part, Put))
        return frozenset(str(path[0]) for path in paths if len(path) == 1)
    try:
        return list_printed_names(template)
    except Refused:
        return frozenset()  # an error of its own


def _select_input_names(names: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if not is_environment_name(name)))


def _names_by_jinja(template: str) -> frozenset[str]:
    # The part of the SDK that the front end shares: templates are checked as they are later read
    # and rendered.  It imports Jinja only.
    from cinatra_sdk.data.templates.language import TemplateError as Refused
    from cinatra_sdk.data.templates.language import TooLarge
    from cinatra_sdk.data.templates.parser import read

    try:
        return read(template).names
    except TooLarge as error:
        problem, hint = str(error), _TOO_LARGE
    except Refused as error:
        problem, hint = str(error), ""
    raise TemplateInvalid(problem, hint=hint)


# ----------------------------------------------------------------------------
# Templates of plain Agent Spec, written in the template language of this project.
#
#     "{{ a }} of {{ b.c }}"   ->   '{{ a }} of {{ "{" }}{ b.c }}'
#     "100 {% of {{a}}"        ->   '100 {{ "{" }}% of {{a}}'
#     "{{ a }}"                ->   the same
#     "{{ true }}"             ->   the input of that name, marked as a name
#
# Agent Spec has one placeholder, `{{ name }}`; every other brace is text.  This project's language has
# paths, filters and blocks too, so what it would read in such a text is written as text.
# Source: Agent Spec, placeholders.


_PLACEHOLDER: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_LINE_END: Final = re.compile(r"\r\n?")
_MARK: Final = re.compile(r"\{(?=[{%#])")
_WRITTEN: Final = '{{ "{" }}'
_WIDER: Final = re.compile(r"\{\{[^{}]*\}\}|\{%[^{}]*%\}")


def write_templates(value: JsonValue) -> JsonValue:
    """Every text below `value`, keys too, as a template that puts out what Agent Spec says."""
    if isinstance(value, str):
        return _write_template(value)
    if isinstance(value, list):
        return [write_templates(item) for item in value]
    if isinstance(value, dict):
        return {_write_template(key): write_templates(item) for key, item in value.items()}
    return value


def find_wider(value: JsonValue) -> str:
    """The first text between marks that only a wider language reads; empty without any."""
    return next(_iterate_wider(value), "")


def _write_template(text: str) -> str:
    if "{" not in text:
        return text
    pieces, done, is_renewed = [], 0, False
    for found in _PLACEHOLDER.finditer(text):
        placeholder = write_placeholder(found[1], found[0])
        is_renewed |= placeholder != found[0]
        pieces += [_write_text(text[done : found.start()], before=True), placeholder]
        done = found.end()
    written = "".join([*pieces, _write_text(text[done:], before=False)])
    # as Jinja writes them, which cannot read a marked name
    return _LINE_END.sub("\n", written) if is_renewed else written


def _write_text(text: str, *, before: bool) -> str:
    """before: whether a placeholder follows, whose first brace a brace at the end would join."""
    written = _MARK.sub(_WRITTEN, text)
    return written[:-1] + _WRITTEN if before and text.endswith("{") else written


def _iterate_wider(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        for found in _WIDER.finditer(value):
            if not _PLACEHOLDER.fullmatch(found[0]):
                yield found[0]
    elif isinstance(value, list):
        for item in value:
            yield from _iterate_wider(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _iterate_wider(key)
            yield from _iterate_wider(item)
