"""`scripts/house` counts what it says, on a small tree whose figures are known."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

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


def test_this_tree_is_measured() -> None:
    told = measured(ROOT)
    assert set(told["figures"]) == {"cinatra_sdk", "oas_compiler", "graphs", "all"}
    assert told["figures"]["all"]["modules"] > 400
