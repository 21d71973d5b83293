from __future__ import annotations

import os

import pytest

from oas_compiler.package import package as package_files
from oas_compiler.package import package as package_module
from tests.checks.rule_case import findings, package_of
from tests.flows import end, flow_of, start

CODE = "OAS215"
FLOW = flow_of(start(), end())
MANIFEST = {"name": "@x/a"}


def said(folder):
    return [(finding.file, finding.message) for finding in findings(folder, CODE)]


def test_files_beyond_the_limit_are_counted_and_the_first_is_named(tmp_path, monkeypatch):
    files = {"a.csv": "x" * 50_000, "b.csv": "x" * 60_000, "c.txt": "x"}
    folder = package_of(tmp_path, FLOW, MANIFEST, **files)
    assert said(folder) == []
    monkeypatch.setattr(package_files, "MAX_SCAN_BYTES", 40_000)
    message = '2 files ("a.csv", "b.csv") were not, or only in part, looked through for credentials'
    assert said(folder) == [(str(folder / "a.csv"), message)]
    monkeypatch.setattr(package_files, "MAX_SCAN_BYTES", 70_000)
    ((file, message),) = said(folder)
    assert file == str(folder / "b.csv")
    assert message.startswith('the file "b.csv" was not')


def test_pictures_are_no_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(package_files, "MAX_SCAN_BYTES", 40_000)
    folder = package_of(tmp_path, FLOW, MANIFEST, **{"a.png": "x" * 50_000})
    assert said(folder) == []
    (folder / "a.png").rename(folder / "a.txt")
    assert len(said(folder)) == 1


def test_a_folder_that_cannot_be_listed_is_told(tmp_path, monkeypatch):
    folder = package_of(tmp_path, FLOW, MANIFEST, **{"data/a.txt": "x"})
    assert said(folder) == []
    real = os.scandir

    def refused(path):
        if str(path).endswith("data"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refused)
    assert said(folder) == [
        (
            str(folder / "package.json"),
            'the folder "data" was not listed: reading is not allowed',
        )
    ]


def test_a_file_that_may_not_be_read_is_told(tmp_path, monkeypatch):
    folder = package_of(tmp_path, FLOW, MANIFEST, **{"a.txt": "x"})
    monkeypatch.setattr(os, "access", lambda path, _mode: path.name != "a.txt")
    assert [file for file, _ in said(folder)] == [str(folder / "a.txt")]


def test_skills_beyond_the_limit_are_told(tmp_path, monkeypatch):
    files = {f"skills/s{i}/SKILL.md": "x" * 400 for i in range(5)}
    folder = package_of(tmp_path, FLOW, MANIFEST, **files)
    assert said(folder) == []
    monkeypatch.setattr(package_module, "MAX_SKILL_CHARACTERS", 1_000)
    assert said(folder) == [
        (
            str(folder / "skills" / "s2" / "SKILL.md"),
            (
                '3 skills ("skills/s2/SKILL.md", "skills/s3/SKILL.md", "skills/s4/SKILL.md") were not looked at: '
                "no UTF-8 text, or too much"
            ),
        )
    ]


def test_a_skill_that_is_no_text_is_told(tmp_path):
    folder = package_of(tmp_path, FLOW, MANIFEST, **{"SKILL.md": "# A"})
    assert said(folder) == []
    (folder / "SKILL.md").write_bytes(b"# caf\xe9")
    assert [file for file, _ in said(folder)] == [str(folder / "SKILL.md")]


@pytest.mark.parametrize(("files", "count"), [(3, 1), (5_000, 0)])
def test_of_a_package_of_no_agent_a_cut_list_of_files_is_told(tmp_path, monkeypatch, files, count):
    flow = {**FLOW, "metadata": {}}
    for made in flow["$referenced_components"].values():
        made.pop("metadata", None)
    folder = package_of(tmp_path, flow, MANIFEST, **{f"{i}.txt": "" for i in range(9)})
    (folder / "cinatra").rename(folder / "flows")
    (folder / "flows" / "oas.json").rename(folder / "flow.json")
    monkeypatch.setattr(package_module, "MAX_FILES", files)
    assert len(findings(folder / "flow.json", CODE)) == count
