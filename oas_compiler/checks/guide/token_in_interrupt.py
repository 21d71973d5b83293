"""An interrupt shows no credential of the run to a person.

interrupt({"values": {"bearer_token": state["bearer_token"]}})   ->   OAS194
interrupt({"values": {"campaignId": state["campaignId"]}})       ->   fine
build_hitl_gate(step_number=1, values=("approval_policy",))      ->   OAS194
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from oas_compiler.checks.lookup.program_calls import Pause, gate_builds, interrupts
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.package.package_programs import Script

_TOKENS = frozenset({"bearer_token", "a2a_bearer_token"})
_GOVERNED = _TOKENS | {"approval_policy", "rejected_at"}
"""Names that a gate never shows: credentials of the run, and keys that only the host sets."""
_Place = ast.expr | ast.keyword


@rule(
    code="OAS194",
    name="token-in-interrupt",
    severity="error",
    summary="A bearer token or a key that only the host sets is put into what a gate shows.",
    fix="Take the token out: it never goes to a browser.",
    source="agent guide, pitfall P2",
    needs="package",
    aliases=("pitfall-P2",),
    bad='interrupt({"values": {"bearer_token": state["bearer_token"]}})',
    good='interrupt({"values": {"campaignId": state["campaignId"]}})',
)
def token_in_interrupt(subject: Subject, report: Report) -> None:
    package = subject.agent
    for script in package.scripts if package is not None else ():
        for name, node in _find_shown_tokens(interrupts(script)):
            report(
                f"{name} is in the payload of an interrupt, which goes to a browser",
                script.at_node(node),
                hint="leave it out of the values that a person is shown",
                file=package.name_of(script.file) if package is not None else "",
            )
        for name, node in _shown_by_gates(script):
            report(
                f"{name} is among the values that a gate shows",
                script.at_node(node),
                hint="leave it out of values=: only the host sets it, and nobody is shown it",
                file=package.name_of(script.file) if package is not None else "",
            )


def _shown_by_gates(script: Script) -> Iterator[tuple[str, _Place]]:
    """The first governed key in `values=` of each gate, also through a function of the program."""
    functions: dict[str, ast.AST] = {
        node.name: node
        for node in script.nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    told: set[int] = set()
    for gate in gate_builds(script):
        values = [keyword.value for keyword in gate.call.keywords if keyword.arg == "values"]
        given = [functions.get(v.id, v) if isinstance(v, ast.Name) else v for v in values]
        found = next(
            (
                key
                for value in given
                for node in ast.walk(value)
                for key in _find_governed_keys(node)
            ),
            None,
        )
        if found is not None and id(found[1]) not in told:
            told.add(id(found[1]))
            yield found


def _find_governed_keys(node: ast.AST) -> Iterator[tuple[str, _Place]]:
    """A governed key by its name; also a text in a list of names."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        for item in node.elts:
            yield from _match_constant(item, _GOVERNED)
    else:
        yield from _find_token_names(node, _GOVERNED)


def _find_shown_tokens(pauses: Iterable[Pause]) -> Iterator[tuple[str, _Place]]:
    """The first token in the arguments of each call, also through a variable of its function."""
    told: set[int] = set()
    assigned: dict[int, dict[str, list[ast.AST]]] = {}
    for pause in pauses:
        given: list[ast.AST] = [*pause.call.args, *pause.call.keywords]
        if pause.function is not None:
            key = id(pause.function)
            if key not in assigned:
                assigned[key] = _collect_assignments(pause.function)
            # each variable is searched once, however often it is shown
            for name in _iterate_variables(pause.call):
                given += assigned[key].pop(name, [])
        found = next(
            (
                token
                for value in given
                for node in ast.walk(value)
                for token in _find_token_names(node)
            ),
            None,
        )
        if found is not None and id(found[1]) not in told:
            told.add(id(found[1]))
            yield found


def _iterate_variables(call: ast.Call) -> Iterator[str]:
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        for node in ast.walk(value):
            if isinstance(node, ast.Name):
                yield node.id


def _collect_assignments(function: ast.AST) -> dict[str, list[ast.AST]]:
    """The values that each variable of a function gets, by assignment or as members."""
    found: dict[str, list[ast.AST]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        for target in targets:
            parts = found.setdefault(_name_of(target), [])
            parts += [node.value] if node.value is not None else []
            # payload["bearer_token"] = … adds the key like a literal does
            parts += [target] if isinstance(target, ast.Subscript) else []
    return found


def _name_of(target: ast.expr) -> str:
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _find_token_names(
    node: ast.AST, names: frozenset[str] = _TOKENS
) -> Iterator[tuple[str, _Place]]:
    """A key of a dict, a value read by its name, or a variable; not a comparison with the name."""
    if isinstance(node, ast.Dict):
        for key in node.keys:
            yield from _match_constant(key, names)
    elif isinstance(node, ast.Subscript):
        yield from _match_constant(node.slice, names)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in {"get", "pop"} and node.args:
            yield from _match_constant(node.args[0], names)
        for keyword in node.keywords:
            if keyword.arg in names:
                yield str(keyword.arg), keyword
    elif isinstance(node, ast.Name) and node.id in names:
        yield node.id, node
    elif isinstance(node, ast.Attribute) and node.attr in names:
        yield node.attr, node


def _match_constant(
    node: ast.AST | None, names: frozenset[str] = _TOKENS
) -> Iterator[tuple[str, _Place]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names:
        yield node.value, node
