"""Counts the cost of rendering: every intermediate value, also values that are never output.

    {{ (a ~ a) ~ (a ~ a) }}                      each text that is made counts with its characters
    {% for x in rows %}{% if x == y %}…          each turn counts with the size of the loop's body
    {% if big == other %}{% endif %}             a comparison counts with what it looks at

In: the tree of a checked template.  Out: the same tree, in which each operation that makes or
compares values goes through a counting filter (`count_work`); and the budget that the filters use
up.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from jinja2 import Undefined, nodes, pass_context
from jinja2.runtime import Context
from jinja2.visitor import NodeTransformer

MAX_TURNS: Final = 100_000
"""Turns of all loops of one template together."""
MAX_WORK: Final = 10_000_000
"""Characters made, members looked at, and parts of loops gone through, in one rendering."""
BUDGET: Final = "$budget"
"""Name of the budget among the values; no template can spell it."""

_LOOKED_AT: Final = 20
"""Characters that are compared for one that is made."""
_NEEDLE: Final = 100
"""Characters of a searched text from which on searching takes no longer."""
_MADE, _LOOKED, _TURN, _COMPARE, _PUT = "$made", "$looked", "$turn", "$compare", "$put"


class TemplateError(ValueError):
    """A template cannot be compiled or rendered; names the placeholder or the rule, never a value."""


PutIn: TypeAlias = Callable[[str], str]
"""The text of one value, as it stands in the rendered text."""


class Budget:
    """The remaining budget of one rendering."""

    __slots__ = ("put", "turns", "work")

    def __init__(self, put: PutIn | None = None) -> None:
        self.turns = MAX_TURNS
        self.work = MAX_WORK
        self.put = put
        """What becomes of each value's text where it is put in; None leaves it."""

    def take(self, work: int) -> None:
        """Raises: `TemplateError`."""
        self.work -= work
        if self.work < 0:
            raise TemplateError(
                f"rendering takes too much work: more than {MAX_WORK:,} characters and members"
            )

    def take_all(self, value: object, *, letters: int = 1) -> None:
        """Take for `value` and for all that is in it; `letters` characters count as one."""
        waiting = [value]
        while waiting:
            part = waiting.pop()
            if isinstance(part, str):
                self.take(1 + len(part) // letters)
            elif isinstance(part, (list, tuple)):
                self.take(1 + len(part))
                waiting.extend(part)
            elif isinstance(part, Mapping):
                self.take(1 + len(part))
                waiting.extend(part)
                waiting.extend(part.values())
            else:
                self.take(1)


def budget_of(context: Context) -> Budget:
    """The budget of the rendering."""
    # `context.resolve` looks at more places; every value of a rendering stands in this one.
    budget: Budget = context.parent[BUDGET]
    return budget


def json_text(value: object) -> str:
    """`value` as compact JSON in the author's key order, without HTML escapes."""
    if isinstance(value, Undefined):
        return str(value)  # raises, naming the placeholder; nothing, for an `if` without `else`
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise TemplateError("a placeholder's value is not JSON") from None


def embedded(value: object) -> str:
    """How `value` stands inside a longer text."""
    return value if isinstance(value, str) else json_text(value)


@pass_context
def counted_text(context: Context, value: object) -> str:
    """As `embedded`, counted before the text is made."""
    if not isinstance(value, str):
        budget_of(context).take_all(value)
    return embedded(value)


@pass_context
def _put_in_value(context: Context, value: object) -> str:
    """The text of a value, as it stands in the rendered text."""
    text: str = counted_text(context, value)
    put = budget_of(context).put
    return text if put is None else put(text)


# ----------------------------------------------------------------------- counting filters


@pass_context
def _count_made_value(context: Context, value: object) -> object:
    """A text or list that an expression has made: by joining, adding or cutting."""
    if isinstance(value, (str, list, tuple)):
        budget_of(context).take(1 + len(value))
    return value


@pass_context
def _count_joined_part(context: Context, value: object) -> str:
    """One part of a text that is about to be joined."""
    text: str = counted_text(context, value)
    budget_of(context).take(1 + len(text))
    return text


@pass_context
def _count_compared_value(context: Context, value: object) -> object:
    """One of several values that are compared in a row."""
    budget_of(context).take_all(value, letters=_LOOKED_AT)
    return value


@pass_context
def _iterate_counted_turns(context: Context, values: object, size: int) -> Iterator[object]:
    """The elements of a loop whose body has `size` parts, as long as the budget lasts."""
    if isinstance(values, Undefined):
        str(values)
    if not isinstance(values, (list, tuple, Mapping)):
        raise TemplateError("a loop needs a list or an object")
    budget = budget_of(context)
    for value in values:
        budget.turns -= 1
        if budget.turns < 0:
            raise TemplateError(f"the loops of a template take more than {MAX_TURNS} turns")
        budget.take(size)
        yield value


def _is_in(one: Any, other: Any) -> bool:
    return one in other


_OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lteq": operator.le,
    "gt": operator.gt,
    "gteq": operator.ge,
    "in": _is_in,
    "notin": lambda one, other: not _is_in(one, other),
}
_TESTS: Final = {
    "eq": "eq", "equalto": "eq", "==": "eq", "ne": "ne", "!=": "ne", "lt": "lt", "<": "lt",
    "le": "lteq", "<=": "lteq", "gt": "gt", ">": "gt", "ge": "gteq", ">=": "gteq", "in": "in",
}  # fmt: skip
"""Tests that compare, as the operators that they are."""


