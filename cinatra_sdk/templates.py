"""Templates of a flow: text and nested JSON with Jinja placeholders, rendered without surprises.

In: a template (a string, or JSON whose strings are templates) and the values of a node's
inputs.  Out: the same tree with the values put in, or `TemplateError`.

    tree    {"user": "Write to {{ name }}", "refs": "{{ refs }}", "note": "{{ refs }}!"}
    values  {"name": "Ada", "refs": ["a", None]}
    result  {"user": "Write to Ada", "refs": ["a", None], "note": '["a",null]!'}

* A string that is one placeholder and nothing else gives the value itself, with its type;
  inside a longer string every value that is no string is its JSON text (null is `null`).
* A value is put in once and never read as a template.
* A name in UPPER_CASE without a value stays, as `{{NAME}}`: the platform fills it in.

The language is a small part of Jinja: placeholders, paths into objects and lists, `if`, `for`,
comparison, the filters and tests of `template_language.py`.  There are no calls, no assignments,
no multiplication and no globals, so a template can neither reach Python nor grow without bound.
The returned tree may share parts with `values`: treat both as read-only.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import jinja2
from jinja2 import Undefined, meta, nodes
from pydantic import JsonValue

from cinatra_sdk.template_budget import BUDGET, Budget, count_work
from cinatra_sdk.template_language import (
    ENVIRONMENT,
    MAX_OUTPUT,
    TemplateError,
    check,
    embedded,
    json_text,
)

__all__ = [
    "MAX_OUTPUT",
    "MAX_TREE",
    "Renderer",
    "Template",
    "TemplateError",
    "compile_template",
    "render_tree",
]

MAX_TREE = 8_000_000
"""Characters of all strings of one rendered tree; a member of a list or object counts as one."""

_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_MARKS = re.compile(r"\{\{|\{%|\{#")
_LANGUAGE = re.compile(r"\{[{%#](?:[^%#}]++|[%#}](?!\}))*+")
MAX_LANGUAGE = 150_000
"""Characters between the marks of one template that takes a parser."""
_PATH = re.compile(
    r"\{\{[ \t\n]*+([A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+|\[(?:0|[1-9][0-9]{0,8})\])*+)[ \t\n]*+(\|[ \t\n]*+tojson[ \t\n]*+)?\}\}",
    re.ASCII,
)
_STEP = re.compile(r"[A-Za-z_]\w*|[0-9]+", re.ASCII)
_NO_NAMES = frozenset(
    {
        "and", "or", "not", "if", "else", "elif", "in", "is", "true", "false", "none", "True",
        "False", "None", "self", "super", "loop", "caller", "varargs", "kwargs",
    }
)  # fmt: skip
"""Words that mean something else to Jinja than a name of a value."""
_NOTHING: Any = object()


_Path: TypeAlias = "tuple[str | int, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Put:
    """A placeholder of the common kind."""

    path: _Path
    as_json: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One compiled string."""

    constant: str | None = None
    """The whole text, where nothing is to be put in."""
    path: tuple[str | int, ...] = ()
    """Name and keys, where the string is one placeholder and nothing else."""
    code: jinja2.Template | None = None
    parts: tuple[str | _Put, ...] = ()
    """Text and paths in turn, where the string has no other placeholders than paths."""
    env_names: frozenset[str] = frozenset()
    """UPPER_CASE names, which may stay as they are."""

    def value(self, values: Mapping[str, Any], budget: Budget | None = None) -> JsonValue:
        """The value itself for a lone placeholder, else the text.

        Raises: `TemplateError`.
        """
        if not self.path:
            return self.text(values, budget)
        name = self.path[0]
        if name in self.env_names and name not in values:
            return "{{" + str(name) + "}}"
        found: Any = dict(values)
        for step in self.path:
            found = ENVIRONMENT.getitem(found, step)
            if isinstance(found, Undefined):
                raise TemplateError(f'the placeholder "{_spelled(self.path)}" has no value')
        if isinstance(found, str):
            return _bounded([found])
        value: JsonValue = found
        return value

    def text(self, values: Mapping[str, Any], budget: Budget | None = None) -> str:
        """The text, also for a lone placeholder.

        `budget` is what is left of a rendering that this one is a part of.
        Raises: `TemplateError`.
        """
        if self.constant is not None:
            return self.constant
        budget = budget or Budget()
        if self.path:
            return _bounded([_text(self.value(values), budget)])
        stand_ins = {name: "{{" + name + "}}" for name in self.env_names}
        everything = {**stand_ins, **values, BUDGET: budget}
        try:
            if self.code is None:
                return _bounded(_put_in(self.parts, everything, budget))
            return _bounded(self.code.generate(everything))
        except jinja2.TemplateError as error:
            problem = str(error)
        except (TypeError, ArithmeticError, LookupError, RecursionError):
            problem = "an expression of the template does not fit its values"
        # Raised here, not in a handler: what was caught may quote a value, and would be kept.
        raise TemplateError(problem)


