"""The layers of docs/architecture.md, enforced: who may import what."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("cinatra_sdk", "oas_compiler", "graphs")


def modules(package: str) -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        yield str(path.relative_to(ROOT)), path


def imports(path: Path) -> set[str]:
    """Every module that the file imports, late imports too; type-only ones do not count."""
    found: set[str] = set()
    stack: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            stack.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        stack.extend(ast.iter_child_nodes(node))
    return found


def users_of(prefix: str, package: str) -> list[str]:
    return [
        name
        for name, path in modules(package)
        if any(module == prefix or module.startswith(f"{prefix}.") for module in imports(path))
    ]


def test_knowledge_flows_one_way() -> None:
    assert users_of("oas_compiler", "cinatra_sdk") == []
    assert users_of("graphs", "cinatra_sdk") == []
    assert users_of("graphs", "oas_compiler") == []


def test_only_lowering_and_the_command_line_use_langgraph_and_the_sdk() -> None:
    allowed = ("oas_compiler/lower/", "oas_compiler/cli/")
    # The shared pieces: the languages that templates and patterns are written in.
    shared = {"oas_compiler/templates.py", "oas_compiler/patterns.py"}
    for prefix in ("langgraph", "langchain_core", "cinatra_sdk", "psycopg"):
        users = users_of(prefix, "oas_compiler")
        outside = {user for user in users if not user.startswith(allowed)}
        assert outside <= (shared if prefix == "cinatra_sdk" else set()), prefix


def test_only_the_store_talks_to_the_database() -> None:
    users = users_of("psycopg", "cinatra_sdk") + users_of("psycopg_pool", "cinatra_sdk")
    assert users
    assert all(user.startswith("cinatra_sdk/store/") for user in users)


def test_only_one_module_uses_a_private_part_of_langgraph() -> None:
    users = [user for package in PACKAGES for user in users_of("langgraph._internal", package)]
    assert users == ["oas_compiler/lower/engine.py"]


@pytest.mark.parametrize("name", ["ir.py", "approval.py", "diagnostics.py", "mermaid.py", "schemas.py", "steering.py", "casting.py"])  # fmt: skip
def test_the_ir_and_what_is_pure_import_the_standard_library_only(name: str) -> None:
    allowed = {*sys.stdlib_module_names, "oas_compiler"}
    tops = {module.split(".")[0] for module in imports(ROOT / "oas_compiler" / name)}
    assert tops <= allowed


def test_checking_a_file_loads_neither_langgraph_nor_a_database_nor_an_http_client() -> None:
    code = (
        "import sys; from oas_compiler import check; check({'component_type': 'Flow'}); "
        "heavy = {'langgraph', 'langchain_core', 'psycopg', 'httpx2', 'jsonschema', 'typer'}; "
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_public_names_are_these() -> None:
    import cinatra_sdk
    import oas_compiler

    assert sorted(oas_compiler.__all__) == [
        "CompileError", "Compiled", "Diagnostics", "Finding", "Flow", "check", "compile_flow",
        "compile_ir",
    ]  # fmt: skip
    for module in (cinatra_sdk, oas_compiler):
        for name in module.__all__:
            assert getattr(module, name) is not None


def test_no_public_name_is_hidden_by_a_module_of_the_same_name() -> None:
    # Importing `package.name` sets the attribute `name` of the package to the module.
    import cinatra_sdk

    folder = Path(cinatra_sdk.__file__).parent
    modules = {entry.stem for entry in folder.iterdir()}
    assert modules.isdisjoint(cinatra_sdk.__all__)
    assert modules >= {"runtime_context", "hitl", "store"}, "the control: modules are found"
