"""An interrupt shows no credential of the run to a person.

interrupt({"values": {"bearer_token": state["bearer_token"]}})   ->   OAS194
interrupt({"values": {"campaignId": state["campaignId"]}})       ->   fine
build_hitl_gate(step_number=1, values=("approval_policy",))      ->   OAS194
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

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
    for script, file in subject.scripts:
        for name, node in _find_first(_list_payloads(interrupts(script)), _find_token_names):
            report(
                f"{name} is in the payload of an interrupt, which goes to a browser",
                script.at_node(node),
                hint="leave it out of the values that a person is shown",
                file=file,
            )
        for name, node in _find_first(_list_gate_values(script), _find_governed_keys):
            report(
                f"{name} is among the values that a gate shows",
                script.at_node(node),
                hint="leave it out of values=: only the host sets it, and nobody is shown it",
                file=file,
            )


_Found = Iterator[tuple[str, _Place]]


def _find_first(groups: Iterable[list[ast.AST]], search: Callable[[ast.AST], _Found]) -> _Found:
    """What is found first in the expressions of each call; each place once."""
    told: set[int] = set()
    for group in groups:
        nodes = (node for value in group for node in ast.walk(value))
        found = next((one for node in nodes for one in search(node)), None)
        if found is not None and id(found[1]) not in told:
            told.add(id(found[1]))
            yield found


def _list_gate_values(script: Script) -> Iterator[list[ast.AST]]:
    """What stands behind `values=` of each gate, also as a function of the program."""
    functions: dict[str, ast.AST] = {
        node.name: node
        for node in script.nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    for gate in gate_builds(script):
        values = [keyword.value for keyword in gate.call.keywords if keyword.arg == "values"]
        yield [functions.get(v.id, v) if isinstance(v, ast.Name) else v for v in values]


def _find_governed_keys(node: ast.AST) -> _Found:
    """A governed key by its name; also a text in a list of names."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        for item in node.elts:
            yield from _match_constant(item, _GOVERNED)
    else:
        yield from _find_token_names(node, _GOVERNED)


def _list_payloads(pauses: Iterable[Pause]) -> Iterator[list[ast.AST]]:
    """The arguments of each call, with what the variables of its function hold."""
    assigned: dict[int, dict[str, list[ast.AST]]] = {}
    for pause in pauses:
        given: list[ast.AST] = [*pause.call.args, *pause.call.keywords]
        if pause.function is not None:
            key = id(pause.function)
            if key not in assigned:
                assigned[key] = _collect_assignments(pause.function)
            names = [
                node.id for one in given for node in ast.walk(one) if isinstance(node, ast.Name)
            ]
            # each variable is searched once, however often it is shown
            given += [value for name in names for value in assigned[key].pop(name, [])]
        yield given


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


def _find_token_names(node: ast.AST, names: frozenset[str] = _TOKENS) -> _Found:
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


def _match_constant(node: ast.AST | None, names: frozenset[str]) -> _Found:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names:
        yield node.value, node
