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
import re
from collections.abc import Collection, Iterator
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.checks.credentials.credential_names import set_of
from oas_compiler.ir import Place
from oas_compiler.package.package_programs import Script

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
    return tuple(pause for pause, name in _list_calls(script) if _is_interrupt(name))


def gate_builds(script: Script) -> tuple[Pause, ...]:
    """Every call that makes a gate, in the order of the syntax tree."""
    return tuple(pause for pause, name in _list_calls(script) if _is_builder(name))


def gates_run(script: Script) -> tuple[Pause, ...]:
    """Every call inside a function that runs a gate, by its name or directly from the builder."""
    calls = list(_list_calls(script))
    made = {id(pause.call) for pause, name in calls if _is_builder(name)}
    gates = {
        target.id
        for node in script.nodes
        if isinstance(node, ast.Assign) and id(node.value) in made
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return tuple(
        pause
        for pause, name in calls
        if pause.function is not None and (id(pause.call.func) in made or name in gates)
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


def _is_interrupt(name: str) -> bool:
    return name == "interrupt" or (name.startswith("langgraph.") and name.endswith(".interrupt"))


def _is_builder(name: str) -> bool:
    return name.startswith("cinatra_sdk.") and name.endswith(".build_hitl_gate")


def _list_calls(script: Script) -> Iterator[tuple[Pause, str]]:
    """Each call with the full name of what is called; without recursion, whatever the depth."""
    names = _map_names(script)
    stack: list[tuple[ast.AST | None, ast.AST]] = [(None, node) for node in script.nodes[:1]]
    while stack:
        function, node = stack.pop()
        if isinstance(node, ast.Call):
            first, dot, rest = _read_dotted_name(node.func).partition(".")
            yield Pause(function=function, call=node), names.get(first, first) + dot + rest
        inner = node if isinstance(node, _Function) else function
        stack += [(inner, below) for below in reversed(list(ast.iter_child_nodes(node)))]


def _map_names(script: Script) -> dict[str, str]:
    """Imported name -> its full name: `ask` of `from langgraph.types import interrupt as ask`.

    What the program defines itself has a name that nothing else has.
    """
    names: dict[str, str] = {}
    for node in script.nodes:
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names |= {one.asname or one.name: f"{module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            names |= {one.asname: one.name for one in node.names if one.asname}
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return names | {
        node.name: f".{node.name}" for node in script.nodes if isinstance(node, defined)
    }


def _read_dotted_name(called: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(called, ast.Attribute):
        parts.append(called.attr)
        called = called.value
    return ".".join([called.id, *reversed(parts)]) if isinstance(called, ast.Name) else ""


# ----------------------------------------------------------------------------
# The libraries and commands that a script uses, with places.  For rules; not a rule itself.
#
#     `uses(Script("a.py", "import psycopg"), WantedCalls(python=frozenset({"psycopg"})), ())`
#         -> Use(name="psycopg", place=Place("", 1, 8))
#
# Comments and strings do not count.  Python is parsed.  Python that does not parse, and other
# languages, are searched with linear patterns over the code without comments and strings.


_JS_MODULE: Final = re.compile(r"""\b(?:from|import|require)\s*(?:\(\s*)?(["'`])( *)\1""")
_JS_SPAWN: Final = re.compile(
    r"""\b(?:exec|execSync|spawn|spawnSync|execFile|execFileSync|execa|execaSync)\s*\(\s*["'`]( *)"""
)
_PY_IMPORT: Final = re.compile(r"^[ \t]*(?:from|import)[ \t]+([\w.]+)", re.MULTILINE)
_SET: Final = r"[A-Za-z_]\w*=[^\s\"';&|(]*[ \t]+"
"""A variable that a shell sets for one command, before its name."""
_SHELL_COMMAND: Final = re.compile(
    r"(?:^|[;&|({`!]|\b(?:then|do|else|elif|if|while|until|exec|sudo|env|time|nohup|xargs)[ \t])"
    rf"[ \t]*(?:{_SET})*(?!{_SET})(?=([\w./-]+))",
    re.MULTILINE,
)
_COMMAND: Final = re.compile(r"\s*(?:sudo\s+)?([\w./-]+)")


_RUNNERS: Final = set_of(
    "run call check_call check_output Popen system popen getoutput getstatusoutput "
    "create_subprocess_exec create_subprocess_shell"
)
"""Functions of Python that start another program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCalls:
    """The libraries, commands and calls to look for."""

    python: frozenset[str] = frozenset()
    """Modules; `django.db` also means `django.db.models`."""
    javascript: frozenset[str] = frozenset()
    """Packages; `pg` also means `pg/lib/x` and `npm:pg@8`."""
    commands: frozenset[str] = frozenset()
    """Programs that a shell starts."""
    calls: frozenset[str] = frozenset()
    """Global functions and classes of JavaScript."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One library or command in one script."""

    name: str
    place: Place


def uses(script: Script, wanted: WantedCalls, files: Collection[str]) -> Iterator[Use]:
    """Each library and command once, where it first stands.

    `files` of the package: a module that lies beside the script is not the library of that name.
    """
    search = {
        "python": _find_python_uses,
        "javascript": _find_javascript_uses,
        "shell": _find_shell_commands,
    }[script.language]
    told: set[str] = set()
    for name, place in search(script, wanted):
        if name not in told and not (
            script.language == "python" and _is_local(name, script, files)
        ):
            told.add(name)
            yield Use(name=name, place=place)


def _find_python_uses(script: Script, wanted: WantedCalls) -> Iterator[tuple[str, Place]]:
    if not script.nodes:
        for match in _PY_IMPORT.finditer(script.code):
            if name := _match_wanted_module(match[1], wanted.python):
                yield name, script.at(match.start(1))
    for node in script.nodes:
        for module, at in _list_imported_modules(node):
            if name := _match_wanted_module(module, wanted.python):
                yield name, script.at_node(at)
        if isinstance(node, ast.Call) and (command := _find_program_text(node)):
            program = (
                _match_wanted_program(command.value, wanted)
                if isinstance(command.value, str)
                else ""
            )
            if program:
                yield program, script.at_node(command)


def _list_imported_modules(node: ast.AST) -> Iterator[tuple[str, ast.alias | ast.stmt | ast.expr]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name, alias
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            yield f"{node.module}.{alias.name}", node
    elif isinstance(node, ast.Call) and _read_called_name(node) in {"import_module", "__import__"}:
        first = node.args[0] if node.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value, first


def _read_called_name(node: ast.Call) -> str:
    """The last part of the name that is called: `run` of `subprocess.run(…)`."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _find_program_text(node: ast.Call) -> ast.Constant | None:
    """The text that names the program, when the call starts one."""
    if _read_called_name(node) not in _RUNNERS or not node.args:
        return None
    first = node.args[0]
    if isinstance(first, (ast.List, ast.Tuple)) and first.elts:
        first = first.elts[0]
    if isinstance(first, ast.JoinedStr) and first.values:
        first = first.values[0]
    return first if isinstance(first, ast.Constant) else None


def _match_wanted_module(module: str, wanted: frozenset[str]) -> str:
    """The wanted module that this one is, or is a part of."""
    parts = module.split(".")[:4]
    heads = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
    return next((head for head in heads if head in wanted), "")


def _is_local(name: str, script: Script, files: Collection[str]) -> bool:
    top = name.partition(".")[0]
    folder = script.file.rpartition("/")[0]
    at = f"{folder}/{top}" if folder else top
    return f"{at}.py" in files or f"{at}/__init__.py" in files


def _find_javascript_uses(script: Script, wanted: WantedCalls) -> Iterator[tuple[str, Place]]:
    for match in _JS_MODULE.finditer(script.code):
        name = _match_wanted_package(script.text[match.start(2) : match.end(2)], wanted.javascript)
        if name:
            yield name, script.at(match.start(1))
    for match in _JS_SPAWN.finditer(script.code):
        if program := _match_wanted_program(script.text[match.start(1) : match.end(1)], wanted):
            yield program, script.at(match.start(1))
    if wanted.calls:
        names = "|".join(sorted(wanted.calls))
        for match in re.finditer(rf"(?<![\w$.#])({names})\s*\(", script.code):
            if not _is_defined(script.code, match):
                yield match[1], script.at(match.start(1))


def _is_defined(code: str, match: re.Match[str]) -> bool:
    """`function fetch(` and `async fetch(` of a class define what they name."""
    before = code[max(0, match.start() - 20) : match.start()].rstrip()
    return before.endswith("function")


def _match_wanted_package(module: str, wanted: frozenset[str]) -> str:
    """`pg` of `pg`, `pg/lib/x` and `npm:pg@8`; `@x/y` of `@x/y/z`."""
    name = module.removeprefix("npm:")
    scope = "@" if name.startswith("@") else ""
    parts = name.removeprefix("@").split("/")
    count = 2 if scope else 1
    parts[count - 1 : count] = [part.partition("@")[0] for part in parts[count - 1 : count]]
    package = scope + "/".join(parts[:count])
    return package if package in wanted else ""


def _find_shell_commands(script: Script, wanted: WantedCalls) -> Iterator[tuple[str, Place]]:
    for match in _SHELL_COMMAND.finditer(script.code):
        if program := _match_wanted_program(match[1], wanted):
            yield program, script.at(match.start(1))


def _match_wanted_program(command: str, wanted: WantedCalls) -> str:
    """The wanted program that a command line starts with, whatever folder it is in."""
    match = _COMMAND.match(command[:200])
    name = match[1].rpartition("/")[2] if match else ""
    return name if name in wanted.commands else ""
