"""A template read into its tree, after its size was counted.

    measured("{{ a ~ b }}")              ->  Size(count=5): the words and signs of the language
    measured("{{ a" + " ~ a" * 9_999)    ->  Size(count=5_001, problem="more than 5,000 words …")
    read("Dear {{ name }}")              ->  Reading(tree=…, names={"name"})

Reading and compiling take time for each word and sign (some 60 µs at worst), so these are counted
before anything is read.  The checker of files and the runtime read in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import jinja2
from jinja2 import nodes
from jinja2.meta import TrackingCodeGenerator

from cinatra_sdk.data.templates.language import ENVIRONMENT, TemplateError, TooLarge, check
from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# Why a text is no template, in words for people.
#
#     flaw("{{ name")                  ->  TemplateFlaw(line=1, says="{{ is not closed: }} is missing")
#     flaw("{% if a %}x")              ->  TemplateFlaw(line=1, says="{% if %} is not closed: {% endif %} is missing")
#     flaw("{% set x = 1 %}")          ->  TemplateFlaw(line=1, says='there is no tag "set"; known are if, …')
#
# In: a text that Jinja refused.  Reads the marks and the words after `{%`, once; the library's own
# messages name its tokens, and quote more of the text than findings may show.


_MARK: Final = re.compile(r"\{\{|\{%|\{#")
_CLOSING: Final = {"{{": "}}", "{%": "%}", "{#": "#}"}
_QUOTED: Final = re.compile(r"'[^'\\]*(?:\\.[^'\\]*)*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\"", re.DOTALL)
_WORD: Final = re.compile(r"[-+]?\s*(\w{1,40})")
_RAW: Final = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")
_BLOCKS: Final = ("if", "for")
_TAGS: Final = ("if", "elif", "else", "endif", "for", "endfor", "raw", "endraw")
_LONGEST: Final = 100_000
"""Characters that are looked at."""


@dataclass(frozen=True, slots=True)
class TemplateFlaw:
    """One reason; `line` counts from 1."""

    line: int
    says: str


@dataclass(frozen=True, slots=True)
class _Tag:
    mark: str
    at: int
    inside: str
    is_closed: bool

    @property
    def word(self) -> str:
        found = _WORD.match(self.inside.lstrip())
        return found[1] if found is not None and self.mark == "{%" else ""


def flaw(text: str, line: int = 1) -> TemplateFlaw:
    """The flaw; if the marks do not show it, the `line` that the reader named."""
    text = text[:_LONGEST]
    blocks: list[tuple[str, int]] = []
    for tag in _iterate_tags(text):
        says = _of_tag(tag) or (_of_block(tag.word, blocks) if tag.mark == "{%" else "")
        if says:
            return TemplateFlaw(text.count("\n", 0, tag.at) + 1, says)
        if tag.word in _BLOCKS:
            blocks.append((tag.word, tag.at))
    if blocks:
        word, at = blocks[-1]
        says = f"{{% {word} %}} is not closed: {{% end{word} %}} is missing"
        return TemplateFlaw(text.count("\n", 0, at) + 1, says)
    return TemplateFlaw(
        line, "what stands between the marks is no name, no path, no filter and no comparison"
    )


def _iterate_tags(text: str) -> Iterator[_Tag]:
    at = 0
    while (found := _MARK.search(text, at)) is not None:
        mark, start = found[0], found.end()
        stop = _find_tag_end(text, start, mark)
        yield _Tag(mark, found.start(), text[start : stop if stop >= 0 else start + 200], stop >= 0)
        if stop < 0:
            return
        at = stop + 2
        if mark == "{%" and text[start:stop].strip(" \t\r\n-+") == "raw":
            end = _RAW.search(text, at)
            at = end.end() if end is not None else len(text)


def _find_tag_end(text: str, start: int, mark: str) -> int:
    """Where the closing mark begins; -1 where there is none before the next opening one."""
    closing = _CLOSING[mark]
    if mark == "{#":
        return text.find(closing, start)
    at = start
    while at < len(text):
        quoted = _QUOTED.match(text, at)
        if quoted is not None:
            at = quoted.end()
        elif text.startswith(closing, at):
            return at
        elif text.startswith(("{{", "{%"), at) and at > start:
            return -1
        else:
            at += 1
    return -1


def _of_tag(tag: _Tag) -> str:
    inside = tag.inside.strip(" \t\r\n-+")
    if not tag.is_closed:
        before, closing, _ = tag.inside.partition(_CLOSING[tag.mark])
        if tag.mark != "{#" and closing and ("'" in before or '"' in before):
            return f"a quote after {tag.mark} is not closed"
        return f"{tag.mark} is not closed: {_CLOSING[tag.mark]} is missing"
    bare = _QUOTED.sub("", inside) if tag.mark != "{#" else ""
    if "'" in bare or '"' in bare:
        return f"a quote after {tag.mark} is not closed"
    if tag.mark == "{%" and re.match(r"else\s+if\b", inside):
        return "write elif instead of else if"
    if tag.mark == "{{" and inside.startswith("{") and not inside.endswith("}"):
        return "three braces stand where two belong: write {{ name }}"
    if tag.mark != "{#" and not inside:
        return f"nothing stands between {tag.mark} and {_CLOSING[tag.mark]}"
    if tag.mark == "{{" and re.fullmatch(r"[A-Za-z_]\w*(\s+[A-Za-z_]\w*)+", inside):
        return "two names stand beside each other between {{ and }}"
    return ""


def _of_block(word: str, blocks: list[tuple[str, int]]) -> str:
    if word not in _TAGS:
        return f'there is no tag "{word}"; known are if, elif, else, endif, for and endfor'
    if word.startswith("end") and word != "endraw":
        if not blocks or blocks[-1][0] != word[3:]:
            return f"{{% {word} %}} closes nothing"
        blocks.pop()
    elif word in {"else", "elif"} and not blocks:
        return f"{{% {word} %}} stands in no {{% if %}}"
    return ""


MAX_SIZE: Final = 5_000
"""Words and signs of the language in one template: a third of a second to read and compile."""
MAX_BRACKETS: Final = 30
"""Brackets inside each other; each takes a dozen frames of Python's stack to read."""

