"""The layers of docs/architecture.md, enforced: who may import what."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.sources import ROOT, load_house, parse, read_modules, walk_statements

PACKAGES = ("cinatra_sdk", "oas_compiler", "graphs")


def modules(package: str) -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        yield str(path.relative_to(ROOT)), path


@cache
def imports(path: Path) -> frozenset[str]:
    """Every module that the file imports, late imports too; type-only ones do not count."""
    found: set[str] = set()
    stack: list[ast.AST] = [parse(path)]
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
        stack.extend(load_house().list_statements(node))
    return frozenset(found)


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


# ------------------------------------------------------------------ floors


@cache
def imports_of_packages() -> dict[str, set[str]]:
    """Module → the modules of ours that it imports, late imports too."""
    return {name: module.imports for name, module in read_modules().items()}


def upward(package: str, floors: tuple[str, ...], graph: dict[str, set[str]]) -> list[str]:
    """`module -> module` of every import from a floor to one above it, or to none that is known."""
    levels = {floor: number for number, floor in enumerate(floors)}

    def level(module: str) -> int:
        return levels.get(module.split(".")[1], -1) if "." in module else len(floors)

    return [
        f"{module} -> {target}"
        for module, targets in graph.items()
        for target in sorted(targets)
        if module.startswith(f"{package}.")
        and target.startswith(f"{package}.")
        and level(module) < level(target)
    ]


def circles(graph: dict[str, set[str]]) -> list[str]:
    """`module -> module` of every import that is part of a circle, or leads from one to another."""
    left = {module: set(targets) for module, targets in graph.items()}
    while True:
        used = set().union(*left.values()) if left else set()
        loose = {module for module, targets in left.items() if not targets or module not in used}
        if not loose:
            return [f"{module} -> {target}" for module in left for target in sorted(left[module])]
        left = {module: left[module] - loose for module in left if module not in loose}


@pytest.mark.parametrize("package", ["cinatra_sdk", "oas_compiler"])
def test_a_folder_imports_only_those_below_it(package: str) -> None:
    floors: tuple[str, ...] = importlib.import_module(package).FLOORS
    folder = ROOT / package
    here = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }
    assert set(floors) == here - {"__init__"}
    assert upward(package, floors, imports_of_packages()) == []


def test_no_module_imports_itself_around_a_corner() -> None:
    assert circles(imports_of_packages()) == []


def test_an_import_upward_and_a_circle_are_noticed() -> None:
    graph = {"p.low.a": {"p.high.b"}, "p.high.b": {"p.low.c"}, "p.low.c": {"p.low.a"}}
    assert upward("p", ("low", "high"), graph) == ["p.low.a -> p.high.b"]
    assert len(circles(graph)) == 3
    assert upward("p", ("low",), {"p.low.a": set(), "p.new.b": {"p.low.a"}}) == [
        "p.new.b -> p.low.a"
    ]


def test_no_two_classes_have_one_name() -> None:
    found: dict[str, list[str]] = {}
    for package in ("cinatra_sdk", "oas_compiler"):
        for name, path in modules(package):
            for node in walk_statements(parse(path)):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found.setdefault(node.name, []).append(name)
    twice = {name: places for name, places in found.items() if len(places) > 1}
    assert twice == {}
    assert len(found) > 300, "the control: classes are found"


def test_only_lowering_and_the_command_line_use_langgraph_and_the_sdk() -> None:
    allowed = ("oas_compiler/lower/", "oas_compiler/emit/", "oas_compiler/cli/")
    # The shared pieces: the languages of templates and patterns, the reader of YAML, the door to files,
    # the headers that a call may carry and the addresses that it may go to.
    shared = {
        "oas_compiler/templates.py", "oas_compiler/kinds/plugin_regex.py", "oas_compiler/text/yaml_text.py",
        "oas_compiler/text/file_access.py", "oas_compiler/checks/structure/sendable_headers.py", "oas_compiler/component_facts/requests.py",
        "oas_compiler/checks/lookup/value_flaws.py",
        # Facts for hosts, in the SDK's classes.
        "oas_compiler/facts/context_declarations.py", "oas_compiler/facts/answer_rules.py",
        "oas_compiler/package/dependencies.py",
    }  # fmt: skip
    for prefix in ("langgraph", "langchain_core", "cinatra_sdk", "psycopg"):
        users = users_of(prefix, "oas_compiler")
        outside = {user for user in users if not user.startswith(allowed)}
        outside -= {
            user for user in outside if prefix == "cinatra_sdk" and asks_for_words_only(user)
        }
        assert outside <= (shared if prefix == "cinatra_sdk" else set()), prefix


WORDS = (
    "cinatra_sdk.light_imports.public_names", "cinatra_sdk.light_imports.records",
    "cinatra_sdk.contract", "cinatra_sdk.data.ports", "cinatra_sdk.data.author_json",
    "cinatra_sdk.data.text.message_words", "cinatra_sdk.data.retry_policy", "cinatra_sdk.data.json_paths",
    "cinatra_sdk.data.templates.placeholders",
)  # fmt: skip
"""What both packages speak of: the contract with hosts, the types and values of ports, placeholders."""


def is_of_words(module: str) -> bool:
    return module.startswith(WORDS)


def asks_for_words_only(name: str) -> bool:
    """Whether a module imports nothing of the SDK but the words that both packages obey."""
    of_the_sdk = {module for module in imports(ROOT / name) if module.startswith("cinatra_sdk")}
    return all(is_of_words(module) for module in of_the_sdk)


@pytest.mark.parametrize("word", WORDS)
def test_the_words_of_both_packages_need_the_standard_library_only(word: str) -> None:
    needed = imports(ROOT / f"{word.replace('.', '/')}.py")
    tops = {module.split(".")[0] for module in needed if not is_of_words(module)}
    assert tops <= set(sys.stdlib_module_names)


def test_only_the_store_talks_to_the_database() -> None:
    users = users_of("psycopg", "cinatra_sdk") + users_of("psycopg_pool", "cinatra_sdk")
    assert users
    assert all(
        user.startswith(
            ("cinatra_sdk/store/", "cinatra_sdk/postgres/", "cinatra_sdk/local_postgres/")
        )
        for user in users
    )


def test_only_one_module_uses_a_private_part_of_langgraph() -> None:
    users = [user for package in PACKAGES for user in users_of("langgraph._internal", package)]
    assert users == ["cinatra_sdk/langgraph_internals/nodes.py"]


@pytest.mark.parametrize("name", ["ir", "findings", "port_types.py", "control", "draw/mermaid.py", "schema/flow_schemas.py"])  # fmt: skip
def test_the_ir_and_what_is_pure_import_the_standard_library_only(name: str) -> None:
    allowed = {*sys.stdlib_module_names, "oas_compiler"}
    place = ROOT / "oas_compiler" / name
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    tops = {
        module.split(".")[0]
        for file in files
        for module in imports(file)
        if not is_of_words(module)
    }
    assert files
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
    assert modules >= {"errors", "gates", "store"}, "the control: modules are found"


# ------------------------------------------------------------------ one door to files, one to YAML

OPENS = {
    "open", "os.open", "io.open", "os.fdopen", "os.walk", "os.scandir", "os.listdir", "os.readlink",
    ".open", ".read_text", ".read_bytes", ".write_text", ".write_bytes", ".iterdir", ".glob",
    ".rglob", ".walk", ".readlink", "shutil.copyfile", "shutil.copy", "shutil.copy2",
    "linecache.getline", "json.load", "fileinput.input",
}  # fmt: skip
NOT_FILES = {"ast.walk", "Terminal.open", "RunStore.open", "Database.open", "pool.open", "cls.open"}
"""Calls of ours that only are named so."""
OWN_FILES = {
    "oas_compiler/catalog/__init__.py": ".read_text: of the metadata of an installed package, by importlib",
    "cinatra_sdk/governance/packs/pack_registry.py": ".iterdir: the versions of a pack in the operator's own folder",
    "cinatra_sdk/outside/models/recordings.py": ".open: appends a line to the record that a test names",
    "cinatra_sdk/data/text/author_files.py": "the door itself",
    "cinatra_sdk/data/text/folders.py": "os.open, os.fdopen: a lock, and a file beside the one it replaces",
    "cinatra_sdk/outside/http_calls/simulation.py": "os.open: appends to the record that a host names",
    "oas_compiler/edit/file_fixes.py": "open, os.fdopen: writes where `real_file` says",
    "oas_compiler/cli/__init__.py": "open: the null device",
    "oas_compiler/cli/terminal/keyboard.py": "os.fdopen: writes a new file for somebody's editor",
    "oas_compiler/cli/terminal/exits.py": "open: the null device",
    "cinatra_sdk/governance/records/verifier.py": ".read_bytes: runs alone, without this package",
}
"""The only modules that open files, beside the store's of the embedded server, with which calls."""


