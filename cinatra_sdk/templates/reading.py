"""A template read into its tree, after its size was counted.

    measured("{{ a ~ b }}")              ->  Size(count=5): the words and signs of the language
    measured("{{ a" + " ~ a" * 9_999)    ->  Size(count=5_001, problem="more than 5,000 words …")
    read("Dear {{ name }}")              ->  Reading(tree=…, names={"name"})

Reading and compiling take time for each word and sign (some 60 µs at worst), so these are counted
before anything is read.  The checker of files and the runtime read in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import jinja2
from jinja2 import nodes
from jinja2.meta import TrackingCodeGenerator

from cinatra_sdk.templates.flaws import flaw
from cinatra_sdk.templates.language import ENVIRONMENT, TemplateError, TooLarge, check

MAX_SIZE: Final = 5_000
"""Words and signs of the language in one template: a third of a second to read and compile."""
MAX_BRACKETS: Final = 30
"""Brackets inside each other; each takes a dozen frames of Python's stack to read."""

_SPACE: Final = "whitespace"
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")


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
                depth += (token in _OPENING) - (token in _CLOSING)
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


def _make_syntax_error(text: str, error: jinja2.TemplateSyntaxError) -> TemplateError:
    found = flaw(text, error.lineno)
    return TemplateError(f"line {found.line}: {found.says}")


def _find_undeclared_names(tree: nodes.Template) -> frozenset[str]:
    """As `jinja2.meta.find_undeclared_variables`, which folds constants on the way."""
    tracker = TrackingCodeGenerator(ENVIRONMENT)
    tracker.optimizer = None
    tracker.visit(tree)
    return frozenset(tracker.undeclared_identifiers)
