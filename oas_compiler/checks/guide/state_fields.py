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

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.package.package_programs import Script


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declared:
    """One TypedDict of a program."""

    name: str
    script: Script
    file: str
    node: ast.stmt
    fields: frozenset[str]
    bases: tuple[str, ...] = ()
    """Names of the other TypedDicts that it extends."""


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
    states: set[str] = set()
    read: dict[str, set[str]] = {}
    declared: dict[str, _Declared] = {}
    for script, file in subject.scripts:
        names, keys = _read_graphs(script)
        states |= names
        for name in names:
            read.setdefault(name, set()).update(keys)
        declared |= {found.name: found for found in _list_typed_dicts(script, file)}
    for state in _select_states(declared, states):
        fields = _all_fields(state, declared)
        if fields is None:
            continue
        routed = read.get(state.name, set()) - fields - {*_NEEDED}
        missing = [*(key for key in _NEEDED if key not in fields), *sorted(routed)]
        if missing:
            report(
                f"the state {state.name} does not declare {', '.join(missing[:20])}",
                state.script.at_node(state.node),
                hint="a key that is not declared is dropped between the nodes",
                file=state.file,
            )


def _select_states(declared: dict[str, _Declared], states: set[str]) -> Iterator[_Declared]:
    """The TypedDicts that graphs use as state; where no use is found, all named …State."""
    if states <= declared.keys():
        yield from (declared[name] for name in sorted(states))
    else:
        yield from (found for name, found in sorted(declared.items()) if name.endswith("State"))


def _all_fields(state: _Declared, declared: dict[str, _Declared]) -> set[str] | None:
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


def _list_typed_dicts(script: Script, file: str) -> Iterator[_Declared]:
    """Written as a class, or as `S = TypedDict("S", {…})`; a base that is none makes it one too."""
    for node in script.nodes:
        if isinstance(node, ast.ClassDef):
            bases = tuple(_last_name(base) for base in node.bases)
            if bases and ("TypedDict" in bases or node.name.endswith("State")):
                fields = frozenset(
                    item.target.id
                    for item in node.body
                    if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
                )
                others = tuple(base for base in bases if base not in {"TypedDict", "Generic"})
                yield _Declared(
                    name=node.name, script=script, file=file, node=node, fields=fields, bases=others
                )
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            target = node.targets[0]
            if _last_name(node.value.func) == "TypedDict" and isinstance(target, ast.Name):
                fields = _read_call_fields(node.value)
                yield _Declared(name=target.id, script=script, file=file, node=node, fields=fields)


def _read_call_fields(call: ast.Call) -> frozenset[str]:
    keys = [key for given in call.args[1:2] if isinstance(given, ast.Dict) for key in given.keys]
    named = {keyword.arg for keyword in call.keywords if keyword.arg}
    return frozenset(named | set(_list_texts(keys)))


def _read_graphs(script: Script) -> tuple[set[str], set[str]]:
    """The classes of the states of the graphs, and the keys of a state that their routes read.

    A class without a plain name is the empty name.
    """
    states: set[str] = set()
    routers: set[str] = set()
    for node in script.nodes:
        called = _last_name(node.func) if isinstance(node, ast.Call) else ""
        if called == "StateGraph":
            states.add(next(map(_last_name, _list_given(node, 0, "state_schema")), ""))
        elif called == "add_conditional_edges":
            routers |= {_last_name(path) for path in _list_given(node, 1, "path")}
    functions = (
        node
        for node in script.nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if node.name in routers and node.args.args
    )
    return states, {key for function in functions for key in _list_texts(_list_keys(function))}


def _list_given(call: ast.AST, place: int, name: str) -> list[ast.expr]:
    """An argument, by its place or its name."""
    assert isinstance(call, ast.Call)
    return [*call.args[place : place + 1], *(k.value for k in call.keywords if k.arg == name)]


def _list_keys(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    """What `state["key"]` and `state.get("key")` read of its first argument."""
    state = function.args.args[0].arg
    for node in ast.walk(function):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=key) if name == state:
                yield key
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[key, *_]
            ) if name == state:
                yield key


def _list_texts(nodes: Iterable[ast.expr | None]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _last_name(node: ast.expr) -> str:
    """`TypedDict` of `typing.TypedDict`, `Generic` of `Generic[T]`; empty for anything else."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
