from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import flow, gated
from tests.checks.rule_case import found
from tests.flows import api, end, node, port, start

CODE = "OAS176"


def test_a_gate_names_the_risk_it_guards():
    assert found(gated(riskClass="draft_create"), CODE) == []
    bare = node("InputMessageNode", "review", outputs=[port("a")], cinatra={})
    assert found(flow(start(), bare, end()), CODE) == ["/$referenced_components/review"]


@pytest.mark.parametrize("risk", ["", " ", None, 3, ["read_only"]])
def test_a_risk_class_that_says_nothing_is_shown_where_it_stands(risk):
    at = "/$referenced_components/review/metadata/cinatra/riskClass"
    assert found(gated(riskClass=risk), CODE) == [at]


def test_other_nodes_need_none():
    assert found(flow(start(), api("fetch", risk=""), end()), CODE) == []
