from __future__ import annotations

import pytest

from oas_compiler.package import package as package_files
from tests.checks.rule_case import findings, package_of
from tests.checks.safety.secret_samples import KNOWN, RANDOM
from tests.flows import end, flow_of, start

CODE = "OAS206"
SECRET = KNOWN["a GitHub token (gh?_…)"]
FLOW = flow_of(start(), end())


def test_a_credential_in_a_script_is_found_at_its_line_and_not_repeated(tmp_path):
    files = {"scripts/send.py": f'import os\nTOKEN = "{SECRET}"\n'}
    (finding,) = findings(package_of(tmp_path / "bad", FLOW, {"name": "@x/a"}, **files), CODE)
    assert finding.file == str(tmp_path / "bad" / "scripts" / "send.py")
    assert (finding.line, finding.column) == (2, 10)
    assert finding.message == "scripts/send.py holds a GitHub token (gh?_…), written out"
    assert SECRET[4:9] not in finding.message + finding.hint

    files = {"scripts/send.py": 'import os\nTOKEN = os.environ["TOKEN"]\n'}
    assert findings(package_of(tmp_path / "good", FLOW, {"name": "@x/a"}, **files), CODE) == []


def test_package_json_is_looked_through(tmp_path):
    manifest = {"name": "@x/a", "scripts": {"go": f"curl -u {SECRET}"}}
    (finding,) = findings(package_of(tmp_path / "bad", FLOW, manifest), CODE)
    assert finding.file == str(tmp_path / "bad" / "package.json")
    assert finding.line == 4


def test_made_up_ones_of_tests_and_texts_that_only_look_random_are_allowed(tmp_path):
    files = {
        "tests/data.json": f'"{SECRET}"',
        "scripts/test_send.py": SECRET,
        "send.test.mjs": SECRET,
        "package-lock.json": f"sha512-{RANDOM}",
    }
    assert findings(package_of(tmp_path, FLOW, {"name": "@x/a"}, **files), CODE) == []


def test_the_flow_file_itself_is_left_to_the_rules_of_documents(tmp_path):
    flow = {**FLOW, "description": SECRET}
    folder = package_of(tmp_path, flow, {"name": "@x/a"})
    assert findings(folder, CODE) == []
    assert len(findings(folder, "OAS205")) == 1


@pytest.mark.parametrize(
    "name", [".env", ".env.production", "config/.env", ".npmrc", "fixtures/data.json", "data/a.bin"]
)
def test_files_that_hide_and_fixtures_are_looked_through(tmp_path, name):
    bad = package_of(tmp_path / "bad", FLOW, {"name": "@x/a"}, **{name: f"KEY={SECRET}"})
    good = package_of(tmp_path / "good", FLOW, {"name": "@x/a"}, **{name: "KEY=${TOKEN}"})
    assert [finding.file for finding in findings(bad, CODE)] == [str(tmp_path / "bad" / name)]
    assert findings(good, CODE) == []


@pytest.mark.parametrize(
    "raw",
    [b"caf\xe9 " + SECRET.encode(), b"\x00\xff" + SECRET.encode(), f"a {SECRET}".encode("utf-16")],
    ids=["Latin-1", "bytes", "UTF-16"],
)
def test_one_odd_byte_hides_nothing(tmp_path, raw):
    folder = package_of(tmp_path, FLOW, {"name": "@x/a"})
    (folder / "notes.txt").write_bytes(raw)
    assert len(findings(folder, CODE)) == 1
    (folder / "notes.txt").write_bytes(raw.replace(b"g", b"-"))
    assert findings(folder, CODE) == []


def test_large_files_are_looked_through_and_hide_no_small_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(package_files, "MAX_SCAN_BYTES", 1_000_000)
    files = {"a.csv": "x" * 2_000_000, "b.csv": "y\n" * 300_000 + SECRET, "z.txt": SECRET}
    folder = package_of(tmp_path, FLOW, {"name": "@x/a"}, **files)
    assert sorted(finding.file for finding in findings(folder, CODE)) == [
        str(folder / "b.csv"), str(folder / "z.txt")
    ]  # fmt: skip
