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
from dataclasses import dataclass
from typing import Any, TypeAlias

import jinja2
from jinja2 import Undefined, meta, nodes
from pydantic import JsonValue

from cinatra_sdk.template_language import (
    ENVIRONMENT,
    MAX_OUTPUT,
    MAX_STEPS,
    STEPS,
    TemplateError,
    check,
    embedded,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One compiled string."""

    constant: str | None = None
    """The whole text, where nothing is to be put in."""
    path: tuple[str | int, ...] = ()
    """Name and keys, where the string is one placeholder and nothing else."""
    code: jinja2.Template | None = None
    env_names: frozenset[str] = frozenset()
    """UPPER_CASE names, which may stay as they are."""

    def value(self, values: Mapping[str, Any]) -> JsonValue:
        """The value itself for a lone placeholder, else the text.

        Raises: `TemplateError`.
        """
        if not self.path:
            return self.text(values)
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

    def text(self, values: Mapping[str, Any]) -> str:
        """The text, also for a lone placeholder.

        Raises: `TemplateError`.
        """
        if self.constant is not None:
            return self.constant
        if self.path:
            return _bounded([embedded(self.value(values))])
        assert self.code is not None
        stand_ins = {name: "{{" + name + "}}" for name in self.env_names}
        try:
            return _bounded(self.code.generate({**stand_ins, **values, STEPS: [MAX_STEPS]}))
        except jinja2.TemplateError as error:
            problem = str(error)
        except (TypeError, ArithmeticError, LookupError, RecursionError):
            problem = "an expression of the template does not fit its values"
        # Raised here, not in a handler: what was caught may quote a value, and would be kept.
        raise TemplateError(problem)


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
    raise TemplateError(problem)


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
    for loop in tree.find_all(nodes.For):
        loop.iter = nodes.Filter(loop.iter, STEPS, [], [], None, None, lineno=loop.lineno)
    for joined in tree.find_all(nodes.Concat):
        joined.nodes = [
            nodes.Filter(part, "string", [], [], None, None, lineno=joined.lineno)
            for part in joined.nodes
        ]
    code = ENVIRONMENT.compile(tree)
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
        return _render(self._tree, values, _Budget())

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
class _Budget:
    """What one rendered tree may still hold; a value put in many times counts each time."""

    left: int = MAX_TREE

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


def _render(node: _Node, values: Mapping[str, Any], budget: _Budget) -> JsonValue:
    if isinstance(node, Template):
        return budget.take(node.value(values))
    if isinstance(node, list):
        return [_render(item, values, budget) for item in node]
    if isinstance(node, _Plain):
        return node.value
    rendered: dict[str, JsonValue] = {}
    for key, item in node:
        name = key.text(values)
        budget.take(name)
        rendered[name] = _render(item, values, budget)
    if len(rendered) != len(node):
        raise TemplateError("two keys of one object are rendered to the same text")
    return rendered
