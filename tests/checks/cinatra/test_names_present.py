from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import INNER, around, mail_agent
from tests.checks.rule_case import findings, found


def test_the_root_flow_needs_a_name():
    flow = mail_agent()
    assert found(flow, "OAS101") == []
    del flow["name"]
    assert found(flow, "OAS101") == [""]
    assert findings(flow, "OAS101")[0].message == 'the Flow "mail" has no name'


@pytest.mark.parametrize("field", ["control_flow_connections", "data_flow_connections"])
def test_every_edge_needs_a_name(field):
    flow = mail_agent()
    del flow[field][1]["name"]
    assert found(flow, "OAS101") == [f"/{field}/1"]
    flow[field][1]["name"] = ""
    assert found(flow, "OAS101") == []


def test_edges_of_subflows_need_names_too():
    flow = mail_agent()
    del flow["control_flow_connections"][0]["name"]
    assert found(around(flow), "OAS101") == [f"{INNER}/control_flow_connections/0"]
    assert found(around(mail_agent()), "OAS101") == []


def test_a_name_of_the_wrong_kind_is_reported_once():
    flow = mail_agent() | {"name": 7}
    assert found(flow, "OAS022") == ["/name"]
    assert found(flow, "OAS101") == []
