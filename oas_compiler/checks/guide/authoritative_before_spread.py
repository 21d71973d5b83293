"""Keys that only the host may set stand after the users' inputs, so that they win.

{ bearer_token: "", ...run.inputParams }   ->   OAS195: an input of that name would win
{ ...run.inputParams, bearer_token: "" }   ->   fine
{"approval_policy": policy, **input_params}   ->   OAS195, the same in Python
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Place
from oas_compiler.package.package_programs import Script

# ----------------------------------------------------------------------------
# Object literals of JavaScript in which users' inputs override keys that only the host may set.
#
#     { bearer_token: "", ...run.inputParams }     ->   ("bearer_token", 2)
#     const { bearer_token, ...inputParams } = x   ->   nothing: that takes an object apart
#
# One pass over the code, with a stack of open brackets.  Not a rule itself.


KEYS: Final = frozenset({"bearer_token", "approval_policy"})
SPREAD: Final = frozenset({"inputParams", "input_params"})
"""Names for the inputs of a user."""

_TOKEN: Final = re.compile(r"""\.\.\.|[{}()\[\],]|[A-Za-z_$][\w$]*|(["'])( *)\1""")
_PATTERN_END: Final = re.compile(r"\s*(?:=(?![=>])|\)\s*(?:=>|\{|:)|:)")
"""Behind the brace of a pattern: it is assigned from something, or it is a parameter."""


@dataclass(slots=True)
class _Open:
    """One bracket that is open."""

    bracket: str
    at: int
    keys: dict[str, list[int]] | None = None
    """Authoritative keys of a literal, with where they stand; `None` until there is one."""
    spread: int = -1
    """Offset of the last spread of users' inputs into it."""
    spreading: int = -1
    """Offset of the spread that is being read."""
    words: int = 0
    """Words of that spread."""
    is_next_key: bool = True


def overridable(script: Script) -> Iterator[tuple[str, int]]:
    """(key, offset) of each authoritative key that stands before a spread of users' inputs."""
    if not any(key in script.text for key in KEYS) or not any(w in script.text for w in SPREAD):
        return
    code, stack = script.code, [_Open("", 0)]
    for match in _TOKEN.finditer(code):
        sign = match[0]
        top = stack[-1]
        if sign in {"{", "(", "["}:
            stack.append(_Open(sign, match.start()))
            top.is_next_key = False
        elif sign in {"}", ")", "]"}:
            if len(stack) > 1:
                stack.pop()
                yield from _find_overridden_keys(code, top, match.end())
                _close_into(stack[-1], top)
        elif sign == ",":
            top.is_next_key, top.spreading = True, -1
        elif sign == "...":
            top.spreading = match.start() if top.bracket == "{" and top.is_next_key else -1
            top.words, top.is_next_key = 0, False
        else:
            _record_word(script, match, stack)


def _record_word(script: Script, match: re.Match[str], stack: list[_Open]) -> None:
    top = stack[-1]
    quoted = match[1] is not None
    word = script.text[match.start(2) : match.end(2)] if quoted else match[0]
    if top.bracket == "{" and top.is_next_key and word in KEYS:
        top.keys = top.keys or {}
        top.keys.setdefault(word, []).append(match.start())
    top.is_next_key = False
    top.words += 1
    if word in SPREAD:
        # `...(run.inputParams as X)`: the word stands some brackets deeper than the dots
        for frame in reversed(stack):
            if frame.spreading >= 0:
                frame.spread = frame.spreading
                return
            if frame.bracket == "{":
                return


def _close_into(outer: _Open, inner: _Open) -> None:
    outer.words += inner.words + 1


def _find_overridden_keys(code: str, literal: _Open, end: int) -> Iterator[tuple[str, int]]:
    if literal.bracket != "{" or literal.spread < 0 or not literal.keys:
        return
    if _is_pattern(code, literal, end):
        return
    for key, places in literal.keys.items():
        if places[-1] < literal.spread:
            yield key, places[-1]


def _is_pattern(code: str, literal: _Open, end: int) -> bool:
    """Whether the braces take an object apart: the rest is then a bare name at the end."""
    is_bare = literal.spreading >= 0 and literal.words == 1
    behind = _PATTERN_END.match(code[end : end + 200])
    in_condition = code[max(0, literal.at - 50) : literal.at].rstrip().endswith("?")
    return is_bare and behind is not None and not in_condition


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