@pass_context
def _compare_within_budget(context: Context, one: object, name: str, other: object) -> object:
    budget = budget_of(context)
    if name in {"in", "notin"}:
        _take_for_search(budget, one, other)
    else:
        _take_for_comparison(budget, one, other)
    return _OPERATORS[name](one, other)


def _take_for_search(budget: Budget, one: object, other: object) -> None:
    if isinstance(other, str):
        needle = len(one) if isinstance(one, str) else 0
        budget.take(1 + len(other) * min(needle, _NEEDLE) // _LOOKED_AT)
    elif isinstance(other, (list, tuple)):
        budget.take(1 + len(other))
        for element in other:
            _take_for_comparison(budget, one, element)
    else:
        budget.take(1)


def _take_for_comparison(budget: Budget, one: object, other: object) -> None:
    if isinstance(one, str) and isinstance(other, str):
        budget.take(1 + min(len(one), len(other)) // _LOOKED_AT)
    elif isinstance(one, (list, tuple, Mapping)) and isinstance(other, (list, tuple, Mapping)):
        budget.take_all(one if len(one) <= len(other) else other, letters=_LOOKED_AT)
    else:
        budget.take(1)


COUNTING: Final[dict[str, Callable[..., object]]] = {
    _MADE: _count_made_value,
    _LOOKED: _count_compared_value,
    _TURN: _iterate_counted_turns,
    _COMPARE: _compare_within_budget,
    "$part": _count_joined_part,
    _PUT: _put_in_value,
}
"""The filters that `count_work` puts in; no template can spell them."""


# -------------------------------------------------------------------------- the tree


def count_work(tree: nodes.Template) -> nodes.Template:
    """The tree with the counting filters put in."""
    counted: nodes.Template = _Counting().visit(tree)
    return counted


def _wrap_in_filter(name: str, node: nodes.Expr, *more: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, list(more), [], None, None, lineno=node.lineno)


_AUTHORS_OWN: Final = frozenset("/?#\ue000")
"""Letters of a url's structure, and the one with which the mark of a placeholder begins."""


def _is_value(node: nodes.Expr) -> bool:
    """Whether an expression puts out a value, and no part of a url that its author wrote."""
    return not any(
        isinstance(const.value, str) and _AUTHORS_OWN.intersection(const.value)
        for const in (node, *node.find_all(nodes.Const))
        if isinstance(const, nodes.Const)
    )


class _Counting(NodeTransformer):
    def visit_Output(self, node: nodes.Output) -> nodes.Output:  # noqa: N802 - Jinja's name
        puts = [not isinstance(part, nodes.TemplateData) and _is_value(part) for part in node.nodes]
        self.generic_visit(node)
        pairs = zip(node.nodes, puts, strict=True)
        node.nodes = [_wrap_in_filter(_PUT, part) if put else part for part, put in pairs]
        return node

    def visit_For(self, node: nodes.For) -> nodes.For:  # noqa: N802 - Jinja's way of naming
        size = 2 + sum(1 for part in node.body for _ in part.find_all(nodes.Node))
        size += sum(1 for _ in node.test.find_all(nodes.Node)) if node.test is not None else 0
        self.generic_visit(node)
        values: Any = node.iter
        node.iter = _wrap_in_filter(_TURN, values, nodes.Const(size, lineno=node.lineno))
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Concat:  # noqa: N802 - Jinja's name
        self.generic_visit(node)
        node.nodes = [_wrap_in_filter("$part", part) for part in node.nodes]
        return node

    def _count_made(self, node: Any) -> nodes.Filter:
        self.generic_visit(node)
        return _wrap_in_filter(_MADE, node)

    visit_Add = visit_Sub = _count_made  # noqa: N815 - Jinja's names

    def visit_List(self, node: nodes.List) -> nodes.Expr:  # noqa: N802 - Jinja's name
        return self._count_made(node)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Expr:  # noqa: N802 - Jinja's name
        return self._count_made(node) if node.ctx == "load" else node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Expr:  # noqa: N802 - Jinja's name
        if isinstance(node.arg, nodes.Slice):
            return self._count_made(node)
        self.generic_visit(node)
        return node

    def visit_Compare(self, node: nodes.Compare) -> nodes.Expr:  # noqa: N802 - Jinja's name
        self.generic_visit(node)
        if len(node.ops) == 1:
            name = nodes.Const(node.ops[0].op, lineno=node.lineno)
            return _wrap_in_filter(_COMPARE, node.expr, name, node.ops[0].expr)
        node.expr = _wrap_in_filter(_LOOKED, node.expr)
        for operand in node.ops:
            operand.expr = _wrap_in_filter(_LOOKED, operand.expr)
        return node

    def visit_Test(self, node: nodes.Test) -> nodes.Expr:  # noqa: N802 - Jinja's name
        self.generic_visit(node)
        if node.name in _TESTS and len(node.args) == 1 and not node.kwargs:
            name = nodes.Const(_TESTS[node.name], lineno=node.lineno)
            other: Any = node.args[0]
            return _wrap_in_filter(_COMPARE, node.node, name, other)
        return node
