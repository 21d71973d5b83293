from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import add, data, draft_flow, without
from tests.flows import message, port


def flow() -> dict[str, object]:
    say = message("say", "{{ text }}", port("text"))
    return add(draft_flow(), say, data("write", "draft", "say", "text"))


def test_both_ends_of_an_edge_are_nodes_of_the_flow():
    assert found(without(flow(), "say"), "OAS060") == ["/data_flow_connections/2/destination_node"]
    assert found(flow(), "OAS060") == []
    assert found(without(draft_flow(), "start"), "OAS060") == [
        "/data_flow_connections/0/source_node"
    ]


def test_without_a_near_name_the_hint_is_to_list_the_node():
    (finding,) = findings(without(flow(), "say"), "OAS060")
    assert finding.hint == "add it to nodes"
