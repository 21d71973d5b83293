"""Credentials: their kind and stars, and every other character at its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oas_compiler import check
from oas_compiler.diagnostics import Finding
from oas_compiler.ir import Place
from oas_compiler.reports.masking import masked, without_secrets
from oas_compiler.reports.source_text import SourceTexts
from tests.flows import api, end, flow_of, start

RANDOM = "q7Rk2Zp9Xv4Lm8Nw3Tb6Yc1Hd5Jf0GsA"
"""Of no known kind; only the rule that measures randomness sees it."""
TAIL = "0123456789abcdefghij"


@pytest.mark.parametrize("kind", ["sk-", "ghp_", "github_pat_", "ya29.", "xoxb-", "AKIA", "eyJ"])
def test_a_well_known_credential_keeps_its_kind_and_its_length(kind: str) -> None:
    text = f'"Bearer {kind}{TAIL}" and more'
    assert without_secrets(text) == f'"Bearer {kind}{"*" * len(TAIL)}" and more'


@pytest.mark.parametrize("text", ["task-list-of-the-week-ahead", "sk-short", "AKIA", "{{ key }}"])
def test_ordinary_words_are_no_credentials(text: str) -> None:
    assert without_secrets(text) == text


def flow_text(indent: int | None) -> str:
    flow = flow_of(start(), api("send", data={"key": RANDOM, "plain": "hello"}), end())
    return json.dumps(flow, indent=indent)


@pytest.mark.parametrize("indent", [2, None])
def test_a_value_that_a_rule_calls_a_credential_is_starred_wherever_its_line_is_shown(
    tmp_path: Path, indent: int | None
) -> None:
    path = tmp_path / "a.json"
    path.write_text(flow_text(indent), encoding="utf-8")
    findings = list(check(str(path)))
    assert "OAS204" in {finding.code for finding in findings}
    whole = masked(flow_text(indent), findings)
    assert len(whole) == len(flow_text(indent))
    assert RANDOM not in whole
    assert f'"{"*" * len(RANDOM)}"' in whole
    assert '"hello"' in whole
    texts = SourceTexts(findings)
    for finding in findings:
        assert RANDOM not in (texts.line(finding) or "")


def test_a_value_of_several_yaml_lines_is_starred_to_its_end(tmp_path: Path) -> None:
    import yaml

    flow = flow_of(start(), api("send", data={"key": "KEY", "plain": "hello"}), end())
    text = yaml.safe_dump(json.loads(json.dumps(flow))).replace(
        "key: KEY", f"key: |\n          {RANDOM}\n          {RANDOM}"
    )
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    findings = list(check(str(path)))
    assert "OAS204" in {finding.code for finding in findings}
    whole = masked(text, findings)
    assert RANDOM not in whole
    assert "plain: hello" in whole
    assert whole.count("\n") == text.count("\n")


def test_a_line_is_starred_whichever_rule_points_at_it(tmp_path: Path) -> None:
    path = tmp_path / "send.py"
    path.write_text(f'import os\nTOKEN = "ghp_{TAIL}"\n', encoding="utf-8")
    finding = Finding(
        code="OAS185", severity="error", message="", file=str(path), place=Place("", 2, 1)
    )
    assert SourceTexts([finding]).line(finding) == f'TOKEN = "ghp_{"*" * len(TAIL)}"'


def test_a_text_that_is_no_json_any_more_is_masked_by_its_lines() -> None:
    (finding,) = (one for one in check(flow_text(2).encode()) if one.code == "OAS204")
    broken = flow_text(2) + "}"
    assert RANDOM not in masked(broken, [finding])