_SPACE: Final = "whitespace"
_OPENING: Final = frozenset("([{")
_CLOSING_TAGS: Final = frozenset(")]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of the template language a text holds."""

    count: int
    """Words and signs; each piece of text between them counts one. Up to the problem, if any."""
    problem: TemplateError | None = None
    """Why the text cannot be read, as far as counting shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A template that is in the language, and not too large."""

    tree: nodes.Template
    names: frozenset[str]
    """Those that rendering looks up, those of the environment too."""


def measured(text: str) -> Size:
    """The size of `text`; counting ends where there is more than may be read."""
    count = depth = 0
    problem: TemplateError | None = None
    try:
        for _, kind, token in ENVIRONMENT.lex(text):
            count += kind != _SPACE
            if kind == "operator":
                depth += (token in _OPENING) - (token in _CLOSING_TAGS)
            if count > MAX_SIZE:
                problem = TooLarge(f"more than {MAX_SIZE:,} words and signs of template language")
            elif depth > MAX_BRACKETS:
                problem = TooLarge(f"brackets nest deeper than {MAX_BRACKETS}")
            if problem is not None:
                break
    except jinja2.TemplateSyntaxError as error:
        problem = _make_syntax_error(text, error)
    return Size(count=count, problem=problem)


def read(text: str) -> Reading:
    """The tree of `text`.

    Raises: `TemplateError` with the rule, and the line where there is one.
    """
    problem = measured(text).problem
    if problem is not None:
        raise problem
    try:
        tree = ENVIRONMENT.parse(text)
        check(tree)
        return Reading(tree=tree, names=_find_undeclared_names(tree))
    except TemplateError:
        raise
    except jinja2.TemplateSyntaxError as error:
        problem = _make_syntax_error(text, error)
    except RecursionError:
        problem = TooLarge("it nests too deeply")
    except ValueError:
        problem = TemplateError("it contains a number that cannot be read")
    raise problem


def list_printed_names(text: str) -> frozenset[str]:
    """The names in `{{ name }}` and `{{ name | tojson }}` that stand in no condition and no loop.

    Raises: as `read`.
    """
    printed: set[str] = set()
    for statement in read(text).tree.body:
        for part in statement.nodes if isinstance(statement, nodes.Output) else ():
            value = part.node if isinstance(part, nodes.Filter) and part.name == "tojson" else part
            if isinstance(value, nodes.Name):
                printed.add(value.name)
    return frozenset(printed)


def _make_syntax_error(text: str, error: jinja2.TemplateSyntaxError) -> TemplateError:
    found = flaw(text, error.lineno)
    return TemplateError(f"line {found.line}: {found.says}")


def _find_undeclared_names(tree: nodes.Template) -> frozenset[str]:
    """As `jinja2.meta.find_undeclared_variables`, which folds constants on the way."""
    tracker = TrackingCodeGenerator(ENVIRONMENT)
    tracker.optimizer = None
    tracker.visit(tree)
    return frozenset(tracker.undeclared_identifiers)
