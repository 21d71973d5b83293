from __future__ import annotations

from tests.checks.cinatra.cinatra_case import PARTS, agent_node, mail_agent
from tests.checks.rule_case import found

OVERRIDE = f"{PARTS}/helper/metadata/cinatra/a2uiSurfaceIdOverride"


def test_only_the_screen_of_a_child_can_be_moved():
    bad = agent_node(hitlOwnedBy="self", a2uiSurfaceIdOverride="main")
    good = agent_node(hitlOwnedBy="childAgent", a2uiSurfaceIdOverride="main")
    assert found(mail_agent(bad), "OAS109") == [OVERRIDE]
    assert found(mail_agent(good), "OAS109") == []


def test_no_owner_is_not_the_child():
    assert found(mail_agent(agent_node(a2uiSurfaceIdOverride="main")), "OAS109") == [OVERRIDE]
    assert found(mail_agent(agent_node(hitlOwnedBy="self")), "OAS109") == []


def test_an_unknown_owner_is_reported_once():
    flow = mail_agent(agent_node(hitlOwnedBy="child", a2uiSurfaceIdOverride="main"))
    assert found(flow, "OAS109") == []
    assert len(found(flow, "OAS108")) == 1
