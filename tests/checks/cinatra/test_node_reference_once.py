from __future__ import annotations

from tests.checks.cinatra.cinatra_case import INNER, around, mail_agent
from tests.checks.rule_case import findings, found
from tests.flows import plain

REF = "$component_ref"


def test_a_node_that_is_named_twice_is_refused_at_the_second_entry():
    flow = mail_agent()
    assert found(flow, "OAS131") == []
    flow["nodes"].append({REF: "write"})
    (finding,) = findings(flow, "OAS131")
    assert finding.pointer == f"/nodes/{len(flow['nodes']) - 1}"
    assert finding.message == 'the Flow "mail" names the node "write" twice'
    assert [(edit.pointer, edit.value) for edit in finding.fix] == [(finding.pointer, None)]
    assert found(flow, "OAS028") == []


def test_a_subflow_is_looked_at_too():
    inner = mail_agent()
    inner["nodes"].insert(0, {REF: "write"})
    (pointer,) = found(around(inner), "OAS131")
    assert pointer.startswith(f"{INNER}/nodes/")


def test_the_same_name_in_two_flows_is_two_nodes():
    assert found(around(mail_agent()), "OAS131") == []


def test_a_plain_agent_spec_flow_is_only_warned():
    flow = plain(mail_agent())
    flow["nodes"].append({REF: "write"})
    assert found(flow, "OAS131") == []
    (finding,) = findings(flow, "OAS028")
    assert finding.severity == "warning"
