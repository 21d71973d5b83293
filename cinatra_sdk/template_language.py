"""The part of Jinja that templates may use: syntax, filters, tests, and paths into JSON.

In: the tree of a parsed template.  Out: nothing, or `TemplateError` naming line and rule
(`check`); and `ENVIRONMENT`, the sandbox in which checked templates run.

    {{ a.b[0] | tojson }}        may be used
    {{ a.__class__ }}            an error: a path leads through JSON, never to an attribute
    {% set x = 1 %}              refused: not in the language
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from jinja2 import StrictUndefined, Undefined, nodes, pass_context
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_OUTPUT: Final = 1_000_000
"""Characters of one rendered string, and of one template."""
MAX_STEPS: Final = 100_000
"""Turns of all loops of one template together."""

STEPS = "$steps"
"""Name of the loop budget among the values; no template can spell it."""
_LOOP_MEMBERS = frozenset({"index", "index0", "first", "last", "length"})


class TemplateError(ValueError):
    """A template cannot be compiled or rendered; names the placeholder or the rule, never a value."""


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
    except (TypeError, ValueError, RecursionError):
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
    budget = context.resolve(STEPS)
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
    environment.filters.update(_FILTERS, **{STEPS: _counted})
    environment.tests = {name: test for name, test in environment.tests.items() if name in _TESTS}
    return environment


ENVIRONMENT: Final = _environment()


def check(tree: nodes.Template) -> None:
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
