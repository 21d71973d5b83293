"""Codes: each stands for one rule, is documented once, and nothing is documented that is not."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "oas_compiler"
DOCUMENT = PACKAGE.parent / "docs" / "diagnostics.md"
CODE = re.compile(r"OAS\d{3}")


def is_front_end(file: Path) -> bool:
    return not {"lower", "cli"} & set(file.relative_to(PACKAGE).parts)


def used() -> dict[str, set[str]]:
    """code -> severities with which the front end records it."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in PACKAGE.rglob("*.py"):
        if not is_front_end(file):
            continue
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            code = call.args[0] if call.args else None
            if isinstance(code, ast.Constant) and CODE.fullmatch(str(code.value)):
                severity = "warning" if call.func.attr == "warning" else "error"
                found[str(code.value)].add(severity)
    return found


def documented() -> dict[str, str]:
    rows = re.findall(
        r"^\| (OAS\d{3}) \| (error|warning) \|", DOCUMENT.read_text("utf-8"), re.MULTILINE
    )
    assert len(rows) == len(dict(rows)), "a code is documented twice"
    return dict(rows)


def test_every_code_has_one_severity():
    assert {code: kinds for code, kinds in used().items() if len(kinds) != 1} == {}


def test_the_table_lists_exactly_the_codes_in_use_with_their_severity():
    assert documented() == {code: kinds.pop() for code, kinds in used().items()}


def test_reading_codes_are_used_by_reading_alone():
    readers = {"source.py", "json_text.py", "yaml_text.py", "python_value.py", "bounds.py"}
    for file in filter(is_front_end, PACKAGE.rglob("*.py")):
        codes = set(re.findall(r'"(OAS\d{3})"', file.read_text(encoding="utf-8")))
        reading = {code for code in codes if code < "OAS010"}
        if file.name in readers:
            assert codes == reading, file
        else:
            assert not reading, file
