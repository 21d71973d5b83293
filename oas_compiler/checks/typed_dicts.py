"""TypedDicts of a Python program, and the graphs that are built over them; no rule itself.

class S(TypedDict):                  Declared(name="S", fields={"status"}, bases=())
    status: str
graph = StateGraph(S)                StateUse(name="S", routed_by={"approved"})
graph.add_conditional_edges("a", route)
def route(state): return state["approved"]
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from oas_compiler.package.scripts import Script


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One TypedDict."""

    name: str
    script: Script
    node: ast.stmt
    fields: frozenset[str]
    bases: tuple[str, ...]
    """Names of the other TypedDicts that it extends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateUse:
    """One `StateGraph(…)`."""

    name: str
    """Of the state's class; empty where it is no plain name."""
    routed_by: frozenset[str]
    """Keys of the state that functions given to `add_conditional_edges` read in this program."""


def typed_dicts(script: Script) -> Iterator[Declared]:
    """Written as a class, or as `S = TypedDict("S", {…})`; a base that is none makes it one too."""
    for node in script.nodes:
        if isinstance(node, ast.ClassDef):
            bases = tuple(_last_name(base) for base in node.bases)
            if bases and (_is_typed(bases) or node.name.endswith("State")):
                yield _read_class_fields(script, node, bases)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            target = node.targets[0]
            if _last_name(node.value.func) == "TypedDict" and isinstance(target, ast.Name):
                fields = _read_call_fields(node.value)
                yield Declared(name=target.id, script=script, node=node, fields=fields, bases=())


def state_uses(script: Script) -> tuple[StateUse, ...]:
    names: list[str] = []
    routers: set[str] = set()
    for node in script.nodes:
        if not isinstance(node, ast.Call):
            continue
        called = _last_name(node.func)
        if called == "StateGraph":
            given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "state_schema")]
            names.append(_last_name(given[0]) if given else "")
        elif called == "add_conditional_edges":
            paths = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "path")]
            routers |= {_last_name(path) for path in paths}
    read = frozenset(_read_by(script, routers)) if names and routers else frozenset()
    return tuple(StateUse(name=name, routed_by=read) for name in names)


def _read_class_fields(script: Script, node: ast.ClassDef, bases: tuple[str, ...]) -> Declared:
    fields = frozenset(
        item.target.id
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    )
    others = tuple(base for base in bases if base not in {"TypedDict", "Generic"})
    return Declared(name=node.name, script=script, node=node, fields=fields, bases=others)


def _is_typed(bases: tuple[str, ...]) -> bool:
    return "TypedDict" in bases


def _read_call_fields(call: ast.Call) -> frozenset[str]:
    found = {keyword.arg for keyword in call.keywords if keyword.arg}
    for given in call.args[1:2]:
        for key in given.keys if isinstance(given, ast.Dict) else ():
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                found.add(key.value)
    return frozenset(found)


def _read_by(script: Script, routers: set[str]) -> Iterator[str]:
    """Keys that `state["key"]` and `state.get("key")` read in these functions."""
    for function in script.nodes:
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if function.name not in routers or not function.args.args:
            continue
        state = function.args.args[0].arg
        for node in ast.walk(function):
            key = _key_of(node, state)
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value


def _key_of(node: ast.AST, state: str) -> ast.expr | None:
    if isinstance(node, ast.Subscript) and _is_name(node.value, state):
        return node.slice
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return None
    is_get = node.func.attr == "get" and _is_name(node.func.value, state)
    return node.args[0] if is_get else None


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _last_name(node: ast.expr) -> str:
    """`TypedDict` of `typing.TypedDict`, `Generic` of `Generic[T]`; empty for anything else."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
