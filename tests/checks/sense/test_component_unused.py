from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_node, flow_of, gate, start

CODE = "OAS241"


def test_a_component_that_nothing_names_is_left_over():
    made = flow_of(start(), gate("ask"), end())
    assert found(made, CODE) == []
    made["$referenced_components"]["old"] = api("old")
    (finding,) = findings(made, CODE)
    assert (finding.pointer, finding.severity) == ("/$referenced_components/old", "warning")
    assert finding.message == 'the ApiNode "old" is defined, and nothing refers to it'
    assert finding.hint == "list it in nodes and connect it, or remove it"


def test_one_of_an_inner_flow_and_a_flow_that_is_run():
    inner = flow_of(start(), end(), id_="inner")
    made = flow_of(start(), flow_node("run", inner), end())
    assert found(made, CODE) == []
    inner["$referenced_components"]["old"] = gate("old")
    assert found(made, CODE) == ["/$referenced_components/inner/$referenced_components/old"]
