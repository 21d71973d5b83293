"""Keys that only the host may set stand after the users' inputs, so that they win.

{ bearer_token: "", ...run.inputParams }   ->   OAS195: an input of that name would win
{ ...run.inputParams, bearer_token: "" }   ->   fine
{"approval_policy": policy, **input_params}   ->   OAS195, the same in Python
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import field
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
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
class _Entry:
    """One entry of an object literal, an array or a list of arguments."""

    at: int
    key: str = ""
    """Its first word, where it is no spread."""
    is_spread: bool = False
    words: list[str] = field(default_factory=list)
    """Its words, also those deeper in round and square brackets: `...(run.inputParams as X)`."""


def overridable(script: Script) -> Iterator[tuple[str, int]]:
    """(key, offset) of each authoritative key that stands before a spread of users' inputs."""
    if not any(key in script.text for key in KEYS) or not any(w in script.text for w in SPREAD):
        return
    brackets: list[tuple[str, int, list[_Entry]]] = [("", 0, [_Entry(0)])]
    for match in _TOKEN.finditer(script.code):
        sign, (bracket, at, entries) = match[0], brackets[-1]
        last = entries[-1]
        if sign in {"{", "(", "["}:
            brackets.append((sign, match.start(), [_Entry(match.end())]))
        elif sign in {"}", ")", "]"} and len(brackets) > 1:
            brackets.pop()
            if bracket == "{" and not _is_pattern(script.code, at, match.end(), last):
                yield from _find_overridden_keys(entries)
            inner = [] if bracket == "{" else [word for one in entries for word in one.words]
            brackets[-1][2][-1].words += ["", *inner]
        elif sign == ",":
            entries.append(_Entry(match.end()))
        elif sign == "..." and not last.words:
            last.at, last.is_spread = match.start(), True
        elif sign not in {"}", ")", "]", "..."}:
            quoted = match[1] is not None
            word = script.text[match.start(2) : match.end(2)] if quoted else sign
            if not last.words and not last.is_spread:
                last.at, last.key = match.start(), word
            last.words.append(word)


def _find_overridden_keys(entries: list[_Entry]) -> Iterator[tuple[str, int]]:
    spread = max((one.at for one in entries if one.is_spread and SPREAD & {*one.words}), default=-1)
    places = {one.key: one.at for one in entries if one.key in KEYS}  # the last one counts
    yield from ((key, at) for key, at in places.items() if at < spread)


def _is_pattern(code: str, start: int, end: int, last: _Entry) -> bool:
    """Whether the braces take an object apart: the rest is then a bare name at the end."""
    is_bare = last.is_spread and len(last.words) == 1
    behind = _PATTERN_END.match(code[end : end + 200])
    in_condition = code[max(0, start - 50) : start].rstrip().endswith("?")
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
    for script, file in subject.scripts:
        for key, place in _find_overridable_keys(script):
            report(
                f"{key} stands before the inputs that are spread after it, so a user's {key} wins",
                place,
                hint="move it behind the spread",
                file=file,
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
