"""`oasflow check`, and flows that cannot be read, wherever they are given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.flows import end, flow_of, gate, port, start

GOOD = flow_of(start(port("topic"), required=["topic"]), gate("review"), end())
TYPO = json.dumps(flow_of(start(), gate("review"), end()), indent=2).replace(
    '"component_type": "EndNode"', '"component_type": "EnNode"'
)
BAD_FILES: dict[str, tuple[bytes, int]] = {
    "truncated.json": (b'{"component_type": ', 2),
    "empty.json": (b"", 2),
    "latin.json": (b'{"name": "caf\xe9"}', 2),
    "list.json": (b"[1, 2]", 1),
    "nul.json": (b'{"component_type": "Flow", "id": "a\\u0000"}', 1),
    "deep.json": (b"[" * 100_000, 1),
    "alias.yaml": (b"a: &x 1\nb: *x\n", 1),
    "typo.json": (TYPO.encode(), 1),
}


def test_a_good_flow_is_ok_without_a_database(offline: Any, flow_file: Any) -> None:
    path = flow_file(GOOD)
    result = offline("check", path)
    assert (result.exit_code, result.stdout) == (0, f"{path}: ok\n")


def test_a_finding_shows_its_place_its_line_and_what_to_write(offline: Any, flow_file: Any) -> None:
    path = flow_file(TYPO)
    number = TYPO[: TYPO.index("EnNode")].count("\n") + 1
    result = offline("check", path)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if "OAS026" in line)
    assert lines[at].startswith(f"{path}:{number}:7 error OAS026 ")
    source = f'  {number} |       "component_type": "EnNode",'
    assert lines[at + 1] == source
    assert lines[at + 2].index("^") == source.index('"component_type"')
    assert lines[at + 2].count("^") == len('"component_type"')
    assert lines[at + 3].strip() == 'hint: did you mean "EndNode"?'


def test_the_document_of_check_has_counts_and_the_findings_of_each_file(
    offline: Any, flow_file: Any
) -> None:
    good, typo = flow_file(GOOD, "good.json"), flow_file(TYPO, "typo.json")
    result = offline("check", good, typo, "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [file["ok"] for file in document["files"]] == [True, False]
    assert document["errors"] == len(document["files"][1]["findings"]) > 0
    finding = next(f for f in document["files"][1]["findings"] if f["code"] == "OAS026")
    assert set(finding) == {
        "code", "rule", "severity", "message", "hint", "file", "line", "column", "pointer",
        "aliases", "fixable",
    }  # fmt: skip
    assert (finding["file"], finding["column"], finding["severity"]) == (typo, 7, "error")


def test_the_worst_file_decides_the_exit_code(offline: Any, flow_file: Any) -> None:
    good, typo = flow_file(GOOD, "good.json"), flow_file(TYPO, "typo.json")
    assert offline("check", good).exit_code == 0
    assert offline("check", typo, good).exit_code == 1
    assert offline("check", typo, "no-such-file.json", good).exit_code == 2


@pytest.mark.parametrize("command", ["check", "run", "draw"])
@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_told_with_a_code_and_never_with_a_traceback(
    offline: Any, tmp_path: Path, command: str, name: str
) -> None:
    content, code = BAD_FILES[name]
    (tmp_path / name).write_bytes(content)
    result = offline(command, str(tmp_path / name))
    assert result.exit_code == code
    assert name in result.output
    assert "OAS0" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("command", ["check", "run", "draw"])
def test_a_path_that_holds_no_flow_is_exit_2(offline: Any, tmp_path: Path, command: str) -> None:
    for path in (tmp_path / "none.json", tmp_path, tmp_path / "a\x1b]0;x\x07.json"):
        result = offline(command, str(path))
        assert result.exit_code == 2
        assert "\x1b" not in result.output


def test_what_could_not_be_read_is_listed(offline: Any, flow_file: Any, tmp_path: Path) -> None:
    def unreadable(*paths: str) -> Any:
        return json.loads(offline("check", *paths, "--json").stdout)["unreadable"]

    good, gone, empty = flow_file(GOOD), str(tmp_path / "gone"), tmp_path / "empty"
    empty.mkdir()
    assert unreadable(good) == []
    assert unreadable(good, gone, str(empty)) == [gone, str(empty)]
    package = tmp_path / "agent"
    (package / "cinatra").mkdir(parents=True)
    (package / "cinatra" / "oas.json").write_text(json.dumps(GOOD), "utf-8")
    (package / "package.json").write_text("{", "utf-8")
    assert unreadable(str(package)) == [str(package / "package.json")]


def test_an_unknown_format_is_refused_with_the_nearest(offline: Any, flow_file: Any) -> None:
    path = flow_file(GOOD)
    result = offline("check", path, "--format", "sariff")
    assert result.exit_code == 2
    assert result.stderr == 'error: there is no format "sariff"; did you mean "sarif"?\n'
    assert offline("check", path, "--format", "SARIF").exit_code == 0


def test_a_finding_in_a_very_long_line_is_shown_with_what_is_around_it(
    offline: Any, flow_file: Any
) -> None:
    path = flow_file(json.dumps(json.loads(TYPO)))
    result = offline("check", path)
    lines = result.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if "OAS026" in line)
    start_of_underline = lines[at + 2].index("^")
    assert lines[at + 1][start_of_underline:].startswith('"component_type": "EnNode"')
    assert max(map(len, lines)) < 200


def test_control_characters_of_a_flow_become_pictures(offline: Any, flow_file: Any) -> None:
    path = flow_file(TYPO.replace('"EnNode"', '"En\\u001b[31m\\u009bNode"'))
    result = offline("check", path)
    assert "En␛[31m\ufffdNode" in result.stdout
    assert "\x1b" not in result.output
    assert "\x9b" not in result.output


def test_a_flow_that_cannot_be_compiled_gives_one_json_document(
    offline: Any, flow_file: Any
) -> None:
    result = offline("run", flow_file(TYPO), "--simulate", "--json")
    error = json.loads(result.stdout)["error"]
    assert (result.exit_code, error["code"], error["exit"]) == (1, "compile_error", 1)
    assert "OAS026" in {finding["code"] for finding in error["findings"]}


def test_placeholders_are_filled_from_env(offline: Any, flow_file: Any) -> None:
    path = flow_file(GOOD)
    assert offline("check", path, "--env", "NAME=value").exit_code == 0
    assert offline("check", path, "--env", "NAME").exit_code == 2
    refused = offline("check", path, "--env", "CINATRA_RUN_TOKEN=secret-word")
    assert refused.exit_code == 2
    assert "secret-word" not in refused.output


@pytest.mark.parametrize("given", ["NAMEsk-live-word", "=sk-live-word"])
def test_a_value_without_a_name_is_not_said_again(offline: Any, flow_file: Any, given: str) -> None:
    result = offline("check", flow_file(), "--env", given)
    assert result.exit_code == 2
    assert "--env key=value" in result.stderr
    assert "sk-live-word" not in result.output
