from __future__ import annotations

import pytest

from oas_compiler.package import package as package_module
from oas_compiler.package import package_programs
from tests.checks.guide.guide_case import agent, only, script, told

CODE = "OAS187"


@pytest.mark.parametrize(
    "text",
    ["print(1)\n", "", "\n", "x = '\\d'\n", "# only a comment\n"],
)
def test_a_script_that_was_read_is_not_told(tmp_path, text):
    assert told(script(tmp_path, text), CODE) == []


@pytest.mark.parametrize(
    "text", ["def send(:\n", "print 'x'\n", "x = 1\n\x00", "a" + "[" * 5_000, "-" * 50_000 + "1"]
)
def test_python_that_does_not_parse_is_told(tmp_path, text):
    finding = only(script(tmp_path, text), CODE)
    assert finding.severity == "warning"
    assert "does not parse" in finding.message


def test_a_script_that_is_no_utf_8_is_told(tmp_path):
    package = script(tmp_path, "print(1)\n")
    (package / "scripts" / "b.sh").write_bytes(b"echo \xff\n")
    assert told(package, CODE) == [("scripts/b.sh", 1, 1)]


def test_what_is_too_much_to_read_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(package_programs, "MAX_SCRIPT_CHARACTERS", 20)
    files = {"a.js": "let aaaaaaaaaaaa = 1", "b.js": "let b"}
    assert told(agent(tmp_path, files=files), CODE) == [("b.js", 1, 1)]


def test_python_that_is_too_much_to_parse_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(package_programs, "MAX_PYTHON_CHARACTERS", 6)
    files = {"a.py": "a = 1\n", "b.py": "b = 2\n"}
    package = agent(tmp_path, files=files)
    assert told(package, CODE) == [("b.py", 1, 1)]
    assert "too large to parse" in only(package, CODE).message


def test_a_package_with_too_many_files_is_told(tmp_path, monkeypatch):
    package = script(tmp_path, "print(1)\n")
    assert told(package, CODE) == []
    monkeypatch.setattr(package_module, "MAX_FILES", 2)
    assert told(package, CODE) == [("package.json", 1, 1)]
