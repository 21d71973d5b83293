"""The modules of the three packages, each read and parsed once in a process.

for name, module in read_modules().items():      # "cinatra_sdk.data.text.author_files" -> .path, .tree, .imports
    for statement in walk_statements(module.tree): ...
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


@cache
def load_house() -> ModuleType:
    """`scripts/house`, as a module."""
    loader = SourceFileLoader("house", str(ROOT / "scripts" / "house"))
    spec = spec_from_loader("house", loader)
    assert spec is not None
    house = module_from_spec(spec)
    sys.modules["house"] = house
    loader.exec_module(house)
    return house


@cache
def read_modules() -> dict[str, Any]:
    """Every module by its dotted name; no test changes one while others run."""
    found: dict[str, Any] = load_house().read_modules(ROOT)
    return found


@cache
def _trees() -> dict[Path, ast.Module]:
    return {module.path: module.tree for module in read_modules().values()}


def parse(path: Path) -> ast.Module:
    """A module of ours, or any other file."""
    tree = _trees().get(path)
    return ast.parse(path.read_text(encoding="utf-8")) if tree is None else tree


def walk_statements(tree: ast.AST) -> Iterator[ast.AST]:
    """The tree and every statement in it, with handlers and cases: a tenth of all its nodes."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(load_house().list_statements(node))
