from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import add, control, data, draft_flow, without
from tests.flows import message, port


def flow() -> dict[str, object]:
    say = message("say", "{{ text }}", port("text"))
    return add(draft_flow(), say, data("write", "draft", "say", "text"))


def test_a_node_that_only_data_edges_name_is_listed_too():
    assert found(without(flow(), "say"), "OAS060") == ["/data_flow_connections/2/destination_node"]
    assert found(flow(), "OAS060") == []


def test_one_finding_for_all_edges_of_a_node():
    made = without(flow(), "say")
    made["data_flow_connections"].append(data("start", "topic", "say", "text"))
    assert found(made, "OAS060") == ["/data_flow_connections/2/destination_node"]


def test_what_a_control_edge_or_start_node_names_is_their_finding():
    made = add(flow(), message("last", "x"), control("say", "last"))
    assert found(without(made, "say"), "OAS060") == []
    assert len(found(without(made, "say"), "OAS042")) == 1
    assert found(without(draft_flow(), "start"), "OAS060") == []
    assert len(found(without(draft_flow(), "start"), "OAS050")) == 1


def test_the_hint_is_to_list_the_node():
    (finding,) = findings(without(flow(), "say"), "OAS060")
    assert finding.hint == "add it to nodes"
