from __future__ import annotations

from tests.checks.guide.guide_case import flow
from tests.checks.rule_case import findings, found
from tests.flows import end, flow_node, node, start

CODE = "OAS191"
AT = ["/$referenced_components/sub"]


def inner(name="@test/agent"):
    made = flow(start(), end(), id_="inner")
    made["metadata"]["cinatra"]["packageName"] = name
    return made


def calling(subflow, **about):
    return flow(start(), flow_node("sub", subflow, **about), end())


def test_a_node_that_leaves_its_gates_to_a_child_says_which_child():
    assert found(calling(inner(), hitlOwnedBy="childAgent", packageName="@test/mail"), CODE) == []
    assert found(calling(inner(), hitlOwnedBy="childAgent"), CODE) == AT
    assert found(calling(inner(), hitlOwnedBy="childAgent", packageName=" "), CODE) == AT
    assert found(calling(inner(), hitlOwnedBy="self"), CODE) == []


def test_a_copy_of_another_package_says_which_and_the_hint_knows_it():
    made = calling(inner("@test/mail"))
    (finding,) = findings(made, CODE)
    assert (finding.pointer, finding.severity) == (AT[0], "error")
    assert '"packageName": "@test/mail"' in finding.hint
    assert found(calling(inner("@test/mail"), packageName="@test/mail"), CODE) == []


def test_a_subflow_of_the_agents_own_needs_none():
    assert found(calling(inner()), CODE) == []
    nameless = flow(start(), end(), id_="inner")
    del nameless["metadata"]
    assert found(calling(nameless), CODE) == []


def test_an_agent_that_is_called_over_a2a_has_a_name_on_either_side():
    def asking(of_node, of_agent):
        remote = {"component_type": "A2AAgent", "id": "r", "name": "r", "agent_url": "/a"}
        remote["metadata"] = {"cinatra": of_agent}
        made = node("AgentNode", "sub", agent=remote, inputs=[], outputs=[], cinatra=of_node)
        return flow(start(), made, end())

    assert found(asking({}, {}), CODE) == AT
    assert found(asking({"packageName": "@test/mail"}, {}), CODE) == []
    assert found(asking({}, {"packageName": "@test/mail"}), CODE) == []


def test_the_resolution_of_a_context_slot_is_no_child():
    made = calling(
        inner("@cinatra-ai/context-selection-agent"),
        purpose="author-placed-context-resolution-for-brand",
    )
    assert found(made, CODE) == []
