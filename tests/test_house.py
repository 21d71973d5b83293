"""`scripts/house` counts what it says, on a small tree whose figures are known."""

from __future__ import annotations

import ast
import itertools
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tests.sources import ROOT, load_house, parse, read_modules, walk_statements

FILES = {
    "__init__.py": "",
    "loose.py": "from oas_compiler.room.one import told\n\ndef two_words():\n    return told\n",
    "room/__init__.py": "",
    "room/one.py": "def told():\n    from oas_compiler.room import two\n    return two\n",
    "room/two.py": (
        "from typing import TYPE_CHECKING\n"
        "from oas_compiler.room.one import told\n"
        "if TYPE_CHECKING:\n    from oas_compiler import loose\n"
        "TABLE = {'StartNode': 1, 'EndNode': 2, 'ApiNode': 3}\n"
        "CLASSES = (ir.StartNode, ir.EndNode, ir.PluginRegexNode)\n"
        "__all__ = ['StartNode', 'EndNode', 'ApiNode']\n"
        "FEW = {'StartNode': 1, 'EndNode': 2}\n"
        "class A:\n    def __init__(self):\n        pass\n"
    ),
    "kinds/__init__.py": "TABLE = {'StartNode': 1, 'EndNode': 2, 'ApiNode': 3}\n",
}


@cache
def measured_here() -> dict[str, Any]:
    """This tree, measured once: it takes seconds."""
    figures: dict[str, Any] = load_house().measure_packages(ROOT, read_modules())
    return figures


