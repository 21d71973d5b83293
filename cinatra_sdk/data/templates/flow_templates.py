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
comparison, the filters and tests of `language.py`.  There are no calls, no assignments,
no multiplication and no globals, so a template can neither reach Python nor grow without bound.
The returned tree may share parts with `values`: treat both as read-only.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, TypeAlias

import jinja2
from jinja2 import Undefined, nodes
from pydantic import JsonValue

from cinatra_sdk.data.templates.language import (
    ENVIRONMENT,
    MAX_OUTPUT,
    TemplateError,
    embedded,
    json_text,
)
from cinatra_sdk.data.templates.parser import read
from cinatra_sdk.data.templates.placeholders import MARKS, Path, Put, parts_of
from cinatra_sdk.data.templates.template_budget import BUDGET, Budget, PutIn, count_work
from cinatra_sdk.light_imports.records import dataclass

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
_NOTHING: Any = object()
_SHOWN_STEP = 60
"""Characters of a name in the place of a template."""
_SHOWN_PATH = 200
"""Characters of a placeholder in an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One compiled string."""

    constant: str | None = None
    """The whole text, where nothing is to be put in."""
    path: Path = ()
    """Name and keys, where the string is one placeholder and nothing else."""
    code: jinja2.Template | None = None
    parts: tuple[str | Put, ...] = ()
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
                raise TemplateError(f'the placeholder "{_format_path(self.path)}" has no value')
        if isinstance(found, str):
            return _join_bounded([found])
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
            text = _embed_value(self.value(values), budget)
            return _join_bounded([text if budget.put is None else budget.put(text)])
        stand_ins = {name: "{{" + name + "}}" for name in self.env_names}
        everything = {**stand_ins, **values, BUDGET: budget}
        try:
            if self.code is None:
                return _join_bounded(_put_in(self.parts, everything, budget))
            return _join_bounded(self.code.generate(everything))
        except jinja2.TemplateError as error:
            problem = str(error)
        except (TypeError, ArithmeticError, LookupError, RecursionError):
            problem = "an expression of the template does not fit its values"
        # Raised here, not in a handler: what was caught may quote a value, and would be kept.
        raise TemplateError(problem)


def _embed_value(value: object, budget: Budget) -> str:
    if not isinstance(value, str):
        budget.take_all(value)
    return embedded(value)


def _put_in(
    parts: tuple[str | Put, ...], values: Mapping[str, Any], budget: Budget
) -> Iterator[str]:
    """The text of each part, as Jinja would put it out."""
    for part in parts:
        if isinstance(part, str):
            yield part
            continue
        name, *steps = part.path
        found = values.get(str(name), _NOTHING)
        if found is _NOTHING:
            raise TemplateError(f'the placeholder "{str(name)[:_SHOWN_PATH]}" has no value')
        for step in steps:
            if isinstance(step, str):
                found = ENVIRONMENT.getattr(found, step)
            else:
                found = ENVIRONMENT.getitem(found, step)
        if part.as_json:
            budget.take_all(found)
            text = json_text(found)
        else:
            text = _embed_value(found, budget)
        yield text if budget.put is None else budget.put(text)


def _join_bounded(pieces: Iterator[str] | list[str]) -> str:
    """The pieces as one text, given up as soon as it is too long."""
    lengths = 0
    kept = []
    for piece in pieces:
        lengths += len(piece)
        if lengths > MAX_OUTPUT:
            raise TemplateError(f"the rendered text has more than {MAX_OUTPUT} characters")
        kept.append(piece)
    return "".join(kept)


def _format_path(path: Path) -> str:
    """As in the template; of a long path its beginning."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path[1:_SHOWN_PATH])
    return (str(path[0]) + "".join(steps))[:_SHOWN_PATH]


@functools.lru_cache(maxsize=4096)
def compile_template(text: str) -> Template:
    """Compile one string; the same text is compiled once per process.

    Raises: `TemplateError` with line and rule.
    """
    if len(text) > MAX_OUTPUT:
        raise TemplateError(f"more than {MAX_OUTPUT} characters")
    if not MARKS.search(text):
        return Template(constant=text)
    parts = parts_of(text)
    if not parts:
        return _compile_text(text)
    names = [str(part.path[0]) for part in parts if isinstance(part, Put)]
    env = frozenset(name for name in names if _ENV_NAME.fullmatch(name))
    first = parts[0]
    if len(parts) == 1 and isinstance(first, Put) and not first.as_json:
        return Template(path=first.path, env_names=env)
    return Template(parts=parts, env_names=env)


def _compile_text(text: str) -> Template:
    """Compile a string that takes a parser."""
    reading = read(text)
    env = frozenset(filter(_ENV_NAME.fullmatch, reading.names))
    path = _lone_path(reading.tree)
    if path:
        return Template(path=path, env_names=env)
    return Template(code=_compile_code(reading.tree), env_names=env)


def _lone_path(tree: nodes.Template) -> Path:
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


def _compile_code(tree: nodes.Template) -> jinja2.Template:
    try:
        code = ENVIRONMENT.compile(count_work(tree))
    except (SyntaxError, RecursionError, MemoryError, OverflowError):
        code = None
    if code is None:
        raise TemplateError("it nests too deeply")
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
        self._tree = _compile_tree(tree, ())
        self.constant = self._tree.constant if isinstance(self._tree, Template) else None
        """The whole text, where the tree is a text without placeholders."""

    def render(self, values: Mapping[str, Any]) -> JsonValue:
        """The tree with `values` put in.

        Raises: `TemplateError`.
        """
        # Most requests have no headers and no query of their own.
        return _render_node(self._tree, values, _Room()) if self._tree != () else {}

    def text(self, values: Mapping[str, Any], put: PutIn | None = None) -> str:
        """The tree as text: a lone placeholder too is put in as text.

        put: makes of each value's text what stands in the whole; only where the tree is a string.
        Raises: `TemplateError`.
        """
        if self.constant is not None:
            return self.constant
        if isinstance(self._tree, Template):
            return self._tree.text(values, Budget(put))
        return embedded(self.render(values))


def render_tree(tree: JsonValue, values: Mapping[str, Any]) -> JsonValue:
    """Compile and render in one go.

    Raises: `TemplateError`.
    """
    return Renderer(tree).render(values)


def _compile_tree(tree: JsonValue, at: Path) -> _Node:
    """The part of a tree that stands at `at`."""
    if isinstance(tree, str):
        return _compile_at(tree, at)
    if isinstance(tree, list):
        return [_compile_tree(item, (*at, index)) for index, item in enumerate(tree)]
    if isinstance(tree, dict):
        return tuple(
            (_compile_at(key, (*at, key)), _compile_tree(item, (*at, key)))
            for key, item in tree.items()
        )
    return _Plain(tree)


def _compile_at(text: str, at: Path) -> Template:
    """Raises: `TemplateError` naming the place, where that is not the whole tree."""
    try:
        return compile_template(text)
    except TemplateError as error:
        problem = str(error)
    place = "/".join(str(step)[:_SHOWN_STEP] for step in at)
    raise TemplateError(f"at {place}: {problem}" if at else problem)


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


def _render_node(node: _Node, values: Mapping[str, Any], room: _Room) -> JsonValue:
    if isinstance(node, Template):
        return room.take(node.value(values, room.budget))
    if isinstance(node, list):
        return [_render_node(item, values, room) for item in node]
    if isinstance(node, _Plain):
        return node.value
    rendered: dict[str, JsonValue] = {}
    for key, item in node:
        name = key.text(values, room.budget)
        room.take(name)
        rendered[name] = _render_node(item, values, room)
    if len(rendered) != len(node):
        raise TemplateError("two keys of one object are rendered to the same text")
    return rendered
