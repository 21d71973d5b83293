"""The part of Jinja that templates may use: syntax, filters, tests, and paths into JSON.

In: the tree of a parsed template.  Out: nothing, or `TemplateError` naming line and rule
(`check`); and `ENVIRONMENT`, the sandbox in which checked templates run.

    {{ a.b[0] | tojson }}        may be used
    {{ a.__class__ }}            an error: a path leads through JSON, never to an attribute
    {% set x = 1 %}              refused: not in the language
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from jinja2 import StrictUndefined, Undefined, nodes, pass_context
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from cinatra_sdk.data.templates.template_budget import (
    COUNTING,
    TemplateError,
    budget_of,
    counted_text,
    embedded,
    json_text,
)

__all__ = ["ENVIRONMENT", "MAX_OUTPUT", "TemplateError", "check", "embedded", "json_text"]

MAX_OUTPUT: Final = 1_000_000
"""Characters of one rendered string, and of one template."""
MAX_DEPTH: Final = 50
"""Expressions and blocks inside each other: half of what Python's stack holds while compiling."""
MAX_LOOPS: Final = 10
"""Loops inside each other; Python compiles no more than 20."""


class TooLarge(TemplateError):
    """The template holds more of the language, or nests it deeper, than is read."""


_LOOP_MEMBERS = frozenset({"index", "index0", "first", "last", "length"})


_ALLOWED: Final[tuple[type[nodes.Node], ...]] = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.List,
    nodes.Tuple, nodes.If, nodes.For, nodes.CondExpr, nodes.Filter, nodes.Test, nodes.Keyword,
    nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Compare, nodes.Operand, nodes.And, nodes.Or,
    nodes.Not, nodes.Neg, nodes.Pos, nodes.Add, nodes.Sub, nodes.Concat,
)  # fmt: skip
_SAID: Final[Mapping[type[nodes.Node], str]] = {
    nodes.Assign: "set", nodes.AssignBlock: "set", nodes.Include: "include",
    nodes.Import: "import", nodes.FromImport: "import", nodes.Extends: "extends",
    nodes.Block: "block", nodes.Macro: "macro", nodes.CallBlock: "call", nodes.Call: "a call",
    nodes.FilterBlock: "filter", nodes.With: "with", nodes.Dict: "an object written out",
    nodes.Mul: "*", nodes.Div: "/", nodes.FloorDiv: "//", nodes.Mod: "%", nodes.Pow: "**",
    nodes.NSRef: "a namespace", nodes.ScopedEvalContextModifier: "autoescape",
}  # fmt: skip
"""What is outside of the language, as an author calls it."""
_TESTS: Final = frozenset(
    {
        "defined", "undefined", "none", "string", "number", "boolean", "true", "false", "mapping",
        "sequence", "integer", "float", "in", "eq", "ne", "lt", "le", "gt", "ge", "equalto", "==",
        "!=", "<", "<=", ">", ">=",
    }
)  # fmt: skip


@pass_context
def _format_json(context: Context, value: object) -> str:
    budget_of(context).take_all(value)
    return json_text(value)


def _make_text_filter(change: Callable[[str], str]) -> Callable[..., object]:
    """A filter that makes a text out of a text."""

    @pass_context
    def make(context: Context, value: object) -> str:
        text: str = counted_text(context, value)
        budget_of(context).take(1 + len(text))
        return change(text)

    return make


@pass_context
def _join_texts(context: Context, values: object, separator: str = "") -> str:
    if not isinstance(values, (list, tuple)):
        raise TemplateError("the filter `join` needs a list")
    budget = budget_of(context)
    length, parts = len(separator) * len(values), []
    for value in values:
        text: str = counted_text(context, value)
        budget.take(1 + len(text))
        length += len(text)
        if length > MAX_OUTPUT:
            raise TemplateError(f"the filter `join` makes more than {MAX_OUTPUT} characters")
        parts.append(text)
    return separator.join(parts)


def _measure_length(value: object) -> int:
    if isinstance(value, Undefined):
        str(value)
    if not isinstance(value, (str, list, tuple, Mapping)):
        raise TemplateError("the filter `length` needs a string, a list or an object")
    return len(value)


def _choose_default(value: object, instead: object = "", boolean: bool = False) -> object:
    missing = isinstance(value, Undefined) or (boolean and not value)
    return instead if missing else value


