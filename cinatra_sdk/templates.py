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
comparison, the filters and tests listed below.  There are no calls, no assignments, no
multiplication and no globals, so a template can neither reach Python nor grow without bound.
The returned tree may share parts with `values`: treat both as read-only.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import jinja2
from jinja2 import StrictUndefined, Undefined, meta, nodes, pass_context
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import JsonValue

MAX_OUTPUT: Final = 1_000_000
"""Characters of one rendered string, and of one template."""
MAX_STEPS: Final = 100_000
"""Turns of all loops of one template together."""

_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_MARKS = re.compile(r"\{\{|\{%|\{#")
_STEPS = "$steps"
"""Name of the loop budget among the values; no template can spell it."""
_LOOP_MEMBERS = frozenset({"index", "index0", "first", "last", "length"})


class TemplateError(ValueError):
    """A template cannot be compiled or rendered; names the placeholder or the rule, never a value."""


# ------------------------------------------------------------------------ the language

_ALLOWED: Final[tuple[type[nodes.Node], ...]] = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.List,
    nodes.Tuple, nodes.If, nodes.For, nodes.CondExpr, nodes.Filter, nodes.Test, nodes.Keyword,
    nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Compare, nodes.Operand, nodes.And, nodes.Or,
    nodes.Not, nodes.Neg, nodes.Pos, nodes.Add, nodes.Sub, nodes.Concat,
)  # fmt: skip
_TESTS: Final = frozenset(
    {
        "defined", "undefined", "none", "string", "number", "boolean", "true", "false", "mapping",
        "sequence", "integer", "float", "in", "eq", "ne", "lt", "le", "gt", "ge", "equalto", "==",
        "!=", "<", "<=", ">", ">=",
    }
)  # fmt: skip


def json_text(value: object) -> str:
    """`value` as compact JSON in the author's key order, without HTML escapes."""
    if isinstance(value, Undefined):
        str(value)  # raises, naming the placeholder
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):
        raise TemplateError("a placeholder's value is not JSON") from None


def embedded(value: object) -> str:
    """How `value` stands inside a longer text."""
    return value if isinstance(value, str) else json_text(value)


def _join(values: object, separator: str = "") -> str:
    if not isinstance(values, (list, tuple)):
        raise TemplateError("the filter `join` needs a list")
    parts = [embedded(value) for value in values]
    if sum(map(len, parts)) + len(separator) * len(parts) > MAX_OUTPUT:
        raise TemplateError(f"the filter `join` makes more than {MAX_OUTPUT} characters")
    return separator.join(parts)


def _length(value: object) -> int:
    if isinstance(value, Undefined):
        str(value)
    if not isinstance(value, (str, list, tuple, Mapping)):
        raise TemplateError("the filter `length` needs a string, a list or an object")
    return len(value)


def _default(value: object, instead: object = "", boolean: bool = False) -> object:
    missing = isinstance(value, Undefined) or (boolean and not value)
    return instead if missing else value


def _end(values: object, index: int) -> object:
    if not isinstance(values, (str, list, tuple)) or not values:
        raise TemplateError("the filters `first` and `last` need a list that is not empty")
    return values[index]


def _items(value: object) -> list[tuple[object, object]]:
    if not isinstance(value, Mapping):
        raise TemplateError("the filter `items` needs an object")
    return list(value.items())


@pass_context
def _counted(context: Context, values: object) -> Iterator[object]:
    """The elements of a loop, as long as the template's budget of turns lasts."""
    if isinstance(values, Undefined):
        str(values)
    if not isinstance(values, (list, tuple, Mapping)):
        raise TemplateError("a loop needs a list or an object")
    budget = context.resolve(_STEPS)
    for value in values:
        budget[0] -= 1
        if budget[0] < 0:
            raise TemplateError(f"the loops of a template take more than {MAX_STEPS} turns")
        yield value


_FILTERS: Final[dict[str, Callable[..., object]]] = {
    "tojson": json_text,
    "string": embedded,
    "upper": lambda value: embedded(value).upper(),
    "lower": lambda value: embedded(value).lower(),
    "trim": lambda value: embedded(value).strip(),
    "length": _length,
    "count": _length,
    "default": _default,
    "d": _default,
    "join": _join,
    "first": lambda values: _end(values, 0),
    "items": _items,
    "last": lambda values: _end(values, -1),
}


