"""A module's text in, every small change of it out.

    changes_of("m.py", "def f(a):\\n    if a > 1:\\n        raise E\\n    return a\\n")
        ->  `a > 1` → `not (a > 1)`, `a > 1` → `a >= 1`, `1` → `2`, `raise E` → `pass`, `a` → `None`

Only what a function does is changed, and only by text that still parses: no annotation, no default,
no docstring, no message, no `assert` (it states what was proved), no `__repr__`.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

Operator = Literal[
    "negate", "not", "and/or", "operand", "compare", "number", "truth", "arithmetic", "call",
    "raise", "return", "write", "loop", "word",
]  # fmt: skip

COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
WRITTEN: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
ARITHMETIC: Final[dict[type[ast.operator], ast.operator]] = {
    ast.Add: ast.Sub(), ast.Sub: ast.Add(), ast.BitOr: ast.BitAnd(), ast.BitAnd: ast.BitOr(),
}  # fmt: skip
WORDS: Final = {"max": "min", "min": "max", "any": "all", "all": "any"}
UNTRIED: Final = frozenset({"__repr__", "__str__"})
"""Functions for whoever debugs; what they print is nobody's interface."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One small change of one module."""

    module: str
    function: str
    """Qualified name."""
    line: int
    end: int
    """Last line of what is changed."""
    operator: Operator
    before: str
    after: str
    start: int
    """Offsets in the module's bytes; what stands between them is replaced."""
    stop: int
    safety: bool
    """Whether it decides on a refusal: a `raise`, or the condition of one."""

    @property
    def key(self) -> str:
        """The same after lines were added elsewhere: of module, function, operator and texts."""
        return f"{self.module}::{self.function} {self.operator}: {self.shown}"

    @property
    def shown(self) -> str:
        return f"{_one_line(self.before)} → {_one_line(self.after)}"

    @property
    def name(self) -> str:
        return hashlib.sha256(f"{self.key} {self.start}".encode()).hexdigest()[:8]

    def applied(self, text: str) -> str:
        """The module with the change."""
        raw = text.encode()
        after = self.after.encode()
        return (raw[: self.start] + after + raw[self.stop :]).decode()


def changes_of(module: str, text: str) -> list[Change]:
    """All changes of a module's text, in the order of their places."""
    found = _Finder(module, text)
    found.visit(ast.parse(text))
    unique = {(each.start, each.stop, each.after): each for each in found.changes}
    return [each for _, each in sorted(unique.items())]


def _one_line(text: str) -> str:
    return " ".join(text.split())


class _Finder(ast.NodeVisitor):
    def __init__(self, module: str, text: str) -> None:
        self.module = module
        self.raw = text.encode()
        self.changes: list[Change] = []
        self._names: list[str] = []
        self._functions = 0
        self._safe = 0
        lines = text.encode().splitlines(keepends=True)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line))

    # Where it looks

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._names.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self._names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if node.name in UNTRIED:
            return
        self._names.append(node.name)
        self._functions += 1
        for statement in node.body:
            self.visit(statement)
        self._functions -= 1
        self._names.pop()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assert(self, node: ast.Assert) -> None:
        return

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        return

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.body)

    # What it changes

    def visit_If(self, node: ast.If) -> None:
        refuses = any(isinstance(each, ast.Raise) for each in [*node.body, *node.orelse])
        self._condition(node.test, safety=refuses)
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)  # a negated one only hangs
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._condition(node.test)
        self.visit(node.body)
        self.visit(node.orelse)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.visit(node.iter)
        for test in node.ifs:
            self._condition(test)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        texts = [f"({self._text(each)})" for each in node.values]
        word = "or" if isinstance(node.op, ast.And) else "and"
        self._change(node, "and/or", f"({f' {word} '.join(texts)})")
        word = "and" if isinstance(node.op, ast.And) else "or"
        for number in range(len(texts)):
            rest = texts[:number] + texts[number + 1 :]
            self._change(node, "operand", f"({f' {word} '.join(rest)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._change(node, "not", f"bool({self._text(node.operand)})")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        words = [WRITTEN[type(each)] for each in node.ops]
        for number, each in enumerate(node.ops):
            tried = [*words[:number], COMPARISONS[type(each)], *words[number + 1 :]]
            text = self._text(sides[0])
            for word, side in zip(tried, sides[1:], strict=True):
                text += f" {word} {self._text(side)}"
            self._change(node, "compare", text)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = ARITHMETIC.get(type(node.op))
        if other is not None and not any(map(_is_text, (node.left, node.right))):
            changed = ast.BinOp(node.left, other, node.right)
            self._change(node, "arithmetic", f"({ast.unparse(changed)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._change(node, "truth", str(not node.value))
        elif isinstance(node.value, int):
            self._change(node, "number", str(node.value + 1))

    def visit_Expr(self, node: ast.Expr) -> None:
        called = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(called, ast.Call):
            self._change(node, "call", "pass")
        self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._change(node, "raise", "pass", safety=True)
        # What stands in it is mostly its message.

    def visit_Return(self, node: ast.Return) -> None:
        value = node.value
        if value is None:
            self._change(node, "return", "pass")
            return
        if not (isinstance(value, ast.Constant) and value.value in (None, True, False)):
            self._change(value, "return", "None")
        self.visit(value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if all(isinstance(each, ast.Subscript | ast.Attribute) for each in node.targets):
            self._change(node, "write", "pass")
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in WORDS:
            self._change(node.func, "word", WORDS[node.func.id])
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._change(node, "loop", "break")

    def visit_Break(self, node: ast.Break) -> None:
        self._change(node, "loop", "continue")

    # How

    def _condition(self, test: ast.expr, *, safety: bool = False) -> None:
        self._safe += safety
        if not _has_opposite(test):
            self._change(test, "negate", f"(not ({self._text(test)}))")
        self.visit(test)
        self._safe -= safety

    def _text(self, node: ast.expr) -> str:
        start, stop = self._span(node)
        return self.raw[start:stop].decode()

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _change(
        self, node: ast.expr | ast.stmt, operator: Operator, after: str, *, safety: bool = False
    ) -> None:
        if not self._functions:
            return
        start, stop = self._span(node)
        end = node.end_lineno or node.lineno
        before = self.raw[start:stop].decode()
        self.changes.append(
            Change(
                module=self.module,
                function=".".join(self._names),
                line=node.lineno,
                end=end,
                operator=operator,
                before=before,
                after=after,
                start=start,
                stop=stop,
                safety=safety or self._safe > 0,
            )
        )


def _has_opposite(test: ast.expr) -> bool:
    """Whether another operator says the opposite of it already."""
    if isinstance(test, ast.Compare):
        ordered = isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        return len(test.ops) == 1 and not ordered
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _is_text(node: ast.expr) -> bool:
    written = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return written or isinstance(node, ast.JoinedStr)


def lines_of(change: Change) -> Iterator[int]:
    """The lines by which a test may show that it ran what was changed."""
    yield from range(change.line, change.end + 1)
