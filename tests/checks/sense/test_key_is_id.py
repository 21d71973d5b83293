from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.flows import end, flow_of, gate, start

CODE = "OAS244"


def test_a_node_has_its_key_as_its_id():
    made = flow_of(start(), gate("ask"), end())
    assert found(made, CODE) == []
    made["$referenced_components"]["ask"]["id"] = "asks"
    (finding,) = findings(made, CODE)
    assert (finding.pointer, finding.severity) == ("/$referenced_components/ask/id", "warning")
    assert finding.hint == 'write "ask": references name it so'


def test_two_nodes_with_one_id_are_another_finding():
    made = flow_of(start(), gate("ask"), gate("look"), end())
    made["$referenced_components"]["look"]["id"] = "ask"
    assert found(made, CODE) == []