class _Missing(StrictUndefined):
    """A name or a path without a value; says so in our words."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        return f'the placeholder "{self._undefined_name}" has no value'


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, narrowed further: a path leads through JSON only, never to an attribute."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, LoopContext) and attribute in _LOOP_MEMBERS:
            return getattr(obj, attribute)
        return self._member(obj, attribute, attribute[:100])

    def getitem(self, obj: Any, argument: Any) -> Any:
        # The key may be computed from a value, so an error does not name it.
        return self._member(obj, argument, "[…]")

    def _member(self, obj: Any, key: Any, name: str) -> Any:
        if isinstance(obj, Undefined):
            str(obj)
        try:
            if isinstance(obj, (dict, list, str)):
                return obj[key]
        except (KeyError, IndexError, TypeError):
            pass
        return self.undefined(obj=obj, name=name)


def _environment() -> _Environment:
    environment = _Environment(
        undefined=_Missing, finalize=embedded, keep_trailing_newline=True, autoescape=False
    )
    environment.globals.clear()
    environment.filters.clear()
    environment.filters.update(_FILTERS, **{_STEPS: _counted})
    environment.tests = {name: test for name, test in environment.tests.items() if name in _TESTS}
    return environment


_ENVIRONMENT: Final = _environment()


def _check(tree: nodes.Template) -> None:
    """Raises: `TemplateError` for anything outside the language."""
    for node in (tree, *tree.find_all(nodes.Node)):
        where = f"line {node.lineno or 1}"
        if not isinstance(node, _ALLOWED):
            raise TemplateError(
                f"{where}: a template may not use {type(node).__name__}; allowed are placeholders, "
                "paths, if, for, comparisons and filters"
            )
        if isinstance(node, nodes.Filter) and node.name not in _FILTERS:
            raise TemplateError(
                f'{where}: there is no filter "{node.name}"; known are {", ".join(_FILTERS)}'
            )
        if isinstance(node, nodes.Test) and node.name not in _TESTS:
            raise TemplateError(f'{where}: there is no test "{node.name}"')
        if isinstance(node, nodes.For) and node.recursive:
            raise TemplateError(f"{where}: a loop may not be recursive")


# -------------------------------------------------------------------------- compiling


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
        found: Any = values
        for step in self.path:
            found = _ENVIRONMENT.getitem(found, step)
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
            return _bounded(self.code.generate({**stand_ins, **values, _STEPS: [MAX_STEPS]}))
        except jinja2.TemplateError as error:
            raise TemplateError(str(error)) from None
        except (TypeError, ArithmeticError, LookupError, RecursionError):
            raise TemplateError("an expression of the template does not fit its values") from None


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
        tree = _ENVIRONMENT.parse(text)
        _check(tree)
        names = frozenset(filter(_ENV_NAME.fullmatch, meta.find_undeclared_variables(tree)))
        path = _lone_path(tree)
        if path:
            return Template(path=path, env_names=names)
        return Template(code=_compiled(tree), env_names=names)
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"line {error.lineno}: {error.message}") from None
    except (SyntaxError, RecursionError, MemoryError, OverflowError):
        raise TemplateError("the template is nested too deeply") from None


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
        loop.iter = nodes.Filter(loop.iter, _STEPS, [], [], None, None, lineno=loop.lineno)
    for joined in tree.find_all(nodes.Concat):
        joined.nodes = [
            nodes.Filter(part, "string", [], [], None, None, lineno=joined.lineno)
            for part in joined.nodes
        ]
    code = _ENVIRONMENT.compile(tree)
    return jinja2.Template.from_code(_ENVIRONMENT, code, {})


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
        return _render(self._tree, values)

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


def _render(node: _Node, values: Mapping[str, Any]) -> JsonValue:
    if isinstance(node, Template):
        return node.value(values)
    if isinstance(node, list):
        return [_render(item, values) for item in node]
    if isinstance(node, _Plain):
        return node.value
    rendered = {key.text(values): _render(item, values) for key, item in node}
    if len(rendered) != len(node):
        raise TemplateError("two keys of one object are rendered to the same text")
    return rendered
