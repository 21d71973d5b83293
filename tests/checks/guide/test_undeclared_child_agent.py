from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import agent, flow, only, told
from tests.checks.rule_case import found
from tests.flows import end, flow_node, node, start

CODE = "OAS189"
CHILD = "@test/mail"
INNER = flow(start(), end(), id_="inner")


def calling(name=CHILD, **about):
    return flow(start(), flow_node("sub", INNER, packageName=name, **about), end())


def test_a_child_that_package_json_does_not_name_is_an_error(tmp_path):
    assert (
        told(agent(tmp_path, calling(), cinatra={"agentDependencies": {CHILD: "^1.0.0"}}), CODE)
        == []
    )
    finding = only(agent(tmp_path, calling()), CODE)
    assert finding.pointer == "/$referenced_components/sub/metadata/cinatra/packageName"
    assert (finding.severity, finding.file) == ("error", str(tmp_path / "cinatra" / "oas.json"))


@pytest.mark.parametrize(
    "kind", ["MapNode", "ParallelMapNode", "CatchExceptionNode", "ParallelFlowNode"]
)
def test_a_child_is_told_under_every_kind_that_runs_flows(tmp_path, kind):
    over = node(kind, "sub", subflow=INNER, cinatra={"packageName": CHILD})
    assert only(agent(tmp_path, flow(start(), over, end())), CODE).message.startswith(f"the {kind}")


@pytest.mark.parametrize(
    ("entry", "is_declared"),
    [
        ({"packageName": CHILD, "kind": "agent"}, True),
        ({"packageName": CHILD}, True),
        ({"packageName": CHILD, "kind": "artifact"}, False),
        ({"packageName": "@test/other", "kind": "agent"}, False),
        (CHILD, False),
    ],
)
def test_the_newer_list_declares_agents(tmp_path, entry, is_declared):
    package = agent(tmp_path, calling(), cinatra={"dependencies": [entry]})
    assert (told(package, CODE) == []) is is_declared


def test_the_nearest_declared_name_is_named(tmp_path):
    finding = only(
        agent(tmp_path, calling(), cinatra={"agentDependencies": {"@test/mial": "^1"}}), CODE
    )
    assert finding.hint == 'did you mean "@test/mial"?'


def test_a_map_beside_cinatra_is_not_read_and_that_is_said(tmp_path):
    finding = only(agent(tmp_path, calling(), manifest={"agentDependencies": {CHILD: "^1"}}), CODE)
    assert "move agentDependencies into it" in finding.hint


def test_the_package_itself_is_no_child(tmp_path):
    assert told(agent(tmp_path, calling("@test/agent")), CODE) == []


def test_a_child_is_told_once(tmp_path):
    made = flow(
        start(),
        flow_node("a", INNER, packageName=CHILD),
        flow_node("b", INNER, packageName=CHILD),
        end(),
    )
    assert len(told(agent(tmp_path, made), CODE)) == 1


def test_an_agent_behind_an_agent_node_is_a_child(tmp_path):
    remote = {
        "component_type": "A2AAgent", "id": "mail", "name": "mail", "agent_url": "/a",
        "metadata": {"cinatra": {"packageName": CHILD}},
    }  # fmt: skip
    asking = node("AgentNode", "ask", agent={"$component_ref": "mail"}, inputs=[], outputs=[])
    made = flow(start(), asking, end())
    made["$referenced_components"]["mail"] = remote
    at = "/$referenced_components/mail/metadata/cinatra/packageName"
    assert found(agent(tmp_path, made), CODE) == [at]
    declared = agent(tmp_path / "b", made, cinatra={"agentDependencies": {CHILD: "^1.0.0"}})
    assert found(declared, CODE) == []


def test_a_list_of_bare_names_is_wrong_in_form_but_declares_them(tmp_path):
    package = agent(tmp_path, calling(), cinatra={"agentDependencies": [CHILD]})
    assert told(package, CODE) == []
    assert told(package, "OAS188") != []


def test_the_resolution_of_a_context_slot_is_left_to_the_rules_about_slots(tmp_path):
    made = calling(purpose="author-placed-context-resolution-for-brand")
    assert told(agent(tmp_path, made), CODE) == []