def _text(value: object, budget: Budget) -> str:
    if not isinstance(value, str):
        budget.take_all(value)
    return embedded(value)


def _put_in(
    parts: tuple[str | _Put, ...], values: Mapping[str, Any], budget: Budget
) -> Iterator[str]:
    """The text of each part, as Jinja would put it out."""
    for part in parts:
        if isinstance(part, str):
            yield part
            continue
        name, *steps = part.path
        found = values.get(str(name), _NOTHING)
        if found is _NOTHING:
            raise TemplateError(f'the placeholder "{name}" has no value')
        for step in steps:
            if isinstance(step, str):
                found = ENVIRONMENT.getattr(found, step)
            else:
                found = ENVIRONMENT.getitem(found, step)
        if part.as_json:
            budget.take_all(found)
            yield json_text(found)
        else:
            yield _text(found, budget)


def _bounded(pieces: Iterator[str] | list[str]) -> str:
    """The pieces as one text, given up as soon as it is too long."""
    lengths = 0
    kept = []
    for piece in pieces:
        lengths += len(piece)
        if lengths > MAX_OUTPUT:
            raise TemplateError(f"the rendered text has more than {MAX_OUTPUT} characters")
        kept.append(piece)
    return "".join(kept)


def _spelled(path: tuple[str | int, ...]) -> str:
    return str(path[0]) + "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in path[1:]
    )


@functools.lru_cache(maxsize=4096)
def compile_template(text: str) -> Template:
    """Compile one string; the same text is compiled once per process.

    Raises: `TemplateError` with line and rule.
    """
    if len(text) > MAX_OUTPUT:
        raise TemplateError(f"the template has more than {MAX_OUTPUT} characters")
    if not _MARKS.search(text):
        return Template(constant=text)
    parts = _parts(text)
    if len(parts) > 1:
        first = [str(part.path[0]) for part in parts if not isinstance(part, str)]
        env = frozenset(name for name in first if _ENV_NAME.fullmatch(name))
        return Template(parts=parts, env_names=env)
    if sum(len(part[0]) for part in _LANGUAGE.finditer(text)) > MAX_LANGUAGE:
        raise TemplateError(
            f"the template has more than {MAX_LANGUAGE:,} characters of template language"
        )
    try:
        tree = ENVIRONMENT.parse(text)
        check(tree)
        names = frozenset(filter(_ENV_NAME.fullmatch, meta.find_undeclared_variables(tree)))
        path = _lone_path(tree)
        if path:
            return Template(path=path, env_names=names)
        return Template(code=_compiled(tree), env_names=names)
    except jinja2.TemplateSyntaxError as error:
        problem = f"line {error.lineno}: {error.message}"
    except (SyntaxError, RecursionError, MemoryError, OverflowError):
        problem = "the template is nested too deeply"
    except TemplateError:
        raise
    except ValueError:
        problem = "it contains a number that cannot be read"
    raise TemplateError(problem)


def is_simple(text: str) -> bool:
    """Whether `text` has no other placeholders than paths, so that no parser reads it."""
    return bool(_parts(text))


def _parts(text: str) -> tuple[str | _Put, ...]:
    """Text and paths in turn; empty where the template has anything else, which Jinja reads.

    Most templates are of this kind, and Jinja takes some 50 µs for each character of one.
    """
    if "\r" in text:
        return ()  # Jinja writes other line ends
    parts: list[str | _Put] = []
    done = 0
    for found in _PATH.finditer(text):
        steps = _STEP.findall(found[1])
        # "{{{" begins a placeholder one character earlier.
        if not _NO_NAMES.isdisjoint(steps) or text.startswith(
            "{", max(found.start() - 1, 0), max(found.start(), 0)
        ):
            return ()
        if found.start() > done:
            parts.append(text[done : found.start()])
        path = tuple(int(step) if step[0].isdigit() else step for step in steps)
        parts.append(_Put(path=path, as_json=found[2] is not None))
        done = found.end()
    if done < len(text):
        parts.append(text[done:])
    plain = (part for part in parts if isinstance(part, str))
    return () if any(_MARKS.search(part) for part in plain) else tuple(parts)


