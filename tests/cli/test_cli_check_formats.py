"""`oasflow check` over trees, in every format, with --select and --ignore."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from oasflow_process import PATIENCE

from tests.flows import api, end, flow_of, gate, port, start

FORMATS = ("text", "json", "sarif", "github")
GOOD = flow_of(start(port("topic")), gate("review"), end())
SECRET = "sk-live" + "0123456789abcdef"


def legacy(**about: Any) -> Any:
    flow = flow_of(start(port("topic")), gate("review"), end())
    flow["metadata"] = {
        "cinatra": {"type": "flow", "packageName": "@acme/a", "executionMode": "auto", **about}
    }
    return flow


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two agents, one of them with an old key, and a file that is no flow."""
    monkeypatch.chdir(tmp_path)
    for name, flow in (("a", GOOD), ("b", legacy())):
        folder = tmp_path / "agents" / name / "cinatra"
        folder.mkdir(parents=True)
        (folder / "oas.json").write_text(json.dumps(flow, indent=2), encoding="utf-8")
    (tmp_path / "agents" / "tsconfig.json").write_text("{}", encoding="utf-8")
    return tmp_path


def only(offline: Any, *arguments: str) -> Any:
    """As checking with the one rule about old keys, which these tests know."""
    return offline("check", *arguments, "--select", "legacy-key")


def test_a_tree_is_checked_file_by_file(offline: Any, tree: Path) -> None:
    result = only(offline, "agents")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == "agents/a/cinatra/oas.json: ok"
    assert lines[1].startswith("agents/b/cinatra/oas.json:")
    assert lines[1].endswith("  [legacy-key]")
    assert result.stderr.splitlines() == [
        "1 error and 0 warnings in 2 files; 1 can be fixed with --fix"
    ]


def test_several_files_without_a_finding_are_counted(offline: Any, tree: Path) -> None:
    result = offline("check", "agents", "agents/a", "--select", "OAS044")
    assert (result.exit_code, result.stderr) == (0, "no findings in 2 files\n")


@pytest.mark.parametrize("chosen", FORMATS)
def test_a_tree_without_a_flow_is_exit_2_in_every_format(
    offline: Any, tmp_path: Path, chosen: str
) -> None:
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    result = offline("check", str(tmp_path), "--format", chosen)
    assert result.exit_code == 2
    assert "holds no flow" in result.stdout
    assert "OAS001" in result.stdout


