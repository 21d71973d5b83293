from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import INNER, PARTS, agent_node, around, mail_agent
from tests.checks.rule_case import findings, found

OWNER = "/helper/metadata/cinatra/hitlOwnedBy"


@pytest.mark.parametrize("owner", ["childAgent", "self"])
def test_the_two_owners_are_taken(owner):
    assert found(mail_agent(agent_node(hitlOwnedBy=owner)), "OAS108") == []
    assert found(mail_agent(agent_node()), "OAS108") == []


@pytest.mark.parametrize("owner", ["child", None, True, ["self"]])
def test_anything_else_is_refused(owner):
    assert found(mail_agent(agent_node(hitlOwnedBy=owner)), "OAS108") == [PARTS + OWNER]


def test_the_hint_is_the_nearest_owner():
    (finding,) = findings(mail_agent(agent_node(hitlOwnedBy="childagent")), "OAS108")
    assert finding.hint == 'did you mean "childAgent"?'


def test_subflows_are_looked_at_too():
    flow = around(mail_agent(agent_node(hitlOwnedBy="child")))
    assert found(flow, "OAS108") == [INNER + PARTS + OWNER]
