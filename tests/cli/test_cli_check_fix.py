"""`oasflow check --fix`: shows what it would do, asks, and writes no more than that."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from oasflow_screen import Screen

from tests.flows import end, flow_of, gate, port, start

ONLY = ("--select", "legacy-key")


def legacy(**about: Any) -> str:
    flow = flow_of(start(port("topic")), gate("review"), end())
    flow["metadata"] = {"cinatra": {"type": "flow", "packageName": "@acme/a", **about}}
    return json.dumps(flow, indent=4)


OLD = legacy(executionMode="auto")
NEW = legacy()


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "flow.json"
    path.write_bytes(OLD.encode())
    return path


@pytest.fixture
def screen() -> Iterator[Callable[..., Screen]]:
    """`oasflow` at a terminal, without a database."""
    program = Path(sys.executable).with_name("oasflow")
    if not program.exists():
        pytest.skip("the program oasflow is not installed beside this Python")
    opened: list[Screen] = []

    def open_screen(*arguments: str, **env: str) -> Screen:
        opened.append(Screen([str(program), *arguments], {**os.environ, **env}))
        return opened[-1]

    yield open_screen
    for one in opened:
        one.close()


def test_without_a_terminal_the_diff_is_shown_and_nothing_is_written(
    offline: Any, old: Path
) -> None:
    result = offline("check", str(old), "--fix", *ONLY)
    assert result.exit_code == 1
    diff = [line for line in result.stdout.splitlines() if line[:1] in {"-", "+"}]
    assert diff == [
        f"--- {old}",
        f"+++ {old}",
        '-            "packageName": "@acme/a",',
        '-            "executionMode": "auto"',
        '+            "packageName": "@acme/a"',
    ]
    assert "nothing was written; --yes applies this" in result.stderr
    assert "OAS107" in result.stdout
    assert old.read_bytes() == OLD.encode()


def test_yes_writes_and_reports_what_remains(offline: Any, old: Path) -> None:
    old.chmod(0o600)
    result = offline("check", str(old), "--fix", "--yes", *ONLY)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == f"{old}: ok"
    assert f"written: {old}" in result.stderr
    assert old.read_bytes() == NEW.encode()
    assert old.stat().st_mode & 0o777 == 0o600
    again = offline("check", str(old), "--fix", "--yes", *ONLY)
    assert (again.exit_code, again.stdout) == (0, f"{old}: ok\n")
    assert "nothing that --fix can mend" in again.stderr


def test_the_line_ends_and_the_byte_order_mark_of_the_file_stay(offline: Any, old: Path) -> None:
    old.write_bytes(b"\xef\xbb\xbf" + OLD.replace("\n", "\r\n").encode() + b"\r\n")
    assert offline("check", str(old), "--fix", "--yes", *ONLY).exit_code == 0
    assert old.read_bytes() == b"\xef\xbb\xbf" + NEW.replace("\n", "\r\n").encode() + b"\r\n"


def test_only_selected_rules_are_mended(offline: Any, old: Path) -> None:
    assert offline("check", str(old), "--fix", "--yes", "--ignore", "OAS107").exit_code in {0, 1}
    assert "executionMode" in old.read_text("utf-8")


def test_the_document_of_a_fix_holds_the_diff_and_stdout_nothing_else(
    offline: Any, old: Path
) -> None:
    shown = json.loads(offline("check", str(old), "--fix", "--json", *ONLY).stdout)
    assert shown["fix"]["applied"] is False
    assert shown["errors"] == 1
    (file,) = shown["fix"]["files"]
    assert file["file"] == str(old)
    assert '-            "executionMode": "auto"\n' in file["diff"]
    assert [one["code"] for one in shown["fix"]["would_mend"]] == ["OAS107"]
    assert shown["fix"]["mended"] == []
    done = json.loads(offline("check", str(old), "--fix", "--yes", "--json", *ONLY).stdout)
    assert (done["fix"]["applied"], done["errors"]) == (True, 0)
    assert [one["code"] for one in done["fix"]["mended"]] == ["OAS107"]
    assert done["fix"]["would_mend"] == []


def test_a_fix_that_did_not_help_is_not_offered_again(
    offline: Any, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "1 can be fixed" in offline("check", str(old), *ONLY).stderr
    from oas_compiler.edit import file_fixes

    monkeypatch.setattr(file_fixes._Trial, "_is_improvement", lambda *_: False)
    result = offline("check", str(old), "--fix", "--yes", *ONLY)
    assert "not mended" in result.stderr
    assert "1 error and 0 warnings" in result.stderr
    assert "can be fixed" not in result.stderr


def test_yaml_is_mended_and_keeps_its_comments(offline: Any, tmp_path: Path) -> None:
    path = tmp_path / "flow.yaml"
    flow = yaml.safe_dump(json.loads(OLD), sort_keys=False)
    path.write_text(f"# ours\n{flow}", encoding="utf-8")
    result = offline("check", str(path), "--fix", "--yes", *ONLY)
    assert result.exit_code == 0
    assert "can be fixed" not in result.stderr
    after = path.read_text("utf-8")
    assert after.startswith("# ours\n")
    assert set(after.splitlines()) < set(f"# ours\n{flow}".splitlines())


def test_a_folder_is_mended_as_the_package_that_it_is(offline: Any, tmp_path: Path) -> None:
    """OAS126 compares the flow with package.json, so the folder has to be checked as a whole."""
    flow = json.loads(legacy(packageVersion="0.1.0", executionMode="auto"))
    (tmp_path / "cinatra").mkdir()
    path = tmp_path / "cinatra" / "oas.json"
    path.write_text(json.dumps(flow), encoding="utf-8")
    (tmp_path / "package.json").write_text('{"name": "@acme/a", "version": "0.2.0"}', "utf-8")
    offline("check", str(tmp_path), "--fix", "--yes", "--select", "OAS107,OAS126")
    about = json.loads(path.read_text("utf-8"))["metadata"]["cinatra"]
    assert about == {"type": "flow", "packageName": "@acme/a", "packageVersion": "0.2.0"}


def test_a_credential_is_starred_in_the_diff_and_written_as_it_is(
    offline: Any, tmp_path: Path
) -> None:
    secret = "sk-live" + "0123456789abcdef"
    path = tmp_path / "flow.json"
    path.write_text(legacy(executionMode="auto", hint=secret), encoding="utf-8")
    result = offline("check", str(path), "--fix", "--yes", *ONLY)
    assert secret not in result.output
    assert f'"sk-{"*" * 20}"' in result.stdout
    assert secret in path.read_text("utf-8")


def test_a_file_that_changes_while_the_diff_is_read_is_not_written(
    offline: Any, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from oas_compiler.cli.ask import fix_dialogue

    shown = fix_dialogue.unified

    def somebody_saves(*arguments: Any) -> Any:
        old.write_bytes(NEW.encode() + b"\n")
        return shown(*arguments)

    monkeypatch.setattr(fix_dialogue, "unified", somebody_saves)
    result = offline("check", str(old), "--fix", "--yes", "--json", *ONLY)
    assert result.exit_code == 2
    document = json.loads(result.stdout)
    assert document["error"]["code"] == "not_written"
    assert document["error"]["message"] == document["fix"]["not_written"]
    assert (document["fix"]["applied"], document["fix"]["mended"]) == (False, [])
    assert [one["path"] for one in document["files"]] == [str(old)], "the report comes all the same"
    assert "has changed since it was checked" in result.stderr
    assert old.read_bytes() == NEW.encode() + b"\n"


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_file_with_two_names_is_shown_and_written_once(
    offline: Any, old: Path, link: str
) -> None:
    (getattr(old.with_name("same.json"), link))(old)
    last = old.with_name("z.json")
    last.write_bytes(OLD.encode())
    result = offline("check", str(old.parent), "--fix", "--yes", *ONLY)
    assert result.exit_code == 0
    assert result.stdout.count("\n--- ") + result.stdout.startswith("--- ") == 2
    assert old.read_bytes() == last.read_bytes() == NEW.encode()
    assert old.samefile(old.with_name("same.json"))
    assert "not mended" not in result.stderr
    assert result.stdout.splitlines()[-3:] == [
        f"{old.with_name(name)}: ok" for name in ("flow.json", "same.json", "z.json")
    ]


def test_a_disk_that_refuses_is_said_and_the_report_comes(
    offline: Any, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    result = offline("check", str(old), "--fix", "--yes", *ONLY)
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert "written:" not in result.stderr
    assert "OAS107" in result.stdout
    assert old.read_bytes() == OLD.encode()


def test_yes_without_fix_is_refused(offline: Any, old: Path) -> None:
    assert offline("check", str(old), "--yes").exit_code == 2


def test_a_person_is_asked_and_y_writes(screen: Any, old: Path) -> None:
    seen = screen("check", str(old), "--fix", *ONLY)
    assert '-            "executionMode": "auto"' in seen.wait_for("apply to this file? [y/N] ")
    assert old.read_bytes() == OLD.encode()
    seen.type("y")
    seen.wait_for("written: ")
    seen.wait_for(": ok")
    assert seen.ended() == 0
    assert old.read_bytes() == NEW.encode()


@pytest.mark.parametrize(("answer", "code"), [("", 1), ("n", 1), ("^D", 1), ("^C", 130)])
def test_any_other_answer_writes_nothing(screen: Any, old: Path, answer: str, code: int) -> None:
    seen = screen("check", str(old), "--fix", *ONLY)
    seen.wait_for("apply to this file? [y/N] ")
    if answer.startswith("^"):
        seen.press(answer[1])
    else:
        seen.type(answer)
    assert seen.ended() == code
    assert old.read_bytes() == OLD.encode()
    assert "Traceback" not in seen.text


def test_no_color_means_a_plain_diff(screen: Any, old: Path) -> None:
    for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        seen = screen("check", str(old), "--fix", *ONLY, **env)
        seen.wait_for("[y/N] ")
        seen.type("n")
        seen.ended()
        assert ("\x1b[" in seen.raw) is coloured
