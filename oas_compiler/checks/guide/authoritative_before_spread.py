"""Keys that only the host may set stand after the users' inputs, so that they win.

{ bearer_token: "", ...run.inputParams }   ->   OAS195: an input of that name would win
{ ...run.inputParams, bearer_token: "" }   ->   fine
{"approval_policy": policy, **input_params}   ->   OAS195, the same in Python
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from oas_compiler.checks.object_literals import KEYS, SPREAD, overridable
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rules import Report, rule
from oas_compiler.ir import Place
from oas_compiler.package.scripts import Script


@rule(
    code="OAS195",
    name="authoritative-before-spread",
    severity="error",
    summary="bearer_token or approval_policy stands before the spread of what users give.",
    fix="Put it after the spread: the last key wins.",
    source="agent guide, R-01 and pitfall P5",
    needs="package",
    aliases=("pitfall-P5",),
    bad='const graphInput = { bearer_token: "", ...run.inputParams };',
    good='const graphInput = { ...run.inputParams, bearer_token: "" };',
)
def authoritative_before_spread(subject: Subject, report: Report) -> None:
    package = subject.agent
    for script in package.scripts if package is not None else ():
        for key, place in _find_overridable_keys(script):
            report(
                f"{key} stands before the inputs that are spread after it, so a user's {key} wins",
                place,
                hint="move it behind the spread",
                file=package.name_of(script.file) if package is not None else "",
            )


def _find_overridable_keys(script: Script) -> Iterator[tuple[str, Place]]:
    if script.language == "javascript":
        for name, offset in overridable(script):
            yield name, script.at(offset)
    for key in _in_python(script):
        yield str(key.value), script.at_node(key)


def _in_python(script: Script) -> Iterator[ast.Constant]:
    for node in script.nodes:
        if isinstance(node, ast.Dict):
            yield from _list_keys_before(node, _last_spread(node))
        elif isinstance(node, ast.BinOp):
            # {…} | input_params: the right side wins
            left, is_merged = node.left, isinstance(node.op, ast.BitOr)
            if is_merged and isinstance(left, ast.Dict) and _is_users(node.right):
                yield from _list_keys_before(left, len(left.keys))


def _last_spread(literal: ast.Dict) -> int:
    """Index of the last `**` of users' inputs; 0 without one."""
    pairs = enumerate(zip(literal.keys, literal.values, strict=True))
    return max((i for i, (key, value) in pairs if key is None and _is_users(value)), default=0)


def _list_keys_before(literal: ast.Dict, spread: int) -> list[ast.Constant]:
    """Authoritative keys before `spread` that are not repeated after it."""
    keys = [key for key in literal.keys if isinstance(key, ast.Constant)]
    behind = {key.value for key in literal.keys[spread:] if isinstance(key, ast.Constant)}
    before = {id(key) for key in literal.keys[:spread]}
    return [key for key in keys if id(key) in before and key.value in KEYS - behind]


def _is_users(value: ast.expr) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id in SPREAD)
        or (isinstance(node, ast.Attribute) and node.attr in SPREAD)
        or (isinstance(node, ast.Constant) and node.value in SPREAD)
        for node in ast.walk(value)
    )
