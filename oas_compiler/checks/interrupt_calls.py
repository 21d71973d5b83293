"""The places where a Python program calls LangGraph's interrupt.  For rules; not a rule itself.

    from langgraph.types import interrupt as ask
    def gate(state):
        return ask({"approved": True})        ->   Pause(function="gate", call=…)

A function `interrupt` that the program defines itself, or imports from another module, does not
count.  The gates of cinatra_sdk (build_hitl_gate) are found in the same way: `gate_builds` gives
the calls that make gates, `gates_run` the calls that run a gate inside a function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from oas_compiler.package.scripts import Script

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_LOOPS = (
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
_BUILDERS = frozenset({"build_hitl_gate"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """One call of interrupt, in the innermost function around it."""

    function: ast.AST | None
    """`None` at the top of the module."""
    call: ast.Call

    @property
    def function_name(self) -> str:
        return getattr(self.function, "name", "") or "a lambda"


def interrupts(script: Script) -> tuple[Pause, ...]:
    """Every call, in the order of the syntax tree, outermost functions first."""
    names, modules = _collect_interrupt_names(script)
    if not names and not modules:
        return ()
    return tuple(
        Pause(function=function, call=node)
        for function, node in _with_function(script)
        if isinstance(node, ast.Call) and _is_interrupt(node.func, names, modules)
    )


def gate_builds(script: Script) -> tuple[Pause, ...]:
    """Every call that makes a gate, in the order of the syntax tree."""
    names = _collect_builder_names(script)
    if not names:
        return ()
    return tuple(
        Pause(function=function, call=node)
        for function, node in _with_function(script)
        if isinstance(node, ast.Call) and _called_name(node.func) in names
    )


def gates_run(script: Script) -> tuple[Pause, ...]:
    """Every call inside a function that runs a gate, by its name or directly from the builder."""
    made = {id(found.call) for found in gate_builds(script)}
    if not made:
        return ()
    gates = {
        target.id
        for node in script.nodes
        if isinstance(node, ast.Assign) and id(node.value) in made
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return tuple(
        Pause(function=function, call=node)
        for function, node in _with_function(script)
        if function is not None
        and isinstance(node, ast.Call)
        and (id(node.func) in made or (isinstance(node.func, ast.Name) and node.func.id in gates))
    )


def in_a_loop(pause: Pause) -> bool:
    """Whether a call stands in a loop of its own function."""
    if pause.function is None:
        return False
    return any(
        node is pause.call
        for loop in ast.walk(pause.function)
        if isinstance(loop, _LOOPS)
        for node in ast.walk(loop)
    )


def _collect_builder_names(script: Script) -> set[str]:
    """The program's names for the SDK's functions that make gates."""
    return {
        alias.asname or alias.name
        for node in script.nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "cinatra_sdk"
        for alias in node.names
        if alias.name in _BUILDERS
    } | {
        f"{alias.asname or alias.name}.{builder}"
        for node in script.nodes
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name.split(".")[0] == "cinatra_sdk"
        for builder in _BUILDERS
    }


def _called_name(called: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(called, ast.Attribute):
        parts.append(called.attr)
        called = called.value
    return ".".join([called.id, *reversed(parts)]) if isinstance(called, ast.Name) else ""


def _with_function(script: Script) -> Iterator[tuple[ast.AST | None, ast.AST]]:
    """Every node with the function that it stands in; without recursion, whatever the depth."""
    stack: list[tuple[ast.AST | None, ast.AST]] = [(None, node) for node in script.nodes[:1]]
    while stack:
        function, node = stack.pop()
        yield function, node
        inner = node if isinstance(node, _Function) else function
        stack += [(inner, below) for below in reversed(list(ast.iter_child_nodes(node)))]


def _collect_interrupt_names(script: Script) -> tuple[set[str], set[str]]:
    """Names that mean interrupt, and names of modules of LangGraph."""
    names, modules, others = {"interrupt"}, set(), set()
    for node in script.nodes:
        if isinstance(node, ast.ImportFrom):
            of_langgraph = (node.module or "").partition(".")[0] == "langgraph"
            for alias in node.names:
                own = alias.asname or alias.name
                if not of_langgraph:
                    others.add(own)
                elif alias.name == "interrupt":
                    names.add(own)
                else:
                    modules.add(own)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "langgraph":
                    modules.add(alias.asname or "langgraph")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            others.add(node.name)
    return names - others, modules


def _is_interrupt(called: ast.expr, names: set[str], modules: set[str]) -> bool:
    if isinstance(called, ast.Name):
        return called.id in names
    if not isinstance(called, ast.Attribute) or called.attr != "interrupt":
        return False
    owner = called.value
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    return isinstance(owner, ast.Name) and owner.id in modules
