"""--select and --ignore: what a word stands for, and what cannot be left out."""

from __future__ import annotations

import pytest

from oas_compiler.catalog import all_rules
from oas_compiler.findings.finding import Finding
from oas_compiler.report.rule_cards import Selection, UnknownRule


def wanted(codes: str, *, select: list[str] | None = None, ignore: list[str] | None = None) -> str:
    chosen = Selection.of(select or [], ignore or [])
    findings = [Finding(code=code, severity="error", message="") for code in codes.split()]
    return " ".join(finding.code for finding in findings if chosen.wants(finding))


ALL = "OAS004 OAS044 OAS048 OAS107"


def test_everything_is_wanted_by_default() -> None:
    assert wanted(ALL) == ALL


@pytest.mark.parametrize(
    ("word", "left"),
    [
        ("OAS044", "OAS044"),
        ("oas044", "OAS044"),
        ("one-edge-per-branch", "OAS044"),
        ("OAS04", "OAS044 OAS048"),
        ("OAS", "OAS044 OAS048 OAS107"),
        ("v3", "OAS107"),
        ("OAS044, legacy-key", "OAS044 OAS107"),
        (" OAS044,,", "OAS044"),
    ],
)
def test_a_word_is_a_code_its_beginning_a_name_or_an_alias(word: str, left: str) -> None:
    assert wanted(ALL, select=[word]) == f"OAS004 {left}"
    rest = " ".join(code for code in ALL.split() if code not in left.split())
    assert wanted(ALL, ignore=[word]) == rest


@pytest.mark.parametrize("word", ["V21", "oas-llm-002"])
def test_selecting_a_name_of_elsewhere_takes_every_rule_that_finds_its_cases(word: str) -> None:
    assert wanted("OAS107 OAS114 OAS134", select=[word]) == "OAS114 OAS134"
    assert wanted("OAS107 OAS114 OAS134", select=["llm-model"]) == "OAS114"


def test_ignoring_it_leaves_the_rules_that_find_more_than_it() -> None:
    assert wanted("OAS107 OAS114 OAS134", ignore=["V21"]) == "OAS107 OAS134"


def test_a_rule_of_deps_is_none_that_check_could_apply() -> None:
    for options in ({"select": ["DEP004"]}, {"ignore": ["child-agent-double"]}):
        with pytest.raises(UnknownRule, match="is a rule of `oasflow deps`"):
            Selection.of(**options)


def test_options_add_up_and_ignore_wins() -> None:
    assert wanted(ALL, select=["OAS044", "OAS107"]) == "OAS004 OAS044 OAS107"
    assert wanted(ALL, select=["OAS04"], ignore=["OAS044"]) == "OAS004 OAS048"
    assert wanted(ALL, select=["OAS044"], ignore=["OAS0"]) == "OAS004"


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("one-edge-per-brnch", 'did you mean "one-edge-per-branch"?'),
        ("zzzzzz", "`oasflow rule` lists all"),
    ],
)
def test_a_word_that_names_no_rule_is_refused_with_the_nearest_spelling(
    word: str, advice: str
) -> None:
    for options in ({"select": [word]}, {"ignore": ["OAS044", word]}):
        with pytest.raises(UnknownRule) as refused:
            Selection.of(**options)
        assert str(refused.value) == f'no rule is called "{word}"; {advice}'


def test_an_error_of_reading_cannot_be_ignored() -> None:
    if not any(card.code == "OAS004" for card in all_rules()):
        pytest.skip("the cards of the reading errors are not there")
    with pytest.raises(UnknownRule, match="OAS004 cannot be ignored"):
        Selection.of(ignore=["OAS004"])
    assert wanted("OAS004 OAS044", ignore=["OAS0"]) == "OAS004"
