"""The state of a graph declares what every node and every gate reads.

class OrchestratorState(TypedDict):       class OrchestratorState(TypedDict):
    campaign_id: str    ->  OAS196            bearer_token: str
                                              approval_policy: dict | None
                                              rejected_at: str | None
                                              status: str
                                              campaign_id: str
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.package.package_programs import Script

# ----------------------------------------------------------------------------
# TypedDicts of a Python program, and the graphs that are built over them; no rule itself.
#
# `class S(TypedDict):                  Declared(name="S", fields={"status"}, bases=())`
#     `status: str`
# graph = StateGraph(S)                StateUse(name="S", routed_by={"approved"})
# `graph.add_conditional_edges("a", route)`
# `def route(state): return state["approved"]`


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


_NEEDED = ("approval_policy", "bearer_token", "rejected_at", "status")


@rule(
    code="OAS196",
    name="state-fields",
    severity="error",
    summary="The state of a graph lacks a field that its nodes and routes read.",
    fix="Declare approval_policy, bearer_token, rejected_at, status and what routes read.",
    source="agent guide, pitfall P8",
    needs="package",
    aliases=("pitfall-P8",),
    bad="class OrchestratorState(TypedDict):\n    bearer_token: str\n    status: str",
    good="class OrchestratorState(TypedDict):\n    approval_policy: dict | None\n    bearer_token: str\n    rejected_at: str | None\n    status: str",
)
def state_fields(subject: Subject, report: Report) -> None:
    package = subject.agent
    scripts = package.scripts if package is not None else ()
    used = [use for script in scripts for use in state_uses(script)]
    if package is None or not used:
        return
    declared = {found.name: found for script in scripts for found in typed_dicts(script)}
    for state in _select_states(declared, used):
        fields = _all_fields(state, declared)
        if fields is None:
            continue
        read = {key for use in used if use.name == state.name for key in use.routed_by}
        missing = [
            *(key for key in _NEEDED if key not in fields),
            *sorted(read - fields - {*_NEEDED}),
        ]
        if missing:
            report(
                f"the state {state.name} does not declare {', '.join(missing[:20])}",
                state.script.at_node(state.node),
                hint="a key that is not declared is dropped between the nodes",
                file=package.name_of(state.script.file),
            )


def _select_states(declared: dict[str, Declared], used: Iterable[StateUse]) -> Iterator[Declared]:
    """The TypedDicts that graphs use as state; where no use is found, all named …State."""
    names = {use.name for use in used}
    if names <= declared.keys():
        yield from (declared[name] for name in sorted(names))
    else:
        yield from (found for name, found in sorted(declared.items()) if name.endswith("State"))


def _all_fields(state: Declared, declared: dict[str, Declared]) -> set[str] | None:
    """Its fields with those of its bases; `None` when a base is not in the package."""
    fields: set[str] = set()
    waiting, seen = [state.name], {state.name}
    while waiting:
        found = declared.get(waiting.pop())
        if found is None:
            return None
        fields |= found.fields
        waiting += [base for base in found.bases if base not in seen]
        seen |= set(found.bases)
    return fields
