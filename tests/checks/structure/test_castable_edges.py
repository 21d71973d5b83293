"""The pairs of types themselves are in tests/types/test_castable.py."""

from __future__ import annotations

from typing import Any

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import draft_flow, ref
from tests.flows import port


def flow(output: dict[str, Any], into: dict[str, Any]) -> dict[str, Any]:
    """The StartNode's topic is `output`, the node's input `into`."""
    made = draft_flow(inputs=[output])
    made["$referenced_components"]["start"]["inputs"] = [output]
    made["$referenced_components"]["write"]["inputs"] = [into]
    return made


def test_a_string_does_not_feed_an_integer_and_an_integer_feeds_a_string():
    bad = flow(port("topic", "string"), port("topic", "integer"))
    assert found(bad, "OAS064") == ["/data_flow_connections/0/destination_input"]
    (finding,) = findings(bad, "OAS064")
    assert '"start.topic" is string, "write.topic" takes integer' in finding.message
    assert finding.hint == 'give "start.topic" and "write.topic" one type'
    assert found(flow(port("topic", "integer"), port("topic", "string")), "OAS064") == []


def test_an_output_of_any_type_is_refused_with_the_type_to_declare():
    (finding,) = findings(flow(port("topic", None), port("topic", "integer")), "OAS064")
    assert finding.hint == 'declare the type of the output "topic": integer'
    assert found(flow(port("topic", None), port("topic", "string")), "OAS064") == []


def test_sets_of_values_that_have_none_in_common_are_refused():
    green = port("topic", enum=["green", "blue"])
    bad = flow(green, port("topic", enum=["red", "white"]))
    assert found(bad, "OAS064") == ["/data_flow_connections/0/destination_input"]
    assert "no allowed value in common" in findings(bad, "OAS064")[0].message
    assert found(flow(green, port("topic", enum=["red", "blue"])), "OAS064") == []


def test_an_edge_that_is_implied_is_refused_where_its_node_stands():
    made = flow(port("topic", "string"), port("topic", "string"))
    made["$referenced_components"]["end"]["outputs"].append(port("topic", "integer"))
    assert found(made, "OAS064") == ["/$referenced_components/end"]


def test_edges_between_equal_names_are_refused_where_the_flow_stands():
    made = flow(port("topic", "string"), port("topic", "integer"))
    assert found({**made, "data_flow_connections": None, "start_node": ref("start")}, "OAS064") == [
        ""
    ]


def test_a_message_stays_short_however_wide_the_type_is():
    wide = {f"member_{index}": {"type": "integer"} for index in range(500)}
    bad = flow(
        port("topic", "array", items={"type": "string"}), port("topic", "object", properties=wide)
    )
    (finding,) = findings(bad, "OAS064")
    assert len(finding.message) < 600
