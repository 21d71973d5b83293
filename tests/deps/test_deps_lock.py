"""The lock file: the same packages give the same text, and every difference is told."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from package_tree import write_packages

from oas_compiler.deps import resolve
from oas_compiler.deps.lock import LOCK_FILE, lock_of, lock_path, lock_text, verify_lock, write_lock
from tests.flows import end, flow_of, start

FLOW = json.dumps(flow_of(start(), end()))
TREE: dict[str, dict[str, Any]] = {
    "a": {"wants": {"b": "^1.0.0", "c": "*"}},
    "b": {"version": "1.2.0", "flow": FLOW, "wants": {"c": "^1.0.0"}},
    "c": {},
}


def lock(root: Path) -> dict[str, Any]:
    return lock_of(resolve(root / "a"))


def messages(root: Path) -> list[str]:
    return [f.message for f in verify_lock(lock_path(resolve(root / "a")), lock(root))]


def test_it_names_version_path_bytes_and_who_asked(tmp_path: Path) -> None:
    write_packages(tmp_path, TREE)
    assert lock(tmp_path) == {
        "lockfileVersion": 1,
        "packages": [
            {"name": "@x/b", "version": "1.2.0", "path": "../b",
             "sha256": hashlib.sha256(FLOW.encode()).hexdigest(),
             "requiredBy": {"@x/a@1.0.0": "^1.0.0"}},
            {"name": "@x/c", "version": "1.0.0", "path": "../c", "sha256": None,
             "requiredBy": {"@x/a@1.0.0": "*", "@x/b@1.2.0": "^1.0.0"}},
        ],
    }  # fmt: skip
    assert lock_path(resolve(tmp_path / "a")) == tmp_path / "a" / LOCK_FILE
    assert lock_path(resolve(tmp_path)) == tmp_path / LOCK_FILE


def test_the_text_does_not_depend_on_where_or_in_which_order(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two" / "deeper"
    write_packages(first, TREE)
    write_packages(second, dict(reversed(TREE.items())))
    assert lock_text(lock(first)) == lock_text(lock(second))
    assert str(tmp_path) not in lock_text(lock(first))


def test_what_was_written_is_up_to_date(tmp_path: Path) -> None:
    write_packages(tmp_path, TREE)
    target = lock_path(resolve(tmp_path / "a"))
    write_lock(target, lock(tmp_path))
    assert target.read_text("utf-8") == lock_text(lock(tmp_path))
    assert target.stat().st_mode & 0o444 == 0o444
    assert [p.name for p in target.parent.iterdir() if p.name.startswith(".")] == []
    assert messages(tmp_path) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"b": {**TREE["b"], "flow": FLOW + "\n"}},
         ["the flow of @x/b 1.2.0 is not the one that was locked"]),
        ({"b": {**TREE["b"], "version": "1.3.0"}},
         ["@x/b 1.2.0 is locked, 1.3.0 is needed now"]),
        ({"b": {**TREE["b"], "version": "1.3.0", "wants": {"c": "*"}}},
         ["@x/b 1.2.0 is locked, 1.3.0 is needed now",
          ("@x/c 1.0.0 is now asked for as * by @x/a@1.0.0, as * by @x/b@1.3.0, "
           "it was as * by @x/a@1.0.0, as ^1.0.0 by @x/b@1.3.0")]),
        ({"a": {"wants": {"b": "~1.2", "c": "*"}}},
         ["@x/b 1.2.0 is now asked for as ~1.2 by @x/a@1.0.0, it was as ^1.0.0 by @x/a@1.0.0"]),
        ({"d": {}, "a": {"wants": {"b": "^1.0.0", "c": "*", "d": "*"}}},
         ["@x/d 1.0.0 is needed and not locked"]),
    ],
)  # fmt: skip
def test_every_difference_is_a_sentence(
    tmp_path: Path, change: dict[str, Any], told: list[str]
) -> None:
    write_packages(tmp_path, TREE)
    write_lock(tmp_path / "a" / LOCK_FILE, lock(tmp_path))
    write_packages(tmp_path, change)
    assert messages(tmp_path) == told


def test_a_package_that_moved_is_told_with_its_place_in_the_lock(tmp_path: Path) -> None:
    write_packages(tmp_path, TREE)
    write_lock(tmp_path / "a" / LOCK_FILE, lock(tmp_path))
    (tmp_path / "c").rename(tmp_path / "moved")
    (finding,) = verify_lock(tmp_path / "a" / LOCK_FILE, lock(tmp_path))
    assert finding.message == "@x/c is now in ../moved, it was in ../c"
    assert (finding.code, finding.pointer) == ("DEP010", "/packages/1/path")
    assert finding.file == str(tmp_path / "a" / LOCK_FILE)
    assert finding.line > 0


@pytest.mark.parametrize("text", [
    "[]", "7", "{}", '{"lockfileVersion": 2, "packages": []}',
    '{"lockfileVersion": 1, "packages": 7}', '{"lockfileVersion": 1, "packages": [7]}',
])  # fmt: skip
def test_another_file_of_that_name_is_refused(tmp_path: Path, text: str) -> None:
    write_packages(tmp_path, TREE)
    (tmp_path / "a" / LOCK_FILE).write_text(text)
    assert messages(tmp_path) == ["this is no lock file of version 1"]


@pytest.mark.parametrize(
    "entry", [{}, {"name": 7, "version": None}, {"requiredBy": 7, "name": "@x/d"}]
)
def test_entries_of_any_form_only_differ(tmp_path: Path, entry: dict[str, Any]) -> None:
    write_packages(tmp_path, TREE)
    text = json.dumps({"lockfileVersion": 1, "packages": [entry]})
    (tmp_path / "a" / LOCK_FILE).write_text(text)
    assert len(messages(tmp_path)) == 3


def test_a_lock_that_is_not_json_is_unreadable(tmp_path: Path) -> None:
    write_packages(tmp_path, TREE)
    (tmp_path / "a" / LOCK_FILE).write_text("{")
    findings = verify_lock(tmp_path / "a" / LOCK_FILE, lock(tmp_path))
    assert [finding.code for finding in findings] == ["OAS004"]