def _pick_end_item(values: object, index: int) -> object:
    if not isinstance(values, (str, list, tuple)) or not values:
        raise TemplateError("the filters `first` and `last` need a list that is not empty")
    return values[index]


@pass_context
def _list_object_items(context: Context, value: object) -> list[tuple[object, object]]:
    if not isinstance(value, Mapping):
        raise TemplateError("the filter `items` needs an object")
    budget_of(context).take(1 + len(value))
    return list(value.items())


_FILTERS: Final[dict[str, Callable[..., object]]] = {
    "tojson": _format_json,
    "string": counted_text,
    "upper": _make_text_filter(str.upper),
    "lower": _make_text_filter(str.lower),
    "trim": _make_text_filter(str.strip),
    "length": _measure_length,
    "count": _measure_length,
    "default": _choose_default,
    "d": _choose_default,
    "join": _join_texts,
    "first": lambda values: _pick_end_item(values, 0),
    "items": _list_object_items,
    "last": lambda values: _pick_end_item(values, -1),
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
        return self._look_up_member(obj, attribute, attribute[:100])

    def getitem(self, obj: Any, argument: Any) -> Any:
        # The key may be computed from a value, so an error does not name it.
        return self._look_up_member(obj, argument, "[…]")

    def _look_up_member(self, obj: Any, key: Any, name: str) -> Any:
        if isinstance(obj, Undefined):
            str(obj)
        try:
            if isinstance(obj, (dict, list, str)):
                return obj[key]
        except (KeyError, IndexError, TypeError):
            pass
        return self.undefined(obj=obj, name=name)


def _make_environment() -> _Environment:
    # Not optimized: Jinja's folding of constants takes time with the third power of the depth.
    environment = _Environment(
        undefined=_Missing,
        finalize=counted_text,
        keep_trailing_newline=True,
        autoescape=False,
        optimized=False,
    )
    environment.globals.clear()
    environment.filters.clear()
    environment.filters.update(_FILTERS, **COUNTING)
    environment.tests = {name: test for name, test in environment.tests.items() if name in _TESTS}
    return environment


ENVIRONMENT: Final = _make_environment()


def check(tree: nodes.Template) -> None:
    """Raises: `TemplateError` for anything outside the language, or too deep in it."""
    waiting: list[tuple[nodes.Node, int, int]] = [(tree, 0, 0)]
    while waiting:
        node, depth, loops = waiting.pop()
        where = f"line {node.lineno or 1}"
        if depth > MAX_DEPTH:
            raise TooLarge(f"{where}: expressions and blocks nest deeper than {MAX_DEPTH}")
        if isinstance(node, nodes.For):
            loops += 1
            if loops > MAX_LOOPS:
                raise TooLarge(f"{where}: loops nest deeper than {MAX_LOOPS}")
        _check_node(node, where)
        below = [(part, depth + 1, loops) for part in node.iter_child_nodes()]
        waiting += reversed(below)


def _check_node(node: nodes.Node, where: str) -> None:
    if not isinstance(node, _ALLOWED):
        raise TemplateError(
            f"{where}: a template may not use {_SAID.get(type(node), 'this')}; allowed are placeholders, "
            "paths, if, for, comparisons and filters"
        )
    if isinstance(node, nodes.Filter) and node.name not in _FILTERS:
        raise TemplateError(
            f'{where}: there is no filter "{node.name[:80]}"; known are {", ".join(_FILTERS)}'
        )
    if isinstance(node, nodes.Test) and node.name not in _TESTS:
        raise TemplateError(f'{where}: there is no test "{node.name[:80]}"')
    if isinstance(node, (nodes.Filter, nodes.Test)) and (node.dyn_args or node.dyn_kwargs):
        raise TemplateError(f"{where}: a filter or test takes no arguments by * or **")
    if isinstance(node, nodes.Test) and node.kwargs:
        raise TemplateError(f"{where}: a test takes its argument without a name")
    if isinstance(node, nodes.Const) and node.value in (math.inf, -math.inf):
        raise TemplateError(f"{where}: a number that is not finite")
    if isinstance(node, nodes.For) and node.recursive:
        raise TemplateError(f"{where}: a loop may not be recursive")
