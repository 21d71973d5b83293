from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import flow
from tests.checks.rule_case import findings, found
from tests.flows import end, flow_node, port, start

CODE = "OAS192"
AT = "/$referenced_components/start/metadata/cinatra/required/0"


def asking(title, hidden=(), more=None, **about):
    described = port(title, **(more or {}))
    return flow(start(described, required=[title], hidden=hidden, **about), end())


@pytest.mark.parametrize(
    "title",
    ["campaignId", "campaign_id", "runId", "parentRunId", "agent_run_id", "draft_id", "draftIds",
     "recipientListId", "CampaignID", "approvedDraftBundleRef", "run-id"],
)  # fmt: skip
def test_an_id_that_a_stage_makes_is_asked_of_nobody(title):
    assert found(asking(title), CODE) == [AT]
    assert found(asking(title, hidden=[title]), CODE) == []


@pytest.mark.parametrize(
    "title",
    ["spreadsheetId", "channel_id", "url", "campaign", "id", "idea", "campaignIdea", "grid"],
)
def test_what_a_person_knows_may_be_asked(title):
    assert found(asking(title), CODE) == []


def test_an_optional_id_is_asked_of_nobody():
    assert found(flow(start(port("campaignId")), end()), CODE) == []


def test_a_picker_fills_the_id_in():
    assert found(asking("campaignId", inputRenderers={"campaignId": "@a/b:c"}), CODE) == []
    assert found(asking("campaignId", more={"x-renderer": "@a/b:c"}), CODE) == []
    assert found(asking("campaignId", more={"x-hidden": True}), CODE) == []
    assert found(asking("campaignId", more={"json_schema": {"x-hidden": True}}), CODE) == []
    assert found(asking("campaignId", more={"x-hidden": "yes"}), CODE) == [AT]


def test_it_is_a_warning():
    assert findings(asking("campaignId"), CODE)[0].severity == "warning"


def test_a_subflow_gets_its_ids_from_its_caller():
    inner = asking("campaignId")
    inner["id"] = "inner"
    made = flow(start(), flow_node("sub", inner), end())
    assert found(made, CODE) == []