def measured(root: Path, *more: str) -> dict[str, Any]:
    command = [
        sys.executable,
        str(ROOT / "scripts" / "house"),
        "--json",
        "--root",
        str(root),
        *more,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_the_figures_of_a_small_tree(tmp_path: Path) -> None:
    for name, text in FILES.items():
        path = tmp_path / "oas_compiler" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    told = measured(tmp_path, "--names")
    package, everything = told["figures"]["oas_compiler"], told["figures"]["all"]
    assert (package["modules at the top"], package["folders at the top"]) == (1, 2)
    # a late import counts, a type-only import does not
    assert told["names"]["circles"] == ["oas_compiler.room.one oas_compiler.room.two"]
    assert everything["files in the largest circle"] == 2
    assert told["names"]["tables keyed by node kind"] == [
        "oas_compiler.room.two.CLASSES", "oas_compiler.room.two.TABLE",
    ]  # fmt: skip
    assert everything["% of one-word function names"] == 50.0
    assert everything["functions"] == 3
    assert everything["longest function"] == 3


def test_what_a_stranger_meets_is_counted(tmp_path: Path) -> None:
    room = tmp_path / "cinatra_sdk" / "room"
    kinds = tmp_path / "oas_compiler" / "kinds"
    docs = tmp_path / "docs"
    for folder in (room, kinds, docs, tmp_path / "tests"):
        folder.mkdir(parents=True)
    files = {
        "reading.py": '"""Two lines\nof a docstring."""\n\nA = 1  # code\n# none\nB = 2\n',
        "made_flows.py": "from cinatra_sdk.room.reading import A\n",
        "string.py": (
            "import cinatra_sdk.room.need\nimport cinatra_sdk.room.reading\n"
            "def count_all():\n    return 1\n"
        ),
        "need.py": (
            "from typing import TYPE_CHECKING\n"
            "if TYPE_CHECKING:\n    from cinatra_sdk.room.string import C\n"
            "from langgraph._internal import x\n"
            "from langgraph.types import Command\n"
            "KEY = '__pregel_read'\n"
            "saver.SELECT_SQL\n"
        ),
    }
    for name, text in files.items():
        (room / name).write_text(text)
    for number in range(20):
        (kinds / f"kind{number}.py").write_text("")
    (kinds / "reading.py").write_text("")
    (docs / "page.md").write_text(
        "```python\nfrom cinatra_sdk.room.need import KEY\nimport cinatra_sdk.room.string\n```\n"
    )
    (tmp_path / "tests" / "test_public_names.py").write_text(
        "PUBLIC = {'cinatra_sdk.room.string': []}\nINSIDE = ['cinatra_sdk.room.need']\n"
    )

    told = measured(tmp_path, "--names")
    everything, names = told["figures"]["all"], told["names"]
    assert everything["modules on the largest landing"] == 4, "kinds are a list"
    assert names["landings"] == ["4 cinatra_sdk.room"]
    assert everything["code lines"] == 14, "no comment, no docstring, no blank line"
    assert everything["circles"] == 0
    assert names["circles, type-only imports counted"] == [
        "cinatra_sdk.room.need cinatra_sdk.room.string"
    ]
    assert names["file names that stand twice or more"] == ["2 reading"]
    assert names["modules named by a participle or gerund"] == [
        "cinatra_sdk.room.made_flows", "cinatra_sdk.room.reading", "oas_compiler.kinds.reading",
    ]  # fmt: skip
    assert names["modules of one user, under 100 lines"] == [
        "cinatra_sdk.room.need <- cinatra_sdk.room.string",
        "cinatra_sdk.room.string <- cinatra_sdk.room.need",
    ]
    assert names["private names of the engine"] == [
        "cinatra_sdk.room.need: SELECT_SQL, __pregel_read, x"
    ]
    assert names["import paths that users read and no test pins"] == ["cinatra_sdk.room.need"]


def test_a_public_front_is_no_module_at_the_top(tmp_path: Path) -> None:
    files = {
        "door.py": "from cinatra_sdk.room import A\n__all__ = ['A']\n",
        "room.py": "A = 1\n",
        "hall.py": "__all__ = ['walk']\ndef walk():\n    pass\n",
    }
    package = tmp_path / "cinatra_sdk"
    package.mkdir()
    for name, text in files.items():
        (package / name).write_text(text)
    figures = measured(tmp_path)["figures"]["cinatra_sdk"]
    assert figures["public fronts at the top"] == 1
    assert figures["modules at the top"] == 2, "a module with a list of its names is a module"


def test_this_tree_is_measured() -> None:
    figures = measured_here()
    assert set(figures) == {"cinatra_sdk", "oas_compiler", "graphs", "all"}
    assert figures["all"]["modules"] > 400


def test_the_house_keeps_its_measures() -> None:
    """Docs/decisions.md says why these; a change that breaks one needs another cut."""
    figures = measured_here()
    assert all(figures[name]["modules at the top"] <= 8 for name in ("cinatra_sdk", "oas_compiler"))
    everything = figures["all"]
    assert everything["files in the largest circle"] <= 3
    assert everything["import paths that users read and no test pins"] == 0
    assert everything["tables keyed by node kind, outside the kinds"] == 0
    assert everything["% of one-word function names"] <= 30
    assert everything["function lines, p95"] <= 25
    assert everything["floors on which they lie"] == 1, "LangGraph's private names have one room"
    assert everything["longest module"] <= 650, "cut where the subject changes, long before"
    assert everything["landings of more than 14 modules"] == 0
    assert everything["circles, type-only imports counted"] == 0
    assert everything["file names that stand twice or more"] <= 20
    assert everything["modules of one user, under 100 lines"] <= 15


def test_every_ignored_lint_or_type_has_its_reason() -> None:
    bare = re.compile(r"# (?:noqa: [A-Z0-9, ]+|type: ignore(?:\[[a-z-]+\])?)$")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if bare.search(line)
    ]
    assert found == []
    assert bare.search("x = 1  # noqa: E501"), "the control"
    assert not bare.search("x = 1  # noqa: E501 - a reason"), "the control"


def test_every_text_below_a_statement_describes_a_name() -> None:
    """A text that stands after anything but an assignment was left behind when the code moved."""
    assert [place for path in sources() for place in find_left_texts(path)] == []


def test_texts_left_behind_are_found(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text('import os\n"""Left."""\nA = 1\n"""Of A."""\n"""Left, too."""\n')
    assert find_left_texts(sample) == ["sample.py:2", "sample.py:5"]


def sources() -> list[Path]:
    rooms = ("cinatra_sdk", "oas_compiler", "graphs")
    return [path for room in rooms for path in sorted((ROOT / room).rglob("*.py"))]


def find_left_texts(path: Path) -> list[str]:
    bodies = (getattr(node, "body", None) for node in walk_statements(parse(path)))
    return [
        f"{path.name}:{statement.lineno}"
        for body in bodies
        if isinstance(body, list)
        for before, statement in itertools.pairwise(body)
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
        and not isinstance(before, (ast.Assign, ast.AnnAssign))
    ]
