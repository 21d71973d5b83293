"""`oasflow deps`: the list, the tree, the lock file and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from oas_compiler.deps import resolve


def agents(root: Path, **wants: dict[str, str]) -> Path:
    """A folder with one package per name, each wanting what is given."""
    for name, wanted in wants.items():
        home = root / name
        home.mkdir(parents=True, exist_ok=True)
        cinatra = {"agentDependencies": {f"@x/{key}": value for key, value in wanted.items()}}
        manifest = {"name": f"@x/{name}", "version": "1.2.0", "cinatra": cinatra}
        (home / "package.json").write_text(json.dumps(manifest, indent=2), "utf-8")
    return root


def test_the_list_names_each_child_its_range_and_what_was_chosen(
    offline: Any, tmp_path: Path
) -> None:
    agents(tmp_path, a={"b": "^1.0.0", "longer": "*"}, b={}, longer={})
    result = offline("deps", str(tmp_path / "a"))
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "@x/a 1.2.0",
        "  @x/b       ^1.0.0  → 1.2.0  ../b",
        "  @x/longer  *       → 1.2.0  ../longer",
    ]
    assert offline("deps", str(tmp_path / "b")).stdout == "@x/b 1.2.0  no child agents\n"


def test_the_tree_shows_children_of_children_once_and_circles(offline: Any, tmp_path: Path) -> None:
    agents(tmp_path, a={"b": "*", "c": "*", "gone": "*"}, b={"c": "*"}, c={"d": "*"}, d={})
    result = offline("deps", str(tmp_path / "a"), "--tree")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[:6] == [
        "@x/a 1.2.0",
        "├── @x/b * → 1.2.0",
        "│   └── @x/c * → 1.2.0",
        "│       └── @x/d * → 1.2.0",
        "├── @x/c * → 1.2.0  (above)",
        "└── @x/gone * missing",
    ]
    agents(tmp_path, d={"b": "*"})
    lines = offline("deps", str(tmp_path / "b"), "--tree").stdout.splitlines()
    assert lines[3] == "        └── @x/b * → 1.2.0  (circle)"


def test_findings_are_shown_at_their_place_and_are_exit_1(offline: Any, tmp_path: Path) -> None:
    agents(tmp_path, a={"b": "^2.0.0", "c": "latest"}, b={}, c={})
    result = offline("deps", str(tmp_path / "a"))
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[1] == "  @x/b  ^2.0.0  no such version (there is 1.2.0)"
    assert lines[2] == "  @x/c  latest  not a range (there is 1.2.0)"
    assert lines[3].startswith(f"{tmp_path}/a/package.json:6:7 error DEP002 ")
    assert lines[4].strip() == '6 |       "@x/b": "^2.0.0",'


def test_the_document_is_the_librarys(offline: Any, tmp_path: Path) -> None:
    agents(tmp_path, a={"b": "*", "gone": "*"}, b={})
    result = offline("deps", str(tmp_path), "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == resolve(tmp_path).to_json()


def test_roots_say_where_children_are(offline: Any, tmp_path: Path) -> None:
    agents(tmp_path / "mine", a={"b": "*"})
    agents(tmp_path / "one", b={})
    mine = str(tmp_path / "mine" / "a")
    assert offline("deps", mine).exit_code == 1
    more = ("--root", str(tmp_path / "one"), "--root", str(tmp_path / "mine"))
    assert offline("deps", mine, *more).exit_code == 0


def test_the_lock_is_written_then_compared_then_updated(offline: Any, tmp_path: Path) -> None:
    agents(tmp_path, a={"b": "*"}, b={})
    here, lock = str(tmp_path / "a"), tmp_path / "a" / "oasflow-lock.json"
    written = offline("deps", here, "--lock")
    assert (written.exit_code, written.stderr) == (0, f"written: {lock}\n")
    first = lock.read_text("utf-8")
    assert json.loads(first)["packages"][0]["name"] == "@x/b"
    assert offline("deps", here, "--lock").stderr == f"{lock} is up to date\n"
    agents(tmp_path, a={"b": "^1.0.0"})
    changed = offline("deps", here, "--lock")
    assert changed.exit_code == 1
    assert "DEP010" in changed.stdout
    assert "is now asked for as ^1.0.0 by @x/a@1.2.0" in changed.stdout
    assert lock.read_text("utf-8") == first
    updated = offline("deps", here, "--lock", "--update", "--json")
    assert updated.exit_code == 0
    record = json.loads(updated.stdout)["lock"]
    assert (record["written"], len(record["changes"])) == (True, 1)
    assert lock.read_text("utf-8") != first
    assert offline("deps", here, "--lock").exit_code == 0


def test_no_lock_is_written_while_something_is_missing(offline: Any, tmp_path: Path) -> None:
    agents(tmp_path, a={"gone": "*"})
    result = offline("deps", str(tmp_path / "a"), "--lock")
    assert result.exit_code == 1
    assert result.stderr == "no lock file is written while there are errors\n"
    assert not (tmp_path / "a" / "oasflow-lock.json").exists()


def test_a_lock_that_cannot_be_read_is_exit_2_and_update_mends_it(
    offline: Any, tmp_path: Path
) -> None:
    agents(tmp_path, a={"b": "*"}, b={})
    (tmp_path / "a" / "oasflow-lock.json").write_text("{")
    assert offline("deps", str(tmp_path / "a"), "--lock").exit_code == 2
    assert offline("deps", str(tmp_path / "a"), "--lock", "--update").exit_code == 0
    assert offline("deps", str(tmp_path / "a"), "--lock").exit_code == 0


def test_update_alone_and_unreadable_paths_are_exit_2(offline: Any, tmp_path: Path) -> None:
    agents(tmp_path, a={})
    assert offline("deps", str(tmp_path / "a"), "--update").exit_code == 2
    assert offline("deps", str(tmp_path / "none")).exit_code == 2
    (tmp_path / "empty").mkdir()
    result = offline("deps", str(tmp_path / "empty"), "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["findings"][0]["code"] == "OAS001"


@pytest.mark.parametrize("manifest", ["{", "[]", '{"cinatra": {"agentDependencies": {"a": {}}}}'])
def test_no_package_json_makes_a_traceback(offline: Any, tmp_path: Path, manifest: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "package.json").write_text(manifest)
    result = offline("deps", str(tmp_path / "a"), "--tree")
    assert result.exit_code in {1, 2}
    assert "Traceback" not in result.output


def test_control_characters_of_a_package_become_pictures(offline: Any, tmp_path: Path) -> None:
    agents(tmp_path, a={"b\x1b[31m": "^1\x1b]0;x\x07", "c\x9b": "*"})
    for arguments in ((), ("--tree",)):
        result = offline("deps", str(tmp_path / "a"), *arguments)
        assert "\x1b" not in result.output
        assert "\x9b" not in result.output


def test_a_path_that_is_not_there_is_named(offline: Any, tmp_path: Path) -> None:
    result = offline("deps", str(tmp_path / "none"))
    assert result.exit_code == 2
    assert result.stdout.startswith(f"{tmp_path}/none error OAS001 cannot read {tmp_path}/none: ")
