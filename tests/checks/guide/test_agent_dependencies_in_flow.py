from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import flow
from tests.checks.rule_case import findings, found

CODE = "OAS190"


@pytest.mark.parametrize("value", [{"@test/mail": "^1.0.0"}, ["@test/mail"]])
def test_child_agents_are_not_declared_in_the_flow(value):
    made = flow(about={"agentDependencies": value})
    assert found(made, CODE) == ["/metadata/cinatra/agentDependencies"]
    assert findings(made, CODE)[0].severity == "warning"


@pytest.mark.parametrize("value", [{}, [], None])
def test_an_empty_one_says_nothing(value):
    assert found(flow(about={"agentDependencies": value}), CODE) == []