def test_a_folder_that_cannot_be_read_is_exit_2_and_named(
    offline: Any, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = os.scandir

    def refuse(path: Any) -> Any:
        if str(path).endswith("b"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = only(offline, "agents", "--format", "json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["unreadable"] == ["agents/b"]
    assert "agents/b cannot be read" in result.stderr


def test_each_format_is_one_document_on_stdout(offline: Any, tree: Path) -> None:
    document = json.loads(only(offline, "agents", "--format", "json").stdout)
    assert [file["ok"] for file in document["files"]] == [True, False]
    assert document == json.loads(only(offline, "agents", "--json").stdout)
    log = json.loads(only(offline, "agents", "--format", "sarif").stdout)
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "OAS107"
    commands = only(offline, "agents", "--format", "github").stdout
    assert commands.startswith("::error file=agents/b/cinatra/oas.json,line=")
    assert commands.count("\n") == 1
    for chosen, code in (*((one, 1) for one in FORMATS), ("xml", 2)):
        assert only(offline, "agents", "--format", chosen).exit_code == code
    assert only(offline, "agents", "--format", "sarif", "--json").exit_code == 2
    assert offline("check", "agents/a", "--select", "OAS044", "--format", "github").stdout == ""


@pytest.mark.parametrize("chosen", FORMATS)
def test_a_file_name_of_any_bytes_is_safe(offline: Any, tree: Path, chosen: str) -> None:
    name = os.fsdecode(b"a \xff\n\x1b[31m::error::%.json")
    Path(name).write_text(json.dumps(legacy()), encoding="utf-8")
    result = only(offline, name, "--format", chosen)
    assert result.exit_code == 1
    assert not {"\x1b", "\udcff"} & set(result.output)
    if chosen == "github":
        assert result.stdout.count("\n") == 1
        assert result.stdout.startswith("::error file=a \ufffd%0A")
    if chosen == "json":
        assert json.loads(result.stdout)["files"][0]["path"] == name
    if chosen == "sarif":
        (found,) = json.loads(result.stdout)["runs"][0]["results"]
        uri = found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri == "a%20%FF%0A%1B%5B31m%3A%3Aerror%3A%3A%25.json"


@pytest.mark.parametrize("chosen", FORMATS)
@pytest.mark.parametrize("indent", [2, None])
def test_a_credential_is_shown_in_no_format(
    offline: Any, flow_file: Any, chosen: str, indent: int | None
) -> None:
    random = "q7Rk2Zp9Xv4Lm8Nw3Tb6Yc1Hd5Jf0GsA"
    flow = flow_of(start(), api("send", data={"a": SECRET, "b": random}), end())
    flow["metadata"] = {"cinatra": {"prompt": SECRET}}
    flow["extra"] = SECRET
    result = offline("check", flow_file(json.dumps(flow, indent=indent)), "--format", chosen)
    assert result.exit_code == 1
    assert "OAS204" in result.stdout
    assert SECRET not in result.output
    assert random not in result.output
    if chosen == "text":
        assert f'"sk-{"*" * 20}"' in result.stdout


def test_a_credential_stays_hidden_when_its_own_rule_is_not_selected(
    offline: Any, flow_file: Any
) -> None:
    random = "q7Rk2Zp9Xv4Lm8Nw3Tb6Yc1Hd5Jf0GsA"
    flow = flow_of(start(), api("send", data={"b": random}), end())
    text = json.dumps(flow).replace('"data": {', '"datta": 1, "data": {')
    result = offline("check", flow_file(text), "--ignore", "literal-credential")
    assert f'"datta": 1, "data": {{"b": "{"*" * 32}"' in result.stdout
    assert random not in result.output


def test_rules_are_selected_and_ignored(offline: Any, tree: Path) -> None:
    path = "agents/b"

    def codes(*arguments: str) -> set[str]:
        result = offline("check", path, "--json", *arguments)
        assert result.exit_code in {0, 1}
        return {f["code"] for file in json.loads(result.stdout)["files"] for f in file["findings"]}

    every = codes()
    assert "OAS107" in every
    assert codes("--select", "V3") == {"OAS107"}
    assert codes("--select", "OAS10,OAS044") == {c for c in every if c.startswith("OAS10")}
    assert codes("--ignore", "OAS10", "--ignore", "v16") == {
        c for c in every if not c.startswith("OAS10")
    }
    assert offline("check", path, "--ignore", "OAS").exit_code == 0
    assert offline("check", "none.json", "--ignore", "OAS").exit_code == 2


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_an_unknown_rule_is_exit_2_with_the_nearest_spelling(
    offline: Any, tree: Path, option: str
) -> None:
    result = offline("check", "agents", option, "legacy-kee", "--format", "json")
    assert result.exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert (error["code"], error["exit"]) == ("unknown_rule", 2)
    assert 'did you mean "legacy-key"?' in error["message"]
    plain = offline("check", "agents", option, "legacy-kee")
    assert plain.stdout == ""
    assert 'did you mean "legacy-key"?' in plain.stderr


def test_findings_of_a_shared_package_json_are_told_once(offline: Any, tree: Path) -> None:
    Path("agents/b/package.json").write_text("{", encoding="utf-8")
    Path("agents/b/other.json").write_text(json.dumps(GOOD), encoding="utf-8")
    files = ("agents/b/cinatra/oas.json", "agents/b/other.json")
    document = json.loads(offline("check", *files, "--json").stdout)
    told = [f["code"] for file in document["files"] for f in file["findings"]]
    assert told.count("OAS004") == 1


@pytest.mark.parametrize("redirect", [">/dev/full", ">&-"])
@pytest.mark.parametrize(
    "arguments", [("check",), ("check", "--json"), ("check", "--format", "sarif")]
)
def test_a_report_that_cannot_be_written_is_one_sentence_and_exit_74(
    flow_file: Any, redirect: str, arguments: tuple[str, ...]
) -> None:
    if redirect == ">/dev/full" and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    program = Path(sys.executable).with_name("oasflow")
    if not program.exists():
        pytest.skip("the program oasflow is not installed beside this Python")
    command = ["sh", "-c", f'exec "$@" {redirect}', "sh", str(program), *arguments]
    # Once for each form in which a report is written, and once with findings and without.
    flows = ["[1, 2]", None] if arguments == ("check",) else [None]
    for content in flows:
        flow = flow_file(content)
        done = subprocess.run(
            [*command, flow], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 74
        assert [line for line in done.stderr.splitlines() if line.startswith("error: ")] == [
            line for line in done.stderr.splitlines() if "stdout cannot be written to" in line
        ]
        assert done.stderr.count("stdout cannot be written to") == 1
        assert "Traceback" not in done.stderr
