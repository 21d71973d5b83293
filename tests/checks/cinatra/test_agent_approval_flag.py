from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import PARTS, agent_node, mail_agent
from tests.checks.rule_case import findings, found

FLAG = f"{PARTS}/helper/metadata/cinatra/requiresApproval"


@pytest.mark.parametrize("flag", [True, False])
def test_true_and_false_are_taken(flag):
    assert found(mail_agent(agent_node(requiresApproval=flag)), "OAS110") == []
    assert found(mail_agent(agent_node()), "OAS110") == []


@pytest.mark.parametrize("flag", ["true", 1, None, []])
def test_anything_else_is_refused(flag):
    assert found(mail_agent(agent_node(requiresApproval=flag)), "OAS110") == [FLAG]


def test_the_message_says_what_stands_there():
    (finding,) = findings(mail_agent(agent_node(requiresApproval="true")), "OAS110")
    assert finding.message == (
        'requiresApproval of the AgentNode "helper" must be true or false, not a string'
    )
