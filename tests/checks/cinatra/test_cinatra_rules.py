"""The group as a whole: real agents pass, hostile input does not break it, names are its own."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from oas_compiler import check
from oas_compiler.checks.cinatra.host_rules import RULES as HOST_RULES
from oas_compiler.checks.cinatra.rules import RULES as LANGUAGE_RULES
from tests.checks.cinatra.cinatra_case import agent_node, around, bridge, mail_agent
from tests.effort import tries

CORPUS = Path(__file__).resolve().parents[3] / "../shared/corpus/cinatra"
AGENTS = sorted(CORPUS.glob("*/cinatra/oas.json"))
EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").glob("*/cinatra/oas.json"))
CODES = {rule.card.code: rule.card for rule in (*LANGUAGE_RULES, *HOST_RULES)}
UPSTREAM = [
    "S1",
    "S2",
    "S3",
    "S4",
    "S5",
    "S6",
    "S7",
    "S8",
    "S9",
    "S10",
    "V1",
    "V2",
    "V3",
    "V4",
    "V5",
    "V6",
    "V7",
    "V8",
    "V9",
    "V10",
    "V11",
    "V12",
    "V14",
    "V16",
    "V19",
    "V20",
    "V21",
    "V22",
    "V23",
    "V24",
    "V25",
    "V26",
    "V27",
    "V28",
    "V29",
    "V30",
    "V31",
    "W1",
    "P1",
    "P2",
    "C1",
    "C3",
    "C4",
]


def of_group(source):
    return [finding for finding in check(source) if finding.code in CODES]


@pytest.mark.skipif(not AGENTS, reason="the folder of real input is absent")
@pytest.mark.parametrize("file", AGENTS, ids=lambda file: file.parts[-3])
def test_no_real_agent_breaks_a_rule(file):
    assert [str(finding) for finding in of_group(file) if finding.severity == "error"] == []


@pytest.mark.skipif(not AGENTS, reason="the folder of real input is absent")
def test_the_inputs_that_nobody_is_asked_for_are_the_five_of_the_real_agents():
    named = [finding.message.split('"')[1] for file in AGENTS for finding in of_group(file)]
    assert sorted(named) == [
        "accountScope",
        "as_of",
        "configured_provider_id",
        "project_id",
        "senderEmail",
    ]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parts[-3])
def test_the_examples_break_none(file):
    assert of_group(file) == []


def test_the_agent_that_the_tests_change_breaks_none():
    assert of_group(mail_agent()) == []
    assert of_group(around(mail_agent())) == []


def test_every_rule_of_the_host_is_named_by_exactly_one_card():
    aliases = [alias for card in CODES.values() for alias in card.aliases]
    assert sorted(alias for alias in aliases if alias in UPSTREAM) == sorted(UPSTREAM)
    assert len(aliases) == len(set(aliases))
    for rules in (LANGUAGE_RULES, HOST_RULES):
        codes = [rule.card.code for rule in rules]
        assert codes == sorted(codes)
    assert all("OAS100" <= code <= "OAS149" for code in CODES)


def pointers(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in items:
        if isinstance(member, (dict, list)):
            yield from pointers(member, (*path, key))
        else:
            yield (*path, key)


def test_nothing_raises_whatever_stands_anywhere():
    # every value of the flow, one after the other, replaced by a value of another kind
    flow = mail_agent(agent_node(hitlOwnedBy="self"), bridge("again"))
    flow["metadata"]["cinatra"] |= {
        "llm": {"preferredProvider": "openai"},
        "toolboxes": ["a"],
        "hitlScreens": ["b"],
        "packageVersion": "1",
    }
    flow["$referenced_components"]["other"] = {"component_type": "A2AAgent", "agent_url": "x"}
    flow["$referenced_components"]["both"] = {"component_type": "ParallelFlowNode"}
    whole = {"flow": flow}
    changed = 0
    kinds = (None, 7, "{{ a ? b : c }}", [[]], {"title": [], "cinatra": {"category": {}}})
    for number, path in enumerate(list(pointers(whole))[1:]):
        # Another two kinds at each place, all five with the long tests.
        for value in (kinds[(number + i) % 5] for i in range(tries(2, 5))):
            mutant = copy.deepcopy(whole)
            place = mutant
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            if isinstance(mutant["flow"], dict):
                check(mutant["flow"])
                changed += 1
    assert changed > 400 * tries(1, 2)
