"""Credentials: their kind and stars, and every other character at its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oas_compiler import Diagnostics, check
from oas_compiler.findings.finding import Finding
from oas_compiler.ir import Place
from oas_compiler.report.source_text import SourceTexts, masked
from oas_compiler.text.safe_text import pointer_without_secrets, without_secrets
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


# ------------------------------------------------------------------------ where a value ends


def shown_lines(tmp_path: Path, text: str, name: str = "a.yaml") -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    findings = list(check(str(path)))
    texts = SourceTexts(findings)
    return "\n".join(texts.line(finding) or "" for finding in findings)


IN_BRACKETS = """component_type: Flow
$referenced_components:
  call:
    component_type: ApiNode
    name: call
    url: https://example.com
    http_method: POST
    data: { headers: { Authorization: "Bearer
  SECRET", X: 1 }, zzz: 1 }
    zzzz: 1
"""


def test_a_value_in_yaml_brackets_is_starred_to_its_end_at_any_column() -> None:
    text = IN_BRACKETS.replace("SECRET", RANDOM)
    findings = [one for one in check(text.encode()) if one.code == "OAS204"]
    assert [one.line for one in findings] == [8]
    whole = masked(text, findings)
    assert RANDOM not in whole
    assert whole == text.replace(f'"Bearer\n  {RANDOM}"', f'"******\n  {"*" * 32}"')


def test_the_rest_of_a_line_behind_a_yaml_value_is_shown() -> None:
    text = f"data:\n  - {{ key: {RANDOM}, b: 1 }}\n  - key: {RANDOM}\n    c: 2\n  - {RANDOM}\n"

    def pointed(pointer: str, line: int, column: int) -> Finding:
        place = Place(pointer, line, column)
        return Finding(code="OAS204", severity="error", message="", place=place)

    places = [
        pointed("/data/0/key", 2, 7),
        pointed("/data/1/key", 3, 5),
        pointed("/data/2", 5, 5),
    ]
    assert masked(text, places) == text.replace(RANDOM, "*" * 32)


def test_credentials_beyond_those_that_are_listed_are_starred_too() -> None:
    data = {f"k{number}": f"{RANDOM}{number:04}" for number in range(600)}
    text = json.dumps(flow_of(start(), api("send", data=data), end()), indent=1)
    findings = list(check(text.encode()))
    assert sum(one.code == "OAS204" for one in findings) == 501
    assert RANDOM not in masked(text, findings)


# -------------------------------------------------------------------- documents nobody could read


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            f'{{"headers": {{"Authorization": "Bearer {RANDOM}"}}, }}',
            f'{{"headers": {{"Authorization": "****** {"*" * 32}"}}, }}',
        ),
        ('{"password": "hunter2", "a": "hunter3", }', '{"password": "*******", "a": "hunter3", }'),
        (f'{{"a": "{RANDOM}", }}', f'{{"a": "{"*" * 32}", }}'),
        (f'{{"a": "{"0123456789abcdef" * 2}", }}', f'{{"a": "{"*" * 32}", }}'),
        (f'{{"a": "ghp_{TAIL}", }}', f'{{"a": "ghp_{"*" * 20}", }}'),
        ('{"a": "an ordinary text of some length", }', '{"a": "an ordinary text of some length", }'),
        ('{"password": "a\\"b", "x": "y", }', '{"password": "****", "x": "y", }'),
    ],
)  # fmt: skip
def test_in_json_that_is_broken_whatever_could_be_a_credential_is_starred(
    tmp_path: Path, text: str, shown: str
) -> None:
    assert shown_lines(tmp_path, text, "a.json") == shown


def test_in_yaml_that_is_broken_whatever_could_be_a_credential_is_starred() -> None:
    text = f"api_key: |\n  first\n  second\npassword: hunter2\nkey: {RANDOM}\nplain: hello\na: [1\n"
    findings = list(check(text.encode()))
    assert {one.code for one in findings} == {"OAS004"}
    assert masked(text, findings) == (
        f"api_key: *\n  *****\n  ******\npassword: *******\nkey: {'*' * 32}\nplain: hello\na: [1\n"
    )


# ------------------------------------------------------------------------------- URLs, pointers


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://bob:pw@h.org/x", "see https://bob:**@h.org/x"),
        ('"postgresql://bob:p@ss@h"', '"postgresql://bob:****@h"'),
        (r"https:\/\/bob:pw@h", r"https:\/\/bob:**@h"),
        ('"https://bob:long-pass…"', '"https://bob:**********"'),
        ("https://:pw@h and https://u:pw@h", "https://:**@h and https://u:**@h"),
    ],
)
def test_the_password_in_a_url_is_starred(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "https://h.org:8080/a@b:c",
        "https://{{host}}:{{port}}/x",
        "https://bob:{{ password }}@h",
        "https://bob:${PASSWORD}@h",
        "https://bob@h",
        "http://[::1]:80/",
        "// a: b@c",
    ],
)
def test_ports_and_what_stands_for_a_password_are_shown(text: str) -> None:
    assert without_secrets(text) == text


def test_a_credential_among_the_keys_of_a_pointer_is_starred_and_the_other_keys_stay() -> None:
    secret = f"sk-proj-{TAIL}"
    pointer = f"/$referenced_components/{secret}/component_type"
    stars = "*" * (len(secret) - 3)
    assert pointer_without_secrets(pointer) == f"/$referenced_components/sk-{stars}/component_type"
    assert "tail" not in pointer_without_secrets(f"/{secret}~1tail")
    for kept in ("", "/", "/a~1b/~0c", "/nodes/0"):
        assert pointer_without_secrets(kept) == kept
    finding = Finding(code="OAS026", severity="error", message="", place=Place(pointer))
    for log in (Diagnostics([finding]).to_json(), Diagnostics([finding]).to_sarif()):
        assert TAIL not in json.dumps(log)


@pytest.mark.parametrize("word", ["keyJournalEntries", "monkeyJumpsOverTheDog", "xASIAnFoodNearby"])
def test_a_word_that_only_contains_a_prefix_is_shown(word):
    assert without_secrets(word) == word
