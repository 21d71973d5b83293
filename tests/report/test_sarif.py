"""SARIF: it is valid, it points at the right characters, and its fingerprints stay."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from sarif_constraints import LOG

from oas_compiler import Diagnostics, check
from oas_compiler.findings.finding import Edit, Finding
from oas_compiler.ir import Json, Place
from oas_compiler.report.formats import FINGERPRINT, sarif
from tests.flows import end, flow_of, gate, port, start

PUBLISHED = Path(
    os.environ.get("SARIF_SCHEMA") or Path(__file__).with_name("sarif-schema-2.1.0.json")
)
"""A copy of the schema that OASIS publishes; the project holds none."""


def cinatra_flow(**about: Any) -> dict[str, Any]:
    flow = flow_of(start(port("topic")), gate("review"), end())
    flow["metadata"] = {"cinatra": {"type": "flow", "packageName": "@acme/a", **about}}
    return flow


def results(findings: Any) -> list[Any]:
    return sarif(list(findings))["runs"][0]["results"]  # type: ignore[index, call-overload, return-value]


@pytest.fixture
def flow_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A flow with an old key and an unreachable node, below the working directory."""
    flow = cinatra_flow(executionMode="auto")
    flow["nodes"].append({"$component_ref": "lost"})
    flow["$referenced_components"]["lost"] = gate("lost")
    path = tmp_path / "an agent" / "oas.json"
    path.parent.mkdir()
    path.write_text(json.dumps(flow, indent=2), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return Path("an agent/oas.json")


def validators() -> list[Any]:
    found: list[Any] = [jsonschema.Draft202012Validator(LOG)]
    if PUBLISHED.exists():
        found.append(jsonschema.Draft7Validator(json.loads(PUBLISHED.read_text("utf-8"))))
    return found


def every_finding(flow_file: Path, folder: Path) -> list[Finding]:
    odd = folder / "b\udcff:\x1b[31m\nc.json"
    odd.write_bytes(b"{")
    every = [*check(flow_file), *check(odd), *check(b"{}"), *check(folder / "none.json")]
    assert {finding.code for finding in every} >= {"OAS107", "OAS004", "OAS001"}
    return every


def test_the_log_keeps_what_the_standard_asks_for(flow_file: Path, tmp_path: Path) -> None:
    for findings in (every_finding(flow_file, tmp_path), []):
        log = json.loads(json.dumps(sarif(findings)))
        for validator in validators():
            assert [error.message for error in validator.iter_errors(log)] == []
            wrong = {**log, "runs": [{**log["runs"][0], "columnKind": "bytes"}]}
            assert not validator.is_valid(wrong)


@pytest.mark.skipif(not PUBLISHED.exists(), reason="SARIF_SCHEMA names no copy of the schema")
def test_the_log_fits_the_published_schema(flow_file: Path, tmp_path: Path) -> None:
    validator = validators()[1]
    assert "SARIF" in validator.schema["title"]
    assert validator.is_valid(sarif(every_finding(flow_file, tmp_path)))


def test_the_rules_that_found_something_are_described_once(flow_file: Path) -> None:
    log: Any = check(flow_file).to_sarif()
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert log["version"] == "2.1.0"
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["tool"]["driver"]["name"] == "oasflow"
    assert [rule["id"] for rule in rules] == sorted({rule["id"] for rule in rules})
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    legacy = next(rule for rule in rules if rule["id"] == "OAS107")
    assert legacy["name"] == "legacy-key"
    assert legacy["defaultConfiguration"] == {"level": "error"}
    assert "V3" in legacy["properties"]["aliases"]
    assert all(legacy[part]["text"] for part in ("shortDescription", "fullDescription", "help"))


def test_a_result_names_its_place_in_characters_and_as_a_pointer(flow_file: Path) -> None:
    (legacy,) = (one for one in results(check(flow_file)) if one["ruleId"] == "OAS107")
    (location,) = legacy["locations"]
    lines = flow_file.read_text("utf-8").split("\n")
    number = next(i for i, line in enumerate(lines, 1) if '"executionMode"' in line)
    column = lines[number - 1].index('"executionMode"') + 1
    assert legacy["level"] == "error"
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "an%20agent/oas.json"},
        "region": {
            "startLine": number,
            "startColumn": column,
            "endColumn": column + len('"executionMode"'),
        },
    }
    assert (
        location["logicalLocations"][0]["fullyQualifiedName"] == "/metadata/cinatra/executionMode"
    )