def _lone_path(tree: nodes.Template) -> tuple[str | int, ...]:
    """`("a", "b", 0)` of a template that is `{{ a.b[0] }}` and nothing else; else empty."""
    body = tree.body
    if len(body) != 1 or not isinstance(body[0], nodes.Output) or len(body[0].nodes) != 1:
        return ()
    node = body[0].nodes[0]
    steps: list[str | int] = []
    while isinstance(node, (nodes.Getattr, nodes.Getitem)):
        if isinstance(node, nodes.Getattr):
            steps.append(node.attr)
        elif isinstance(node.arg, nodes.Const) and type(node.arg.value) in {str, int}:
            steps.append(node.arg.value)
        else:
            return ()
        node = node.node
    return (node.name, *reversed(steps)) if isinstance(node, nodes.Name) else ()


def _compiled(tree: nodes.Template) -> jinja2.Template:
    code = ENVIRONMENT.compile(count_work(tree))
    return jinja2.Template.from_code(ENVIRONMENT, code, {})


# -------------------------------------------------------------------------- whole trees

_Node: TypeAlias = "Template | list[_Node] | tuple[tuple[Template, _Node], ...] | _Plain"


@dataclass(frozen=True, slots=True)
class _Plain:
    """A number, a boolean or null of the tree: stays as it is."""

    value: JsonValue


class Renderer:
    """A template tree compiled once, rendered as often as its node runs.

    Raises: `TemplateError` when a string of the tree is not a template.
    """

    def __init__(self, tree: JsonValue) -> None:
        self._tree = _compile_tree(tree)

    def render(self, values: Mapping[str, Any]) -> JsonValue:
        """The tree with `values` put in.

        Raises: `TemplateError`.
        """
        return _render(self._tree, values, _Room())

    def text(self, values: Mapping[str, Any]) -> str:
        """The tree as text: a lone placeholder too is put in as text.

        Raises: `TemplateError`.
        """
        if isinstance(self._tree, Template):
            return self._tree.text(values)
        return embedded(self.render(values))


def render_tree(tree: JsonValue, values: Mapping[str, Any]) -> JsonValue:
    """Compile and render in one go.

    Raises: `TemplateError`.
    """
    return Renderer(tree).render(values)


def _compile_tree(tree: JsonValue) -> _Node:
    if isinstance(tree, str):
        return compile_template(tree)
    if isinstance(tree, list):
        return [_compile_tree(item) for item in tree]
    if isinstance(tree, dict):
        return tuple((compile_template(key), _compile_tree(item)) for key, item in tree.items())
    return _Plain(tree)


@dataclass(slots=True)
class _Room:
    """What one rendered tree may still hold; a value put in many times counts each time."""

    left: int = MAX_TREE
    budget: Budget = field(default_factory=Budget)

    def take(self, value: JsonValue) -> JsonValue:
        """`value`, when there is room for it."""
        stack = [value]
        while stack:
            item = stack.pop()
            self.left -= len(item) if isinstance(item, (str, list, dict)) else 0
            if self.left < 0:
                raise TemplateError(f"the rendered tree has more than {MAX_TREE} characters")
            if isinstance(item, list):
                stack.extend(item)
            elif isinstance(item, dict):
                stack.extend((*item, *item.values()))
        return value


def _render(node: _Node, values: Mapping[str, Any], room: _Room) -> JsonValue:
    if isinstance(node, Template):
        return room.take(node.value(values, room.budget))
    if isinstance(node, list):
        return [_render(item, values, room) for item in node]
    if isinstance(node, _Plain):
        return node.value
    rendered: dict[str, JsonValue] = {}
    for key, item in node:
        name = key.text(values, room.budget)
        room.take(name)
        rendered[name] = _render(item, values, room)
    if len(rendered) != len(node):
        raise TemplateError("two keys of one object are rendered to the same text")
    return rendered
