"""The platform's placeholder with the signs and blanks of a mark is the platform to each rule."""

from __future__ import annotations

import pytest

from cinatra_sdk.flow.requests.request_template import names_platform, usual_url
from oas_compiler import check
from oas_compiler.document.scope import is_plain
from oas_compiler.explain.explainer import explain
from tests.flows import api, end, flow_of, plain, port, start

USUAL = "{{CINATRA_BASE_URL}}"
SPELLINGS = [
    "{{-CINATRA_BASE_URL-}}",
    "{{+CINATRA_BASE_URL}}",
    "{{- CINATRA_BASE_URL }}",
    "{{\nCINATRA_BASE_URL\n}}",
]


def calling(url: str, *, of_cinatra: bool) -> dict[str, object]:
    made = flow_of(
        start(port("topic", default="x")), api("send", outputs=[port("draft")]), end(port("draft")),
        edges=[("send", "draft", "end", "draft")],
    )  # fmt: skip
    made = made if of_cinatra else plain(made)
    made["$referenced_components"]["send"]["url"] = url
    return made


def codes(url: str, *, of_cinatra: bool) -> list[str]:
    found = check(calling(url, of_cinatra=of_cinatra))
    return sorted(one.code for one in (*found.errors, *found.warnings))


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("of_cinatra", [True, False])
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/api/send", ""),
        ("/api/llm-brige", "OAS242"),
        ("//api/llm-bridge", "OAS242"),
        ("api/llm-bridge", "OAS242"),
        ("/{{CINATRA_BASE_URL}}", "OAS252"),
        (".example.com/x", ""),
    ],
)
def test_an_unusual_spelling_has_the_findings_of_the_usual_one(
    spelling: str, of_cinatra: bool, path: str, code: str
) -> None:
    usual = codes(USUAL + path, of_cinatra=of_cinatra)
    assert codes(spelling + path, of_cinatra=of_cinatra) == usual
    assert not code or code in usual
    assert ("OAS102" in usual) is not of_cinatra


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_run_reads_it_as_the_platform_too(spelling: str) -> None:
    assert names_platform(f"{spelling}/api/x")
    assert usual_url(f"{spelling}/api/x") == f"{USUAL}/api/x"
    assert not is_plain(calling(f"{spelling}/api/x", of_cinatra=False))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_what_explains_a_flow_counts_it(spelling: str) -> None:
    explained = explain(calling(f"{spelling}/api/x", of_cinatra=True))
    assert [(one.name, one.count) for one in explained.environment] == [("CINATRA_BASE_URL", 1)]


def test_another_form_is_no_platform_for_a_run_and_none_for_the_rules() -> None:
    url = "{{ CINATRA_BASE_URL|trim }}/api/x"
    assert not names_platform(url)
    assert usual_url(url) == url
    assert "OAS210" in codes(url, of_cinatra=True)
