"""What means something else under one of the supported Pythons is used nowhere.

Python 3.11.2, which Debian 12 has, misreads possessive quantifiers and atomic groups: `(?:a b )*+c`
finds nothing where later versions find a match.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("cinatra_sdk", "oas_compiler", "graphs")
MISREAD = (_constants.POSSESSIVE_REPEAT, _constants.ATOMIC_GROUP)


def misread(parsed: Any) -> bool:
    """Whether a parsed pattern, or any part of it, holds what 3.11.2 misreads."""
    if isinstance(parsed, _parser.SubPattern | list | tuple):
        return any(misread(part) for part in parsed)
    return parsed in MISREAD


def test_what_is_looked_for_is_found() -> None:
    for pattern in ("a*+", "(?:b|(?:a c)?+)d", "(?>x)", "a(?=b{2,3}+)"):
        assert misread(_parser.parse(pattern)), pattern
    assert not misread(_parser.parse("[*+]+(?:a|b)*?c{2}"))


def kept_patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Every pattern that a module of ours keeps, by the module's and its own name."""
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        for found in pkgutil.walk_packages(path, f"{package}."):
            for name, value in vars(importlib.import_module(found.name)).items():
                if isinstance(value, re.Pattern):
                    yield f"{found.name}.{name}", value


def test_no_pattern_that_a_module_keeps_is_misread_by_an_older_python() -> None:
    kept = list(kept_patterns())
    assert len(kept) > 100
    assert [name for name, one in kept if misread(_parser.parse(one.pattern, one.flags))] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_pattern_in_a_call_is_misread_by_an_older_python(package: str) -> None:
    found = []
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.args
                and isinstance(node.args[0], ast.Constant)
                and isinstance(node.args[0].value, str)
                and misread(_parser.parse(node.args[0].value))
            ):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []
