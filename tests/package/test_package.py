"""The folder around a flow: which one it is, what is in it, and that nothing in it can hurt."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from oas_compiler import check
from oas_compiler.findings.finding import Findings
from oas_compiler.package import package as package_module
from oas_compiler.package.package import MAX_TEXT_BYTES, Package, find_package


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def opened(root: Path, flow: str = "cinatra/oas.json") -> tuple[Package | None, Findings]:
    findings = Findings()
    return find_package(str(root / flow), findings), findings


def package_in(root: Path) -> Package:
    package, findings = opened(root)
    assert package is not None
    assert not len(findings)
    return package


MANIFEST = '{"name": "@test/agent", "cinatra": {"kind": "agent"}}'

# ------------------------------------------------------------------ which folder it is


def test_the_package_of_cinatra_oas_json_is_the_folder_above(tmp_path):
    write(tmp_path, {"package.json": MANIFEST, "cinatra/oas.json": "{}"})
    package = package_in(tmp_path)
    assert package.root == tmp_path
    assert package.manifest["name"] == "@test/agent"
    assert package.cinatra == {"kind": "agent"}


def test_the_package_of_a_flow_beside_package_json_is_its_own_folder(tmp_path):
    write(tmp_path, {"package.json": MANIFEST, "oas.json": "{}"})
    package, _ = opened(tmp_path, "oas.json")
    assert package is not None
    assert package.root == tmp_path


def test_a_package_json_further_up_is_another_ones(tmp_path):
    write(tmp_path, {"package.json": MANIFEST, "flows/oas.json": "{}"})
    assert opened(tmp_path, "flows/oas.json") == (None, Findings())


def test_a_package_that_is_itself_called_cinatra_is_found(tmp_path):
    write(tmp_path, {"cinatra/package.json": MANIFEST, "cinatra/oas.json": "{}"})
    package, _ = opened(tmp_path, "cinatra/oas.json")
    assert package is not None
    assert package.root == tmp_path / "cinatra"


def test_the_folder_above_goes_first(tmp_path):
    write(
        tmp_path, {"package.json": MANIFEST, "cinatra/package.json": "{}", "cinatra/oas.json": "{}"}
    )
    assert package_in(tmp_path).root == tmp_path


@pytest.mark.parametrize(
    ("at", "flow", "manifest"),
    [
        ("", "cinatra/oas.json", "package.json"),
        ("cinatra", "oas.json", "../package.json"),
        ("cinatra", "./oas.json", "../package.json"),
        ("cinatra/deep", "../oas.json", "../../package.json"),
    ],
)
def test_a_relative_name_is_taken_from_where_one_stands(tmp_path, monkeypatch, at, flow, manifest):
    write(tmp_path, {"package.json": MANIFEST, "cinatra/oas.json": "{}", "cinatra/deep/x": ""})
    monkeypatch.chdir(tmp_path / at)
    found = find_package(flow, Findings())
    assert found is not None
    assert found.manifest_file == manifest


def test_a_folder_called_package_json_is_none(tmp_path):
    write(tmp_path, {"package.json/x": "", "cinatra/oas.json": "{}"})
    assert opened(tmp_path)[0] is None


# ------------------------------------------------------------------ package.json


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ('{"name": ', "OAS004"),
        ("", "OAS004"),
        (b"\xff\xfe", "OAS003"),
        (b'{"a": "' + b"x" * 9_000_000 + b'"}', "OAS002"),
    ],
    ids=["no JSON", "empty", "no UTF-8", "huge"],
)
def test_a_package_json_that_cannot_be_read_is_told_in_its_own_name(tmp_path, content, code):
    write(tmp_path, {"package.json": content, "cinatra/oas.json": "{}"})
    package, findings = opened(tmp_path)
    assert package is not None
    assert [(found.code, found.file) for found in findings] == [
        (code, str(tmp_path / "package.json"))
    ]
    assert (package.source, package.manifest, package.cinatra) == (None, {}, {})
    assert package.place("/name").line == 0


@pytest.mark.parametrize("content", ["[]", '"text"', "7", "null", "true"])
def test_a_package_json_that_is_no_object_says_nothing(tmp_path, content):
    write(tmp_path, {"package.json": content, "cinatra/oas.json": "{}"})
    package, _ = opened(tmp_path)
    assert package is not None
    assert (package.manifest, package.cinatra) == ({}, {})


@pytest.mark.parametrize(
    "content", ['{"cinatra": []}', '{"cinatra": null}', '{"cinatra": "a"}', "{}"]
)
def test_a_cinatra_block_that_is_no_object_is_empty(tmp_path, content):
    assert package_in(write(tmp_path, {"package.json": content})).cinatra == {}


def test_a_byte_order_mark_in_front_is_no_text(tmp_path):
    write(tmp_path, {"package.json": b"\xef\xbb\xbf" + MANIFEST.encode(), "a.md": b"\xef\xbb\xbfx"})
    package = package_in(tmp_path)
    assert package.manifest["name"] == "@test/agent"
    assert package.text("a.md") == "x"


def test_a_package_json_that_may_not_be_read_is_told(tmp_path, monkeypatch):
    write(tmp_path, {"package.json": MANIFEST})
    real = os.open

    def refused(path: str, *args: object, **options: object) -> int:
        if path == "package.json":
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **options)

    monkeypatch.setattr(os, "open", refused)
    package, findings = opened(tmp_path)
    assert package is not None
    assert [found.code for found in findings] == ["OAS001"]


def test_positions_are_those_of_the_file(tmp_path):
    write(tmp_path, {"package.json": '{\n  "name": "a",\n  "cinatra": {"x/y": 1}\n}'})
    place = package_in(tmp_path).place("/cinatra/x~1y")
    assert (place.line, place.column) == (3, 15)


# ------------------------------------------------------------------ the other files


def test_files_are_sorted_and_without_what_is_hidden_installed_or_built(tmp_path):
    kept = {"SKILL.md": "", "scripts/b.py": "", "scripts/a.py": "", "package.json": MANIFEST}
    left_out = {
        ".env": "", ".git/config": "", "node_modules/x/i.js": "", "dist/i.js": "", "build/i.js": "",
        "scripts/__pycache__/a.pyc": "", "venv/a.py": "", "scripts/.hidden.py": "",
    }  # fmt: skip
    package = package_in(write(tmp_path, {**kept, **left_out}))
    assert package.files == ("SKILL.md", "package.json", "scripts/a.py", "scripts/b.py")


def test_a_link_within_the_package_is_a_file_of_it(tmp_path):
    write(tmp_path, {"package.json": MANIFEST, "scripts/a.py": "x = 1"})
    (tmp_path / "b.py").symlink_to(tmp_path / "scripts" / "a.py")
    package = package_in(tmp_path)
    assert "b.py" in package.files
    assert package.text("b.py") == "x = 1"


def test_a_link_that_leads_out_of_the_package_is_not_followed(tmp_path):
    write(tmp_path, {"secret.py": "import psycopg", "outside/a.py": ""})
    root = write(tmp_path / "agent", {"package.json": MANIFEST})
    (root / "a.py").symlink_to(tmp_path / "secret.py")
    (root / "scripts").symlink_to(tmp_path / "outside")
    (root / "gone.py").symlink_to(tmp_path / "nowhere")
    assert package_in(root).files == ("package.json",)


def test_links_in_a_circle_end(tmp_path):
    write(tmp_path, {"package.json": MANIFEST})
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "a.py").symlink_to(tmp_path / "b.py")
    (tmp_path / "b.py").symlink_to(tmp_path / "a.py")
    assert package_in(tmp_path).files == ("package.json",)


def test_the_package_may_itself_be_reached_by_a_link(tmp_path):
    real = write(tmp_path / "real", {"package.json": MANIFEST, "a.py": ""})
    (real / "b.py").symlink_to("a.py")
    (tmp_path / "link").symlink_to(real)
    assert package_in(tmp_path / "link").files == ("a.py", "b.py", "package.json")


def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path):
    write(tmp_path, {"package.json": MANIFEST})
    os.mkfifo(tmp_path / "a.py")
    assert package_in(tmp_path).files == ("package.json",)


def test_a_name_that_is_no_utf_8_can_be_shown(tmp_path):
    write(tmp_path, {"package.json": MANIFEST})
    try:
        (tmp_path / os.fsdecode(b"a\xff.py")).write_text("import psycopg")
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    package = package_in(tmp_path)
    (odd,) = [file for file in package.files if file.endswith(".py")]
    assert package.text(odd) == "import psycopg"
    package.name_of(odd).encode("utf-8")


def test_no_more_files_and_folders_than_the_limit_are_looked_at(tmp_path, monkeypatch):
    write(tmp_path, {"package.json": MANIFEST} | {f"{i}/a.py": "" for i in range(9)})
    monkeypatch.setattr(package_module, "MAX_FILES", 4)
    package = package_in(tmp_path)
    assert (len(package.files), package.is_cut) == (4, True)
    monkeypatch.setattr(package_module, "MAX_FILES", 5_000)
    monkeypatch.setattr(package_module, "MAX_FOLDERS", 3)
    assert package_in(tmp_path).files == ("0/a.py", "1/a.py", "package.json")


def test_a_text_is_read_up_to_a_limit_and_only_as_utf_8(tmp_path):
    root = write(
        tmp_path,
        {
            "package.json": MANIFEST,
            "fits.md": "x" * MAX_TEXT_BYTES,
            "huge.md": "x" * (MAX_TEXT_BYTES + 1),
            "bytes.md": b"\xff",
        },
    )
    package = package_in(root)
    assert package.text("fits.md") == "x" * MAX_TEXT_BYTES
    for name in ("huge.md", "bytes.md", "none.md", "cinatra", "a\x00b", "x" * 5_000):
        assert package.text(name) is None


@pytest.mark.parametrize(
    ("name", "is_there"),
    [
        ("SKILL.md", True),
        ("scripts", True),
        ("scripts/", True),
        ("./scripts/../SKILL.md", True),
        (".hidden", True),
        ("none.md", False),
        ("../outside.md", False),
        ("scripts/../../outside.md", False),
        ("/etc", False),
        ("a\x00b", False),
        ("x" * 5_000, False),
    ],
)
def test_has_answers_for_files_of_the_package_only(tmp_path, name, is_there):
    write(tmp_path, {"outside.md": ""})
    root = tmp_path / "agent"
    write(root, {"package.json": MANIFEST, "SKILL.md": "", "scripts/a": "", ".hidden": ""})
    assert package_in(root).has(name) is is_there


# ------------------------------------------------------------------ together with a check


def test_findings_of_package_json_and_of_the_flow_name_their_files(tmp_path):
    write(tmp_path, {"package.json": "{", "cinatra/oas.json": "[]"})
    files = {finding.file for finding in check(tmp_path)}
    assert files == {str(tmp_path / "package.json"), str(tmp_path / "cinatra" / "oas.json")}


def test_a_flow_given_as_bytes_has_no_package(tmp_path, monkeypatch):
    monkeypatch.chdir(write(tmp_path, {"package.json": "{"}))
    assert {finding.file for finding in check(b"[]")} == {""}


@pytest.mark.parametrize("kind", ["fifo", "dangling link"])
def test_a_package_json_that_is_no_file_is_reported_and_not_opened(tmp_path, kind):
    write(tmp_path, {"cinatra/oas.json": "{}"})
    manifest = tmp_path / "package.json"
    if kind == "fifo":
        os.mkfifo(manifest)
    else:
        manifest.symlink_to(tmp_path / "nowhere")
    package, findings = opened(tmp_path)
    assert package is not None
    assert package.manifest == {}
    assert [(finding.code, finding.file) for finding in findings] == [("OAS001", str(manifest))]


def test_hidden_files_that_keep_credentials_are_scanned_and_are_no_files_of_the_author(tmp_path):
    hidden = {".env": "A=1", ".env.local": "A=1", "config/.npmrc": "a", ".gitignore": "a"}
    package = package_in(write(tmp_path, {"package.json": MANIFEST, **hidden}))
    assert package.files == ("package.json",)
    assert sorted(file for file, _ in package.scan.parts) == [
        ".env", ".env.local", "config/.npmrc", "package.json"
    ]  # fmt: skip


def test_tests_are_not_scanned_and_fixtures_are(tmp_path):
    files = {"tests/a.json": "1", "a.test.ts": "1", "test_a.py": "1", "fixtures/a.json": "1"}
    package = package_in(write(tmp_path, {"package.json": MANIFEST, **files}))
    assert {file for file, _ in package.scan.parts} == {"package.json", "fixtures/a.json"}


def test_the_agents_own_skill_is_read_before_others_take_its_place(tmp_path, monkeypatch):
    monkeypatch.setattr(package_module, "MAX_SKILL_CHARACTERS", 100)
    files = {"a/SKILL.md": "a" * 90, "skills/agent/SKILL.md": "b" * 80}
    package = package_in(write(tmp_path, {"package.json": MANIFEST, **files}))
    assert package.own_skill is not None
    assert package.own_skill.file == "skills/agent/SKILL.md"
    assert package.unread_skills == ("a/SKILL.md",)
