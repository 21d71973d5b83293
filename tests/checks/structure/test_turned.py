"""An edge that stands the wrong way round is one finding, which says so."""

from __future__ import annotations

import pytest

from oas_compiler import check
from tests.flows import api, end, flow_of, port, start


def three():
    sends = api("b", inputs=[port("y")], data={"y": "{{ y }}"})
    return flow_of(
        start(), api("a", outputs=[port("y")]), sends, end(), edges=[("a", "y", "b", "y")]
    )


def turn(edge, one, other):
    edge[one], edge[other] = edge[other], edge[one]


@pytest.mark.parametrize(("number", "code"), [(0, "OAS046"), (1, "OAS044"), (2, "OAS047")])
def test_a_control_edge(number, code):
    made = three()
    edge = made["control_flow_connections"][number]
    known = {(one.code, one.message) for one in check(made)}
    ends = edge["from_node"]["$component_ref"], edge["to_node"]["$component_ref"]
    turn(edge, "from_node", "to_node")
    (finding,) = [one for one in check(made) if (one.code, one.message) not in known]
    assert finding.code == code
    assert f'round: from_node "{ends[0]}", to_node "{ends[1]}"' in finding.hint


def test_a_data_edge():
    made = three()
    edge = next(one for one in made["data_flow_connections"] if one["source_output"] == "y")
    known = {(one.code, one.message) for one in check(made)}
    turn(edge, "source_node", "destination_node")
    (finding,) = [one for one in check(made) if (one.code, one.message) not in known]
    assert (finding.code, finding.hint) == (
        "OAS061",
        'turn it round: source_node "a", destination_node "b"',
    )