def opening_calls(tree: ast.Module) -> set[str]:
    """How the module opens files or lists folders; called or handed on, it is all the same."""
    found: set[str] = set()
    nodes = [*ast.walk(tree)]
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in OPENS and id(node) in called:
            found.add(node.id)
        if isinstance(node, ast.Attribute):
            around = node.value.id if isinstance(node.value, ast.Name) else ""
            name = f"{around}.{node.attr}"
            if name in OPENS:
                found.add(name)
            elif f".{node.attr}" in OPENS and id(node) in called and name not in NOT_FILES:
                found.add(f".{node.attr}")
    return found


def test_files_are_opened_by_one_module() -> None:
    opening = {
        name: calls
        for package in PACKAGES
        for name, path in modules(package)
        if not name.startswith(("cinatra_sdk/postgres/", "cinatra_sdk/local_postgres/"))
        and (calls := opening_calls(parse(path)))
    }
    assert set(opening) == set(OWN_FILES)
    for name, calls in opening.items():
        said = OWN_FILES[name].partition(":")[0].split(", ")
        assert name == "cinatra_sdk/data/text/author_files.py" or calls == set(said), name


def test_an_opened_file_is_noticed_by_whatever_name() -> None:
    for text in (
        "open(x)",
        "Path(x).open()",
        "(root / x).read_text()",
        "f = os.open",
        "os.walk(x)",
    ):
        assert opening_calls(ast.parse(text)), text


def test_yaml_is_read_by_one_module() -> None:
    users = [user for package in PACKAGES for user in users_of("yaml", package)]
    # Beside the reader: what YAML 1.1 would make of a scalar, where values end in a text, and
    # where they are changed in it.
    readers = [
        "oas_compiler/text/yaml_text.py",
        "oas_compiler/text_edits/yaml_edits.py",
    ]
    assert sorted(users) == ["cinatra_sdk/data/text/yaml_reader.py", *readers]
    for name in readers:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.search(r"yaml\.(?:\w*load\w*|compose\w*|scan)\(", text), name


def test_the_reader_of_yaml_and_the_door_to_files_load_no_heavy_package() -> None:
    code = (
        "import sys, cinatra_sdk.data.text.author_files, cinatra_sdk.data.text.yaml_reader; "
        "heavy = {'pydantic', 'langgraph', 'langchain_core', 'psycopg', 'httpx2', 'jinja2'}; "
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
