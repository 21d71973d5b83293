"""`oasflow rule`: one rule explained, or all of them listed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from oas_compiler.catalog import all_rules
from oas_compiler.checks.all_rules import RULES
from oas_compiler.report.rule_cards import GROUPS, group_of


@pytest.mark.parametrize("name", ["OAS107", "oas107", "legacy-key", "V3", " v3 "])
def test_a_rule_is_found_by_code_name_and_alias(offline: Any, name: str) -> None:
    result = offline("rule", name)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "OAS107 legacy-key  error"
    assert "also called V1, V2, V3, V4, V5, V6, V7, V8, V9" in lines
    assert "--fix       mends what is safe to mend" in lines
    bad, good = lines.index("bad"), lines.index("good")
    assert lines[bad + 1].strip().startswith('"metadata"')
    assert bad < good < len(lines) - 1


def test_a_rule_that_nothing_can_mend_says_so(offline: Any) -> None:
    assert "--fix       cannot mend it" in offline("rule", "OAS044").stdout


def test_the_document_of_a_rule_is_its_card(offline: Any) -> None:
    card = json.loads(offline("rule", "V3", "--json").stdout)
    assert set(card) == {
        "code", "name", "severity", "group", "aliases", "also", "summary", "fix", "source", "bad", "good",
        "fixable", "others",
    }  # fmt: skip
    assert (card["code"], card["group"], card["fixable"]) == ("OAS107", "cinatra", True)


def test_a_name_whose_cases_several_rules_find_names_the_others(offline: Any) -> None:
    shown = offline("rule", "V21").stdout
    assert shown.startswith("OAS114 llm-model  error\n")
    assert shown.endswith("\nOAS134 llm-model-family finds other cases of V21\n")
    card = json.loads(offline("rule", "V21", "--json").stdout)
    assert (card["code"], card["also"], card["others"]) == ("OAS114", [], ["OAS134"])
    other = json.loads(offline("rule", "OAS134", "--json").stdout)
    assert (other["also"], other["others"]) == (["V21", "OAS-LLM-002"], [])


def test_the_beginning_of_codes_is_said_to_be_one(offline: Any) -> None:
    result = offline("rule", "oas13")
    assert result.exit_code == 2
    assert "it is the beginning of OAS130, OAS131, OAS132, OAS133" in result.stderr


def test_what_deps_finds_has_cards_too(offline: Any) -> None:
    card = json.loads(offline("rule", "dep004", "--json").stdout)
    assert (card["name"], card["group"]) == ("child-agent-double", "deps")


def test_without_a_name_all_rules_are_listed_in_groups(offline: Any) -> None:
    shown = offline("rule").stdout
    listed = json.loads(offline("rule", "--json").stdout)["rules"]
    assert sorted(card["code"] for card in listed) == sorted(card.code for card in all_rules())
    assert [card["group"] for card in listed] == sorted(
        (card["group"] for card in listed), key=list(GROUPS).index
    )
    assert all(f"  {card.code}  " in shown and card.name in shown for card in all_rules())
    assert GROUPS["safety"] in shown


@pytest.mark.parametrize(("name", "nearest"), [("legacy-kee", "legacy-key"), ("\x1b[31m", "")])
def test_an_unknown_rule_is_exit_2_with_the_nearest_spelling(
    offline: Any, name: str, nearest: str
) -> None:
    result = offline("rule", name, "--json")
    assert result.exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert error["code"] == "unknown_rule"
    advice = f'did you mean "{nearest}"?' if nearest else "`oasflow rule` lists all"
    assert error["message"].endswith(advice)
    assert "\x1b" not in result.output


def test_every_rule_has_a_group_and_those_that_report_edits_are_mendable() -> None:
    assert {group_of(card) for card in all_rules()} <= set(GROUPS)
    mendable = {rule.card.name for rule in RULES if rule.card.fixable}
    assert {"legacy-key", "package-version"} <= mendable
    assert "one-edge-per-branch" not in mendable