def test_a_fix_is_the_change_of_the_text(flow_file: Path) -> None:
    (legacy,) = (one for one in results(check(flow_file)) if one["ruleId"] == "OAS107")
    (change,) = legacy["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    text = flow_file.read_text("utf-8")
    lines = text.split("\n")
    number = next(i for i, line in enumerate(lines, 1) if '"executionMode"' in line)
    # the last member: with it goes the comma behind the one before
    assert replacement == {
        "deletedRegion": {
            "startLine": number - 1,
            "startColumn": len(lines[number - 2]),
            "endLine": number,
            "endColumn": len(lines[number - 1]) + 1,
        },
        "insertedContent": {"text": ""},
    }
    assert lines[number - 2].endswith(",")
    assert change["artifactLocation"]["uri"] == "an%20agent/oas.json"


def test_a_fix_of_a_file_that_changed_since_the_check_is_left_out(flow_file: Path) -> None:
    report = check(flow_file)
    assert any("fixes" in one for one in results(report))
    flow_file.write_text("\n\n" + flow_file.read_text("utf-8"), encoding="utf-8")
    assert not any("fixes" in one for one in results(report))


def test_a_fingerprint_stays_when_the_line_moves_and_differs_between_places(
    flow_file: Path,
) -> None:
    def fingerprints() -> list[str]:
        return [one["partialFingerprints"][FINGERPRINT] for one in results(check(flow_file))]

    before = fingerprints()
    assert len(before) == len(set(before)) > 1
    flow_file.write_text("\n\n" + flow_file.read_text("utf-8"), encoding="utf-8")
    assert fingerprints() == before
    flow_file.rename(flow_file.with_name("other.json"))
    moved = [
        one["partialFingerprints"][FINGERPRINT] for one in results(check("an agent/other.json"))
    ]
    assert not set(moved) & set(before)


def test_two_findings_of_one_rule_at_one_place_are_two_results() -> None:
    one = Finding(code="OAS107", severity="error", message="a", place=Place("/a", 1, 1))
    two = Finding(code="OAS107", severity="error", message="b", place=Place("/a", 1, 1))
    prints = {result["partialFingerprints"][FINGERPRINT] for result in results([one, two])}
    assert len(prints) == 2


def test_without_a_text_there_is_no_region_and_without_a_file_no_artifact() -> None:
    nowhere = Finding(code="OAS001", severity="error", message="none", file="none.json")
    (result,) = results([nowhere])
    physical = result["locations"][0]["physicalLocation"]
    assert physical == {"artifactLocation": {"uri": "none.json"}}
    (result,) = results(check({"component_type": "Flo"}))
    assert list(result["locations"][0]) == ["logicalLocations"]


def test_a_file_elsewhere_has_an_absolute_uri(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    path = tmp_path / "ä b.json"
    path.write_bytes(b"{")
    (result,) = results(check(str(path)))
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == f"file://{tmp_path}/%C3%A4%20b.json"
    (result,) = results(check("../ä b.json"))
    assert uri == result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]


def test_a_name_that_no_file_can_have_is_still_a_uri() -> None:
    (result,) = results(check("\ud800.json"))
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "%3F.json"


def test_columns_count_characters_and_not_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"é𝄞": 1, "component_type": "Flo"}', encoding="utf-8-sig")
    (result,) = (one for one in results(check(str(path))) if one["ruleId"] == "OAS026")
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 1, "startColumn": 11, "endColumn": 27}


def test_a_fix_that_would_show_a_credential_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}", encoding="utf-8")

    def log(value: str) -> Any:
        fix = Edit(pointer="/key", value=Json.of(value))
        found = Finding(
            code="OAS107", severity="error", message=f"not {value}", file=str(path), fix=(fix,)
        )
        return json.dumps(Diagnostics([found]).to_sarif())

    secret = "sk-live" + "0123456789abcdef"
    assert '"fixes"' in log("harmless")
    assert '"fixes"' not in log(secret)
    assert secret not in log(secret)
    assert "sk-****" in log(secret)


def message_of(text: str) -> str:
    (result,) = results([Finding(code="OAS107", severity="error", message=text)])
    return str(result["message"]["text"])


def test_a_message_holds_no_link_and_no_placeholder() -> None:
    text = message_of(r'the key "x{0}[x](https://evil.example)\" is {{ old }}')
    assert text == (r'the key "x{{0}}\[x\](https://evil.example)\\" is {{{{ old }}}}')
    assert message_of("plain (text)") == "plain (text)"


def test_a_message_neither_commands_nor_reorders() -> None:
    assert message_of("a\x1b[1m\x9b\u202eb\u2066c\x7f é") == "a␛\\[1m\ufffd\ufffdb\ufffdc\u2421 é"
    (result,) = results([Finding(code="OAS107", severity="error", message="a", hint="b\x00")])
    assert result["message"]["text"] == "a\nhint: b␀"
